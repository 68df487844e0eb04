//! The client's tools, as a turn takes them.

use munshi_agent::brought::{ClientToolChoice, ClientToolSpec};
use serde_json::{Value, json};

use super::form::CompletionRefusal;
use super::request::ClientTool;
use crate::json::shorten;

/// OpenAI takes as many.
const MOST: usize = 128;
/// All of them together, in bytes: they stand in the prompt.
const LARGEST: usize = 64 * 1024;

pub(crate) fn offered(tools: Vec<ClientTool>) -> Result<Vec<ClientToolSpec>, CompletionRefusal> {
    if tools.len() > MOST {
        return Err(CompletionRefusal::at(
            "tools",
            format!("{} tools are too many: {MOST} are the most.", tools.len()),
        ));
    }
    let mut read: Vec<ClientToolSpec> = Vec::new();
    let mut size = 0;
    for (at, tool) in tools.into_iter().enumerate() {
        let tool = one(at, tool)?;
        if read.iter().any(|known| known.name == tool.name) {
            let message = format!("Two tools are called `{}`.", tool.name);
            return Err(CompletionRefusal::at(format!("tools[{at}].function.name"), message));
        }
        size += tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
        read.push(tool);
    }
    match size > LARGEST {
        true => Err(CompletionRefusal::at(
            "tools",
            format!("The tools take {size} bytes: {LARGEST} are the most."),
        )),
        false => Ok(read),
    }
}

fn one(at: usize, tool: ClientTool) -> Result<ClientToolSpec, CompletionRefusal> {
    let here = |field: &str| format!("tools[{at}].{field}");
    let function = match (tool.kind.as_str(), tool.function) {
        ("function", Some(function)) => function,
        ("function", None) => {
            return Err(CompletionRefusal::at(here("function"), "The tool has no `function`."));
        }
        (kind, _) => {
            let message = format!("Only tools of the type `function` are known, not `{}`.", shorten(kind));
            return Err(CompletionRefusal::unsupported(here("type"), message));
        }
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !(1..=64).contains(&function.name.len()) || !function.name.chars().all(plain) {
        let message = "A tool's name has 1 to 64 letters, digits, underscores and dashes.";
        return Err(CompletionRefusal::at(here("function.name"), message));
    }
    let parameters = match function.parameters {
        None | Some(Value::Null) => json!({ "type": "object", "properties": {} }),
        Some(schema) if schema["type"] == "object" => schema,
        Some(_) => {
            let message = "A tool's parameters are a JSON Schema of `type` object.";
            return Err(CompletionRefusal::at(here("function.parameters"), message));
        }
    };
    let description = function.description.unwrap_or_default();
    Ok(ClientToolSpec { name: function.name, alias: None, description, parameters })
}

pub(crate) fn choice(
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
                let message = format!("`{}` is no choice: auto, none, required, or a tool.", shorten(other));
                return Err(CompletionRefusal::at("tool_choice", message));
            }
        },
        Some(named) => match named["function"]["name"].as_str().filter(|_| named["type"] == "function") {
            Some(name) if tools.iter().any(|tool| tool.name == name) => {
                ClientToolChoice::Named(name.to_owned())
            }
            Some(name) => {
                let message = format!("`{}` is not among the tools.", shorten(name));
                return Err(CompletionRefusal::at("tool_choice", message));
            }
            None => {
                let message = "Name a tool as {\"type\":\"function\",\"function\":{\"name\":…}}.";
                return Err(CompletionRefusal::at("tool_choice", message));
            }
        },
    };
    match (&choice, tools.is_empty()) {
        (ClientToolChoice::Any, true) => {
            Err(CompletionRefusal::at("tool_choice", "`tool_choice` is only for `tools`."))
        }
        _ => Ok(choice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tools: Value) -> Result<Vec<ClientToolSpec>, CompletionRefusal> {
        offered(serde_json::from_value(tools).unwrap())
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
        assert_eq!(choice(Some(&named("a")), &tools).unwrap(), ClientToolChoice::Named("a".to_owned()));
        assert_eq!(choice(Some(&json!("required")), &tools).unwrap(), ClientToolChoice::Any);
        assert!(choice(Some(&named("b")), &tools).is_err());
        assert!(choice(Some(&json!("required")), &[]).is_err() && choice(Some(&json!("x")), &tools).is_err());
    }
}
