//! `munshi vault remove NAME`

use clap::Args;
use munshi_safety::vault::SecretRef;
use serde::Serialize;

use super::{Operator, Whose, missing, name, open};
use crate::context::Context;
use crate::failure::Result;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Its name
    #[arg(value_parser = name)]
    name: SecretRef,
    #[command(flatten)]
    whose: Whose,
    #[command(flatten)]
    operator: Operator,
}

#[derive(Debug, Serialize)]
struct Removed {
    name: String,
    removed: bool,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
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
