//! `munshi approvals list`

use clap::Args;
use munshi_safety::approvals::{self, ApprovalFilter, ApprovalStatus};
use munshi_store::{Cursor, PageRequest};
use serde::Serialize;

use super::{Named, words};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::output::TextStyler;
use crate::output::shown::moment;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::wiring::database::ConfiguredDatabase;

/// As much of what would happen as a row shows; `show` has it all.
const WORDS_COLUMNS: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct ApprovalListArguments {
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Those that were answered or expired too
    #[arg(long)]
    all: bool,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Go on after this page mark, which the page before gave as its `next`
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
}

#[derive(Debug, Serialize)]
struct Listing {
    items: Vec<Named>,
    next: Option<Cursor>,
}

pub(super) fn run(context: &CommandContext, arguments: &ApprovalListArguments) -> Result<()> {
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let wanted = if arguments.all { ApprovalFilter::All } else { ApprovalFilter::Pending };
    let request = PageRequest::new(arguments.after, arguments.limit);
    let listing = context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find(&db).await?;
        let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<Listing, CommandFailure> {
            let page = approvals::list(tx, wanted, &request)?;
            let items = page.items.into_iter().map(|one| Named::of(tx, one)).collect::<Result<_>>()?;
            Ok(Listing { items, next: page.next })
        };
        db.read(tenant.id, unit).await
    })?;
    context.output.answer(&listing, words)
}

fn words(listing: &Listing, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "Nothing waits for an answer.".to_owned();
    }
    let mut table = OutputTable::new(&["ID", "WHO ASKS", "WHAT", "RISK", "WHY", "EXPIRES (UTC)"]);
    for named in &listing.items {
        let approval = &named.approval;
        let (risk, tone) = words::risk(approval.question.risk);
        let until = match approval.state {
            ApprovalStatus::Pending if approval.escalated_at.is_some() => {
                format!("{}, escalated", moment(approval.expires_at))
            }
            ApprovalStatus::Pending => moment(approval.expires_at),
            state => state.as_str().to_owned(),
        };
        table.row([
            words::short(approval.id).into(),
            named.asker().into(),
            OutputTableCell::short(&approval.words, WORDS_COLUMNS, OutputCellStyle::Plain),
            OutputTableCell::new(risk, tone),
            words::reasons(&approval.question).into(),
            until.into(),
        ]);
    }
    let mut text = table.render(painter);
    if let Some(next) = &listing.next {
        text += &format!("There are more: add --after {next}\n");
    }
    text + "`munshi approvals show ID` shows one whole; `grant ID` and `refuse ID` answer it.\n"
}
