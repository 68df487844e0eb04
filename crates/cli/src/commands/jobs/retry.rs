//! `munshi jobs retry ID…` and `munshi jobs retry --all`

use clap::Args;
use munshi_jobs::{Error, JOBS, dead_letters, load_queue_depth};
use munshi_store::{Db, PlatformTx};
use munshi_types::{JobId, Timestamp};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use serde::Serialize;

use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct JobRetryArguments {
    /// Job ids, as `munshi jobs list` shows them
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<JobId>,
    /// Retry every dead job
    #[arg(long)]
    all: bool,
    /// With --all: only this kind
    #[arg(long, requires = "all")]
    kind: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Retried {
    retried: u64,
    /// No dead job has these ids.
    missing: Vec<JobId>,
    /// The same work is queued already.
    queued_already: Vec<JobId>,
}

pub(super) fn run(context: &CommandContext, arguments: JobRetryArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let now = context.now();
    let retried = context.block_on(async {
        let db = database.open().await?;
        match arguments.all {
            true => retry_all(&db, arguments.kind, now).await,
            false => retry_each(&db, arguments.ids, now).await,
        }
    })?;
    match problem(&retried) {
        Some(failure) => Err(failure),
        None => context.output.print_result(&retried, render_text),
    }
}

async fn retry_each(db: &Db, ids: Vec<JobId>, now: Timestamp) -> Result<Retried> {
    let mut outcome = Retried::default();
    for id in ids {
        let retry = move |tx: &mut PlatformTx<'_>| dead_letters::retry(tx, id, now);
        match db.platform(JOBS).write(retry).await {
            Ok(true) => outcome.retried += 1,
            Ok(false) => outcome.missing.push(id),
            Err(Error::AlreadyQueued(id)) => outcome.queued_already.push(id),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(outcome)
}

/// Goes on in steps, and never beyond as many as there were: a job that dies again at once must not keep us here.
async fn retry_all(db: &Db, kind: Option<String>, now: Timestamp) -> Result<Retried> {
    let dead = db.platform(JOBS).read(load_queue_depth).await?.dead;
    let most = u64::try_from(dead).unwrap_or(0);
    let mut outcome = Retried::default();
    while outcome.retried < most {
        let kind = kind.clone();
        let step = move |tx: &mut PlatformTx<'_>| dead_letters::retry_all(tx, kind.as_deref(), now);
        match db.platform(JOBS).write(step).await? {
            0 => break,
            some => outcome.retried += some,
        }
    }
    Ok(outcome)
}

fn problem(outcome: &Retried) -> Option<CommandFailure> {
    let list = |ids: &[JobId]| {
        let list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if outcome.retried > 0 {
            format!("{list}. {}", render_text(outcome, TextStyler::Plain))
        } else {
            list
        }
    };
    if !outcome.missing.is_empty() {
        let what = format!("no dead job has the id {}", list(&outcome.missing));
        return Some(CommandFailure::new(Exit::NotFound, what).hint("`munshi jobs list` shows dead jobs"));
    }
    if !outcome.queued_already.is_empty() {
        let what = format!("an identical job is already queued: {}", list(&outcome.queued_already));
        return Some(CommandFailure::already_there(what).hint("no action needed: it will run"));
    }
    None
}

fn render_text(outcome: &Retried, _: TextStyler) -> String {
    match outcome.retried {
        0 => "No dead jobs to retry.".to_owned(),
        some => format!("{} requeued.", format_count(some, "job")),
    }
}
