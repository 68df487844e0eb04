//! A workspace's folder on disk, and the tenant's folder that its tiers are written to.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{FILES, ImportedWorkspace};
use crate::error::{Error, Result};
use crate::files::write_plain;
use crate::problem::{FolderProblem, FolderProblems};

/// A larger file is no part of a workspace.
const LARGEST: u64 = 256 * 1024;

/// What to do with a file that is there and says something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFilePolicy {
    /// Refuses, and writes nothing at all.
    Keep,
    Replace,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WrittenFiles {
    pub written: Vec<PathBuf>,
    /// Those of them that said something else before.
    pub replaced: Vec<PathBuf>,
    /// Files that said so already.
    pub unchanged: usize,
}

/// The files of a workspace by name, in either letter case. Others in the folder are left aside. One that can't be read
/// is refused, for half a persona is none.
pub fn read(folder: &Path) -> Result<Vec<(String, String)>> {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    match list_known_files(folder) {
        Ok((root, names)) => {
            for name in names {
                let path = folder.join(&name);
                match read_text(&path, &root) {
                    Ok(text) => files.push((name, text)),
                    Err((what, hint)) => {
                        problems.push(FolderProblem {
                            hint: hint.map(str::to_owned),
                            ..file_problem(&path, what)
                        });
                    }
                }
            }
        }
        Err(error) => problems.push(file_problem(folder, describe_io_error(&error))),
    }
    FolderProblems::ensure_none(problems)?;
    Ok(files)
}

/// Where the folder really is, and which of the known files it has.
fn list_known_files(folder: &Path) -> std::io::Result<(PathBuf, Vec<String>)> {
    let root = folder.canonicalize()?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&root)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if FILES.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            names.push(name);
        }
    }
    names.sort();
    Ok((root, names))
}

/// The text, or what is wrong with the file and what to do about it.
fn read_text(path: &Path, root: &Path) -> Result<String, (String, Option<&'static str>)> {
    let failed = |error: std::io::Error| (describe_io_error(&error), None);
    let real = path.canonicalize().map_err(failed)?;
    if !real.starts_with(root) {
        let what = "this symlink points outside the folder and is not followed";
        return Err((what.to_owned(), Some("copy the file here")));
    }
    let about = fs::metadata(&real).map_err(failed)?;
    if !about.is_file() {
        return Err(("this is not a regular file".to_owned(), None));
    }
    if about.len() > LARGEST {
        let what = format!("the file has {} bytes; the maximum is {LARGEST}", about.len());
        return Err((what, Some("remove what is not the persona, such as long documents")));
    }
    let text = String::from_utf8(fs::read(&real).map_err(failed)?);
    text.map_err(|_| ("the file is not UTF-8 text".to_owned(), Some("save it as UTF-8")))
}

fn file_problem(path: &Path, what: String) -> FolderProblem {
    FolderProblem::in_file(path.display().to_string(), what)
}

fn describe_io_error(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        std::io::ErrorKind::NotADirectory => "this is not a folder".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => format!("it can't be read: {error}"),
    }
}

impl ImportedWorkspace {
    /// Writes the four files into a tenant's folder: all of them, or none where one is there that must be kept.
    pub fn write(&self, folder: &Path, existing: ExistingFilePolicy) -> Result<WrittenFiles> {
        let files: Vec<(PathBuf, String)> =
            self.files().into_iter().map(|(path, text)| (folder.join(path), text)).collect();
        let differs = |(path, text): &&(PathBuf, String)| {
            fs::read(path).is_ok_and(|there| there != text.as_bytes()) || path.is_symlink()
        };
        let replaced: Vec<PathBuf> = files.iter().filter(differs).map(|(path, _)| path.clone()).collect();
        if existing == ExistingFilePolicy::Keep && !replaced.is_empty() {
            return Err(Error::Existing(replaced));
        }
        let mut written = WrittenFiles { replaced, ..WrittenFiles::default() };
        for (path, text) in files {
            if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
                written.unchanged += 1;
                continue;
            }
            write_plain(&path, &text)
                .map_err(|what| Error::Folder { path: path.display().to_string(), what })?;
            written.written.push(path);
        }
        Ok(written)
    }
}
