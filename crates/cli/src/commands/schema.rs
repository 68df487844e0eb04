//! `munshi schema KIND`

use std::str::FromStr;

use clap::Args;
use munshi_types::tier::TierKind;
use munshi_wiring::failure::{CommandFailure, Result};

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// human, team, agent, binding or policy; for human and team, the front matter
    kind: Kind,
}

/// What a tenant's folder holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Tier(TierKind),
    Policy,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "policy" {
            return Ok(Self::Policy);
        }
        text.parse()
            .map(Self::Tier)
            .map_err(|_| format!("`{text}` is none of human, team, agent, binding, policy"))
    }
}

pub(super) fn run(context: &CommandContext, arguments: &SchemaArguments) -> Result<()> {
    let schema = match arguments.kind {
        Kind::Tier(kind) => munshi_tiers::build_schema(kind),
        Kind::Policy => munshi_safety::policy::build_schema(),
    };
    let pretty = serde_json::to_string_pretty(&schema);
    let pretty =
        pretty.map_err(|error| CommandFailure::failed(format!("can't serialise to JSON: {error}")))?;
    context.output.print_result(&schema, |_, _| pretty)
}
