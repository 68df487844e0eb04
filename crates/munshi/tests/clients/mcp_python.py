"""The official Python client of the Model Context Protocol, unmodified, at the program's own server.

    mcp_python.py URL KEY OWNER
"""

import asyncio
import json
import sys
import urllib.error
import urllib.request

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

url, key, owner = sys.argv[1:]


def answer(result):
    """What came of a call: as words, and as data."""
    return result.content[0].text, result.structured_content


def grant(approval):
    """As a person does who looks at what is asked: the key that asks can't say yes."""
    headers = {"authorization": f"Bearer {owner}", "content-type": "application/json"}
    look = urllib.request.Request(f"{url}/v1/approvals/{approval}", headers=headers)
    with urllib.request.urlopen(look) as response:
        body = json.dumps({"digest": json.load(response)["digest"]}).encode()
    request = urllib.request.Request(f"{url}/v1/approvals/{approval}/grant", body, headers)
    with urllib.request.urlopen(request) as response:
        assert json.load(response)["state"] == "granted"


async def speak(mode):
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=120) as http:
        async with Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"calculate", "today", "log_expense", "ask_counter", "go_on"} == set(listed), set(listed)
            assert listed["calculate"].annotations.read_only_hint
            assert listed["log_expense"].meta["munshi/tool"]["effect"] == "keyed"

            words, told = answer(await client.call_tool("calculate", {"expression": "12 * 12"}))
            assert told["ok"] and "144" in words, words
            wrong = await client.call_tool("calculate", {"sum": 1})
            assert wrong.is_error, wrong

            words, told = answer(await client.call_tool("ask_counter", {"message": "When do you open?"}))
            assert words == "We open at nine. Come soon.", words
            assert told["state"] == "done", told

            spent = {"amount": 12000, "item": f"tea {mode}", "idempotency_key": f"tea-{mode}"}
            asked = await client.call_tool("log_expense", spent)
            words, told = answer(asked)
            assert asked.is_error and told["code"] == "waiting_approval" and "go_on" in words, words
            grant(told["approval"])
            done = await client.call_tool("go_on", {"approval": told["approval"]})
            assert not done.is_error, answer(done)
            again = await client.call_tool("log_expense", spent)
            assert not again.is_error and answer(again) == answer(done), answer(again)

            try:
                await client.call_tool("nothing_such", {})
                raise AssertionError("a tool that is not there was called")
            except Exception as error:
                assert "no tool nothing_such" in str(error), error


async def stranger():
    async with httpx2.AsyncClient(timeout=120) as http:
        try:
            async with Client(streamable_http_client(f"{url}/mcp", http_client=http), mode="legacy"):
                raise AssertionError("nobody was let in")
        except BaseException as error:
            assert "AssertionError" not in repr(error), error


asyncio.run(speak("auto"))
asyncio.run(speak("legacy"))
asyncio.run(stranger())
print("ok")
