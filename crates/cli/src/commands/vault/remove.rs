//! `munshi vault remove NAME`

use clap::Args;
use munshi_safety::vault::SecretRef;
use munshi_wiring::failure::Result;
use serde::Serialize;

use super::{OperatorArguments, TenantScopeArguments, not_found_failure, open, parse_name};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct VaultRemoveArguments {
    /// Secret name
    #[arg(value_parser = parse_name)]
    name: SecretRef,
    #[command(flatten)]
    whose: TenantScopeArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

#[derive(Debug, Serialize)]
struct Removed {
    name: String,
    removed: bool,
}

pub(super) fn run(context: &CommandContext, arguments: &VaultRemoveArguments) -> Result<()> {
    let config = context.config()?;
    let removed = context.block_on(async {
        let (vault, tenant) = open(context, &config, &arguments.whose).await?;
        let by = arguments.operator.build_audit_context(context, &vault, tenant).await?;
        Ok(vault.remove(tenant, &arguments.name, by).await?)
    })?;
    if !removed {
        return Err(not_found_failure(&arguments.name));
    }
    let answer = Removed { name: arguments.name.name().to_owned(), removed };
    context.output.print_result(&answer, |answer, _| format!("Removed {}.", answer.name))
}
