//! `munshi key show KEY`

use clap::Args;
use munshi_operations::keys::{KeyInput, ShowKey};
use munshi_pack::operation::ListView;
use munshi_wiring::failure::Result;

use super::list::render_text;
use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Args)]
pub(crate) struct KeyShowArguments {
    /// Name, prefix (mk_4fGh7Kq2) or id
    key: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
}

pub(super) fn run(context: &CommandContext, which: KeyShowArguments) -> Result<()> {
    let target = OperationTarget { of: &which.of, operator: None };
    let key = context.run_operation::<ShowKey>(&target, &KeyInput { id: which.key })?;
    context.output.print_result(&key, |key, painter| {
        render_text(&ListView { items: vec![key.clone()], next: None }, painter)
    })
}
