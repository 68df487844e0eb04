//! Checks JSON values against a JSON Schema that may come from anybody.
//!
//! A schema is compiled once. Compiling refuses whatever could not be checked whole: an assertion keyword that is not
//! supported, a reference that leads elsewhere or round in a circle, a pattern that a linear engine can't match. So a
//! value that passes has passed every assertion its schema makes. Checking is bounded in steps: a value that would take
//! more is refused, never passed.
//!
//! Supported is draft 2020-12 without `$dynamicRef`, anchors and the `unevaluated…` keywords, with the older spellings
//! of the same ideas (`definitions`, `dependencies`, `items` as a list, boolean `exclusiveMinimum`). Formats that the
//! specification names and that are checked stand in [`format`]; any other format is a note to readers.
//!
//! # Layout
//! - [`compile`]: from the document to nodes
//! - [`check`]: a value against the nodes, with a budget of steps
//! - [`keywords`]: assertions that are refused because they can't be checked
//! - [`pattern`]: patterns as JSON Schema writes them, for a linear engine
//! - [`number`]: equality, bounds and multiples without rounding
//!
//! # To add a keyword
//! Give it an [`Assertion`](node::Assertion), read it in `compile/`, check it in `check.rs`, take it from the list in
//! `keywords.rs` if it stands there, and let the differential test in `soak/` draw it.

mod check;
mod compile;
mod format;
mod keywords;
mod node;
mod number;
mod pattern;

pub use check::SchemaViolation;
pub use compile::SchemaError;

use node::Node;
use serde_json::Value;

/// A schema made ready.
#[derive(Debug)]
pub struct Schema {
    nodes: Vec<Node>,
    root: usize,
}

impl Schema {
    /// Reads a schema, or says what in it can't be checked.
    pub fn compile(document: &Value) -> Result<Self, SchemaError> {
        compile::compile(document).map(|(nodes, root)| Self { nodes, root })
    }

    pub fn is_valid(&self, value: &Value) -> bool {
        self.find_violations(value, 1).is_empty()
    }

    /// What does not fit, at most so many; never with the values themselves.
    pub fn find_violations(&self, value: &Value, most: usize) -> Vec<SchemaViolation> {
        check::find_violations(&self.nodes, self.root, value, most)
    }
}
