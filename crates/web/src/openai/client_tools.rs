//! The client's tools, as a turn takes them.

use munshi_conversations::client_context::{ClientToolChoice, ClientToolSpec};
use munshi_server::json::shorten;
use serde_json::{Value, json};

use super::errors::CompletionRefusal;
use super::request::ClientTool;

/// OpenAI takes as many.
const MOST: usize = 128;
/// All of them together, in bytes: they stand in the prompt.
const LARGEST: usize = 64 * 1024;

pub(crate) fn parse(tools: Vec<ClientTool>) -> Result<Vec<ClientToolSpec>, CompletionRefusal> {
    if tools.len() > MOST {
        return Err(CompletionRefusal::invalid_param(
            "tools",
            format!("Too many tools: {} were sent, the limit is {MOST}.", tools.len()),
        ));
    }
    let mut read: Vec<ClientToolSpec> = Vec::new();
    let mut size = 0;
    for (at, tool) in tools.into_iter().enumerate() {
        let tool = parse_tool(at, tool)?;
        if read.iter().any(|known| known.name == tool.name) {
            let message = format!("Two tools have the name `{}`.", tool.name);
            return Err(CompletionRefusal::invalid_param(format!("tools[{at}].function.name"), message));
        }
        size += tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
        read.push(tool);
    }
    match size > LARGEST {
        true => Err(CompletionRefusal::invalid_param(
            "tools",
            format!("The tools take {size} bytes; the limit is {LARGEST}."),
        )),
        false => Ok(read),
    }
}

fn parse_tool(at: usize, tool: ClientTool) -> Result<ClientToolSpec, CompletionRefusal> {
    let here = |field: &str| format!("tools[{at}].{field}");
    let function = match (tool.kind.as_str(), tool.function) {
        ("function", Some(function)) => function,
        ("function", None) => {
            return Err(CompletionRefusal::invalid_param(here("function"), "The tool has no `function`."));
        }
        (kind, _) => {
            let message = format!("Unsupported tool type `{}`; only `function` is supported.", shorten(kind));
            return Err(CompletionRefusal::unsupported(here("type"), message));
        }
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !(1..=64).contains(&function.name.len()) || !function.name.chars().all(plain) {
        let message = "A tool name must be 1 to 64 letters, digits, underscores or dashes.";
        return Err(CompletionRefusal::invalid_param(here("function.name"), message));
    }
    let parameters = match function.parameters {
        None | Some(Value::Null) => json!({ "type": "object", "properties": {} }),
        Some(schema) if schema["type"] == "object" => schema,
        Some(_) => {
            let message = "Tool parameters must be a JSON Schema of type `object`.";
            return Err(CompletionRefusal::invalid_param(here("function.parameters"), message));
        }
    };
    let description = function.description.unwrap_or_default();
    Ok(ClientToolSpec { name: function.name, alias: None, description, parameters })
}

pub(crate) fn parse_choice(
    wanted: Option<&Value>,
    tools: &[ClientToolSpec],
) -> Result<ClientToolChoice, CompletionRefusal> {
    let choice = match wanted {
        None | Some(Value::Null) => ClientToolChoice::Auto,
        Some(Value::String(word)) => match word.as_str() {
            "auto" => ClientToolChoice::Auto,
            "none" => ClientToolChoice::None,
            "required" => ClientToolChoice::Any,
            other => {
                let message =
                    format!("Invalid tool choice `{}`: use auto, none, required or a tool.", shorten(other));
                return Err(CompletionRefusal::invalid_param("tool_choice", message));
            }
        },
        Some(named) => match named["function"]["name"].as_str().filter(|_| named["type"] == "function") {
            Some(name) if tools.iter().any(|tool| tool.name == name) => {
                ClientToolChoice::Named(name.to_owned())
            }
            Some(name) => {
                let message = format!("`{}` is not one of `tools`.", shorten(name));
                return Err(CompletionRefusal::invalid_param("tool_choice", message));
            }
            None => {
                let message = "Name a tool as {\"type\":\"function\",\"function\":{\"name\":…}}.";
                return Err(CompletionRefusal::invalid_param("tool_choice", message));
            }
        },
    };
    match (&choice, tools.is_empty()) {
        (ClientToolChoice::Any, true) => {
            Err(CompletionRefusal::invalid_param("tool_choice", "`tool_choice` requires `tools`."))
        }
        _ => Ok(choice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tools: Value) -> Result<Vec<ClientToolSpec>, CompletionRefusal> {
        parse(serde_json::from_value(tools).unwrap())
    }

    #[test]
    fn a_tool_that_does_not_fit_is_told_by_its_place() {
        let named = |name: &str| json!({ "type": "function", "function": { "name": name } });
        let good = read(json!([named("get_weather"), named("get-weather")])).unwrap();
        assert_eq!(good[0].parameters["type"], "object");
        for (bad, place) in [
            (json!([named("a"), named("a")]), "tools[1].function.name"),
            (json!([named("no such name")]), "tools[0].function.name"),
            (json!([{ "type": "custom" }]), "tools[0].type"),
            (json!([{ "type": "function" }]), "tools[0].function"),
            (
                json!([{ "type": "function", "function": { "name": "a", "parameters": [] } }]),
                "tools[0].function.parameters",
            ),
        ] {
            assert_eq!(read(bad).unwrap_err().body().error.param.as_deref(), Some(place));
        }
        let many: Vec<Value> = (0..=MOST).map(|at| named(&format!("t{at}"))).collect();
        assert!(read(json!(many)).is_err());
    }

    #[test]
    fn a_choice_is_one_of_what_there_is() {
        let tools = read(json!([{ "type": "function", "function": { "name": "a" } }])).unwrap();
        let named = |name: &str| json!({ "type": "function", "function": { "name": name } });
        assert_eq!(parse_choice(Some(&named("a")), &tools).unwrap(), ClientToolChoice::Named("a".to_owned()));
        assert_eq!(parse_choice(Some(&json!("required")), &tools).unwrap(), ClientToolChoice::Any);
        assert!(parse_choice(Some(&named("b")), &tools).is_err());
        assert!(
            parse_choice(Some(&json!("required")), &[]).is_err()
                && parse_choice(Some(&json!("x")), &tools).is_err()
        );
    }
}
