//! What to know about an entry, and what keeps it from being used, beside how it is written.

use std::path::PathBuf;

use munshi_types::ConnectorName;

use super::{ConnectorEntries, ConnectorEntry};
use crate::confine;

/// What to know about secrets that everybody can read who reads the file or the database.
pub fn list_secret_warnings(name: &ConnectorName, entry: &ConnectorEntry) -> Vec<String> {
    let words = |key: String| {
        format!(
            "connector {name} has its {key} in plain text, which is not redacted: store it with \
             `munshi vault set {name}.key`, and write vault:{name}.key in its place"
        )
    };
    entry.list_plain_secrets().into_iter().map(words).collect()
}

/// What to know about paths that a command names and its program may not read.
pub fn list_path_warnings(name: &ConnectorName, entry: &ConnectorEntry) -> Vec<String> {
    let words = |path: PathBuf| {
        let path = path.display();
        format!(
            "connector {name} uses {path} but may not read it: add reads = [\"{path}\"] or writes = [\"{path}\"] \
             to [{name}]"
        )
    };
    confine::find_unreadable_arguments(entry).into_iter().map(words).collect()
}

/// A path that one of these names and may not have, in words.
pub fn find_refused_entry(declared: &ConnectorEntries, protected: &[PathBuf]) -> Option<String> {
    declared.0.iter().find_map(|(name, entry)| {
        let what = confine::find_refused_path(entry, protected)?;
        Some(format!("connector {name}: {what}"))
    })
}
