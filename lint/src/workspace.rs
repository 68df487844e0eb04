//! The repository's files, read once. What is built, hidden or ignored is left out.

use std::fs;
use std::path::Path;

use crate::Error;

/// One file whose text the rules look at.
#[derive(Clone, Debug)]
pub struct Source {
    /// From the repository's root, with `/`.
    pub path: String,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Every folder and file, by path from the root.
    pub paths: Vec<String>,
    /// Rust, SQL and TOML files.
    pub sources: Vec<Source>,
}

/// Folders of the root, and what `make soak` builds.
const LEFT_OUT: [&str; 5] = ["target", "data", "node_modules", "__pycache__", "soak/target"];
const READ: [&str; 3] = [".rs", ".sql", ".toml"];

impl Workspace {
    pub fn read(root: &Path) -> Result<Self, Error> {
        let mut workspace = Self::default();
        workspace.add_folder(root, "")?;
        workspace.paths.sort();
        workspace.sources.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(workspace)
    }

    /// A workspace of files that exist nowhere; for tests.
    pub fn from_files(files: &[(&str, &str)]) -> Self {
        let source = |(path, text): &(&str, &str)| Source { path: (*path).into(), text: (*text).into() };
        Self {
            paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            sources: files.iter().map(source).collect(),
        }
    }

    pub fn list_with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a Source> {
        self.sources.iter().filter(move |source| source.path.ends_with(extension))
    }

    /// The migrations of every crate and pack.
    pub fn migrations(&self) -> impl Iterator<Item = &Source> {
        self.list_with_extension(".sql").filter(|source| {
            matches!(source.path.split('/').collect::<Vec<_>>()[..], ["crates" | "packs", _, "migrations", _])
        })
    }

    fn add_folder(&mut self, folder: &Path, path: &str) -> Result<(), Error> {
        let failed = |source| Error::Read { path: folder.display().to_string(), source };
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_hidden = name.starts_with('.');
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            if is_hidden || LEFT_OUT.contains(&path.as_str()) {
                continue;
            }
            self.paths.push(path.clone());
            if entry.file_type().map_err(failed)?.is_dir() {
                self.add_folder(&entry.path(), &path)?;
            } else if READ.iter().any(|ending| path.ends_with(ending)) {
                let text = fs::read_to_string(entry.path());
                let text = text.map_err(|source| Error::Read { path: path.clone(), source })?;
                self.sources.push(Source { path, text });
            }
        }
        Ok(())
    }
}
