//! A tier's word that a rule holds for it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A shipped rule that a tier takes on: its id, and what may be set about it. Written as `"no-discount"`, or with
/// parameters as `{ id = "price-cooldown", turns = 4 }`. What ids there are is for those who check replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct GuardrailRef {
    pub id: String,
    pub parameters: Map<String, Value>,
}

/// Both ways to write one.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Id(String),
    Table {
        id: String,
        #[serde(flatten)]
        parameters: Map<String, Value>,
    },
}

impl GuardrailRef {
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), parameters: Map::new() }
    }
}

impl From<Written> for GuardrailRef {
    fn from(written: Written) -> Self {
        match written {
            Written::Id(id) => Self { id, parameters: Map::new() },
            Written::Table { id, parameters } => Self { id, parameters },
        }
    }
}

impl From<GuardrailRef> for Written {
    fn from(GuardrailRef { id, parameters }: GuardrailRef) -> Self {
        if parameters.is_empty() { Self::Id(id) } else { Self::Table { id, parameters } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_ways_of_writing_one_read_back() {
        let both = json!(["no-discount", { "id": "price-cooldown", "turns": 4 }]);
        let read: Vec<GuardrailRef> = serde_json::from_value(both.clone()).unwrap();
        assert_eq!(read[0], GuardrailRef::new("no-discount"));
        assert_eq!(read[1].parameters["turns"], 4);
        assert_eq!(serde_json::to_value(&read).unwrap(), both);
    }
}
