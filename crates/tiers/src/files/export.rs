//! A tenant's tiers written as files. Applying them again changes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use munshi_toml::writer::FENCE;
use munshi_types::tier::{TierKind, TierName};
use serde::Serialize;
use serde_json::Value;

use crate::draft::TierBody;
use crate::error::{Error, Result};
use crate::import::ExistingFilePolicy;
use crate::shape;

use super::source::is_tier_path;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FolderExport {
    pub written: Vec<PathBuf>,
    /// Files that said so already.
    pub unchanged: usize,
    /// Files in the same folders that are none of the tenant's tiers; they were left alone.
    pub others: Vec<PathBuf>,
}

/// The file of a tier, to the byte.
pub fn render(kind: TierKind, body: &TierBody) -> String {
    let prose = shape::prose_key(kind);
    let front = shape::render_toml(shape::fields(kind), body, prose);
    let Some(key) = prose else { return front };
    let text = body.get(key).and_then(Value::as_str).unwrap_or_default();
    let end = if text.is_empty() { "" } else { "\n" };
    let parted = if text.is_empty() { "" } else { "\n" };
    format!("{FENCE}\n{front}{FENCE}\n{parted}{text}{end}")
}

/// Where a tier's file stands in its tenant's folder.
pub fn render_path(kind: TierKind, name: &TierName) -> String {
    format!("{}/{name}.{}", kind.folder(), kind.extension())
}

/// Writes files under `folder`: tiers, and those of `beside`, which are no tiers. Any other path is refused, since it may
/// have come from elsewhere. Other files there are left alone. Where one says something else, it is kept and nothing is
/// written, unless it is to be replaced.
pub fn export(
    folder: &Path,
    files: &[(String, String)],
    beside: &[&str],
    existing: ExistingFilePolicy,
) -> Result<FolderExport> {
    for (path, _) in files.iter().filter(|(path, _)| !beside.contains(&path.as_str())) {
        if !is_tier_path(path) {
            let what = "this is no file of a tenant's folder; nothing was written".to_owned();
            return Err(Error::Folder { path: path.clone(), what });
        }
    }
    let left = beside.iter().filter(|name| !files.iter().any(|(path, _)| path == *name));
    let left: Vec<PathBuf> = left.map(|name| folder.join(name)).filter(|path| path.exists()).collect();
    let files: Vec<(PathBuf, String)> =
        files.iter().map(|(path, text)| (folder.join(path), text.clone())).collect();
    let differs =
        |(path, text): &&(PathBuf, String)| fs::read(path).is_ok_and(|there| there != text.as_bytes());
    let edited: Vec<PathBuf> = files.iter().filter(differs).map(|(path, _)| path.clone()).collect();
    if existing == ExistingFilePolicy::Keep && !edited.is_empty() {
        return Err(Error::Existing(edited));
    }
    let mut exported = FolderExport { written: Vec::new(), unchanged: 0, others: Vec::new() };
    let mut paths = BTreeSet::new();
    for (path, text) in files {
        exported.write_file(&path, &text)?;
        paths.insert(path);
    }
    let folders = TierKind::ALL.into_iter().filter_map(|kind| fs::read_dir(folder.join(kind.folder())).ok());
    let there = folders.flatten().filter_map(|entry| Some(entry.ok()?.path()));
    exported.others = there.filter(|path| !paths.contains(path)).chain(left).collect();
    exported.others.sort();
    Ok(exported)
}

impl FolderExport {
    fn write_file(&mut self, path: &Path, text: &str) -> Result<()> {
        if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
            self.unchanged += 1;
            return Ok(());
        }
        write_plain(path, text).map_err(|what| Error::Folder { path: path.display().to_string(), what })?;
        self.written.push(path.to_owned());
        Ok(())
    }
}

/// Never through a link: it might lead anywhere.
pub(crate) fn write_plain(path: &Path, text: &str) -> Result<(), String> {
    let links = [path.parent(), Some(path)].into_iter().flatten().any(Path::is_symlink);
    if links {
        return Err("this is a symlink; only regular files are written".to_owned());
    }
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, text)).map_err(|error| error.to_string())
}
