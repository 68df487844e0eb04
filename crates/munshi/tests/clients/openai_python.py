"""OpenAI's own Python package against a server: python3 openai_python.py URL KEY"""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2])
QUESTION = [{"role": "user", "content": "When do you open?"}]
ANSWER = "We open at nine. Come soon."
WEATHER = [{"role": "user", "content": "What is the weather in Pune?"}]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]


def models():
    assert "counter" in [model.id for model in client.models.list()]
    assert client.models.retrieve("counter").object == "model"


def whole():
    told = client.chat.completions.create(model="counter", messages=QUESTION, temperature=0.3)
    assert told.choices[0].message.content == ANSWER, told
    assert told.choices[0].finish_reason == "stop" and told.object == "chat.completion"
    assert told.usage.prompt_tokens > 0 and told.usage.total_tokens > told.usage.completion_tokens


def streamed():
    stream = client.chat.completions.create(
        model="counter", messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )
    pieces = list(stream)
    assert pieces[0].choices[0].delta.role == "assistant"
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices) == ANSWER
    assert pieces[-2].choices[0].finish_reason == "stop"
    assert pieces[-1].choices == [] and pieces[-1].usage.total_tokens > 0
    with client.chat.completions.stream(model="counter", messages=QUESTION) as helper:
        for _ in helper:
            pass
        assert helper.get_final_completion().choices[0].message.content == ANSWER


def tools():
    told = client.chat.completions.create(model="counter", messages=WEATHER, tools=TOOLS)
    assert told.choices[0].finish_reason == "tool_calls", told
    call = told.choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather" and json.loads(call.function.arguments) == {"city": "Pune"}
    answer = {"role": "tool", "tool_call_id": call.id, "content": json.dumps({"sky": "sunny"})}
    end = client.chat.completions.create(
        model="counter", messages=[*WEATHER, told.choices[0].message, answer], tools=TOOLS
    )
    assert end.choices[0].message.content == "It is sunny in Pune.", end
    assert end.choices[0].finish_reason == "stop"


def streamed_tools():
    with client.chat.completions.stream(model="counter", messages=WEATHER, tools=TOOLS) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    assert "tool_calls.function.arguments.done" in kinds, kinds
    call = final.choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather" and final.choices[0].finish_reason == "tool_calls"
    back = [*WEATHER, {"role": "assistant", "tool_calls": [call.model_dump(include={"id", "type", "function"})]}]
    back.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
    pieces = client.chat.completions.create(model="counter", messages=back, tools=TOOLS, stream=True)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == "It is sunny in Pune."


def remembered():
    """What the client remembers is what the model is told."""
    said = [*QUESTION, {"role": "assistant", "content": ANSWER}, {"role": "user", "content": "count the messages"}]
    told = client.chat.completions.create(model="counter", messages=said)
    assert told.choices[0].message.content == "There are 3 messages.", told
    alone = client.chat.completions.create(model="counter", messages=said[-1:])
    assert alone.choices[0].message.content == "There are 1 messages.", alone


def once():
    raw = client.chat.completions.with_raw_response
    ids = [
        raw.create(model="counter", messages=QUESTION, extra_headers={"Idempotency-Key": "same"}).headers["x-run-id"]
        for _ in range(2)
    ]
    assert ids[0] == ids[1], ids
    answered = raw.create(model="counter", messages=QUESTION)
    assert int(answered.headers["x-ratelimit-remaining-requests"]) > 0


def vectors():
    told = client.embeddings.create(model="counter", input=["rice", "sona masoori rice"])
    plain = client.embeddings.create(model="counter", input="rice", encoding_format="float")
    assert len(told.data) == 2 and len(told.data[0].embedding) == len(plain.data[0].embedding) > 8
    for one, other in zip(told.data[0].embedding, plain.data[0].embedding):
        assert abs(one - other) < 1e-6


def refused(kind, status, code, param, **more):
    request = {"model": "counter", "messages": QUESTION, **more}
    try:
        client.chat.completions.create(**request)
    except kind as error:
        assert (error.status_code, error.code, error.param) == (status, code, param), error
        return
    raise AssertionError(f"{code} was not refused")


def errors():
    refused(openai.NotFoundError, 404, "model_not_found", "model", model="gpt-5")
    refused(openai.BadRequestError, 400, "unsupported_value", "n", n=2)
    refused(openai.BadRequestError, 400, "unsupported_parameter", "stop", stop=["x"])
    picture = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}]
    refused(openai.BadRequestError, 400, "unsupported_content", "messages[0].content[0]", messages=picture)
    try:
        openai.OpenAI(base_url=sys.argv[1], api_key="mk_nobody").models.list()
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key", error
    else:
        raise AssertionError("a key that opens nothing was taken")


for check in [models, whole, streamed, tools, streamed_tools, remembered, once, vectors, errors]:
    check()
