"""Asks every fixture's question with the official client, whole and streamed. Usage: FIXTURES URL"""
import json
import pathlib
import sys

import openai

fixtures, url = pathlib.Path(sys.argv[1]), sys.argv[2]
client = openai.OpenAI(base_url=url + "/v1", api_key="sk-test-key", max_retries=0)


def text_request():
    return json.loads((fixtures / "text" / "request.json").read_text())


def whole_request(request):
    return {name: value for name, value in request.items() if name != "stream_options"} | {"stream": False}


def expect(kind, act, check):
    try:
        act()
    except kind as error:
        assert check(error), repr(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


def stream_to_end():
    for _ in client.chat.completions.create(**text_request()):
        pass


def ask(name, request, answer):
    whole = client.chat.completions.create(**whole_request(request))
    assert whole._request_id == "req_7d3c2f"
    expected = answer["choices"][0]["message"]
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in expected.get("tool_calls", [])]
    message = whole.choices[0].message
    assert (message.content, message.refusal) == (expected["content"], expected["refusal"]), name
    assert [(call.function.name, call.function.arguments) for call in message.tool_calls or []] == calls, name

    text, refusal, said, usage, finish = "", "", {}, None, None
    for chunk in client.chat.completions.create(**request):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            refusal += choice.delta.refusal or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                known = said.setdefault(call.index, ["", ""])
                known[0] += call.function.name or ""
                known[1] += call.function.arguments or ""
    assert (text or None, refusal or None) == (expected["content"], expected["refusal"]), name
    assert [tuple(call) for _, call in sorted(said.items())] == calls, name
    assert finish == answer["choices"][0]["finish_reason"], name
    assert usage.model_dump(exclude_none=True) == whole.usage.model_dump(exclude_none=True), name


# The answers the test has planned come first.
expect(openai.RateLimitError, lambda: client.chat.completions.create(**whole_request(text_request())),
       lambda error: error.response.headers["retry-after"] == "7" and error.code == "rate_limit_exceeded")
expect(openai.APIError, stream_to_end, lambda error: "The server had an error" in str(error))
expect(openai.APIConnectionError, stream_to_end, lambda error: "incomplete" in str(error.__cause__))

for folder in sorted(fixtures.iterdir()):
    request = json.loads((folder / "request.json").read_text())
    answer = json.loads((folder / "answer.json").read_text())
    if folder.name == "embeddings":
        vectors = client.embeddings.create(**request)
        assert [row.embedding for row in vectors.data] == [row["embedding"] for row in answer["data"]]
    else:
        ask(folder.name, request, answer)
