//! `munshi jobs list`

use clap::Args;
use munshi_jobs::JobState;
use munshi_operations::jobs::{JobDetailView, JobsView, ListJobs, ListJobsInput, QueueDepthView};
use munshi_types::TenantName;
use munshi_wiring::failure::Result;

use crate::context::CommandContext;
use crate::list_arguments::ListPageArguments;
use crate::operation_client::OperationTarget;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

/// As much of a failure's words as a row shows; `--json` has them all.
const REASON_COLUMNS: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct JobListArguments {
    /// scheduled, ready, running, done or dead
    #[arg(long, default_value = "dead")]
    state: JobState,
    /// Only this tenant's jobs
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    #[command(flatten)]
    page: ListPageArguments,
}

pub(super) fn run(context: &CommandContext, arguments: JobListArguments) -> Result<()> {
    let input = ListJobsInput {
        state: Some(arguments.state),
        tenant: arguments.tenant,
        after: arguments.page.after,
        limit: Some(arguments.page.limit),
        order: arguments.page.sorting.order,
    };
    let listing = context.run_operation::<ListJobs>(&OperationTarget::installation(None), &input)?;
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &JobsView, painter: TextStyler) -> String {
    let QueueDepthView { scheduled, ready, running, dead } = listing.depth;
    let depth = format!("Queue: {ready} ready, {running} running, {scheduled} scheduled, {dead} dead.\n");
    if listing.items.is_empty() {
        return format!("{depth}No {} jobs.\n", listing.state);
    }
    let mut table =
        OutputTable::new(&["ID", "KIND", "TENANT", "TRIES", "CREATED (UTC)", "DUE (UTC)", "LAST ERROR"]);
    listing.items.iter().for_each(|job| table.add_row(row(job)));
    let mut text = format!("{depth}{}", table.render(painter));
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    if listing.state == JobState::Dead {
        text += "`munshi jobs retry ID` retries one, `munshi jobs retry --all` all of them.\n";
    }
    text
}

fn row(job: &JobDetailView) -> [OutputTableCell; 7] {
    [
        job.id.to_string().into(),
        job.kind.as_str().into(),
        job.tenant_name.as_deref().unwrap_or("-").into(),
        format!("{}/{}", job.attempt, job.max_attempts).into(),
        format_time(job.created_at).into(),
        format_time(job.run_at).into(),
        OutputTableCell::truncated(
            job.last_error.as_deref().unwrap_or_default(),
            REASON_COLUMNS,
            OutputCellStyle::Plain,
        ),
    ]
}
