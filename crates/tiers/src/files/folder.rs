//! A tenant's folder: which files are read, and which must not be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use munshi_toml::{QuotedValue, render_hint};
use munshi_types::TenantName;
use munshi_types::tier::{TierKind, TierName};

use super::parse;
use super::parse::decode_text;
use crate::draft::TierDraft;
use crate::error::Result;
use crate::folder_extension::{ExtensionFile, FolderExtension};
use crate::problem::{FolderProblem, FolderProblems};

/// Larger files are no tiers.
const LARGEST: u64 = 256 * 1024;
const KNOWLEDGE: &str = "knowledge";

/// What a tenant's folder says.
#[derive(Clone, Debug)]
pub struct TenantFolder {
    pub tenant: TenantName,
    pub drafts: Vec<TierDraft>,
    /// Files that are no tiers.
    pub beside: Vec<ExtensionFile>,
}

/// Reads a tenant's folder, or all those in a folder of tenants. The folder's name is the tenant's unless another is
/// given, which only a single tenant can have. Everything that is wrong is told at once.
pub fn read(path: &Path, tenant: Option<&TenantName>) -> Result<Vec<TenantFolder>> {
    read_with_extensions(path, tenant, &[])
}

/// The same, with files that are no tiers.
pub fn read_with_extensions(
    path: &Path,
    tenant: Option<&TenantName>,
    companions: &[Arc<dyn FolderExtension>],
) -> Result<Vec<TenantFolder>> {
    let mut reader = Reader { companions: companions.to_vec(), problems: Vec::new() };
    let folders = reader.read_all(path, tenant);
    FolderProblems::ensure_none(reader.problems)?;
    Ok(folders)
}

struct Reader {
    companions: Vec<Arc<dyn FolderExtension>>,
    problems: Vec<FolderProblem>,
}

impl Reader {
    fn read_all(&mut self, path: &Path, tenant: Option<&TenantName>) -> Vec<TenantFolder> {
        let Some(root) = self.canonicalize_folder(path) else { return Vec::new() };
        if self.is_tenant(&root) || tenant.is_some() {
            return self.read_tenant(path, &root, tenant).into_iter().collect();
        }
        let mut inside: Vec<PathBuf> = self.entries(path);
        inside.retain(|entry| self.is_tenant(entry));
        if inside.is_empty() {
            let what = "no tiers found";
            let hint = "pass a tenant's folder, with humans/, teams/, agents/ and bindings/ in it";
            self.problems.push(FolderProblem::in_file(display_path(path), what).hint(hint));
        }
        let mut folders = Vec::new();
        for path in inside {
            match path.canonicalize() {
                Ok(found) if found.starts_with(&root) => {
                    folders.extend(self.read_tenant(&path, &found, None));
                }
                _ => self.report_outside(&path),
            }
        }
        folders
    }

    fn read_tenant(&mut self, path: &Path, root: &Path, tenant: Option<&TenantName>) -> Option<TenantFolder> {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let tenant = match tenant.cloned().map_or_else(|| name.parse(), Ok) {
            Ok(tenant) => tenant,
            Err(error) => {
                let hint = "rename the folder, or pass the tenant's name with --tenant";
                self.problems.push(FolderProblem::in_file(display_path(path), error.to_string()).hint(hint));
                return None;
            }
        };
        let mut found: BTreeMap<(TierKind, TierName), TierDraft> = BTreeMap::new();
        for entry in self.entries(path) {
            if let Some(kind) = self.kind(&entry) {
                self.tiers(kind, &entry, root, &mut found);
            }
        }
        let beside = self.read_extensions(path, root);
        Some(TenantFolder { tenant, drafts: found.into_values().collect(), beside })
    }

    fn read_extensions(&mut self, path: &Path, root: &Path) -> Vec<ExtensionFile> {
        let mut all = Vec::new();
        for companion in self.companions.clone() {
            let file = path.join(companion.file_name());
            let is_there = file.is_file() || file.is_symlink();
            let bytes = is_there.then(|| self.bytes(&file, root)).flatten();
            let read = bytes.map(|bytes| {
                decode_text(&display_path(&file), &bytes)
                    .and_then(|text| companion.read(&display_path(&file), &text))
            });
            let found = match read {
                Some(Err(problems)) => {
                    self.problems.extend(problems);
                    None
                }
                Some(Ok(body)) => Some(body),
                None => None,
            };
            all.push(ExtensionFile { companion, found });
        }
        all
    }

    fn is_tenant(&self, path: &Path) -> bool {
        let has_tiers = TierKind::ALL.into_iter().any(|kind| path.join(kind.folder()).is_dir());
        has_tiers || self.companions.iter().any(|companion| path.join(companion.file_name()).is_file())
    }

    /// The kind of tier whose folder this is. Files beside the folders, such as a README, are nobody's business.
    fn kind(&mut self, entry: &Path) -> Option<TierKind> {
        let name = file_name(entry);
        if let Some(kind) = TierKind::ALL.into_iter().find(|kind| kind.folder() == name) {
            return Some(kind);
        }
        if name != KNOWLEDGE && entry.is_dir() {
            let known: Vec<&str> =
                TierKind::ALL.iter().map(|kind| kind.folder()).chain([KNOWLEDGE]).collect();
            let otherwise = format!("the folders are {}", known.join(", "));
            let hint = render_hint(&name, known, &otherwise);
            let what = format!("unknown folder {}", QuotedValue(&name));
            self.problems.push(FolderProblem::in_file(display_path(entry), what).hint(hint));
        }
        None
    }

    fn tiers(
        &mut self,
        kind: TierKind,
        folder: &Path,
        root: &Path,
        found: &mut BTreeMap<(TierKind, TierName), TierDraft>,
    ) {
        if !self.is_inside(folder, root) {
            return;
        }
        for path in self.entries(folder) {
            let Some(name) = self.name(kind, &path) else { continue };
            let Some(bytes) = self.bytes(&path, root) else { continue };
            match parse(kind, name.clone(), &display_path(&path), &bytes) {
                Ok(draft) => {
                    found.insert((kind, name), draft);
                }
                Err(problems) => self.problems.extend(problems),
            }
        }
    }

    fn name(&mut self, kind: TierKind, path: &Path) -> Option<TierName> {
        let name = file_name(path);
        let ending = format!(".{}", kind.extension());
        let Some(stem) = name.strip_suffix(&ending) else {
            let what = format!("this is not a valid {kind} file");
            let article = if kind == TierKind::Agent { "an" } else { "a" };
            let hint = format!("{article} {kind} is a file NAME{ending} in {}/", kind.folder());
            self.problems.push(FolderProblem::in_file(display_path(path), what).hint(hint));
            return None;
        };
        match stem.parse() {
            Ok(name) => Some(name),
            Err(error) => {
                self.problems.push(
                    FolderProblem::in_file(display_path(path), format!("{error}")).hint("rename the file"),
                );
                None
            }
        }
    }

    fn bytes(&mut self, path: &Path, root: &Path) -> Option<Vec<u8>> {
        if !self.is_inside(path, root) {
            return None;
        }
        match fs::metadata(path) {
            Ok(about) if !about.is_file() => {
                self.problems.push(FolderProblem::in_file(display_path(path), "this is not a regular file"));
                None
            }
            Ok(about) if about.len() > LARGEST => {
                let what = format!("the file has {} bytes; the maximum is {LARGEST}", about.len());
                self.problems.push(
                    FolderProblem::in_file(display_path(path), what).hint("move long texts to knowledge/"),
                );
                None
            }
            Ok(_) => fs::read(path).map_err(|error| self.report_unreadable(path, &error)).ok(),
            Err(error) => {
                self.report_unreadable(path, &error);
                None
            }
        }
    }

    /// A link may lead to another place in the tenant's folder, never out of it.
    fn is_inside(&mut self, path: &Path, root: &Path) -> bool {
        match path.canonicalize() {
            Ok(found) if found.starts_with(root) => true,
            Ok(_) => {
                self.report_outside(path);
                false
            }
            Err(error) => {
                self.report_unreadable(path, &error);
                false
            }
        }
    }

    fn report_outside(&mut self, path: &Path) {
        let problem = FolderProblem::in_file(
            display_path(path),
            "this symlink points outside the folder and is not followed",
        );
        self.problems.push(problem.hint("copy the file here"));
    }

    fn canonicalize_folder(&mut self, path: &Path) -> Option<PathBuf> {
        match path.canonicalize() {
            Ok(found) if found.is_dir() => Some(found),
            Ok(_) => {
                self.problems.push(FolderProblem::in_file(display_path(path), "this is not a folder"));
                None
            }
            Err(error) => {
                self.report_unreadable(path, &error);
                None
            }
        }
    }

    /// In the order of their names, without hidden ones and what editors leave behind.
    fn entries(&mut self, path: &Path) -> Vec<PathBuf> {
        let listed = fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        match listed {
            Ok(entries) => {
                let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
                paths.retain(|path| !file_name(path).starts_with('.') && !file_name(path).ends_with('~'));
                paths.sort();
                paths
            }
            Err(error) => {
                self.report_unreadable(path, &error);
                Vec::new()
            }
        }
    }

    fn report_unreadable(&mut self, path: &Path, error: &std::io::Error) {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file or folder".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => format!("it can't be read: {error}"),
        };
        self.problems.push(FolderProblem::in_file(display_path(path), what));
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}
