//! `munshi schema KIND`

use clap::Args;
use munshi_types::tier::TierKind;

use crate::context::Context;
use crate::failure::{Failure, Result};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// human, team, agent or binding; of the first two, the front matter
    kind: TierKind,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let schema = munshi_tiers::schema(arguments.kind);
    let pretty = serde_json::to_string_pretty(&schema);
    let pretty = pretty.map_err(|error| Failure::failed(format!("no JSON can be made: {error}")))?;
    context.output.answer(&schema, |_, _| pretty)
}
