//! Which node this is: told by the lock on its data folder. Whoever has the lock proves that the servers which had it
//! before are dead, so that their runs need not wait for their leases.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use munshi_config::Config;
use munshi_conversations::holders::ProcessIdentity;
use munshi_store::Db;
use munshi_types::{HolderId, IdGenerator};

const FILE: &str = "node.lock";

/// The data folder's name, held while this process lives.
pub(crate) struct NodeLock {
    _file: File,
    id: String,
}

impl NodeLock {
    /// None where another server has it, or the folder takes no locks: then nothing is proved by it.
    fn take(folder: &Path) -> Option<Self> {
        let path = folder.join(FILE);
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path).ok()?;
        file.try_lock().ok()?;
        let mut id = String::new();
        file.read_to_string(&mut id).ok()?;
        if id.trim().is_empty() {
            id = IdGenerator::system().next::<HolderId>().to_string();
            file.write_all(id.as_bytes()).ok()?;
        }
        // A copy of the folder has the same text in another file: it is another node, whose start proves nothing of this.
        let id = format!("{} {}", id.trim(), file.metadata().ok()?.ino());
        Some(Self { _file: file, id })
    }
}

/// How other nodes tell whether this process lives. On SQLite there is one server, whose start is proof enough.
pub(crate) fn identity(config: &Config, db: &Db) -> (Option<NodeLock>, Option<ProcessIdentity>) {
    if db.engine() == "sqlite" {
        return (None, None);
    }
    let lock = NodeLock::take(&config.data.dir);
    let identity = ProcessIdentity::current(lock.as_ref().map(|lock| lock.id.clone()));
    (lock, identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_keeps_its_name_and_one_process_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = NodeLock::take(folder.path()).unwrap();
        assert!(NodeLock::take(folder.path()).is_none(), "it is held");
        let id = first.id.clone();
        drop(first);
        assert_eq!(NodeLock::take(folder.path()).unwrap().id, id);
    }

    #[test]
    fn a_copy_of_a_data_folder_is_another_node() {
        let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = NodeLock::take(folder.path()).unwrap();
        std::fs::copy(folder.path().join(FILE), copy.path().join(FILE)).unwrap();
        assert_ne!(NodeLock::take(copy.path()).unwrap().id, first.id);
    }
}
