//! `munshi jobs retry ID…` and `munshi jobs retry --all`

use clap::Args;
use munshi_operations::jobs::{JobInput, RetryAllJobs, RetryAllJobsInput, RetryJob};
use munshi_types::JobId;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use serde::Serialize;

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
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
    #[command(flatten)]
    operator: OperatorArguments,
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
    let target = OperationTarget::installation(Some(&arguments.operator));
    let mut outcome = Retried::default();
    if arguments.all {
        let input = RetryAllJobsInput { kind: arguments.kind };
        outcome.retried = context.run_operation::<RetryAllJobs>(&target, &input)?.retried;
    }
    for id in arguments.ids {
        match context.run_operation::<RetryJob>(&target, &JobInput { id }) {
            Ok(_) => outcome.retried += 1,
            Err(failure) if failure.exit == Exit::NotFound => outcome.missing.push(id),
            Err(failure) if failure.exit == Exit::AlreadyThere => outcome.queued_already.push(id),
            Err(failure) => return Err(failure),
        }
    }
    match problem(&outcome) {
        Some(failure) => Err(failure),
        None => context.output.print_result(&outcome, render_text),
    }
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
