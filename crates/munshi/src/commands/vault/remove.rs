//! `munshi vault remove NAME`

use clap::Args;
use munshi_safety::vault::SecretRef;
use serde::Serialize;

use super::{OperatorArguments, TenantScopeArguments, missing, name, open};
use crate::context::CommandContext;
use crate::failure::Result;

#[derive(Debug, Args)]
pub(crate) struct VaultRemoveArguments {
    /// Its name
    #[arg(value_parser = name)]
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
        let by = arguments.operator.by(context, &vault, tenant).await?;
        Ok(vault.remove(tenant, &arguments.name, by).await?)
    })?;
    if !removed {
        return Err(missing(&arguments.name));
    }
    let answer = Removed { name: arguments.name.name().to_owned(), removed };
    context.output.answer(&answer, |answer, _| format!("Removed {}.", answer.name))
}
