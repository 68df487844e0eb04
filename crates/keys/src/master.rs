//! The installation's key: where it is kept, and that it is kept well.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use munshi_types::Random;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::cipher::SealKey;
use crate::error::{Error, Result};
use crate::secret::VaultSecret;

/// What the name of a key goes on with while its file is written.
const PARTIAL: &str = ".partial-";

/// Where the installation's key comes from.
#[derive(Debug)]
pub enum MasterKeySource {
    /// A file with the key in base64, made on first use. While the key is rotated, the next one is in a file beside it.
    File(PathBuf),
    /// From the settings, in base64; and the next one, for rotation.
    Given { key: VaultSecret, next: Option<VaultSecret> },
}

/// One of the installation's keys. Its id says which without saying what.
pub struct MasterKey {
    pub id: String,
    pub key: SealKey,
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Master({})", self.id)
    }
}

impl MasterKey {
    fn new(key: SealKey) -> Self {
        let digest =
            Sha256::new().chain_update(b"munshi vault key id\0").chain_update(key.bytes()).finalize();
        Self { id: digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect(), key }
    }

    fn parse(text: &str, place: &str) -> Result<Self> {
        let wrong = || {
            let how = "a key is 32 bytes in base64; create one with `openssl rand -base64 32`";
            Error::Key(format!("{place} does not contain a key: {how}"))
        };
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| wrong())?);
        SealKey::from_bytes(&bytes).map(Self::new).ok_or_else(wrong)
    }
}

impl MasterKeySource {
    /// Every key there is: the one in use first, the next where one is being brought in, and those that were retired, which open
    /// what a backup from before a rotation brings back.
    pub fn load(&self) -> Result<Vec<Arc<MasterKey>>> {
        let keys = match self {
            Self::File(path) => {
                let mut keys = vec![read_file(path)?, read_file(&next_path(path))?];
                // Without the key in use, none that was retired takes its place.
                if keys[0].is_some() {
                    keys.extend(read_retired(path)?.into_iter().map(Some));
                }
                keys
            }
            Self::Given { key, next } => vec![
                Some(MasterKey::parse(key.expose(), "vault.key (MUNSHI__VAULT__KEY)")?),
                next.as_ref()
                    .map(|next| MasterKey::parse(next.expose(), "vault.next_key (MUNSHI__VAULT__NEXT_KEY)"))
                    .transpose()?,
            ],
        };
        Ok(keys.into_iter().flatten().map(Arc::new).collect())
    }

    /// Makes the first key, where it is a file that is not there yet.
    pub fn make_first(&self, random: &dyn Random) -> Result<()> {
        match self {
            Self::File(path) if !path.exists() => make_file(path, random),
            _ => Ok(()),
        }
    }

    /// Removes what a process left that was killed while it made a key: half a key, or a second copy of one.
    pub fn remove_leftovers(&self) -> Result<()> {
        let Self::File(path) = self else { return Ok(()) };
        for path in [path.clone(), next_path(path)] {
            remove_partials(&path).map_err(|error| Error::file(&path, "tidied", &error))?;
        }
        Ok(())
    }

    /// The next key, made where it is a file that is not there yet.
    pub fn load_or_create_next(&self, random: &dyn Random) -> Result<Arc<MasterKey>> {
        match self {
            Self::File(path) => {
                let next = next_path(path);
                if !next.exists() {
                    make_file(&next, random)?;
                }
                read_file(&next)?
                    .map(Arc::new)
                    .ok_or_else(|| Error::Key(format!("{} no longer exists", next.display())))
            }
            Self::Given { next: Some(_), .. } => {
                self.load()?.pop().ok_or_else(|| Error::Key("there is no next key".to_owned()))
            }
            Self::Given { next: None, .. } => Err(Error::Key(
                "the key comes from the settings, so the next one must too: set vault.next_key \
                 (MUNSHI__VAULT__NEXT_KEY) to 32 bytes in base64, on every node, then run this again"
                    .to_owned(),
            )),
        }
    }

    /// Puts the next key in the place of the one before, which stays beside it for backups from before. Says what is
    /// left for a person to do.
    pub fn promote_next(&self, retired: &str) -> Result<String> {
        let Self::File(path) = self else {
            return Ok(
                "set vault.key to the value of vault.next_key on every node, and remove vault.next_key"
                    .to_owned(),
            );
        };
        let (next, mut kept) = (next_path(path), path.as_os_str().to_owned());
        kept.push(format!(".retired-{retired}"));
        let kept = PathBuf::from(kept);
        let failed = |error: std::io::Error| Error::file(path, "replaced", &error);
        if next.exists() {
            match fs::hard_link(path, &kept) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
                _ => {}
            }
            fs::rename(&next, path).and_then(|()| sync_parent_folder(path)).map_err(failed)?;
        }
        Ok(format!(
            "keep a copy of {} off this machine. The previous key is {}: older backups need it; delete it when \
             none are left",
            path.display(),
            kept.display()
        ))
    }
}

impl fmt::Display for MasterKeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Given { .. } => f.write_str("vault.key (MUNSHI__VAULT__KEY)"),
        }
    }
}

/// Keys that lie beside the one in use since they were rotated away.
fn read_retired(path: &Path) -> Result<Vec<MasterKey>> {
    let failed = |error: std::io::Error| Error::file(path, "read", &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let beginning = format!("{}.retired-", name.to_string_lossy());
    let mut keys = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().to_string_lossy().starts_with(&beginning) {
            continue;
        }
        match read_file(&entry.path()) {
            Ok(key) => keys.extend(key),
            // Nothing that is in use needs it.
            Err(error) => tracing::warn!(%error, "a retired key can't be read; only older backups need it"),
        }
    }
    Ok(keys)
}

fn next_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".next");
    PathBuf::from(name)
}

/// None when there is no such file.
fn read_file(path: &Path) -> Result<Option<MasterKey>> {
    let failed = |error: &std::io::Error| Error::file(path, "read", error);
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| failed(&error))?,
    };
    check_permissions(&file, path)?;
    let mut text = Zeroizing::new(String::new());
    file.take(4096).read_to_string(&mut text).map_err(|error| failed(&error))?;
    MasterKey::parse(&text, &path.display().to_string()).map(Some)
}

#[cfg(unix)]
fn check_permissions(file: &File, path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata().map_err(|error| Error::file(path, "read", &error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Error::Key(format!(
        "{path} is readable by other users (mode {mode:o}): run `chmod 600 {path}`; if this machine has other users, \
         also run `munshi vault rotate`"
    )))
}

#[cfg(not(unix))]
fn check_permissions(_: &File, _: &Path) -> Result<()> {
    Ok(())
}

/// A new key in a new file, on disk before anything is sealed by it. A file that is there is never overwritten.
fn make_file(path: &Path, random: &dyn Random) -> Result<()> {
    let failed = |error: std::io::Error| Error::file(path, "made", &error);
    let text = Zeroizing::new(STANDARD.encode(SealKey::random(random).bytes()) + "\n");
    // Under its own name only when it is whole: a crash must not leave half a key.
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!("{PARTIAL}{}", std::process::id()));
    let partial = PathBuf::from(partial);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&partial).map_err(failed)?;
    // As long as it is locked, nobody takes it for a leftover.
    file.lock().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    let linked = match fs::hard_link(&partial, path) {
        // Somebody else made one at the same moment; theirs will do.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    };
    fs::remove_file(&partial).map_err(failed)?;
    linked.and_then(|()| sync_parent_folder(path)).map_err(failed)
}

fn remove_partials(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name() else { return Ok(()) };
    let beginning = name.to_string_lossy().into_owned() + PARTIAL;
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(&beginning) {
            continue;
        }
        let is_gone = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
        match File::open(entry.path()) {
            Ok(file) if file.try_lock().is_err() => {}
            Ok(_) => fs::remove_file(entry.path())
                .or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })?,
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn sync_parent_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}
