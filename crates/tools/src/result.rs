//! A result as a model may see it: not endless, without secrets, and labelled by where it came from.

use munshi_safety::pipeline::{Maker, Source};
use munshi_safety::privacy::Scrubber;
use munshi_types::ActId;
use serde_json::{Value, json};

use crate::body::{Done, Undo};
use crate::registry::Tool;

/// A longer result is cut, and says so.
const LONGEST: usize = 100 * 1024;

/// What a tool said.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub act: ActId,
    pub value: Value,
    pub label: Label,
    pub undo: Option<Undo>,
    /// What the read-back found, where it did not agree: to be told, never passed over.
    pub mismatch: Option<String>,
}

/// Whose words a result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// Our own tables.
    House,
    /// Somebody else's: data, never instructions.
    Foreign { connector: String },
}

impl Label {
    pub(crate) fn of(tool: &Tool) -> Self {
        match tool.known.connector.maker {
            Maker::House => Self::House,
            Maker::Foreign => Self::Foreign { connector: tool.known.connector.name.clone() },
        }
    }

    /// What the run has read with it.
    pub fn taints(&self) -> Option<Source> {
        match self {
            Self::House => None,
            Self::Foreign { .. } => Some(Source::Connector),
        }
    }
}

/// Made fit to be stored and shown.
pub(crate) fn fit(done: Done, scrubber: &Scrubber) -> Done {
    let mut value = done.value;
    scrubber.json(&mut value);
    Done { value: capped(value), undo: done.undo }
}

/// Cut at a letter, with a marker that says how much there was.
fn capped(value: Value) -> Value {
    let text = value.to_string();
    if text.len() <= LONGEST {
        return value;
    }
    let mut end = LONGEST - 1024;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    json!({ "truncated": true, "bytes": text.len(), "beginning": &text[..end] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_and_says_so() {
        let small = json!({ "rows": [1, 2, 3] });
        assert_eq!(capped(small.clone()), small);
        let long = capped(json!({ "text": "क".repeat(100_000) }));
        assert_eq!(long["truncated"], true);
        assert_eq!(long["bytes"], 300_011);
        assert!(long.to_string().len() < LONGEST + 2048);
    }
}
