"""The official Python client, calling one tool of a server over and over: mcp_round_trip.py SECONDS COMMAND …

Prints the median round trip in microseconds.
"""

import asyncio
import os
import statistics
import sys
import time

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

seconds, command = float(sys.argv[1]), sys.argv[2:]


async def main():
    server = StdioServerParameters(
        command=command[0], args=command[1:], env={"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PYTHONPATH"]}
    )
    async with Client(stdio_client(server)) as client:
        arguments = {"timezone": "Asia/Kolkata"}
        for _ in range(20):
            await client.call_tool("get_current_time", arguments)
        took, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            await client.call_tool("get_current_time", arguments)
            took.append(time.perf_counter() - began)
        print(statistics.median(took) * 1e6)


asyncio.run(main())
