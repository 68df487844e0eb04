//! The copies of the store of keys that `munshi backup --keys` makes: with one of them what people wrote who were forgotten since still opens,
//! so none is kept for long. A server deletes its machine's by itself: the next copy may never be made.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use munshi_store::maintenance;
use munshi_types::{Clock, Timestamp};
use tokio_util::sync::CancellationToken;

/// So long copies are kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a server looks.
const LOOK: Duration = Duration::from_secs(3600);

/// The name of a copy made now.
pub fn name_copy(now: Timestamp) -> String {
    format!("keys-{}.db", maintenance::format_timestamp(now))
}

/// Deletes the copies in a folder that are too old, also half ones of a program that was killed. What has another name is theirs who put it
/// there. Says how many there were.
pub fn remove_old(folder: &Path, now: Timestamp) -> std::io::Result<usize> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let (oldest, mut removed) = (maintenance::format_timestamp(now.minus(KEPT)), 0);
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if find_time(&name).is_none_or(|time| time >= oldest.as_str()) {
            continue;
        }
        match std::fs::remove_file(entry.path()) {
            // Another was quicker.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            outcome => {
                outcome?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

/// Whether one is there that should have been deleted a day ago.
pub fn has_overdue(folder: &Path, now: Timestamp) -> std::io::Result<bool> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    let oldest = maintenance::format_timestamp(now.minus(KEPT + DAY));
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if find_time(&name).is_some_and(|time| time < oldest.as_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// When a copy was made, by its name: `keys-20261115T021741Z.db`, and whatever follows while it is written.
fn find_time(name: &str) -> Option<&str> {
    let (time, rest) = name.strip_prefix("keys-")?.split_at_checked(16)?;
    let is_time = time.bytes().enumerate().all(|(place, byte)| match place {
        8 => byte == b'T',
        15 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    });
    (is_time && rest.starts_with(".db")).then_some(time)
}

/// Deletes old copies of this machine until it is told to stop.
pub async fn watch_age(folder: PathBuf, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = looks.tick() => {}
        }
        let (place, now) = (folder.clone(), clock.now());
        match tokio::task::spawn_blocking(move || remove_old(&place, now)).await {
            Ok(Ok(0)) => {}
            Ok(Ok(copies)) => tracing::info!(copies, "copies of the keys older than 30 days were deleted"),
            Ok(Err(error)) => {
                tracing::warn!(folder = %folder.display(), %error, "old copies of the keys can't be deleted; retrying");
            }
            Err(error) => tracing::warn!(%error, "deleting old copies of the keys was stopped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use munshi_test_support::database::MORNING;
    use munshi_test_support::wait_until;
    use munshi_types::FakeClock;

    use super::*;

    fn list(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    #[tokio::test]
    async fn a_server_deletes_copies_that_are_too_old_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let days = |days: u64| MORNING.minus(Duration::from_secs(days * 86_400));
        let old = [name_copy(days(31)), format!("{}.partial-77-0", name_copy(days(40)))];
        let kept = [name_copy(days(29)), name_copy(MORNING), "keys-2020.db".to_owned(), "mine.db".to_owned()];
        for name in old.iter().chain(&kept) {
            std::fs::write(folder.path().join(name), "keys").unwrap();
        }
        let (clock, stop) = (Arc::new(FakeClock::new(MORNING)), CancellationToken::new());
        let watching = watch_age(folder.path().to_owned(), clock, stop.clone());
        let looking = async {
            wait_until(async || list(folder.path()).len() == kept.len()).await;
            stop.cancel();
        };
        tokio::join!(watching, looking);
        let mut kept = kept.to_vec();
        kept.sort_unstable();
        assert_eq!(list(folder.path()), kept);
        assert_eq!(remove_old(&folder.path().join("none"), MORNING).unwrap(), 0);
        // Of those that are kept one is 29 days old.
        let is_overdue = |days: u32| has_overdue(folder.path(), MORNING.plus(DAY * days)).unwrap();
        assert_eq!([0, 1, 3].map(is_overdue), [false, false, true]);
        assert!(!has_overdue(&folder.path().join("none"), MORNING).unwrap());
    }
}
