//! What a program sent, and its tools as models know them.

use std::sync::Arc;

use munshi_llm::chat::ToolChoice;
use munshi_privacy::find_aadhaar;
use munshi_types::{ToolName, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What stands for a value that is not kept.
const WITHHELD: &str = "(withheld)";
/// So many tools may be called alike.
const MOST_ALIKE: usize = 1_000;

/// All that a program sent beside the message itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientContext {
    /// What the program's makers tell: to the model it is data, and no instruction stands above the tiers.
    pub notes: Vec<String>,
    /// Before the message, the oldest first.
    pub history: Vec<ClientHistoryItem>,
    /// The person's last words, where the message itself is answers of tools.
    pub words: Option<String>,
    /// What was asked of the program's tools since those words, and what they answered.
    pub since: Vec<ClientCallRound>,
    pub tools: Vec<ClientToolSpec>,
    pub choice: ClientToolChoice,
    /// At most so many tokens are wanted in one answer of a model.
    pub most_output: Option<u32>,
}

/// Something in a program's conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum ClientHistoryItem {
    Person {
        text: String,
    },
    Persona {
        text: String,
    },
    /// A call of one of the program's tools, with its answer.
    Tool {
        tool: String,
        arguments: Value,
        answer: String,
    },
}

/// One message of the model that called tools of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCallRound {
    pub said: String,
    pub calls: Vec<ClientCallResult>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientCallResult {
    /// As it was handed out.
    pub id: String,
    pub tool: String,
    pub arguments: Value,
    pub answer: String,
}

/// A tool of the program: the model may ask for it, the program does it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientToolSpec {
    /// As the program calls it.
    pub name: String,
    /// As models know it: a name that all of them accept and no tool of the house has. Given when the message comes in.
    #[serde(default)]
    pub alias: Option<ToolName>,
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: Value,
}

/// Whether a tool is to be called first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientToolChoice {
    #[default]
    Auto,
    None,
    Any,
    Named(String),
}

impl ClientContext {
    /// Names the tools for models, and leaves out what is never kept.
    pub fn prepare(mut self, is_ours: impl Fn(&ToolName) -> bool) -> Self {
        let mut given: Vec<ToolName> = Vec::new();
        for tool in &mut self.tools {
            tool.alias = alias(&tool.name, |name| is_ours(name) || given.contains(name));
            given.extend(tool.alias.clone());
        }
        self.history.retain(|line| match line {
            ClientHistoryItem::Person { text } | ClientHistoryItem::Persona { text } => can_store(text),
            ClientHistoryItem::Tool { .. } => true,
        });
        self.notes.retain(|note| can_store(note));
        let of_history = self.history.iter_mut().filter_map(|line| match line {
            ClientHistoryItem::Tool { answer, .. } => Some(answer),
            ClientHistoryItem::Person { .. } | ClientHistoryItem::Persona { .. } => None,
        });
        let of_since = self.since.iter_mut().flat_map(|asked| &mut asked.calls).map(|call| &mut call.answer);
        for answer in of_history.chain(of_since).filter(|answer| !can_store(answer)) {
            WITHHELD.clone_into(answer);
        }
        self
    }

    /// Whether something that may never be taken stands in the words that are answered.
    pub fn is_refused(&self) -> bool {
        self.words.as_deref().is_some_and(|words| !can_store(words))
    }

    pub fn find_by_alias(&self, alias: &str) -> Option<&ClientToolSpec> {
        let is = |tool: &&ClientToolSpec| tool.alias.as_ref().is_some_and(|known| known.as_str() == alias);
        self.tools.iter().find(is)
    }

    /// As they stand in a request to a model; none where the program wants none called.
    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        if self.choice == ClientToolChoice::None {
            return Vec::new();
        }
        self.tools.iter().filter_map(ClientToolSpec::spec).map(Arc::new).collect()
    }

    pub fn tool_choice(&self) -> ToolChoice {
        match &self.choice {
            ClientToolChoice::Auto | ClientToolChoice::None => ToolChoice::Auto,
            ClientToolChoice::Any => ToolChoice::Any,
            ClientToolChoice::Named(name) => {
                let named = self.tools.iter().find(|tool| tool.name == *name);
                let alias = named.and_then(|tool| tool.alias.as_ref());
                alias.map_or(ToolChoice::Auto, |alias| ToolChoice::Named(alias.to_string()))
            }
        }
    }
}

impl ClientToolSpec {
    fn spec(&self) -> Option<ToolSpec> {
        let read = ToolSpec::read_only(self.alias.clone()?, self.description.as_str(), "client.tool");
        Some(ToolSpec { parameters: self.parameters.clone(), ..read })
    }
}

fn can_store(text: &str) -> bool {
    find_aadhaar(text).is_none()
}

/// A name as every provider accepts it, as close to the program's own as can be.
fn alias(name: &str, is_taken: impl Fn(&ToolName) -> bool) -> Option<ToolName> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let small: String = name.chars().map(plain).take(56).collect();
    let small = if small.starts_with(|c: char| c.is_ascii_lowercase()) { small } else { format!("x{small}") };
    let numbered = (2..).map(|number| format!("{small}_{number}"));
    let mut names = std::iter::once(small.clone()).chain(numbered).take(MOST_ALIKE);
    names.find_map(|name| name.parse::<ToolName>().ok().filter(|name| !is_taken(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> ClientToolSpec {
        let (name, description) = (name.to_owned(), String::new());
        ClientToolSpec { name, alias: None, description, parameters: json!({ "type": "object" }) }
    }

    #[test]
    fn every_tool_gets_a_name_of_its_own() {
        let own: ToolName = "log_sale".parse().unwrap();
        let tools = ["log_sale", "getWeather", "get-weather", "get_weather", "9x", "ü"];
        let client_context = ClientContext { tools: tools.map(tool).to_vec(), ..ClientContext::default() }
            .prepare(|name| *name == own);
        let names: Vec<&str> =
            client_context.tools.iter().map(|tool| tool.alias.as_ref().unwrap().as_str()).collect();
        assert_eq!(names, ["log_sale_2", "getweather", "get_weather", "get_weather_2", "x9x", "x_"]);
        assert_eq!(client_context.find_by_alias("get_weather").unwrap().name, "get-weather");
        let named = ClientContext {
            choice: ClientToolChoice::Named("getWeather".to_owned()),
            ..client_context.clone()
        };
        assert_eq!(named.tool_choice(), ToolChoice::Named("getweather".to_owned()));
        assert!(ClientContext { choice: ClientToolChoice::None, ..client_context }.specs().is_empty());
    }

    #[test]
    fn what_is_never_kept_is_not_kept_in_a_history_either() {
        // A number that passes the check digit.
        let number = "2345 6789 0124";
        assert!(!can_store(number), "the test needs a number that is refused");
        let client_context = ClientContext {
            notes: vec![format!("their card is {number}")],
            history: vec![
                ClientHistoryItem::Person { text: number.to_owned() },
                ClientHistoryItem::Persona { text: "No, please.".to_owned() },
                ClientHistoryItem::Tool {
                    tool: "read".to_owned(),
                    arguments: json!({}),
                    answer: number.to_owned(),
                },
            ],
            words: Some(number.to_owned()),
            ..ClientContext::default()
        };
        assert!(client_context.is_refused());
        let kept = client_context.prepare(|_| false);
        assert!(kept.notes.is_empty());
        assert_eq!(kept.history.len(), 2);
        assert!(matches!(&kept.history[1], ClientHistoryItem::Tool { answer, .. } if answer == WITHHELD));
    }
}
