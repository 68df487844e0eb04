//! `munshi connector …`: other people's tools.

mod accept;
mod add;
mod list;
mod login;
mod logs;
mod remove;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use munshi_connectors::entries::{ConnectorEntries, ConnectorEntry, MaybeSecret};
use munshi_connectors::rows;
use munshi_safety::audit::{self, AuditActor, AuditEvent, NewAuditEntry};
use munshi_store::Tx;
use munshi_types::{ConnectorName, IdGenerator, Timestamp};
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::json;

use crate::context::CommandContext;
use crate::server_commands::ServerCommands;

#[derive(Debug, Subcommand)]
pub(crate) enum ConnectorCommand {
    /// Declare a connector: a program, a URL, or an OpenAPI document
    Add(add::ConnectorAddArguments),
    /// Run all contract checks on a connector or any MCP server
    Test(test::ConnectorTestArguments),
    /// List connectors and their state
    List(list::ConnectorListArguments),
    /// Show a connector's log
    Logs(logs::ConnectorLogsArguments),
    /// Log in to a connector's service, in a browser or with a device code
    Login(login::ConnectorLoginArguments),
    /// Accept a connector's changed tools after review
    Accept(accept::ConnectorAcceptArguments),
    /// Remove a connector
    Remove(remove::ConnectorRemoveArguments),
}

/// Whether `--server` was given as the address of a connector's own API.
pub(crate) fn has_own_server(matches: &clap::ArgMatches) -> bool {
    let Some(("connector", of)) = matches.subcommand() else { return false };
    let Some(("add" | "test", of)) = of.subcommand() else { return false };
    of.value_source("server") == Some(clap::parser::ValueSource::CommandLine)
}

pub(super) fn run(
    context: &CommandContext,
    command: ConnectorCommand,
    server: &dyn ServerCommands,
) -> Result<ExitCode> {
    match command {
        ConnectorCommand::Add(arguments) => add::run(context, arguments),
        ConnectorCommand::Test(arguments) => return test::run(context, arguments),
        ConnectorCommand::List(arguments) => list::run(context, &arguments),
        ConnectorCommand::Logs(arguments) => logs::run(context, &arguments),
        ConnectorCommand::Login(arguments) => login::run(context, &arguments, server),
        ConnectorCommand::Accept(arguments) => accept::run(context, &arguments),
        ConnectorCommand::Remove(arguments) => remove::run(context, &arguments),
    }
    .map(|()| ExitCode::SUCCESS)
}

/// How a connector is reached, as it is typed.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ConnectorTransportArguments {
    /// URL of a connector over HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// URL or file path of a service's OpenAPI document
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "url"])]
    openapi: Option<String>,
    /// Base URL of the operations. Default: the document's own
    #[arg(long, value_name = "URL", requires = "openapi")]
    server: Option<String>,
    /// Credential for a security scheme of the document, as SCHEME=vault:NAME
    #[arg(long = "login", value_name = "SCHEME=VALUE", requires = "openapi")]
    logins: Vec<String>,
    /// Bearer token: vault:NAME
    #[arg(long, value_name = "VALUE", conflicts_with = "command")]
    token: Option<String>,
    /// HTTP header, as NAME=VALUE; a secret as NAME=vault:NAME
    #[arg(long = "header", value_name = "NAME=VALUE", conflicts_with = "command")]
    headers: Vec<String>,
    /// Environment variable, as NAME=VALUE; a secret as NAME=vault:NAME
    #[arg(long = "env", value_name = "NAME=VALUE")]
    environment: Vec<String>,
    /// File or folder the program may read
    #[arg(long = "may-read", value_name = "PATH")]
    reads: Vec<PathBuf>,
    /// File or folder the program may read and write
    #[arg(long = "may-write", value_name = "PATH")]
    writes: Vec<PathBuf>,
    /// Let the program listen on TCP ports
    #[arg(long = "may-listen", requires = "command")]
    listens: bool,
    /// Program and arguments, after --
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl ConnectorTransportArguments {
    fn is_given(&self) -> bool {
        self.url.is_some() || self.openapi.is_some() || !self.command.is_empty()
    }

    fn entry(self) -> Result<ConnectorEntry> {
        if !self.is_given() {
            let failure = CommandFailure::usage("no transport given");
            return Err(
                failure.hint("use -- COMMAND for a program, --url for a URL, or --openapi for a document")
            );
        }
        let given = |text: String| {
            MaybeSecret::try_from(text).map_err(|error| CommandFailure::usage(error.to_string()))
        };
        let pairs = |list: Vec<String>| -> Result<_> {
            let pair = |text: String| match text.split_once('=') {
                Some((name, value)) => Ok((name.to_owned(), given(value.to_owned())?)),
                None => Err(CommandFailure::usage(format!("`{text}` is not NAME=VALUE"))),
            };
            list.into_iter().map(pair).collect()
        };
        let entry = ConnectorEntry {
            command: self.command,
            reads: self.reads,
            writes: self.writes,
            listens: self.listens,
            url: self.url,
            openapi: self.openapi,
            server: self.server,
            logins: pairs(self.logins)?,
            token: self.token.map(given).transpose()?,
            headers: pairs(self.headers)?,
            environment: pairs(self.environment)?,
            ..ConnectorEntry::default()
        };
        entry.resolve_transport().map_err(CommandFailure::usage)?;
        Ok(entry)
    }
}

/// Puts another list in force and tells the audit.
fn save_entries(
    tx: &mut Tx<'_>,
    declared: &ConnectorEntries,
    by: &AuditActor,
    note: &str,
    now: Timestamp,
) -> munshi_connectors::Result<i64> {
    let version = rows::save_entries(tx, declared, &by.id, note, now)?;
    let entry = NewAuditEntry {
        actor: by.clone(),
        event: AuditEvent::CONNECTORS_CHANGED,
        subject: "connectors".to_owned(),
        payload: json!({ "version": version, "note": note }),
    };
    audit::append(tx, &entry, now, &IdGenerator::system())?;
    Ok(version)
}

fn not_found_failure(name: &ConnectorName) -> CommandFailure {
    CommandFailure::not_found(format!("connector {name} not found"))
        .hint("`munshi connector list` shows them all")
}

#[cfg(test)]
mod server_tests {
    use clap::CommandFactory;

    use super::has_own_server;
    use crate::arguments::CliArguments;

    #[test]
    fn the_address_of_an_api_is_no_server_of_ours() {
        let typed = |words: &str| CliArguments::command().try_get_matches_from(words.split(' ')).unwrap();
        assert!(has_own_server(&typed(
            "munshi connector add x --openapi d.json --server https://api.example"
        )));
        for ours in ["munshi connector list --server https://munshi.example", "munshi key list"] {
            assert!(!has_own_server(&typed(ours)), "{ours}");
        }
    }
}
