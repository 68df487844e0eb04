//! The tool by which a conversation is handed on, for teams that may: its destinations are theirs and no others.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use munshi_types::tier::{Destination, Team};
use munshi_types::word_list::{WordListLine, read_lines};
use munshi_types::{HAND_OVER, Language, ToolName, ToolNameError, ToolSpec};
use serde_json::{Value, json};

use crate::precedence;

const ABOUT: &str = "Hands this conversation to one of those under “Handing over”, when what stands there is so. They read \
                     what you write here, and go on in this same conversation.";

/// What people say for it, and what they call a person.
#[derive(Default)]
struct HandOverPhrases {
    phrases: BTreeMap<Language, Vec<String>>,
    person: Vec<String>,
}

static SAID: LazyLock<HandOverPhrases> = LazyLock::new(|| {
    let mut said = HandOverPhrases::default();
    for WordListLine { text, .. } in read_lines(include_str!("hand_over_phrases.txt")) {
        let Some((head, rest)) = text.split_once(" = ") else { continue };
        match head.parse::<Language>() {
            Ok(language) => {
                said.phrases.insert(language, rest.split("; ").map(ToOwned::to_owned).collect());
            }
            Err(_) => said.person.extend(rest.split(", ").map(ToOwned::to_owned)),
        }
    }
    said
});

/// What people call each destination, beside its own name.
fn build_words(ways: &[&Destination]) -> Value {
    let words = |way: &&Destination| match way {
        Destination::Person => json!(SAID.person),
        other => {
            let name = other.to_string();
            json!([name.rsplit('/').next().unwrap_or_default().replace('-', " ")])
        }
    };
    ways.iter().map(|way| (way.to_string(), words(way))).collect::<serde_json::Map<_, _>>().into()
}

/// None for a team that has nobody to hand over to.
pub(super) fn build_hand_over_tool(team: &Team) -> Option<ToolSpec> {
    let destinations = precedence::list_destinations(team);
    let ways: Vec<String> = destinations.iter().map(ToString::to_string).collect();
    if ways.is_empty() {
        return None;
    }
    let words = build_words(&destinations);
    let name: Result<ToolName, ToolNameError> = HAND_OVER.parse();
    let parameters = json!({
        "type": "object",
        "properties": {
            "to": { "type": "string", "enum": ways, "words": words },
            "reason": { "type": "string", "maxLength": 300 },
            "summary": {
                "type": "string", "format": "text", "maxLength": 1500, "description": "What they want, and what was said and done."
            },
            "open_questions": { "type": "array", "maxItems": 10, "items": { "type": "string" } }
        },
        "required": ["to", "reason", "summary"],
        "additionalProperties": false
    });
    let spec = ToolSpec::read_only(name.ok()?, ABOUT, "house.conversation.hand_over");
    let (phrases, reply) = (SAID.phrases.clone(), Some("handed-on".to_owned()));
    Some(ToolSpec { parameters, phrases, reply, ..spec })
}
