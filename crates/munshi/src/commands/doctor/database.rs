//! The database: whether it answers, fits this version and is sound; what waits in its queue.

use std::path::Path;

use munshi_config::Config;
use munshi_jobs::{Depth, JOBS, depth};
use munshi_store::{Address, Db, care};

use super::finding::{Finding, Level};
use super::folder::is_open_to_others;
use crate::failure::{Exit, Failure, Result};
use crate::output::shown::{count, size};
use crate::wiring::database::Database;
use crate::wiring::lock::{Holder, Lock};

/// What was found, and the database itself where it could be opened.
pub(super) async fn examine(config: &Config) -> (Vec<Finding>, Option<Db>) {
    let database = match Database::for_one_question(config) {
        Ok(database) => database,
        Err(failure) => return (vec![Finding::of("database", failure)], None),
    };
    if let Some(file) = database.file()
        && !file.exists()
    {
        let detail = format!("{} is made on first run", file.display());
        return (vec![Finding::ok("database", detail)], None);
    }
    let mut findings: Vec<Finding> = database.file().map(|file| about_file(file)).into_iter().collect();
    let schema = schema(&database).await;
    let fits = schema.level == Level::Ok;
    findings.push(schema);
    findings.extend(soundness(&database).await);
    if !fits {
        return (findings, None);
    }
    match opened(&database).await {
        Ok((more, db)) => {
            findings.extend(more);
            (findings, Some(db))
        }
        Err(failure) => {
            findings.push(Finding::of("database", failure));
            (findings, None)
        }
    }
}

async fn schema(database: &Database) -> Finding {
    match database.state().await {
        Err(failure) if failure.exit == Exit::Schema => Finding::of("schema", failure),
        Err(failure) => Finding::of("database", failure),
        Ok(state) if state.pending.is_empty() => {
            Finding::ok("schema", format!("{} migrations, none pending", state.applied.len()))
        }
        Ok(state) => {
            let detail = format!("{} pending", count(state.pending.len() as u64, "migration"));
            Finding::warn("schema", detail, "run `munshi migrate`, or `munshi serve`, which does it")
        }
    }
}

fn about_file(file: &Path) -> Finding {
    let shown = file.display();
    let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
    let user = match Lock::holder(file) {
        Holder::Nobody => "no server is using it".to_owned(),
        Holder::Process(Some(number)) => format!("in use by process {number}"),
        Holder::Process(None) => "in use by a server".to_owned(),
    };
    let detail = format!("{shown}, {}, {user}", size(bytes));
    if is_open_to_others(file) && file.parent().is_none_or(is_open_to_others) {
        return Finding::warn("file", format!("{detail}; others can read it"), format!("chmod 600 {shown}"));
    }
    Finding::ok("file", detail)
}

/// Reads all of a SQLite file.
async fn soundness(database: &Database) -> Option<Finding> {
    if matches!(database.address, Address::Postgres(_)) {
        return None;
    }
    Some(match care::examine(&database.address).await {
        Ok(()) => Finding::ok("integrity", "every page is sound"),
        Err(error) => {
            let failure = Failure::from(error);
            let hint =
                failure.hint.unwrap_or_else(|| "stop the server, then `munshi restore` a backup".to_owned());
            Finding::fail("integrity", failure.message, hint)
        }
    })
}

async fn opened(database: &Database) -> Result<(Vec<Finding>, Db)> {
    let db = database.open().await?;
    let version = db.version().await?;
    let engine = match &database.address {
        Address::Sqlite(_) => version,
        Address::Postgres(_) => format!("{version} at {}", database.address),
    };
    let queue = db.platform(JOBS).read(depth).await?;
    Ok((vec![Finding::ok("engine", engine), about_queue(queue)], db))
}

fn about_queue(depth: Depth) -> Finding {
    let Depth { scheduled, ready, running, dead } = depth;
    let detail = format!("{ready} ready, {running} running, {scheduled} scheduled, {dead} dead");
    match dead {
        0 => Finding::ok("jobs", detail),
        _ => Finding::warn("jobs", detail, "`munshi jobs list` shows why the dead were given up"),
    }
}
