//! Every kept figure worked out again from the entries.

use munshi_identity::Role;
use munshi_identity::keys::ApiAccess;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, PackCall,
    PackServices, RenderView, RouteMethod, render_as,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::books::{balances, verify};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckBooksInput {}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = LedgerCheck)]
pub(super) struct CheckBooksView {
    /// How many entries the books have.
    entries: i64,
    /// Whether every kept figure is what the entries make of it.
    sound: bool,
}

pub(super) struct CheckBooks;

impl Operation<PackServices> for CheckBooks {
    type Input = CheckBooksInput;
    type View = CheckBooksView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "ledger-books",
        noun: "ledger books",
        command: "ledger check",
        verb: "check",
        about: "Recompute every balance, day and stock level from the entries, and report the first mismatch.",
        needs: CallerClass::Scope { scope: "ledger.check", access: ApiAccess::Read, least: Role::Viewer },
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/packs/ledger/check",
    };

    const RENDER: Option<RenderView> = Some(|view| {
        render_as(view, |view: &CheckBooksView| format!("{} entries: all figures match\n", view.entries))
    });

    async fn run(call: &PackCall, _: CheckBooksInput) -> Result<CheckBooksView, OperationError> {
        let standing = call.read(|tx| Ok(balances::load_totals(tx)?)).await?;
        let finding = call.read(|tx| Ok(verify(tx)?)).await?;
        match finding {
            None => Ok(CheckBooksView { entries: standing.entries, sound: true }),
            Some(finding) => Err(OperationError::new(OperationErrorCode::Conflict, finding.to_string())
                .hint("nothing was changed; keep a backup and report a bug")),
        }
    }
}
