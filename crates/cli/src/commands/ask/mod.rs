//! `munshi ask BINDING "…"`: something said to a binding, as any channel would, and its answer.
//!
//! # Layout
//! - `client`: the binding and what answers for it, in this process or in the server that has the database
//! - `binding`: which binding is meant; `speaker`: who speaks; `server_client`: through a running server
//! - `reply`: what came of it, for people and as JSON; `jsonl`: many at once

pub(super) mod binding;
pub(super) mod client;
mod jsonl;
pub(super) mod reply;
mod server_client;
pub(super) mod speaker;

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use munshi_conversations::inbound::LONGEST_TEXT;
use munshi_types::tier::TierName;
use munshi_types::{Language, TenantName};
use munshi_wiring::failure::{CommandFailure, Exit, Result};

use self::client::{AskClient, AskTarget};
use self::reply::{AskReply, SilentAskListener, TerminalAskListener};
use super::vault::OperatorArguments;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    /// Binding to ask
    binding: TierName,
    /// Message; `-` reads standard input
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl", allow_hyphen_values = true)]
    text: Option<String>,
    /// Read lines {"text":…,"person"?:…} from FILE or standard input; answer each with a line of JSON
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    jsonl: Option<PathBuf>,
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

impl AskArguments {
    fn target(&self) -> AskTarget<'_> {
        AskTarget {
            binding: &self.binding,
            tenant: self.tenant.as_ref(),
            language: self.language,
            key: self.key.as_deref(),
            operator: &self.operator,
        }
    }
}

pub(super) fn run(context: &CommandContext, arguments: &AskArguments) -> Result<()> {
    let text = arguments.text.as_deref().map(read_text).transpose()?;
    let config = context.config()?;
    context.block_on(async {
        let mut desk = AskClient::open(context, &config, &arguments.target()).await?;
        let done = match (&text, &arguments.jsonl) {
            (Some(text), _) => ask_once(context, &mut desk, arguments.person.as_deref(), text).await,
            (None, Some(file)) => jsonl::run(context, &mut desk, arguments.person.as_deref(), file).await,
            (None, None) => Err(empty_failure()),
        };
        desk.close().await;
        done
    })
}

/// One question and its answer: word by word for people, whole for scripts.
async fn ask_once(
    context: &CommandContext,
    desk: &mut AskClient,
    person: Option<&str>,
    text: &str,
) -> Result<()> {
    let who = desk.resolve_speaker(person).await?;
    if context.output.is_json() {
        let told = desk.ask(&who, text, &mut SilentAskListener).await?;
        context.output.print_result(&told, |_, _| String::new())?;
        return ensure_answered(&told);
    }
    if who.is_new {
        context.output.print_note(|paint| paint.dim(&who.render_introduction()));
    }
    let mut watched = TerminalAskListener::new(context.output).with_server(desk.server_address());
    let told = desk.ask(&who, text, &mut watched).await?;
    watched.finish(&told)?;
    ensure_answered(&told)
}

/// An excuse is no answer: a script must not go on as if it were one.
fn ensure_answered(told: &AskReply) -> Result<()> {
    match &told.outcome.halt {
        None => Ok(()),
        Some(halt) => Err(CommandFailure::new(
            Exit::Halted,
            format!("the turn was halted ({}) without an answer", halt.code()),
        )),
    }
}

/// The text, as long as it can be said.
fn read_text(given: &str) -> Result<String> {
    let text = if given == "-" { from_input()? } else { given.to_owned() };
    validate_text(&text)?;
    Ok(text)
}

pub(super) fn validate_text(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(empty_failure());
    }
    if text.len() > LONGEST_TEXT {
        let what = format!("the message has {} bytes; the maximum is {LONGEST_TEXT}", text.len());
        return Err(CommandFailure::usage(what).hint("split it into several messages"));
    }
    Ok(())
}

fn empty_failure() -> CommandFailure {
    CommandFailure::usage("the message is empty")
        .hint("run: munshi ask BINDING \"…\", or - for standard input")
}

fn from_input() -> Result<String> {
    let mut text = String::new();
    // One byte more than fits tells that it does not.
    let most = LONGEST_TEXT as u64 + 1;
    std::io::stdin()
        .take(most)
        .read_to_string(&mut text)
        .map_err(|error| CommandFailure::failed(format!("can't read standard input: {error}")))?;
    Ok(text)
}
