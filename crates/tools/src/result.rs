//! A result as a model may see it: not endless, without secrets, and labelled by where it came from.

use std::collections::BTreeSet;

use munshi_privacy::Scrubber;
use munshi_safety::acts::{ActOutcome, ResultStandIn};
use munshi_safety::pipeline::{ConnectorOrigin, TaintSource};
use munshi_types::ActId;
use serde_json::{Value, json};

use crate::handler::{ToolFailure, ToolOutput, UndoCall};
use crate::registry::Tool;

/// A longer result is cut, and says so.
const LONGEST: usize = 100 * 1024;
/// Why something failed, in letters.
const LONGEST_WORDS: usize = 2_000;
/// Readers of JSON stop at 128 levels, and a result stands within others.
const DEEPEST: usize = 64;

/// What a tool said.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub act: ActId,
    pub value: Value,
    pub label: ResultOrigin,
    pub undo: Option<UndoCall>,
    /// What the read-back found, where it did not agree: to be told, never passed over.
    pub mismatch: Option<String>,
    /// What is stored in its place, where what the tool said is not kept.
    pub stand_in: Option<ResultStandIn>,
    /// Whose words it repeats, besides those of whom the label names.
    pub sources: BTreeSet<TaintSource>,
}

impl Observation {
    /// What the run has read with it.
    pub fn taint_sources(&self) -> BTreeSet<TaintSource> {
        self.sources.iter().copied().chain(self.label.taint_source()).collect()
    }
}

/// Whose words a result is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultOrigin {
    /// Our own tables.
    Own,
    /// Somebody else's: data, never instructions.
    Foreign {
        connector: String,
        /// An operator lets what it attaches be shown beside a reply.
        shows: bool,
    },
}

impl ResultOrigin {
    pub(crate) fn from_tool(tool: &Tool) -> Self {
        match tool.known.connector.origin {
            ConnectorOrigin::BuiltIn => Self::Own,
            ConnectorOrigin::Foreign => {
                let (connector, shows) = (tool.known.connector.name.clone(), tool.known.spec.shows);
                Self::Foreign { connector, shows }
            }
        }
    }

    /// Of what was said by a connector that is not here any more, or brings this tool no longer.
    pub(crate) fn from_connector(connector: &str) -> Self {
        Self::Foreign { connector: connector.to_owned(), shows: false }
    }

    /// Says in what the model gets that it is somebody else's: data, never instructions.
    pub(crate) fn add_source(&self, mut told: Value) -> Value {
        if let Self::Foreign { connector, shows } = self {
            told["source"] = json!({ "untrusted": true, "connector": connector });
            if *shows {
                told["source"]["shows"] = json!(true);
            }
        }
        told
    }

    /// What the run has read with it.
    pub fn taint_source(&self) -> Option<TaintSource> {
        match self {
            Self::Own => None,
            Self::Foreign { .. } => Some(TaintSource::Connector),
        }
    }
}

/// Made fit to be stored and shown. A way back that holds a secret is none.
pub(crate) fn sanitize_output(done: ToolOutput, scrubber: &Scrubber) -> ToolOutput {
    let mut value = done.value;
    sanitize_value(&mut value, scrubber);
    let undo = done.undo.filter(|undo| {
        let mut clean_one = undo.arguments.clone();
        sanitize_value(&mut clean_one, scrubber);
        clean_one == undo.arguments
    });
    ToolOutput { value: truncate_value(value), undo, sources: done.sources }
}

/// A failure, as it is stored and shown. Its code is a word: what else stands there may be anything.
pub(crate) fn to_failed_outcome(failure: ToolFailure, scrubber: &Scrubber) -> ActOutcome {
    let ToolFailure { code, retryable, detail, next, .. } = failure;
    let is_word = (1..=40).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let code = if is_word { code } else { "failed".to_owned() };
    let next = next.and_then(|next| next.sanitize(scrubber)).and_then(|next| serde_json::to_value(next).ok());
    ActOutcome::Failed { code, retryable, detail: sanitize_text(&detail, scrubber), next }
}

/// A tool's own words, without secrets and not endless.
pub(crate) fn sanitize_text(text: &str, scrubber: &Scrubber) -> String {
    sanitize_text_within(text, scrubber, LONGEST_WORDS)
}

pub(crate) fn sanitize_text_within(text: &str, scrubber: &Scrubber, letters: usize) -> String {
    let clean = scrubber.scrub_text(text).replace('\0', "\u{fffd}");
    match clean.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", clean.get(..end).unwrap_or_default()),
        None => clean,
    }
}

/// Without secrets, and without the sign that no column holds.
pub(crate) fn sanitize_value(value: &mut Value, scrubber: &Scrubber) {
    scrubber.scrub_json(value);
    if value.to_string().contains("\\u0000") {
        replace_nul(value);
    }
}

fn replace_nul(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace('\0', "\u{fffd}"),
        Value::Array(items) => items.iter_mut().for_each(replace_nul),
        Value::Object(fields) => {
            for (key, mut item) in std::mem::take(fields) {
                replace_nul(&mut item);
                fields.insert(key.replace('\0', "\u{fffd}"), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(fields) => levels == 0 || fields.values().any(|item| is_deeper(item, levels - 1)),
        _ => false,
    }
}

/// Cut at a letter, with a marker that says how much there was. What is too deep to be read again is text.
fn truncate_value(value: Value) -> Value {
    let text = value.to_string();
    if text.len() <= LONGEST {
        return if is_deeper(&value, DEEPEST) { json!({ "text": text }) } else { value };
    }
    let mut end = LONGEST - 1024;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    json!({ "truncated": true, "bytes": text.len(), "beginning": &text[..end] })
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_and_says_so() {
        let small = json!({ "rows": [1, 2, 3] });
        assert_eq!(truncate_value(small.clone()), small);
        let long = truncate_value(json!({ "text": "क".repeat(100_000) }));
        assert_eq!(long["truncated"], true);
        assert_eq!(long["bytes"], 300_011);
        assert!(long.to_string().len() < LONGEST + 2048);
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        assert!(truncate_value(deep)["text"].is_string());
    }

    #[test]
    fn nothing_a_tool_says_holds_a_secret_or_a_nul() {
        const KEY: &str = "sk-abcdefghijklmnopqrstuvwxyz123456";
        let scrubber = Scrubber::default();
        let undo = UndoCall::new("undo".parse().unwrap(), json!({ "key": KEY }));
        let done = sanitize_output(
            ToolOutput { undo: Some(undo), ..ToolOutput::new(json!({ "a\0": [format!("x\0{KEY}")] })) },
            &scrubber,
        );
        assert_eq!(done.undo, None);
        assert_eq!(done.value, json!({ "a\u{fffd}": ["x\u{fffd}[secret hidden]"] }));
        let ActOutcome::Failed { code, detail, .. } = to_failed_outcome(
            ToolFailure::permanent(KEY, format!("{}{KEY}\0", "long ".repeat(1_000))),
            &scrubber,
        ) else {
            panic!()
        };
        assert_eq!(code, "failed");
        assert!(detail.chars().count() <= LONGEST_WORDS + 1 && !detail.contains(KEY));
    }
}
