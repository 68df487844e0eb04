//! A tenant's tiers written as files. Applying them again changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use munshi_types::tier::{TierKind, TierName};
use serde::Serialize;
use serde_json::Value;

use crate::draft::Body;
use crate::error::{Error, Result};
use crate::shape::{self, FENCE};

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    pub written: Vec<PathBuf>,
    /// Files that said so already.
    pub unchanged: usize,
}

/// The file of a tier, to the byte.
pub fn render(kind: TierKind, body: &Body) -> String {
    let prose = shape::prose(kind);
    let front = shape::write(shape::fields(kind), body, prose);
    let Some(key) = prose else { return front };
    let text = body.get(key).and_then(Value::as_str).unwrap_or_default();
    let end = if text.is_empty() { "" } else { "\n" };
    let parted = if text.is_empty() { "" } else { "\n" };
    format!("{FENCE}\n{front}{FENCE}\n{parted}{text}{end}")
}

/// Writes each tier's file under `folder`. Other files there are left alone.
pub fn export(folder: &Path, tiers: &[(TierKind, TierName, Body)]) -> Result<Exported> {
    let mut exported = Exported { written: Vec::new(), unchanged: 0 };
    for (kind, name, body) in tiers {
        let inside = folder.join(kind.folder());
        let path = inside.join(format!("{name}.{}", kind.extension()));
        let text = render(*kind, body);
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            exported.unchanged += 1;
            continue;
        }
        let written = fs::create_dir_all(&inside).and_then(|()| fs::write(&path, text));
        written
            .map_err(|error| Error::Folder { path: path.display().to_string(), what: error.to_string() })?;
        exported.written.push(path);
    }
    Ok(exported)
}
