"""Asks every fixture's question with the official client, whole and streamed. Usage: FIXTURES URL"""
import json
import pathlib
import sys

import anthropic

fixtures, url = pathlib.Path(sys.argv[1]), sys.argv[2]
client = anthropic.Anthropic(base_url=url, api_key="sk-test-key", max_retries=0)


def request_of(folder):
    """The arguments for the client, which no longer knows a temperature but still sends one."""
    request = json.loads((folder / "request.json").read_text())
    del request["stream"]
    extra = {name: request.pop(name) for name in ["temperature"] if name in request}
    return request | {"extra_body": extra}


def text_request():
    return request_of(fixtures / "text")


def expect(kind, act, check):
    try:
        act()
    except kind as error:
        assert check(error), repr(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


def stream_to_end():
    for _ in client.messages.create(**text_request(), stream=True):
        pass


# The answers the test has planned come first.
expect(anthropic.RateLimitError, lambda: client.messages.create(**text_request(), stream=False),
       lambda error: error.response.headers["retry-after"] == "7")
expect(anthropic.APIStatusError, stream_to_end, lambda error: "Overloaded" in str(error))
expect(Exception, stream_to_end, lambda error: "incomplete" in str(error))

for folder in sorted(fixtures.iterdir()):
    request = request_of(folder)
    answer = json.loads((folder / "answer.json").read_text())
    whole = client.messages.create(**request, stream=False)
    assert whole._request_id == "req_018EeWyXxfu5pfWkrYcMdjWG"
    with client.messages.stream(**request) as stream:
        streamed = stream.get_final_message()
    for message in (whole, streamed):
        said = [block.model_dump(exclude_none=True) for block in message.content]
        for block, expected in zip(said, answer["content"], strict=True):
            assert {name: block[name] for name in expected} == expected, (folder.name, block, expected)
        assert message.stop_reason == answer["stop_reason"], folder.name
        assert message.usage.input_tokens == answer["usage"]["input_tokens"], folder.name
        assert message.usage.output_tokens == answer["usage"]["output_tokens"], folder.name
