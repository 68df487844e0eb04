//! A tenant's folder: which files are read, and which must not be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use munshi_types::TenantName;
use munshi_types::tier::TierKind;

use super::parse::decode_text;
use super::source::{
    FolderSource, KNOWLEDGE, LARGEST, TenantFolder, find_kind, parse_name, parse_sources, too_large,
    unknown_folder,
};
use crate::error::Result;
use crate::folder_extension::FolderExtension;
use crate::problem::FolderProblem;

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
    let beside: Vec<&str> = companions.iter().map(|companion| companion.file_name()).collect();
    let found = collect(path, tenant, &beside);
    parse_sources(&found.folders, companions, found.problems)
}

/// What stands in folders, and what can't be read of them.
#[derive(Clone, Debug)]
pub struct CollectedFolders {
    pub folders: Vec<FolderSource>,
    pub problems: Vec<FolderProblem>,
}

/// Reads the files of the same folders as [`read`], and nothing of what they say. `beside` are files that are no tiers.
pub fn collect(path: &Path, tenant: Option<&TenantName>, beside: &[&str]) -> CollectedFolders {
    let mut reader = Reader { beside, problems: Vec::new() };
    let folders = reader.read_all(path, tenant);
    CollectedFolders { folders, problems: reader.problems }
}

struct Reader<'a> {
    beside: &'a [&'a str],
    problems: Vec<FolderProblem>,
}

impl Reader<'_> {
    fn read_all(&mut self, path: &Path, tenant: Option<&TenantName>) -> Vec<FolderSource> {
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

    fn read_tenant(&mut self, path: &Path, root: &Path, tenant: Option<&TenantName>) -> Option<FolderSource> {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let tenant = match tenant.cloned().map_or_else(|| name.parse(), Ok) {
            Ok(tenant) => tenant,
            Err(error) => {
                let hint = "rename the folder, or pass the tenant's name with --tenant";
                self.problems.push(FolderProblem::in_file(display_path(path), error.to_string()).hint(hint));
                return None;
            }
        };
        let mut source = FolderSource { tenant, place: display_path(path), files: BTreeMap::new() };
        for entry in self.entries(path) {
            if let Some(kind) = self.kind(&entry) {
                self.tiers(kind, &entry, root, &mut source);
            }
        }
        for name in self.beside {
            let file = path.join(name);
            if (file.is_file() || file.is_symlink())
                && let Some(text) = self.text(&file, root)
            {
                source.files.insert((*name).to_owned(), text);
            }
        }
        Some(source)
    }

    fn is_tenant(&self, path: &Path) -> bool {
        let has_tiers = TierKind::ALL.into_iter().any(|kind| path.join(kind.folder()).is_dir());
        has_tiers || self.beside.iter().any(|name| path.join(name).is_file())
    }

    /// The kind of tier whose folder this is. Files beside the folders, such as a README, are nobody's business.
    fn kind(&mut self, entry: &Path) -> Option<TierKind> {
        let name = file_name(entry);
        if let Some(kind) = find_kind(&name) {
            return Some(kind);
        }
        if name != KNOWLEDGE && entry.is_dir() {
            self.problems.push(unknown_folder(&display_path(entry), &name));
        }
        None
    }

    fn tiers(&mut self, kind: TierKind, folder: &Path, root: &Path, source: &mut FolderSource) {
        if !self.is_inside(folder, root) {
            return;
        }
        for path in self.entries(folder) {
            let name = file_name(&path);
            if let Err(problem) = parse_name(kind, &name, &display_path(&path)) {
                self.problems.push(*problem);
                continue;
            }
            if let Some(text) = self.text(&path, root) {
                source.files.insert(format!("{}/{name}", kind.folder()), text);
            }
        }
    }

    fn text(&mut self, path: &Path, root: &Path) -> Option<String> {
        let bytes = self.bytes(path, root)?;
        decode_text(&display_path(path), &bytes).map_err(|problems| self.problems.extend(problems)).ok()
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
                self.problems.push(too_large(&display_path(path), about.len()));
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
