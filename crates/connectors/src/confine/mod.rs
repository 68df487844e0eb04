//! Confining a connector's child: what it may read and write, enforced by the kernel (Landlock), and where the machine allows user
//! namespaces, a file system in which nothing else exists, sockets of other programs included.
//!
//! The program starts itself again as a launcher with a list of paths. The launcher gives up everything else and then
//! becomes the connector's command, so no code of ours runs between a fork and an exec. The kernel also keeps a confined
//! process from tracing others, which closes their `/proc/PID/environ` and memory.
//!
//! # Layout
//! - [`Confinement`]: how an installation confines; `rules`: the paths of one child
//! - `command_search`: where a command's own files are; `system_paths`: what every program needs; `symlinks`: links on the way to a file
//! - [`launcher`]: the side that runs in the child; `kernel`: what Landlock can do
//! - `user_namespace`, `mount_view`: the child's own file system; `isolation`: whether it can have one here

mod command_search;
mod isolation;
mod kernel;
pub mod launcher;
#[cfg(target_os = "linux")]
mod mount_view;
mod rules;
mod symlinks;
mod system_paths;
#[cfg(target_os = "linux")]
mod user_namespace;

use std::path::{Path, PathBuf};

use munshi_store::Db;

pub use isolation::{IsolationProbe, ReachableSockets};
pub use kernel::KernelSupport;
pub(crate) use rules::{ChildCommand, ConfinedCommand};

use crate::entries::ConnectorEntry;
use crate::error::{Error, Result};
use crate::rows::{self, CONNECTORS};

/// How an installation confines the children of its connectors.
#[derive(Clone, Default)]
pub struct Confinement {
    /// The program whose `confine` command becomes the child. None where the kernel can't confine.
    pub launcher: Option<PathBuf>,
    /// Whether a confined child can't harm what it may not reach: an older kernel lets it empty files by their paths.
    pub is_whole: bool,
    /// What no child may reach: the data folder, the database, the vault's key, the settings.
    pub protected: Vec<PathBuf>,
    /// Whether children that can't be confined start though there are several tenants.
    pub allows_unconfined: bool,
    /// Says how many tenants there are. Without it there is one.
    pub db: Option<Db>,
    /// Tells whether children get a file system of their own.
    pub isolation: IsolationProbe,
}

impl Confinement {
    /// Whether children start at all: confined, or where no other tenant's data is at stake.
    pub async fn admits_children(&self) -> Result<bool> {
        let is_safe = self.launcher.is_some() && self.is_whole;
        Ok(is_safe || self.allows_unconfined || self.count_tenants().await? <= 1)
    }

    async fn count_tenants(&self) -> Result<i64> {
        match &self.db {
            Some(db) => db.platform(CONNECTORS).read(rows::count_tenants).await,
            None => Ok(1),
        }
    }

    /// Refuses to start a child that can't be confined where others' data is at stake.
    pub(crate) async fn admit_child(&self) -> Result<()> {
        match self.admits_children().await? {
            true => Ok(()),
            false => Err(Error::Invalid(
                "this machine can't confine a connector's program (Landlock needs Linux 6.2), and it could reach the data \
                 of several tenants; set connectors.unconfined = true to start it anyway"
                    .to_owned(),
            )),
        }
    }
}

/// What is wrong with the paths that an entry names: one that is protected, or that holds something protected.
pub fn find_refused_path(entry: &ConnectorEntry, protected: &[PathBuf]) -> Option<String> {
    entry.named_paths().into_iter().find_map(|(key, path)| refuse_path(key, path, protected))
}

fn refuse_path(key: &str, path: &Path, protected: &[PathBuf]) -> Option<String> {
    let real = symlinks::resolve(path);
    if system_paths::is_block_device(&real) {
        return Some(format!("{key} names {}, a whole disk: name folders instead", path.display()));
    }
    let held = system_paths::list_protected(protected)
        .find(|held| held.starts_with(&real) || real.starts_with(held))?;
    Some(match real.starts_with(&held) {
        true => format!(
            "{key} names {}, which is inside {}: no connector may access that",
            path.display(),
            held.display()
        ),
        false => format!(
            "{key} names {}, which contains {}: no connector may access that, so name only the subfolders that \
             are needed",
            path.display(),
            held.display()
        ),
    })
}

/// Folders that a command names among its arguments, and that nothing lets it read.
pub fn find_unreadable_arguments(entry: &ConnectorEntry) -> Vec<PathBuf> {
    let named: Vec<PathBuf> =
        entry.named_paths().into_iter().map(|(_, path)| symlinks::resolve(path)).collect();
    let is_granted = |path: &Path| {
        let real = symlinks::resolve(path);
        named.iter().chain(&system_paths::list_readable()).any(|root| real.starts_with(root))
    };
    let folder = entry.folder.clone().unwrap_or_else(|| PathBuf::from("/"));
    let paths = entry.command.iter().skip(1).map(|argument| {
        PathBuf::from(argument.split_once('=').map_or(argument.as_str(), |(_, value)| value))
    });
    let is_code = |path: &Path| command_search::is_script(path) && path.is_file();
    let paths = paths.filter(|path| path.is_absolute() && path.exists() && !is_code(path));
    paths.map(|path| folder.join(path)).filter(|path| !is_granted(path)).collect()
}
