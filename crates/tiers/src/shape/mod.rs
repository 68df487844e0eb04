//! What may be written in a tier's file, said once.
//!
//! From these tables come the check that names every slip with its place, the writer's order of keys, the schemas for
//! editors and the reference in the docs.
//!
//! # Layout
//! - `human`, `team`, `agent`, `binding`: the tables, one file each; `word_forms`: words that must have a form
//! - `check`: a parsed file against its table; `toml_writer`: a body as TOML; `schema`, `reference`: for editors and people
//!
//! To add a key, add it to the type in `munshi-types` and a line to its table here; a test holds the two together.

mod agent;
mod binding;
mod check;
mod human;
mod reference;
mod schema;
mod team;
mod toml_writer;
pub(crate) mod word_forms;

use munshi_types::tier::TierKind;

pub(crate) use check::{CheckedFile, ValuePositions, check};
pub use reference::render_reference;
pub use schema::build_schema;
pub(crate) use toml_writer::render_toml;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueShape {
    /// Text of any length.
    Text,
    /// Text that has a form.
    Word(&'static WordForm),
    /// A whole number, both ends included.
    Number {
        least: i64,
        most: i64,
    },
    Flag,
    Choice(&'static [&'static str]),
    List(&'static ValueShape),
    Table(&'static [TierField]),
    /// Keys of the author's choice, all with values of one shape.
    Map {
        keys: &'static WordForm,
        values: &'static ValueShape,
    },
    /// A rule's id, or a table with the id and the rule's parameters.
    Guardrail,
    /// A table that somebody else reads.
    Free,
}

/// The form of a word: how it is checked, and brought to its one spelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordForm {
    /// As it ends the sentence "write …".
    pub(crate) expects: &'static str,
    /// For editors; none where a pattern can't say it.
    pub(crate) pattern: Option<&'static str>,
    pub(crate) read: fn(&str) -> Result<String, String>,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TierField {
    pub(crate) name: &'static str,
    pub(crate) shape: ValueShape,
    pub(crate) needed: FieldRequirement,
    pub(crate) doc: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldRequirement {
    Always,
    No,
}

const fn required(name: &'static str, shape: ValueShape, doc: &'static str) -> TierField {
    TierField { name, shape, needed: FieldRequirement::Always, doc }
}

const fn optional(name: &'static str, shape: ValueShape, doc: &'static str) -> TierField {
    TierField { name, shape, needed: FieldRequirement::No, doc }
}

/// The keys of a kind of tier.
pub(crate) const fn fields(kind: TierKind) -> &'static [TierField] {
    match kind {
        TierKind::Human => human::FIELDS,
        TierKind::Team => team::FIELDS,
        TierKind::Agent => agent::FIELDS,
        TierKind::Binding => binding::FIELDS,
    }
}

/// The key whose text is the prose under the front matter, not a line in it.
pub(crate) const fn prose_key(kind: TierKind) -> Option<&'static str> {
    match kind {
        TierKind::Human => Some("soul"),
        TierKind::Team => Some("sops"),
        TierKind::Agent | TierKind::Binding => None,
    }
}

const GUARDRAILS: TierField = optional(
    "guardrails",
    ValueShape::List(&ValueShape::Guardrail),
    "Ids of shipped rules to apply; a table with `id` sets a rule's parameters.",
);
const RULES: TierField =
    optional("rules", ValueShape::List(&ValueShape::Free), "Its own pattern rules, each under [[rules]].");

impl ValueShape {
    /// As it ends the sentence "write …".
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Text => "text in quotes".to_owned(),
            Self::Word(form) => form.expects.to_owned(),
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::List(Self::Table(_)) => "[[tables]], each under its own heading".to_owned(),
            Self::List(inner) => format!("a list, each {}", inner.describe()),
            Self::Table(_) => "a table".to_owned(),
            Self::Map { keys, values } => {
                format!("a table: keys {}, values {}", keys.expects, values.describe())
            }
            Self::Guardrail => {
                "a rule's id such as \"no-discount\", or { id = \"price-cooldown\", turns = 4 }".to_owned()
            }
            Self::Free => "a table".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
