//! `munshi chat [BINDING]`: a conversation in the terminal.
//!
//! # Layout
//! - `binding_choice`: which binding, and the ready ones of an empty installation
//! - `conversation`: the conversation, message by message; `screen`: an answer as it comes; `wrap`: its lines
//! - `input`: what is typed or piped; `editor`: the line editor; `history`: what was typed before; `terminal_mode`: what is pressed
//!   while an answer comes
//! - `slash`: commands within the conversation; `explanation`: why the last answer was as it was

mod binding_choice;
mod conversation;
mod editor;
mod explanation;
mod history;
mod input;
mod screen;
mod slash;
mod terminal_mode;
mod wrap;

use clap::Args;
use munshi_config::Config;
use munshi_types::tier::TierName;
use munshi_types::{Language, TenantName};
use munshi_wiring::failure::{CommandFailure, Result};

use super::ask::client::{AskClient, AskTarget};
use super::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// Binding to chat with. Default: the only one, or a choice from a list
    binding: Option<TierName>,
    /// Sender: name, phone, e-mail, @handle or id; created if unknown. Default: you, as the tenant's owner
    #[arg(long)]
    person: Option<String>,
    /// Tenant, if several have a binding of this name
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// Language to use when a message doesn't tell it; stored like `person set --language`
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// API key for a running server. Default: a temporary key
    #[arg(long, env = "MUNSHI_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ChatArguments) -> Result<()> {
    if context.output.is_json() {
        return Err(CommandFailure::usage("`chat` does not support --json")
            .hint("use `munshi ask BINDING --jsonl` in programs"));
    }
    let config = context.config()?;
    context.block_on(async {
        let chosen = binding_choice::choose(context, &config, arguments).await?;
        let Some((tenant, binding)) = chosen else { return Ok(()) };
        let wanted = AskTarget {
            binding: &binding,
            tenant: tenant.as_ref(),
            language: arguments.language,
            key: arguments.key.as_deref(),
            operator: &arguments.operator,
        };
        let mut desk = AskClient::open(context, &config, &wanted).await?;
        let talked = conversation::talk(context, &config, &mut desk, arguments.person.as_deref()).await;
        desk.close().await;
        talked
    })
}

/// Talks with a binding as the tenant's owner, until they leave.
pub async fn chat_with_binding(context: &CommandContext, config: &Config, binding: &TierName) -> Result<()> {
    let operator = OperatorArguments::new("demo");
    let wanted = AskTarget { binding, tenant: None, language: None, key: None, operator: &operator };
    let mut desk = AskClient::open(context, config, &wanted).await?;
    let talked = conversation::talk(context, config, &mut desk, None).await;
    desk.close().await;
    talked
}
