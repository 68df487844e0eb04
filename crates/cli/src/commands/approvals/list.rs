//! `munshi approvals list`

use clap::Args;
use munshi_operations::approvals::{ApprovalState, ApprovalView, ListApprovals, ListApprovalsInput};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use super::{describe_asker, labels};
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::list_arguments::ListPageArguments;
use crate::operation_client::OperationTarget;
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
    #[command(flatten)]
    page: ListPageArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ApprovalListArguments) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    let ListPageArguments { limit, after, sorting } = &arguments.page;
    let input = ListApprovalsInput {
        all: arguments.all.then_some(true),
        after: *after,
        limit: Some(*limit),
        order: sorting.order,
    };
    let listing = context.run_operation::<ListApprovals>(&target, &input)?;
    context.output.print_result(&listing, render_text)
}

fn render_text(listing: &ListView<ApprovalView>, painter: TextStyler) -> String {
    if listing.items.is_empty() {
        return "No pending approvals.".to_owned();
    }
    let mut table = OutputTable::new(&["ID", "REQUESTED BY", "WHAT", "RISK", "WHY", "EXPIRES (UTC)"]);
    for approval in &listing.items {
        let (risk, tone) = labels::risk(approval.question.risk);
        let until = match approval.state {
            ApprovalState::Pending if approval.escalated_at.is_some() => {
                format!("{}, escalated", format_time(approval.expires_at))
            }
            ApprovalState::Pending => format_time(approval.expires_at),
            state => state.as_str().to_owned(),
        };
        table.add_row([
            labels::format_short_id(approval.id).into(),
            describe_asker(approval).into(),
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
