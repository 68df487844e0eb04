//! Puts back what tokens stand for: in a reply while it streams, in a whole text, in the arguments of a tool.

use munshi_types::Script;
use serde_json::Value;

use super::pseudonym::{self, PseudonymParse};
use super::pseudonym_table::PseudonymTable;
use super::suffix_joining;

/// A text with its values back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredText {
    pub text: String,
    /// Tokens that stand for nothing in this conversation, left as they are: the model made them up.
    pub unknown: Vec<String>,
}

/// Restores a reply piece by piece. It holds back only what could still be a token.
pub struct PseudonymRestorer<'s> {
    session: &'s PseudonymTable,
    back: RestoreBuffer,
}

/// What a stream holds back, apart from the table that grows meanwhile.
#[derive(Default)]
pub(super) struct RestoreBuffer {
    script: Option<Script>,
    held: String,
    unknown: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    May,
    Never,
}

impl<'s> PseudonymRestorer<'s> {
    /// For a reply whose language is read in a script.
    pub fn new(session: &'s PseudonymTable, script: Script) -> Self {
        Self::with_script(session, Some(script))
    }

    fn with_script(session: &'s PseudonymTable, script: Option<Script>) -> Self {
        Self { session, back: RestoreBuffer { script, ..RestoreBuffer::default() } }
    }

    /// Takes the next piece; gives what is ready.
    pub fn push(&mut self, piece: &str) -> String {
        self.back.push(self.session, piece)
    }

    /// What was held back, and the tokens nobody knows.
    pub fn finish(mut self) -> RestoredText {
        self.back.flush(self.session)
    }
}

impl RestoreBuffer {
    pub(super) fn new(script: Script) -> Self {
        Self { script: Some(script), ..Self::default() }
    }

    pub(super) fn push(&mut self, session: &PseudonymTable, piece: &str) -> String {
        self.held.push_str(piece);
        self.drain_ready(session, More::May)
    }

    /// What was held back and the tokens nobody knew; it can go on with another text.
    pub(super) fn flush(&mut self, session: &PseudonymTable) -> RestoredText {
        let text = self.drain_ready(session, More::Never);
        RestoredText { text, unknown: std::mem::take(&mut self.unknown) }
    }

    fn drain_ready(&mut self, session: &PseudonymTable, more: More) -> String {
        let held = std::mem::take(&mut self.held);
        let mut out = String::with_capacity(held.len());
        let mut at = 0;
        while let Some(rest) = held.get(at..).filter(|rest| !rest.is_empty()) {
            let Some(begin) = rest.find(pseudonym::can_begin) else {
                out.push_str(rest);
                at = held.len();
                break;
            };
            out.push_str(rest.get(..begin).unwrap_or_default());
            at += begin;
            let rest = held.get(at..).unwrap_or_default();
            match pseudonym::parse(rest) {
                PseudonymParse::Unfinished if more == More::May => break,
                // What follows decides how the name is joined to it.
                PseudonymParse::Token { length, .. } if length == rest.len() && more == More::May => break,
                PseudonymParse::Token { kind, place, length } => {
                    let next = rest.get(length..).and_then(|rest| rest.chars().next());
                    let said = rest.get(..length).unwrap_or_default();
                    at += length;
                    if let Some(value) = session.find_value(kind, place, self.script) {
                        // What follows may have been taken into the name.
                        let taken = suffix_joining::push_joined(&mut out, value, next);
                        at += next.filter(|_| taken).map_or(0, char::len_utf8);
                    } else {
                        out.push_str(said);
                        self.unknown.push(said.to_owned());
                    }
                }
                PseudonymParse::Unfinished | PseudonymParse::None => {
                    let letter = rest.chars().next().unwrap_or_default();
                    out.push(letter);
                    at += letter.len_utf8();
                }
            }
        }
        self.held = held.get(at..).unwrap_or_default().to_owned();
        out
    }
}

impl PseudonymTable {
    /// A whole reply with its values back, names in the script of its language where they are known in it.
    pub fn restore(&self, text: &str, script: Script) -> RestoredText {
        restore(PseudonymRestorer::new(self, script), text)
    }

    /// Arguments for a tool with their real values, as they are stored. Keys are never touched. Returns the tokens nobody
    /// knows: a call that has any must not be made.
    pub fn restore_json(&self, value: &mut Value) -> Vec<String> {
        match value {
            Value::String(text) => {
                let restored = restore(PseudonymRestorer::with_script(self, None), text);
                *text = restored.text;
                restored.unknown
            }
            Value::Array(items) => items.iter_mut().flat_map(|item| self.restore_json(item)).collect(),
            Value::Object(fields) => fields.values_mut().flat_map(|item| self.restore_json(item)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
        }
    }
}

fn restore(mut restorer: PseudonymRestorer<'_>, text: &str) -> RestoredText {
    let mut out = restorer.push(text);
    let rest = restorer.finish();
    out.push_str(&rest.text);
    RestoredText { text: out, unknown: rest.unknown }
}
