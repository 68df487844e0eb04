//! `munshi ask BINDING "…"`: something said to a binding, as any channel would, and its answer.
//!
//! # Layout
//! - `desk`: the binding and what answers for it, in this process or in the server that has the database
//! - `place`: which binding is meant; `who`: who speaks; `server`: through a running server
//! - `reply`: what came of it, for people and as JSON; `lines`: many at once

pub(super) mod desk;
mod lines;
pub(super) mod place;
pub(super) mod reply;
mod server;
pub(super) mod who;

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use munshi_agent::fit::LONGEST_TEXT;
use munshi_types::tier::TierName;
use munshi_types::{Language, TenantName};

use self::desk::{AskClient, AskTarget};
use self::reply::{AskReply, SilentAskListener, TerminalAskListener};
use super::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Exit, Result};

#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    /// Who is asked: a binding
    binding: TierName,
    /// What to say; `-` reads it from standard input
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl", allow_hyphen_values = true)]
    text: Option<String>,
    /// Read lines {"text":…,"person"?:…} from FILE, or standard input, and answer each with a line of JSON
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    jsonl: Option<PathBuf>,
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
    /// The API key for a running server; without it one is made for this question alone
    #[arg(long, env = "MUNSHI_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    operator: OperatorArguments,
}

impl AskArguments {
    fn wanted(&self) -> AskTarget<'_> {
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
    let text = arguments.text.as_deref().map(said).transpose()?;
    let config = context.config()?;
    context.block_on(async {
        let mut desk = AskClient::open(context, &config, &arguments.wanted()).await?;
        let done = match (&text, &arguments.jsonl) {
            (Some(text), _) => one(context, &mut desk, arguments.person.as_deref(), text).await,
            (None, Some(file)) => lines::run(context, &mut desk, arguments.person.as_deref(), file).await,
            (None, None) => Err(nothing()),
        };
        desk.close().await;
        done
    })
}

/// One question and its answer: word by word for people, whole for scripts.
async fn one(context: &CommandContext, desk: &mut AskClient, person: Option<&str>, text: &str) -> Result<()> {
    let who = desk.who(person).await?;
    if context.output.is_json() {
        let told = desk.ask(&who, text, &mut SilentAskListener).await?;
        context.output.answer(&told, |_, _| String::new())?;
        return answered(&told);
    }
    if who.is_new {
        context.output.aside(|paint| paint.dim(&who.introduced()));
    }
    let mut watched = TerminalAskListener::new(context.output).beside_server(desk.server());
    let told = desk.ask(&who, text, &mut watched).await?;
    watched.end(&told)?;
    answered(&told)
}

/// An excuse is no answer: a script must not go on as if it were one.
fn answered(told: &AskReply) -> Result<()> {
    match &told.outcome.halt {
        None => Ok(()),
        Some(halt) => Err(CommandFailure::new(
            Exit::Halted,
            format!("the turn was halted ({}): this is no answer", halt.code()),
        )),
    }
}

/// The text, as long as it can be said.
fn said(given: &str) -> Result<String> {
    let text = if given == "-" { from_input()? } else { given.to_owned() };
    checked(&text)?;
    Ok(text)
}

pub(super) fn checked(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(nothing());
    }
    if text.len() > LONGEST_TEXT {
        let what = format!("the message has {} bytes, and {LONGEST_TEXT} are the most", text.len());
        return Err(CommandFailure::usage(what).hint("say it in several messages"));
    }
    Ok(())
}

fn nothing() -> CommandFailure {
    CommandFailure::usage("there is nothing to say").hint("munshi ask BINDING \"…\", or - for standard input")
}

fn from_input() -> Result<String> {
    let mut text = String::new();
    // One byte more than fits tells that it does not.
    let most = LONGEST_TEXT as u64 + 1;
    std::io::stdin()
        .take(most)
        .read_to_string(&mut text)
        .map_err(|error| CommandFailure::failed(format!("standard input can't be read: {error}")))?;
    Ok(text)
}
