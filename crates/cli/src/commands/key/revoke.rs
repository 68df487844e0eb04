//! `munshi key revoke KEY`

use munshi_operations::keys::{KeyInput, RevokeKey};
use munshi_wiring::failure::Result;

use super::KeySelectorArguments;
use crate::context::CommandContext;

pub(super) fn run(context: &CommandContext, which: &KeySelectorArguments) -> Result<()> {
    let input = KeyInput { id: which.key.clone() };
    let answer = context.run_operation::<RevokeKey>(&which.target(), &input)?;
    context.output.print_result(&answer, |answer, _| {
        let with_it = match &answer.made_with_it[..] {
            [] => String::new(),
            names => format!(" Also revoked, because it created them: {}.", names.join(", ")),
        };
        let name = &answer.key.name;
        match answer.changed {
            true => {
                format!("Revoked {name}. A running server rejects it within two seconds.{with_it}")
            }
            false => format!("{name} was already revoked.{with_it}"),
        }
    })
}
