//! What is looked at besides the node's own probes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use munshi_config::Config;
use munshi_safety::audit;
use munshi_store::{DatabaseAddress, Db, Tx};
use munshi_types::{Clock, TenantId, Timestamp};

use super::KeeperAlert;
use super::history::{AlertHistory, KeeperLook};
use crate::{data_folder, key_copies};

const MEBIBYTE: u64 = 1 << 20;
const HOUR: Duration = Duration::from_secs(3600);

const DISK: &str = "disk";
const BACKUPS: &str = "backups";
const KEY_COPIES: &str = "key-copies";
const AUDIT: &str = "audit";

pub(super) struct InstallationChecks {
    db: Db,
    clock: Arc<dyn Clock>,
    /// Where most is written.
    written: PathBuf,
    least_free: u64,
    backups: BackupPlaces,
    /// How old the newest backup may be; none where nobody asked, or the database has tools of its own.
    oldest_backup: Option<Duration>,
    key_copies: PathBuf,
}

/// Where the machine's own program leaves a trace of each backup.
#[derive(Clone)]
struct BackupPlaces {
    folder: PathBuf,
    /// Written anew with each backup to another place.
    elsewhere: PathBuf,
}

/// What one look at something says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CheckResult {
    Well,
    Wrong(KeeperAlert),
    /// It could not be looked at.
    Unknown(&'static str),
}

impl CheckResult {
    fn wrong_if(is_wrong: bool, key: &str, text: impl FnOnce() -> String) -> Self {
        match is_wrong {
            true => Self::Wrong(KeeperAlert { key: key.to_owned(), text: text() }),
            false => Self::Well,
        }
    }
}

impl InstallationChecks {
    pub(super) fn from_config(config: &Config, db: &Db, clock: &Arc<dyn Clock>) -> Self {
        let (written, is_file) = match config.store_url().reveal().parse() {
            Ok(DatabaseAddress::Sqlite(file)) => (file, true),
            _ => (config.data.dir.clone(), false),
        };
        let hours = u32::try_from(config.alerts.backup_hours).unwrap_or(u32::MAX);
        Self {
            db: db.clone(),
            clock: clock.clone(),
            written,
            least_free: (config.alerts.disk_free_mebibytes as u64).saturating_mul(MEBIBYTE),
            backups: BackupPlaces {
                folder: data_folder::backups(config),
                elsewhere: data_folder::backup_trace(config),
            },
            oldest_backup: (is_file && hours > 0).then(|| HOUR.saturating_mul(hours)),
            key_copies: data_folder::key_copies(config),
        }
    }

    /// What is wrong besides what the node's own probes find.
    pub(super) async fn run(&self, history: &mut AlertHistory) -> KeeperLook {
        let (now, began) = (self.clock.now(), history.begin(self.clock.now()));
        let (written, least) =
            (self.written.clone(), find_least_free(self.least_free, history.is_raised(DISK)));
        let (backups, copies) = (self.backups.clone(), self.key_copies.clone());
        // Whoever has just begun is not late with the first one.
        let oldest = self.oldest_backup.filter(|oldest| now.since(began) > *oldest);
        let looked = tokio::task::spawn_blocking(move || {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(now.as_millis());
            let backups = oldest.map_or(CheckResult::Well, |oldest| check_backups(&backups, oldest, at));
            vec![check_disk(&written, least), backups, check_key_copies(&copies, now)]
        });
        let mut found =
            looked.await.unwrap_or_else(|_| [DISK, BACKUPS, KEY_COPIES].map(CheckResult::Unknown).to_vec());
        found.push(self.check_audit().await);
        let mut look = KeeperLook::default();
        for one in found {
            match one {
                CheckResult::Well => {}
                CheckResult::Wrong(alert) => look.wrong.push(alert),
                CheckResult::Unknown(key) => look.unknown.push(key),
            }
        }
        look
    }

    /// What the last look at all chains has found; that a database does not answer is told by the probes.
    async fn check_audit(&self) -> CheckResult {
        let read = |tx: &mut Tx<'_>| audit::is_last_verification_broken(tx);
        let Ok(is_broken) = self.db.read(TenantId::PLATFORM, read).await else {
            return CheckResult::Unknown(AUDIT);
        };
        CheckResult::wrong_if(is_broken, AUDIT, || {
            "the audit log was altered\nRun `munshi audit verify`: it says whose chain is broken, and where."
                .to_owned()
        })
    }
}

/// An alert ends at a tenth more than where it begins: at the brink it would come and go with each file.
const fn find_least_free(least: u64, is_raised: bool) -> u64 {
    if is_raised { least.saturating_add(least / 10) } else { least }
}

fn check_disk(written: &Path, least: u64) -> CheckResult {
    let there = written.ancestors().find(|path| path.exists());
    let Some(disk) = there.and_then(|there| rustix::fs::statvfs(there).ok()) else {
        return CheckResult::Unknown(DISK);
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    CheckResult::wrong_if(free < least, DISK, || {
        "the disk with the data fills up\nFree some space: writes fail when it is full.".to_owned()
    })
}

/// By the newest file; one that is still being made has another ending.
fn check_backups(places: &BackupPlaces, oldest: Duration, now: SystemTime) -> CheckResult {
    let files: Vec<PathBuf> = match std::fs::read_dir(&places.folder) {
        Ok(files) => files.flatten().map(|file| file.path()).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(_) => return CheckResult::Unknown(BACKUPS),
    };
    let backups = files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "db"));
    let made = backups.chain([places.elsewhere.clone()]);
    let newest = made.filter_map(|file| file.metadata().ok()?.modified().ok()).max();
    let is_old = newest.is_none_or(|made| now.duration_since(made).is_ok_and(|age| age > oldest));
    CheckResult::wrong_if(is_old, BACKUPS, || {
        let hours = oldest.as_secs() / HOUR.as_secs();
        format!(
            "no backup was made in the last {hours} hours\nRun `munshi backup`, and look why the usual one was not made."
        )
    })
}

/// With one of them what people wrote who were forgotten since still opens.
fn check_key_copies(folder: &Path, now: Timestamp) -> CheckResult {
    let Ok(is_old) = key_copies::has_overdue(folder, now) else { return CheckResult::Unknown(KEY_COPIES) };
    CheckResult::wrong_if(is_old, KEY_COPIES, || {
        "copies of the keys are older than 30 days and were not deleted\nDelete them: they open what people wrote who were \
         forgotten since. The log says why the server can't."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(found: &CheckResult) -> Option<&str> {
        match found {
            CheckResult::Wrong(alert) => Some(&alert.key),
            CheckResult::Well | CheckResult::Unknown(_) => None,
        }
    }

    #[test]
    fn a_disk_with_room_is_well_and_one_without_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check_disk(folder.path(), 0), CheckResult::Well);
        assert_eq!(key(&check_disk(&folder.path().join("not/there/yet.db"), u64::MAX)), Some("disk"));
    }

    #[test]
    fn an_alert_ends_at_more_room_than_it_began_at() {
        assert_eq!((find_least_free(1000, false), find_least_free(1000, true)), (1000, 1100));
        assert_eq!(find_least_free(u64::MAX, true), u64::MAX);
    }

    #[test]
    fn an_old_backup_is_told_and_a_new_one_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let places = BackupPlaces {
            folder: folder.path().join("backups"),
            elsewhere: folder.path().join("backup-elsewhere"),
        };
        // A file's own time is the machine's; one that was written now says which that is.
        let written = tempfile::NamedTempFile::new().unwrap();
        let (day, now) = (HOUR * 24, written.as_file().metadata().unwrap().modified().unwrap());
        assert_eq!(key(&check_backups(&places, day, now)), Some("backups"), "there is none");
        std::fs::create_dir(&places.folder).unwrap();
        std::fs::write(places.folder.join("munshi-1.db.part"), "half").unwrap();
        assert_eq!(key(&check_backups(&places, day, now)), Some("backups"), "one that is not whole is none");
        std::fs::write(places.folder.join("munshi-1.db"), "copy").unwrap();
        assert_eq!(check_backups(&places, day, now), CheckResult::Well);
        assert_eq!(key(&check_backups(&places, day, now + day * 2)), Some("backups"));
        std::fs::remove_file(places.folder.join("munshi-1.db")).unwrap();
        std::fs::write(&places.elsewhere, "/mnt/copies/munshi.db").unwrap();
        assert_eq!(check_backups(&places, day, now), CheckResult::Well, "one elsewhere counts as well");
        // A folder that can't be read says nothing of what is in it.
        let places = BackupPlaces { folder: places.elsewhere.clone(), elsewhere: folder.path().join("none") };
        assert_eq!(check_backups(&places, day, now), CheckResult::Unknown("backups"));
    }
}
