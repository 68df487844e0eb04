//! `munshi jobs list`

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use clap::Args;
use munshi_jobs::{JOBS, JobState, JobView, QueueDepth, dead_letters, load_queue_depth};
use munshi_store::{Cursor, Db, Page, PageRequest, PlatformTx, tenants};
use munshi_types::{TenantId, TenantName};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use serde::Serialize;

use crate::commands::tenant::not_found_failure;
use crate::context::CommandContext;
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
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Continue after this cursor: the `next` of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
}

#[derive(Debug, Serialize)]
struct Listing {
    state: JobState,
    /// Of all tenants.
    depth: QueueDepth,
    items: Vec<Item>,
    next: Option<Cursor>,
}

#[derive(Debug, Serialize)]
struct Item {
    #[serde(flatten)]
    job: JobView,
    /// None for the installation's own work.
    tenant_name: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &JobListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = match &arguments.tenant {
            Some(name) => Some(find(&db, name.clone()).await?),
            None => None,
        };
        let (state, request) = (arguments.state, PageRequest::new(arguments.after, arguments.limit));
        let read = move |tx: &mut PlatformTx<'_>| read(tx, state, tenant, &request);
        Ok(db.platform(JOBS).read(read).await?)
    })?;
    context.output.print_result(&listing, render_text)
}

async fn find(db: &Db, name: TenantName) -> Result<TenantId> {
    let asked = name.clone();
    let found = db.platform(JOBS).read(move |tx| tenants::find_by_name(tx, &asked)).await?;
    found.map(|tenant| tenant.id).ok_or_else(|| not_found_failure(&name))
}

fn read(
    tx: &mut PlatformTx<'_>,
    state: JobState,
    tenant: Option<TenantId>,
    request: &PageRequest,
) -> munshi_jobs::Result<Listing> {
    let depth = load_queue_depth(tx)?;
    let Page { items, next } = dead_letters::list(tx, state, tenant, request)?;
    let mut names: BTreeMap<TenantId, Option<String>> = BTreeMap::new();
    let mut shown = Vec::with_capacity(items.len());
    for job in items {
        let tenant_name = match names.entry(job.tenant) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(unknown) => {
                let found = tenants::find(tx, job.tenant)?.map(|tenant| tenant.name.to_string());
                unknown.insert(found).clone()
            }
        };
        shown.push(Item { job, tenant_name });
    }
    Ok(Listing { state, depth, items: shown, next })
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    let QueueDepth { scheduled, ready, running, dead } = listing.depth;
    let depth = format!("Queue: {ready} ready, {running} running, {scheduled} scheduled, {dead} dead.\n");
    if listing.items.is_empty() {
        return format!("{depth}No {} jobs.\n", listing.state);
    }
    let mut table =
        OutputTable::new(&["ID", "KIND", "TENANT", "TRIES", "CREATED (UTC)", "DUE (UTC)", "LAST ERROR"]);
    listing.items.iter().for_each(|item| table.add_row(row(item)));
    let mut text = format!("{depth}{}", table.render(painter));
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    if listing.state == JobState::Dead {
        text += "`munshi jobs retry ID` retries one, `munshi jobs retry --all` all of them.\n";
    }
    text
}

fn row(item: &Item) -> [OutputTableCell; 7] {
    let job = &item.job;
    [
        job.id.to_string().into(),
        job.kind.as_str().into(),
        item.tenant_name.as_deref().unwrap_or("-").into(),
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
