"""Prints the twenty tests of a run that took longest."""

import sys
import xml.etree.ElementTree

try:
    cases = list(xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"))
except (OSError, xml.etree.ElementTree.ParseError):
    sys.exit()  # nothing was run
cases.sort(key=lambda case: -float(case.get("time", 0)))
print("The slowest:")
for case in cases[:20]:
    print(f"  {float(case.get('time', 0)):7.1f} s  {case.get('classname')} {case.get('name')}")
