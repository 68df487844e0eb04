//! `munshi key …`: what lets programs in.

mod add;
mod list;
mod revoke;
mod rotate;
mod show;

use clap::{Args, Subcommand};
use munshi_operations::keys::KeyView;
use munshi_wiring::failure::Result;

use super::tenant::TenantSelectorArguments;
use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key; it is shown only once
    Add(add::KeyAddArguments),
    /// List keys, newest first; secrets are never shown
    List(list::KeyListArguments),
    /// Show a key, without its text
    Show(show::KeyShowArguments),
    /// Revoke a key
    Revoke(KeySelectorArguments),
    /// Replace a key's secret; the old one stays valid for a grace period
    Rotate(rotate::KeyRotateArguments),
}

/// The key that is meant, and who asks.
#[derive(Debug, Args)]
pub(crate) struct KeySelectorArguments {
    /// Name, prefix (mk_4fGh7Kq2) or id
    key: String,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

impl KeySelectorArguments {
    fn target(&self) -> OperationTarget<'_> {
        OperationTarget { of: &self.of, operator: Some(&self.operator) }
    }
}

pub(super) fn run(context: &CommandContext, command: KeyCommand) -> Result<()> {
    match command {
        KeyCommand::Add(arguments) => add::run(context, arguments),
        KeyCommand::List(arguments) => list::run(context, &arguments),
        KeyCommand::Show(which) => show::run(context, which),
        KeyCommand::Revoke(which) => revoke::run(context, &which),
        KeyCommand::Rotate(arguments) => rotate::run(context, &arguments),
    }
}

fn format_subject(key: &KeyView) -> String {
    match (key.role, key.person) {
        (Some(role), _) => role.to_string(),
        (None, Some(person)) => format!("person {person}"),
        (None, None) => "-".to_owned(),
    }
}
