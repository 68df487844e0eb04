//! `munshi keeper-key add NAME`

use std::time::Duration;

use clap::Args;
use munshi_identity::keys::KeySpeaker;
use munshi_operations::keeper_keys::{AddKeeperKey, AddKeeperKeyInput};
use munshi_wiring::failure::{CommandFailure, Result};

use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_time;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Args)]
pub(crate) struct KeeperKeyAddArguments {
    /// Display name, such as the person or program that uses it
    name: String,
    /// Who speaks through it: `person` if somebody types what is sent; otherwise `program`
    #[arg(long, value_name = "person|program")]
    speaks_as: KeySpeaker,
    /// Days until it expires. Default: never
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: Option<u32>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: KeeperKeyAddArguments) -> Result<()> {
    if context.server.is_some() {
        return Err(CommandFailure::usage("keepers' keys are made on the machine itself only")
            .hint("run it there, without --server and MUNSHI_SERVER"));
    }
    let input = AddKeeperKeyInput {
        name: arguments.name,
        speaks_as: arguments.speaks_as,
        expires_at: arguments.days.map(|days| context.now().plus(DAY.saturating_mul(days))),
    };
    let target = OperationTarget::installation(Some(&arguments.operator));
    let shown = context.run_operation::<AddKeeperKey>(&target, &input)?;
    context.output.print_result(&shown, |shown, _| {
        let end =
            shown.key.expires_at.map_or_else(String::new, |end| format!(" until {} UTC", format_time(end)));
        let name = &shown.key.name;
        format!(
            "Created {name}, valid{end}. It opens everything here. Store it now; it is not shown again:\n\n{}\n",
            shown.text
        )
    })
}
