//! Files that nobody should send: polyglots, bombs, wrong types, cut and altered ones, and streams without an end.
//!
//! They are written here byte by byte, so that no encoder of the product's has a hand in them.

mod pictures;
mod shapes;

pub use pictures::{gif, jpeg, png, webp};

/// A file, and what may become of it.
pub struct HostileFile {
    pub name: String,
    pub head: Vec<u8>,
    /// What follows the head for ever.
    pub endless: Option<Vec<u8>>,
    /// Codes of refusal, or `taken`.
    pub outcomes: Vec<&'static str>,
}

pub const TAKEN: &str = "taken";
/// Stands in what is hidden in polyglots: nothing that is shown may contain it.
pub const HIDDEN: &str = "hidden-7f3a";

impl HostileFile {
    fn new(name: impl Into<String>, head: Vec<u8>, outcomes: &[&'static str]) -> Self {
        Self { name: name.into(), head, endless: None, outcomes: outcomes.to_vec() }
    }
}

/// More than two hundred. `large` is more than a file may have.
pub fn hostile_files() -> Vec<HostileFile> {
    [
        shapes::polyglots(),
        shapes::foreign_types(),
        shapes::texts(),
        shapes::bombs(),
        shapes::cut_and_altered(),
        shapes::endless(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
