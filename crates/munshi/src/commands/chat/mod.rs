//! `munshi chat [BINDING]`: a conversation in the terminal.
//!
//! # Layout
//! - `choose`: which binding, and the ready ones of an empty installation
//! - `talk`: the conversation, message by message; `screen`: an answer as it comes; `wrap`: its lines
//! - `input`: what is typed or piped; `editor`: the line editor; `past`: what was typed before; `keys`: what is pressed
//!   while an answer comes
//! - `slash`: commands within the conversation; `why`: why the last answer was as it was

mod choose;
mod editor;
mod input;
mod keys;
mod past;
mod screen;
mod slash;
mod talk;
mod why;
mod wrap;

use clap::Args;
use munshi_config::Config;
use munshi_types::tier::TierName;
use munshi_types::{Language, TenantName};

use super::ask::desk::{AskClient, AskTarget};
use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};

#[derive(Debug, Args)]
pub(crate) struct ChatArguments {
    /// With whom: a binding. Without it the only one there is, or one of a list
    binding: Option<TierName>,
    /// Who speaks: name, phone, e-mail, @handle or id; somebody new where nobody is known so. Without it you, as the
    /// tenant's owner
    #[arg(long)]
    person: Option<String>,
    /// Whose binding, where several tenants have one of this name
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// What they are spoken to in where no message tells; kept with them, as `person set --language` does
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// The API key for a running server; without it one is made for this conversation alone
    #[arg(long, env = "MUNSHI_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &ChatArguments) -> Result<()> {
    if context.output.is_json() {
        return Err(CommandFailure::usage("a conversation is no JSON")
            .hint("for programs: munshi ask BINDING --jsonl"));
    }
    let config = context.config()?;
    context.block_on(async {
        let chosen = choose::binding(context, &config, arguments).await?;
        let Some((tenant, binding)) = chosen else { return Ok(()) };
        let wanted = AskTarget {
            binding: &binding,
            tenant: tenant.as_ref(),
            language: arguments.language,
            key: arguments.key.as_deref(),
            operator: &arguments.operator,
        };
        let mut desk = AskClient::open(context, &config, &wanted).await?;
        let talked = talk::talk(context, &config, &mut desk, arguments.person.as_deref()).await;
        desk.close().await;
        talked
    })
}

/// Talks with a binding as the tenant's owner, until they leave.
pub(super) async fn with(context: &CommandContext, config: &Config, binding: &TierName) -> Result<()> {
    let operator = OperatorArguments::named("demo");
    let wanted = AskTarget { binding, tenant: None, language: None, key: None, operator: &operator };
    let mut desk = AskClient::open(context, config, &wanted).await?;
    let talked = talk::talk(context, config, &mut desk, None).await;
    desk.close().await;
    talked
}
