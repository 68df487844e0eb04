//! `munshi vault rotate`

use std::sync::Arc;

use munshi_safety::vault::MasterKeyRotation;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::Result;
use munshi_wiring::vault;

use super::OperatorArguments;
use crate::commands::audit::TenantScopeArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;

pub(super) fn run(context: &CommandContext, operator: &OperatorArguments) -> Result<()> {
    let config = context.config()?;
    let rotated = context.block_on(async {
        let database = ConfiguredDatabase::single_connection(&config)?;
        let db = database.open().await?;
        let tenant = TenantScopeArguments::installation().find(&db).await?;
        let vault = vault::open(&config, db, Arc::clone(&context.clock)).await?;
        let by = operator.build_audit_context(context, &vault, tenant).await?;
        Ok(vault.rotate(by, Some(&database.keys.worker)).await?)
    })?;
    context.output.print_result(&rotated, render_text)
}

fn render_text(rotated: &MasterKeyRotation, _: TextStyler) -> String {
    let MasterKeyRotation { from, to, keys, resumed, advice } = rotated;
    let how = if *resumed { "Finished the rotation" } else { "Rotated" };
    let mut text =
        format!("{how} from key {from} to key {to}; {} re-encrypted.\n", format_count(*keys, "tenant's key"));
    let mut letters = advice.chars();
    if let Some(first) = letters.next() {
        text += &format!("{}{}.\n", first.to_uppercase(), letters.as_str());
    }
    text
}
