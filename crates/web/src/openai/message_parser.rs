//! Messages become a turn: the last words of the user are said, or the answers of tools go on with it; everything before
//! is the context of that turn.

use std::collections::HashMap;

use munshi_conversations::client_context::{
    ClientCallResult, ClientCallRound, ClientContext, ClientHistoryItem,
};
use munshi_server::json::shorten;
use serde_json::Value;

use super::errors::CompletionRefusal;
use super::request::{ChatLine, ChatLineContent, ClientCall};

/// So many messages are read.
const MOST: usize = 2_000;

/// What is said in the turn.
#[derive(Debug, PartialEq)]
pub(crate) enum CompletionTurn {
    Words(String),
    /// Tools of the client have answered; which, by the ids of their calls.
    Answers(Vec<String>),
}

#[derive(Debug)]
enum Item {
    Note(String),
    Person(String),
    Persona(String, Vec<ClientCall>),
    Tool(String, String),
}

pub(crate) fn parse(lines: Vec<ChatLine>) -> Result<(CompletionTurn, ClientContext), CompletionRefusal> {
    if lines.len() > MOST {
        let message = format!("Too many messages: {} were sent, the limit is {MOST}.", lines.len());
        return Err(CompletionRefusal::invalid_param("messages", message));
    }
    let items = lines
        .into_iter()
        .enumerate()
        .map(|(at, line)| parse_item(at, line))
        .collect::<Result<Vec<_>, _>>()?;
    let answers = collect_answers(&items)?;
    let Some(last) = items.iter().rposition(|item| matches!(item, Item::Person(_))) else {
        return Err(CompletionRefusal::invalid_param("messages", "No message has the role `user`."));
    };
    let mut brought = ClientContext::default();
    let (mut said, mut spoke_last) = (String::new(), false);
    for (at, item) in items.into_iter().enumerate() {
        spoke_last = matches!(item, Item::Persona(..));
        match item {
            Item::Note(text) => brought.notes.push(text),
            Item::Person(text) if at == last => said = text,
            Item::Person(text) => brought.history.push(ClientHistoryItem::Person { text }),
            Item::Persona(text, calls) if at < last => {
                if !text.trim().is_empty() {
                    brought.history.push(ClientHistoryItem::Persona { text });
                }
                brought.history.extend(calls.iter().filter_map(|call| to_history_item(call, &answers)));
            }
            Item::Persona(text, calls) => brought.since.push(build_round(at, text, calls, &answers)?),
            Item::Tool(..) => {}
        }
    }
    if spoke_last {
        let message = "The last message has the role `assistant`; end with a `user` or `tool` message.";
        return Err(CompletionRefusal::invalid_param("messages", message));
    }
    let Some(asked) = brought.since.last() else { return Ok((CompletionTurn::Words(said), brought)) };
    let ids = asked.calls.iter().map(|call| call.id.clone()).collect();
    brought.words = Some(said);
    Ok((CompletionTurn::Answers(ids), brought))
}

fn parse_item(at: usize, line: ChatLine) -> Result<Item, CompletionRefusal> {
    let text = join_text(at, line.content)?;
    Ok(match line.role.as_str() {
        "system" | "developer" => Item::Note(text),
        "user" => Item::Person(text),
        "assistant" => Item::Persona(text, line.tool_calls.unwrap_or_default()),
        "tool" => match line.tool_call_id {
            Some(id) => Item::Tool(id, text),
            None => {
                let message = "A `tool` message requires `tool_call_id`.";
                return Err(CompletionRefusal::invalid_param(
                    format!("messages[{at}].tool_call_id"),
                    message,
                ));
            }
        },
        role => {
            let message =
                format!("Unknown role `{}`: use system, developer, user, assistant or tool.", shorten(role));
            return Err(CompletionRefusal::invalid_param(format!("messages[{at}].role"), message));
        }
    })
}

/// Parts of text are one text. A binding sees no pictures and hears no sound yet.
fn join_text(at: usize, content: Option<ChatLineContent>) -> Result<String, CompletionRefusal> {
    let parts = match content {
        None => return Ok(String::new()),
        Some(ChatLineContent::Text(text)) => return Ok(text),
        Some(ChatLineContent::Parts(parts)) => parts,
    };
    let mut texts = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let kind = part["type"].as_str().unwrap_or_default();
        let field = if kind == "refusal" { "refusal" } else { "text" };
        match part[field].as_str().filter(|_| matches!(kind, "text" | "refusal")) {
            Some(text) => texts.push(text),
            None => {
                let message = format!(
                    "Unsupported content part `{}`; only text is supported. Describe its content in words.",
                    shorten(kind)
                );
                let place = format!("messages[{at}].content[{number}]");
                return Err(CompletionRefusal::unsupported(place, message).code("unsupported_content"));
            }
        }
    }
    Ok(texts.join("\n"))
}

/// Every answer of a tool, by the call it belongs to.
fn collect_answers(items: &[Item]) -> Result<HashMap<String, String>, CompletionRefusal> {
    let mut asked: Vec<&str> = Vec::new();
    let mut answers = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        match item {
            Item::Persona(_, calls) => asked.extend(calls.iter().map(|call| call.id.as_str())),
            Item::Tool(id, text) if asked.contains(&id.as_str()) => {
                answers.insert(id.clone(), text.clone());
            }
            Item::Tool(id, _) => {
                let message = format!("No earlier `assistant` message has a tool call `{}`.", shorten(id));
                return Err(CompletionRefusal::invalid_param(
                    format!("messages[{at}].tool_call_id"),
                    message,
                ));
            }
            Item::Note(_) | Item::Person(_) => {}
        }
    }
    Ok(answers)
}

/// A call that has been answered long since; one that never was is nothing to know.
fn to_history_item(call: &ClientCall, answers: &HashMap<String, String>) -> Option<ClientHistoryItem> {
    let answer = answers.get(&call.id)?.clone();
    Some(ClientHistoryItem::Tool {
        tool: call.function.name.clone(),
        arguments: parse_arguments(call),
        answer,
    })
}

fn build_round(
    at: usize,
    said: String,
    calls: Vec<ClientCall>,
    answers: &HashMap<String, String>,
) -> Result<ClientCallRound, CompletionRefusal> {
    let answered = calls.into_iter().map(|call| match answers.get(&call.id) {
        Some(answer) => {
            let (arguments, answer) = (parse_arguments(&call), answer.clone());
            Ok(ClientCallResult { id: call.id, tool: call.function.name, arguments, answer })
        }
        None => {
            let message = format!(
                "The tool call `{}` has no result; add a `tool` message after it.",
                shorten(&call.id)
            );
            Err(CompletionRefusal::invalid_param(format!("messages[{at}].tool_calls"), message))
        }
    });
    Ok(ClientCallRound { said, calls: answered.collect::<Result<_, _>>()? })
}

fn parse_arguments(call: &ClientCall) -> Value {
    let text = &call.function.arguments;
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turn(messages: Value) -> Result<(CompletionTurn, ClientContext), CompletionRefusal> {
        parse(serde_json::from_value(messages).unwrap())
    }

    fn place(messages: Value) -> String {
        turn(messages).unwrap_err().body().error.param.unwrap()
    }

    fn call(id: &str) -> Value {
        json!({ "id": id, "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"Pune\"}" } })
    }

    #[test]
    fn the_last_words_are_the_turn_and_the_rest_is_context() {
        let (said, brought) = turn(json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "hi" },
            { "role": "assistant", "content": "Namaste" },
            { "role": "user", "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }] },
        ]))
        .unwrap();
        assert_eq!(said, CompletionTurn::Words("one\ntwo".to_owned()));
        assert_eq!(brought.notes, ["Be brief."]);
        assert_eq!(brought.history.len(), 2);
        assert_eq!((brought.words, brought.since), (None, Vec::new()));
    }

    #[test]
    fn answers_of_tools_go_on_with_the_last_words() {
        let (said, brought) = turn(json!([
            { "role": "user", "content": "weather?" },
            { "role": "assistant", "content": null, "tool_calls": [call("a")] },
            { "role": "tool", "tool_call_id": "a", "content": "rain" },
            { "role": "user", "content": "and there?" },
            { "role": "assistant", "content": "Let me see.", "tool_calls": [call("b"), call("c")] },
            { "role": "tool", "tool_call_id": "c", "content": "sun" },
            { "role": "tool", "tool_call_id": "b", "content": "fog" },
        ]))
        .unwrap();
        assert_eq!(said, CompletionTurn::Answers(vec!["b".to_owned(), "c".to_owned()]));
        assert_eq!(brought.words.as_deref(), Some("and there?"));
        assert!(matches!(&brought.history[1], ClientHistoryItem::Tool { answer, .. } if answer == "rain"));
        assert_eq!(brought.since[0].calls[0].answer, "fog");
        assert_eq!(brought.since[0].calls[0].arguments, json!({ "city": "Pune" }));
    }

    #[test]
    fn what_can_t_be_a_turn_is_told_by_its_place() {
        let user = || json!({ "role": "user", "content": "x" });
        assert_eq!(place(json!([])), "messages");
        assert_eq!(place(json!([user(), { "role": "assistant", "content": "y" }])), "messages");
        assert_eq!(place(json!([{ "role": "wizard" }])), "messages[0].role");
        let asked = || json!({ "role": "assistant", "tool_calls": [call("a"), call("b")] });
        let answer = json!({ "role": "tool", "tool_call_id": "a", "content": "x" });
        assert_eq!(place(json!([user(), asked(), answer])), "messages[1].tool_calls");
        assert_eq!(
            place(json!([user(), { "role": "tool", "tool_call_id": "z" }])),
            "messages[1].tool_call_id"
        );
        assert_eq!(place(json!([user(), { "role": "tool" }])), "messages[1].tool_call_id");
        let picture = json!([{ "type": "text", "text": "see" }, { "type": "image_url", "image_url": {} }]);
        assert_eq!(place(json!([{ "role": "user", "content": picture }])), "messages[0].content[1]");
    }
}
