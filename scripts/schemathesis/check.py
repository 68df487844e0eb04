"""Reads the reports: every operation answered 2xx at least once, and nothing 5xx.

    check.py DOCUMENT REPORT.har …
"""

import collections
import json
import re
import sys
import urllib.parse

# A visitor's question needs a tool that asks, and their link a channel that sends codes; a bare installation has neither.
# crates/web/tests/api tries them.
UNREACHED = {"read_visit_approval", "grant_visit_approval", "refuse_visit_approval", "ask_visit_link", "confirm_visit_link"}
# These need the cookie of the link that is shown in a terminal; crates/web/tests/api/visits.rs has it.
UNREACHED |= {"open_start", "try_start"}
# Files need bytes of a kind that is taken, and an address that was signed a moment ago; crates/web/tests/api has both.
UNREACHED |= {"add_upload", "read_upload", "read_file"}
# A consent is given by a person alone, in a conversation; crates/web/tests/api/operations.rs has one.
UNREACHED |= {"read_consent", "withdraw_consent", "withdraw_visit_consent"}
# Streams that don't end by themselves; crates/web/tests/api/live.rs follows them.
UNREACHED |= {"follow_session", "watch_sessions", "follow_visit"}
# Nobody but a person types and joins a conversation, and an owner's key stands for the role; crates/web/tests/api has people's.
UNREACHED |= {"sign_session_typing", "record_session_read", "take_session", "write_session", "whisper_session", "draft_session"}

document, *reports = (json.load(open(path)) for path in sys.argv[1:])
templates = [
    (re.compile(re.sub(r"\{[^}]+\}", "[^/]*", re.escape(path).replace(r"\{", "{").replace(r"\}", "}")) + "/?$"), path)
    for path in sorted(document["paths"], key=lambda path: path.count("{"))
]
seen = collections.defaultdict(collections.Counter)
broken = []
for entry in (entry for report in reports for entry in report["log"]["entries"]):
    method, status = entry["request"]["method"].lower(), entry["response"]["status"]
    path = urllib.parse.urlsplit(entry["request"]["url"]).path
    template = next((template for pattern, template in templates if pattern.match(path)), None)
    if template and method in document["paths"][template]:
        seen[document["paths"][template][method]["operationId"]][status] += 1
    if status >= 500:
        broken.append(f"{method} {path}: {status}")
names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
silent = [name for name in names if name not in UNREACHED and not any(200 <= status < 300 for status in seen[name])]
total = sum(sum(counts.values()) for counts in seen.values())
print(f"{total} requests to {len(names)} operations; {len(broken)} answered 5xx; {len(silent)} never answered 2xx")
for name in names:
    print(f"  {name:24}", *(f"{status}x{count}" for status, count in sorted(seen[name].items())))
for line in broken[:20]:
    print("5xx:", line)
for name in silent:
    print("never 2xx:", name)
sys.exit(1 if broken or silent else 0)
