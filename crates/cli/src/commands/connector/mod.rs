//! `munshi connector …`: other people's tools.

mod accept;
mod add;
mod list;
mod login;
mod logout;
mod logs;
mod remove;
mod test;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use munshi_connectors::LARGEST_STORED_DOCUMENT;
use munshi_operations::connectors::AddConnectorInput;
use munshi_operations::vault::SecretText;
use munshi_types::ConnectorName;
use munshi_wiring::failure::{CommandFailure, Result};

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
    /// Log out of a connector's service: the login is forgotten and revoked there
    Logout(logout::ConnectorLogoutArguments),
    /// Accept a connector's changed tools after review
    Accept(accept::ConnectorAcceptArguments),
    /// Remove a connector
    Remove(remove::ConnectorRemoveArguments),
}

/// Whether `--server` was given as the address of a connector's own API.
pub(crate) fn has_own_server(matches: &clap::ArgMatches) -> bool {
    let Some(("connector", of)) = matches.subcommand() else { return false };
    let Some(("add" | "test", of)) = of.subcommand() else { return false };
    let is_typed = |id: &str| of.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
    // A key and another name for that address speak of a server of ours.
    is_typed("server") && is_typed("openapi") && !is_typed("base_url") && !is_typed("server_key")
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
        ConnectorCommand::Logout(arguments) => logout::run(context, &arguments),
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
    /// With --openapi, base URL of the operations. Default: the document's own
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The same, where --server is the Munshi server that runs the command
    #[arg(long, value_name = "URL", requires = "openapi")]
    base_url: Option<String>,
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

    /// What is sent to wherever the command runs: a server elsewhere can't read files of this machine.
    fn into_input(self, context: &CommandContext, name: ConnectorName) -> Result<AddConnectorInput> {
        if !self.is_given() {
            let failure = CommandFailure::usage("no transport given");
            return Err(
                failure.hint("use -- COMMAND for a program, --url for a URL, or --openapi for a document")
            );
        }
        let is_remote = context.server.is_some();
        let openapi = match self.openapi {
            Some(path) if is_remote && !path.contains("://") => Some(read_document(&path)?),
            given => given,
        };
        Ok(AddConnectorInput {
            name,
            command: self.command,
            reads: parse_paths(self.reads)?,
            writes: parse_paths(self.writes)?,
            listens: self.listens,
            url: self.url,
            openapi,
            // With a server of ours, that is what --server names.
            server: self.base_url.or(self.server.filter(|_| !is_remote)),
            logins: parse_pairs(self.logins)?,
            token: self.token.map(|text| SecretText::new(text.into())),
            headers: parse_pairs(self.headers)?,
            environment: parse_pairs(self.environment)?,
            replace: false,
        })
    }
}

fn parse_pairs(list: Vec<String>) -> Result<BTreeMap<String, SecretText>> {
    let pair = |text: String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), SecretText::new(value.to_owned().into()))),
        None => Err(CommandFailure::usage(format!("`{text}` is not NAME=VALUE"))),
    };
    list.into_iter().map(pair).collect()
}

fn parse_paths(list: Vec<PathBuf>) -> Result<Vec<String>> {
    let text = |path: PathBuf| {
        path.into_os_string().into_string().map_err(|path| {
            CommandFailure::usage(format!("{} is not UTF-8", std::path::Path::new(&path).display()))
        })
    };
    list.into_iter().map(text).collect()
}

/// A document of this machine, for a server elsewhere.
fn read_document(path: &str) -> Result<String> {
    let unreadable = |error: std::io::Error| CommandFailure::usage(format!("can't read {path}: {error}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let most = u64::try_from(LARGEST_STORED_DOCUMENT).unwrap_or(u64::MAX);
    file.take(most.saturating_add(1)).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() > LARGEST_STORED_DOCUMENT {
        return Err(CommandFailure::usage(format!("{path} is larger than {LARGEST_STORED_DOCUMENT} bytes"))
            .hint("give the document's URL instead"));
    }
    let text = text.trim_start_matches(|letter: char| letter == '\u{feff}' || letter.is_whitespace());
    // A document is told from an address by its first letter.
    if !text.starts_with('{') {
        return Err(CommandFailure::usage(format!("{path} is not a JSON document"))
            .hint("convert it to JSON, or give the document's URL instead"));
    }
    Ok(text.to_owned())
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
        for ours in [
            "munshi connector list --server https://munshi.example",
            "munshi connector add x --url https://x.example --server https://munshi.example",
            "munshi connector add x --openapi d.json --base-url https://api.example --server https://munshi.example",
            "munshi connector add x --openapi /d.json --server https://munshi.example --server-key mk_1",
            "munshi key list",
        ] {
            assert!(!has_own_server(&typed(ours)), "{ours}");
        }
    }
}
