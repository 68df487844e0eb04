//! `munshi key rotate KEY`

use clap::Args;
use munshi_operations::keys::{RotateKey, RotateKeyInput};
use munshi_wiring::failure::Result;

use super::KeySelectorArguments;
use crate::context::CommandContext;
use crate::output::formatting::format_count;

#[derive(Debug, Args)]
pub(crate) struct KeyRotateArguments {
    #[command(flatten)]
    which: KeySelectorArguments,
    /// Hours the old secret stays valid; 0 revokes it at once
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=720))]
    grace: u32,
}

pub(super) fn run(context: &CommandContext, arguments: &KeyRotateArguments) -> Result<()> {
    let KeyRotateArguments { which, grace } = arguments;
    let input = RotateKeyInput { id: which.key.clone(), grace: Some(*grace) };
    let shown = context.run_operation::<RotateKey>(&which.target(), &input)?;
    context.output.print_result(&shown, |shown, _| {
        let before = match *grace {
            0 => "The old one is revoked".to_owned(),
            hours => format!("The old one stays valid for {}", format_count(hours.into(), "hour")),
        };
        let name = &shown.key.name;
        format!("Rotated {name}. {before}. Store the new key now; it is not shown again:\n\n{}\n", shown.text)
    })
}
