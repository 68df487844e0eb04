//! `munshi vault rotate`

use munshi_safety::vault::MasterKeyRotation;
use munshi_wiring::failure::Result;

use super::{OperatorArguments, open};
use crate::commands::audit::TenantScopeArguments;
use crate::context::CommandContext;
use crate::output::TextStyler;
use crate::output::formatting::format_count;

pub(super) fn run(context: &CommandContext, operator: &OperatorArguments) -> Result<()> {
    let config = context.config()?;
    let rotated = context.block_on(async {
        let (vault, tenant) = open(context, &config, &TenantScopeArguments::installation()).await?;
        let by = operator.build_audit_context(context, &vault, tenant).await?;
        Ok(vault.rotate(by).await?)
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
