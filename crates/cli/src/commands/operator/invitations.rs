//! `munshi operator list --invited`

use munshi_operations::invitations::{InvitationView, ListInvitations};
use munshi_pack::operation::{ListInput, ListView};
use munshi_store::SortOrder;
use munshi_wiring::failure::{CommandFailure, Result};

use crate::context::CommandContext;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};
use crate::output::TextStyler;
use crate::output::formatting::format_time;
use crate::output::table::OutputTable;

pub(super) fn run(
    context: &CommandContext,
    target: &OperationTarget<'_>,
    order: Option<SortOrder>,
) -> Result<()> {
    let open = context.run_whole_list::<ListInvitations, _>(target, |after| {
        let after = after.map(|next| next.parse()).transpose();
        let after = after.map_err(|_| CommandFailure::failed("the next page can't be asked for"))?;
        Ok(ListInput { after, limit: Some(LARGEST_PAGE), order })
    })?;
    context.output.print_result(&open, render_text)
}

fn render_text(open: &ListView<InvitationView>, painter: TextStyler) -> String {
    if open.items.is_empty() {
        return "No open invitations. Invite somebody with `munshi operator invite EMAIL`.".to_owned();
    }
    let mut table = OutputTable::new(&["E-MAIL", "ACCESS", "BY", "EXPIRES (UTC)"]);
    for InvitationView { email, tenant, role, made_by, ends_at, .. } in &open.items {
        let place = match (tenant, role) {
            (Some(tenant), Some(role)) => format!("{tenant} ({role})"),
            _ => "everything (keeper)".to_owned(),
        };
        table.add_row([
            email.as_str().into(),
            place.into(),
            made_by.as_str().into(),
            format_time(*ends_at).into(),
        ]);
    }
    table.render(painter)
}
