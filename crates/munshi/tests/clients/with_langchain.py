"""LangChain's OpenAI package against a server: python3 with_langchain.py URL KEY"""

import sys

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

model = ChatOpenAI(base_url=sys.argv[1], api_key=sys.argv[2], model="counter", temperature=0)
ANSWER = "We open at nine. Come soon."


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def whole():
    told = model.invoke([SystemMessage("Be kind."), HumanMessage("When do you open?")])
    assert told.content == ANSWER and told.usage_metadata["total_tokens"] > 0, told


def streamed():
    pieces = list(model.stream("When do you open?"))
    assert "".join(piece.text for piece in pieces) == ANSWER, pieces


def tools():
    bound = model.bind_tools([get_weather])
    said = [HumanMessage("What is the weather in Pune?")]
    told = bound.invoke(said)
    assert [call["name"] for call in told.tool_calls] == ["get_weather"], told
    answers = [ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]) for call in told.tool_calls]
    end = bound.invoke([*said, told, *answers])
    assert end.content == "It is sunny in Pune." and not end.tool_calls, end


def streamed_tools():
    bound = model.bind_tools([get_weather])
    whole = None
    for piece in bound.stream("What is the weather in Pune?"):
        whole = piece if whole is None else whole + piece
    assert whole.tool_calls[0]["args"] == {"city": "Pune"}, whole


def remembered():
    said = [HumanMessage("hi"), AIMessage("hello"), HumanMessage("count the messages")]
    assert model.invoke(said).content == "There are 3 messages."


def vectors():
    made = OpenAIEmbeddings(
        base_url=sys.argv[1], api_key=sys.argv[2], model="counter", check_embedding_ctx_length=False
    )
    assert len(made.embed_query("rice")) == len(made.embed_documents(["rice", "sugar"])[1]) > 8


for check in [whole, streamed, tools, streamed_tools, remembered, vectors]:
    check()
