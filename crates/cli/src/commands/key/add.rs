//! `munshi key add NAME`

use std::time::Duration;

use clap::Args;
use munshi_identity::Role;
use munshi_identity::keys::{AreaGrant, KeySpeaker};
use munshi_operations::keys::{AddKey, AddKeyInput};
use munshi_types::tier::TierName;
use munshi_wiring::failure::Result;

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::formatting::format_time;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Args)]
pub(crate) struct KeyAddArguments {
    /// Display name, such as the program that uses it
    name: String,
    #[command(flatten)]
    standing: Standing,
    /// Who speaks through it: `person` if somebody types what is sent, such as at a till; otherwise `program`. A person
    /// must confirm what a program writes
    #[arg(long, value_name = "person|program")]
    speaks_as: KeySpeaker,
    /// API area it may access, such as chat or persons:read; repeatable. Default: everything the role allows
    #[arg(long, value_name = "AREA")]
    area: Vec<AreaGrant>,
    /// Binding it may access; repeatable. Default: all
    #[arg(long, value_name = "NAME")]
    binding: Vec<TierName>,
    /// Days until it expires. Default: never
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: Option<u32>,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// Whose standing it carries.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Standing {
    /// owner, admin, staff or viewer
    #[arg(long)]
    role: Option<Role>,
    /// Person it acts for: name, phone, e-mail, @handle or id
    #[arg(long)]
    person: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: KeyAddArguments) -> Result<()> {
    let input = AddKeyInput {
        name: arguments.name,
        role: arguments.standing.role,
        person: arguments.standing.person,
        speaks_as: arguments.speaks_as,
        areas: some_if_any(arguments.area.iter().map(AreaGrant::to_string).collect()),
        bindings: some_if_any(arguments.binding),
        expires_at: arguments.days.map(|days| context.now().plus(DAY.saturating_mul(days))),
    };
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let shown = context.run_operation::<AddKey>(&target, &input)?;
    context.output.print_result(&shown, |shown, _| {
        let end =
            shown.key.expires_at.map_or_else(String::new, |end| format!(" until {} UTC", format_time(end)));
        let name = &shown.key.name;
        format!("Created {name}, valid{end}. Store the key now; it is not shown again:\n\n{}\n", shown.text)
    })
}

fn some_if_any<T>(given: Vec<T>) -> Option<Vec<T>> {
    (!given.is_empty()).then_some(given)
}
