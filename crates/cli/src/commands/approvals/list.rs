//! `munshi approvals list`

use clap::Args;
use munshi_safety::approvals::{self, ApprovalFilter, ApprovalStatus};
use munshi_store::{Cursor, PageRequest};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;

use super::{Named, labels};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};

/// As much of what would happen as a row shows; `show` has it all.
const WORDS_COLUMNS: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct ApprovalListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Include answered and expired ones
    #[arg(long)]
    all: bool,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Continue after this cursor: the `next` of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
}

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<Named>,
    next: Option<Cursor>,
}

pub(super) fn run(context: &CommandContext, arguments: &ApprovalListArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let wanted = if arguments.all { ApprovalFilter::All } else { ApprovalFilter::Pending };
    let request = PageRequest::new(arguments.after, arguments.limit);
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Listing, CommandFailure> {
            let page = approvals::list(tx, wanted, &request)?;
            let items = page.items.into_iter().map(|one| Named::load(tx, one)).collect::<Result<_>>()?;
            Ok(Listing { items, next: page.next })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No pending approvals.".to_owned();
    }
    let mut table = OutputTable::new(&["ID", "REQUESTED BY", "WHAT", "RISK", "WHY", "EXPIRES (UTC)"]);
    for named in &listing.items {
        let approval = &named.approval;
        let (risk, tone) = labels::risk(approval.question.risk);
        let until = match approval.state {
            ApprovalStatus::Pending if approval.escalated_at.is_some() => {
                format!("{}, escalated", format_time(approval.expires_at))
            }
            ApprovalStatus::Pending => format_time(approval.expires_at),
            state => state.as_str().to_owned(),
        };
        table.add_row([
            labels::format_short_id(approval.id).into(),
            named.asker().into(),
            OutputTableCell::truncated(&approval.words, WORDS_COLUMNS, OutputCellStyle::Plain),
            OutputTableCell::new(risk, tone),
            labels::reasons(&approval.question).into(),
            until.into(),
        ]);
    }
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("More rows: add --after {next}\n");
    }
    text + "`munshi approvals show ID` shows the details; `grant ID` and `refuse ID` answer it.\n"
}
