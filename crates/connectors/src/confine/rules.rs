//! What one child may read and write, and the launcher's command that holds it to that.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::command_search::CommandSearch;
use super::{Confinement, find_refused_path, launcher, refuse_path, symlinks, system_paths};
use crate::entries::ConnectorEntry;
use crate::error::{Error, Result};

/// A command as it is declared, with everything it starts with.
pub(crate) struct ChildCommand<'a> {
    pub entry: &'a ConnectorEntry,
    /// The child's own folder.
    pub home: &'a Path,
    pub folder: &'a Path,
    pub environment: &'a [(OsString, OsString)],
    /// Whether only what it is granted is to exist for it.
    pub is_isolated: bool,
}

/// What is started in its place.
pub(crate) struct ConfinedCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

impl ChildCommand<'_> {
    /// The same command behind the launcher.
    pub(crate) fn confine(&self, launcher: &Path, confinement: &Confinement) -> Result<ConfinedCommand> {
        if let Some(why) = find_refused_path(self.entry, &confinement.protected) {
            return Err(Error::Invalid(why));
        }
        let (program, given) = self
            .entry
            .command
            .split_first()
            .ok_or_else(|| Error::Invalid("the command is missing".to_owned()))?;
        let writes = self.resolve_writes(&confinement.protected)?;
        let search = CommandSearch { environment: self.environment, folder: self.folder, writes: &writes };
        let found = search
            .find(OsStr::new(program))
            .ok_or_else(|| Error::Unreachable(format!("`{program}` can't be started: program not found")))?;
        let protected: Vec<PathBuf> = system_paths::list_protected(&confinement.protected).collect();
        let code = search.collect_roots(&found, given);
        let mut reads: Vec<PathBuf> =
            code.iter().flat_map(|root| exclude_protected(root, &protected)).collect();
        reads.extend(system_paths::list_readable().iter().flat_map(|root| match root.starts_with("/proc") {
            true => vec![root.clone()],
            false => exclude_protected(root, &protected),
        }));
        reads.push(PathBuf::from("/proc/self"));
        let named = [("reads", self.entry.reads.as_slice()), ("folder", self.entry.folder.as_slice())];
        for (key, paths) in named {
            let real = paths.iter().map(|path| find_real(key, path, &writes, &confinement.protected));
            reads.extend(real.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        }
        reads.sort();
        reads.dedup();
        let flags = reads.iter().map(|path| (launcher::READ, path));
        let flags = flags.chain(writes.iter().map(|path| (launcher::WRITE, path)));
        let waypoints = if self.is_isolated { self.list_waypoints(&found) } else { BTreeSet::new() };
        let flags = flags.chain(waypoints.iter().map(|path| (launcher::WAYPOINT, path)));
        let mut arguments = vec![OsString::from(launcher::COMMAND)];
        arguments.extend(flags.flat_map(|(flag, path)| [flag.into(), path.clone().into_os_string()]));
        arguments.extend(self.entry.listens.then(|| launcher::LISTEN.into()));
        arguments.extend(self.is_isolated.then(|| launcher::ISOLATE.into()));
        arguments.extend(["--".into(), found.into_os_string()]);
        arguments.extend(given.iter().map(Into::into));
        let environment = self.environment.iter();
        let environment =
            environment.map(|(name, value)| (launcher::add_prefix(name), value.clone())).collect();
        Ok(ConfinedCommand { program: launcher.to_owned(), arguments, environment })
    }

    /// Links, and folders that are left again, on the way to everything that the command, its variables, its entry and the system
    /// name. They open nothing: what they lead to is there if it is granted.
    fn list_waypoints(&self, program: &Path) -> BTreeSet<PathBuf> {
        let arguments = self.entry.command.iter().skip(1);
        let arguments = arguments.map(|word| word.split_once('=').map_or(word.as_str(), |(_, value)| value));
        let arguments = arguments.map(|word| self.folder.join(word));
        let variables = self.environment.iter().flat_map(|(_, value)| std::env::split_paths(value));
        let named = self.entry.named_paths().into_iter().map(|(_, path)| path.to_owned());
        let own = [program, self.home, self.folder].map(Path::to_owned).into_iter();
        let names =
            own.chain(arguments).chain(variables).chain(named).chain(system_paths::list_readable_names());
        names.filter(|name| name.is_absolute()).flat_map(|name| symlinks::list_waypoints(&name)).collect()
    }

    fn resolve_writes(&self, protected: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let home = self.home.canonicalize();
        let home = home.map_err(|error| Error::Invalid(format!("its folder can't be used: {error}")))?;
        let mut writes = vec![home];
        writes.extend(system_paths::list_writable());
        let named: Vec<PathBuf> = self.entry.writes.iter().map(|path| symlinks::resolve(path)).collect();
        for path in &self.entry.writes {
            // One that lies in another is open with it, and could be made to lead elsewhere.
            let others: Vec<PathBuf> = named.iter().filter(|other| **other != *path).cloned().collect();
            writes.extend(find_real("writes", path, &others, protected)?);
        }
        Ok(writes)
    }
}

/// Where a named path really is. None where the child may write on the way to it: what lies there is open anyway, and
/// a link there could lead anywhere.
fn find_real(key: &str, path: &Path, writes: &[PathBuf], protected: &[PathBuf]) -> Result<Option<PathBuf>> {
    if let Err(error) = path.canonicalize() {
        return Err(Error::Invalid(format!("{key} names {}: {error}", path.display())));
    }
    let is_writable = |on_the_way: &Path| {
        writes.iter().any(|root| on_the_way.starts_with(root) && on_the_way != root.as_path())
    };
    let Some(real) = symlinks::follow(path, &is_writable).and_then(|mut names| names.pop()) else {
        return Ok(None);
    };
    match refuse_path(key, &real, protected) {
        Some(why) => Err(Error::Invalid(why)),
        None => Ok(Some(real)),
    }
}

/// A root without what is protected in it: itself, or the parts of it that hold nothing protected.
fn exclude_protected(root: &Path, protected: &[PathBuf]) -> Vec<PathBuf> {
    if protected.iter().any(|held| root.starts_with(held)) {
        return Vec::new();
    }
    if !protected.iter().any(|held| held.starts_with(root)) {
        return vec![root.to_owned()];
    }
    let Ok(inner) = std::fs::read_dir(root) else { return Vec::new() };
    // What a link leads to is looked at where that is.
    let inner = inner.flatten().filter(|found| found.file_type().is_ok_and(|kind| !kind.is_symlink()));
    inner.flat_map(|found| exclude_protected(&symlinks::resolve(&found.path()), protected)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_protected_is_cut_out_of_what_holds_it() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for folder in ["lib", "share/munshi/connectors", "share/other"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let protected = [root.join("share/munshi")];
        let mut left = exclude_protected(&root, &protected);
        left.sort();
        assert_eq!(left, [root.join("lib"), root.join("share/other")]);
        assert_eq!(exclude_protected(&root.join("share/munshi/connectors"), &protected), [] as [PathBuf; 0]);
        assert_eq!(exclude_protected(&root.join("lib"), &protected), [root.join("lib")]);
    }
}
