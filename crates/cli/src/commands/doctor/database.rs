//! The database: whether it answers, fits this version and is sound; what waits in its queue.

use std::path::Path;

use munshi_config::Config;
use munshi_jobs::{JOBS, QueueDepth, load_queue_depth};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{DatabaseAddress, Db, maintenance};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use munshi_wiring::lock::{DatabaseLock, DatabaseLockHolder};
use munshi_wiring::row_sealing::SealingProgress;

use super::finding::{DoctorFinding, DoctorLevel};
use super::folder::is_open_to_others;
use crate::output::formatting::{format_count, format_size};

/// What was found, and the database itself where it could be opened.
pub(super) async fn examine(config: &Config) -> (Vec<DoctorFinding>, Option<Db>) {
    let database = match ConfiguredDatabase::single_connection(config) {
        Ok(database) => database,
        Err(failure) => return (vec![DoctorFinding::from_failure("database", failure)], None),
    };
    if let Some(file) = database.file()
        && !file.exists()
    {
        let detail = format!("{} is created on first run", file.display());
        return (vec![DoctorFinding::ok("database", detail)], None);
    }
    let mut findings: Vec<DoctorFinding> = database.file().map(|file| check_file(file)).into_iter().collect();
    let schema = schema(&database).await;
    let fits = schema.level == DoctorLevel::Ok;
    findings.push(schema);
    findings.extend(soundness(&database).await);
    if !fits {
        return (findings, None);
    }
    match check_connection(&database).await {
        Ok((more, db)) => {
            findings.extend(more);
            (findings, Some(db))
        }
        Err(failure) => {
            findings.push(DoctorFinding::from_failure("database", failure));
            (findings, None)
        }
    }
}

async fn schema(database: &ConfiguredDatabase) -> DoctorFinding {
    match database.state().await {
        Err(failure) if failure.exit == Exit::Schema => DoctorFinding::from_failure("schema", failure),
        Err(failure) => DoctorFinding::from_failure("database", failure),
        Ok(state) if state.pending.is_empty() => {
            DoctorFinding::ok("schema", format!("{} migrations, none pending", state.applied.len()))
        }
        Ok(state) => {
            let detail = format!("{} pending", format_count(state.pending.len() as u64, "migration"));
            DoctorFinding::warn("schema", detail, "run `munshi migrate` or `munshi serve`")
        }
    }
}

fn check_file(file: &Path) -> DoctorFinding {
    let shown = file.display();
    let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
    let user = match DatabaseLock::holder(file) {
        DatabaseLockHolder::Nobody => "no server is using it".to_owned(),
        DatabaseLockHolder::Process(Some(number)) => format!("in use by process {number}"),
        DatabaseLockHolder::Process(None) => "in use by a server".to_owned(),
    };
    let detail = format!("{shown}, {}, {user}", format_size(bytes));
    if is_open_to_others(file) && file.parent().is_none_or(is_open_to_others) {
        return DoctorFinding::warn(
            "file",
            format!("{detail}; readable by other users"),
            format!("chmod 600 {shown}"),
        );
    }
    DoctorFinding::ok("file", detail)
}

/// Reads all of a SQLite file.
async fn soundness(database: &ConfiguredDatabase) -> Option<DoctorFinding> {
    if matches!(database.address, DatabaseAddress::Postgres(_)) {
        return None;
    }
    Some(match maintenance::check_integrity(&database.address).await {
        Ok(()) => DoctorFinding::ok("integrity", "no corruption found"),
        Err(error) => {
            let failure = CommandFailure::from(error);
            let hint = failure
                .hint
                .unwrap_or_else(|| "stop the server, then restore a backup with `munshi restore`".to_owned());
            DoctorFinding::fail("integrity", failure.message, hint)
        }
    })
}

async fn check_connection(database: &ConfiguredDatabase) -> Result<(Vec<DoctorFinding>, Db)> {
    let db = database.open_unreplayed().await?;
    let version = db.server_version().await?;
    let engine = match &database.address {
        DatabaseAddress::Sqlite(_) => version,
        DatabaseAddress::Postgres(_) => format!("{version} at {}", database.address),
    };
    let queue = db.platform(JOBS).read(load_queue_depth).await?;
    let encryption = check_encryption(database, &db).await;
    let older = check_older_text(&database.address, &db).await;
    let findings =
        [Some(DoctorFinding::ok("engine", engine)), Some(encryption), older, Some(check_queue(queue))];
    Ok((findings.into_iter().flatten().collect(), db))
}

/// Whether what an older version stored plain is sealed by now, and what is left to do; nothing is said where there never was any.
async fn check_older_text(address: &DatabaseAddress, db: &Db) -> Option<DoctorFinding> {
    let progress = match SealingProgress::load(db).await {
        Ok(progress) => progress,
        Err(failure) => return Some(DoctorFinding::from_failure("sealing", failure)),
    };
    describe_older_text(&progress, address)
}

fn describe_older_text(progress: &SealingProgress, address: &DatabaseAddress) -> Option<DoctorFinding> {
    let changed_at = progress.changed_at?;
    if !progress.is_done() {
        let SealingProgress { done, tenants, .. } = progress;
        let detail = format!(
            "text from before is encrypted while the server works: {done} of {tenants} tenants are done"
        );
        return Some(DoctorFinding::ok("sealing", detail));
    }
    let (detail, hint) = match address {
        DatabaseAddress::Postgres(_) => (
            format!("all text from before is encrypted since {changed_at}"),
            "unless you did since then: run `VACUUM FULL` in the database, or the plain text of before stays in free parts of its files",
        ),
        DatabaseAddress::Sqlite(_) if progress.has_traces() => (
            "all text from before is encrypted; the file still has traces of it".to_owned(),
            "start the server again: it writes the file anew before it serves",
        ),
        DatabaseAddress::Sqlite(_) => {
            return Some(DoctorFinding::ok(
                "sealing",
                "all text from before is encrypted, and the file has no traces of it",
            ));
        }
    };
    Some(DoctorFinding { hint: Some(hint.to_owned()), ..DoctorFinding::ok("sealing", detail) })
}

/// Whether the keys that text is encrypted with are there, and the right ones.
async fn check_encryption(database: &ConfiguredDatabase, db: &Db) -> DoctorFinding {
    let keys = &database.keys;
    if let Err(failure) = keys.check(db).await {
        return DoctorFinding::from_failure("encryption", failure);
    }
    match describe_unfinished_rotations(database, db).await {
        Ok(None) => {}
        Ok(Some(tenants)) => {
            let detail =
                format!("the rotation of the key of {tenants} was interrupted; everything is readable");
            return DoctorFinding::warn(
                "encryption",
                detail,
                "run `munshi vault rotate-tenant TENANT` again",
            );
        }
        Err(failure) => return DoctorFinding::from_failure("encryption", failure),
    }
    match keys.file() {
        Some(file) if is_open_to_others(file) && file.parent().is_none_or(is_open_to_others) => {
            let shown = file.display();
            DoctorFinding::warn(
                "keys",
                format!("{shown}; readable by other users"),
                format!("chmod 600 {shown}"),
            )
        }
        _ => DoctorFinding::ok("encryption", format!("the store of keys is {}", keys.address)),
    }
}

/// The names of those tenants; none where there are none.
async fn describe_unfinished_rotations(database: &ConfiguredDatabase, db: &Db) -> Result<Option<String>> {
    let unfinished = database.keys.worker.list_unfinished_rotations().await?;
    let mut names = Vec::with_capacity(unfinished.len());
    for tenant in unfinished {
        let found = db.platform(TENANTS).read(move |tx| tenants::find(tx, tenant)).await?;
        names.push(found.map_or_else(|| tenant.to_string(), |found| found.name.to_string()));
    }
    Ok((!names.is_empty()).then(|| names.join(", ")))
}

fn check_queue(depth: QueueDepth) -> DoctorFinding {
    let QueueDepth { scheduled, ready, running, dead } = depth;
    let detail = format!("{ready} ready, {running} running, {scheduled} scheduled, {dead} dead");
    match dead {
        0 => DoctorFinding::ok("jobs", detail),
        _ => DoctorFinding::warn("jobs", detail, "`munshi jobs list` shows why they failed"),
    }
}

#[cfg(test)]
mod tests {
    use munshi_types::Timestamp;

    use super::*;

    fn describe(progress: SealingProgress, address: &str) -> Option<String> {
        let found = describe_older_text(&progress, &address.parse().unwrap())?;
        Some([Some(found.detail), found.hint].into_iter().flatten().collect::<Vec<_>>().join(" -> "))
    }

    #[test]
    fn it_is_said_how_far_older_text_is_and_what_is_left_to_do() {
        let at = Timestamp::from_micros;
        let (file, server) = ("sqlite:a.db", "postgres://somebody@host/shop");
        let never = SealingProgress { tenants: 2, done: 2, changed_at: None, rewritten_at: None };
        assert_eq!((describe(never, file), describe(never, server)), (None, None));
        let sealed = SealingProgress { changed_at: Some(at(2_000_000)), ..never };
        let half = SealingProgress { done: 1, ..sealed };
        assert!(describe(half, server).unwrap().contains("1 of 2 tenants"));
        assert!(describe(sealed, server).unwrap().contains("VACUUM FULL"));
        assert!(describe(sealed, file).unwrap().contains("start the server again"));
        // A walk after the file was written anew leaves traces again.
        let before = SealingProgress { rewritten_at: Some(at(1_000_000)), ..sealed };
        assert!(describe(before, file).unwrap().contains("start the server again"));
        let after = SealingProgress { rewritten_at: Some(at(3_000_000)), ..sealed };
        assert_eq!(
            describe(after, file).unwrap(),
            "all text from before is encrypted, and the file has no traces of it"
        );
    }
}
