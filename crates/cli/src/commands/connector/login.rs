//! `munshi connector login NAME`: somebody lets us into a connector's service, in a browser or with a code.

use std::time::Duration;

use clap::Args;
use munshi_config::Config;
use munshi_connectors::ConnectorLogins;
use munshi_connectors::login::{LIFE, OAuthCallback, OAuthReturnUrls, PendingOAuthLogin};
use munshi_operations::connectors::{ConnectorInput, LoginConnector, ShowConnector};
use munshi_safety::audit::AuditActor;
use munshi_safety::vault::Vault;
use munshi_types::{ConnectorName, TenantId};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::lock::DatabaseLock;
use munshi_wiring::{account, connectors, vault};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;
use crate::output::table::sanitize_line;
use crate::server_commands::ServerCommands;

/// How often one looks whether somebody has come back to the server.
const LOOK: Duration = Duration::from_millis(500);
/// The same of a server elsewhere, whose answers take longer.
const LOOK_ELSEWHERE: Duration = Duration::from_secs(2);
/// So long may a browser take to ask.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Of a request, in bytes.
const LONGEST: u64 = 16 * 1024;

#[derive(Debug, Args)]
pub(crate) struct ConnectorLoginArguments {
    name: ConnectorName,
    /// Use a device code, if the service supports it
    #[arg(long)]
    device: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

/// What is asked of whom.
struct Asking<'a> {
    context: &'a CommandContext,
    server: &'a dyn ServerCommands,
    logins: ConnectorLogins,
    tenant: TenantId,
    name: &'a ConnectorName,
    by: AuditActor,
    /// What seals a link for whoever sits at this machine; none where somebody has an account to sign in with.
    vault: Option<Vault>,
}

pub(super) fn run(
    context: &CommandContext,
    arguments: &ConnectorLoginArguments,
    server: &dyn ServerCommands,
) -> Result<()> {
    let name = &arguments.name;
    match context.server.is_some() {
        true => log_in_elsewhere(context, arguments)?,
        false => log_in_here(context, arguments, server)?,
    }
    context.output.print_result(&json!({ "connector": name, "logged_in": true }), |_, _| {
        format!("Logged in to {name}. A running server resumes the waiting runs within seconds.\n")
    })
}

/// The link is made by a server that this machine need not be; here one waits until somebody has followed it.
fn log_in_elsewhere(context: &CommandContext, arguments: &ConnectorLoginArguments) -> Result<()> {
    if arguments.device {
        return Err(CommandFailure::usage("a device code is asked for on the machine itself")
            .hint("leave --device out, or run the command there without --server"));
    }
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let input = ConnectorInput { name: arguments.name.clone() };
    let link = context.run_operation::<LoginConnector>(&target, &input)?;
    ask(context, &json!({ "open": link.open }), describe_link(&sanitize_line(&link.open)))?;
    let begun = context.now();
    while context.now() < begun.plus(LIFE) {
        context.block_on(async {
            tokio::time::sleep(LOOK_ELSEWHERE).await;
            Ok(())
        })?;
        let shown = context.run_operation::<ShowConnector>(&target, &input)?;
        if shown.logged_in_at.is_some_and(|at| at >= link.made_at) {
            return Ok(());
        }
    }
    Err(timeout_failure())
}

fn log_in_here(
    context: &CommandContext,
    arguments: &ConnectorLoginArguments,
    server: &dyn ServerCommands,
) -> Result<()> {
    let target = OperationTarget { of: &arguments.of, operator: None };
    context.run_operation::<ShowConnector>(&target, &ConnectorInput { name: arguments.name.clone() })?;
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let name = &arguments.name;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?.id;
        let by = arguments.operator.resolve_actor(context, &db, tenant).await?;
        let logins = connectors::build_logins(&config, &db, &context.clock).await?;
        let vault = match account::is_local_only(&config, &db).await? {
            true => Some(vault::open(&config, db.clone(), context.clock.clone()).await?),
            false => None,
        };
        let asking = Asking { context, server, logins, tenant, name, by, vault };
        tokio::select! {
            asked = asking.log_in(arguments.device, find_server_url(&config, &database)) => asked,
            failure = wait_for_interrupt() => Err(failure),
        }
    })
}

fn ask(context: &CommandContext, shown: &serde_json::Value, words: String) -> Result<()> {
    match context.output.is_json() {
        true => context.output.print_result(shown, |_, _| String::new()),
        false => {
            context.output.print_note(|_| words);
            Ok(())
        }
    }
}

fn describe_link(open: &str) -> String {
    format!("Open this link as an owner or admin of the tenant and sign in. Waiting…\n\n  {open}\n")
}

/// Where a browser can come back to: the server that people open, if one runs as far as can be seen from here.
fn find_server_url(config: &Config, database: &ConfiguredDatabase) -> Option<String> {
    match database.file() {
        Some(file) => {
            DatabaseLock::find_server_address(file).map(|address| account::base_url(config, address))
        }
        None => account::public_url(config),
    }
}

impl Asking<'_> {
    async fn log_in(&self, with_code: bool, server: Option<String>) -> Result<()> {
        // Asked first: whoever wants no login says so here, before anybody is sent there.
        let takes_codes = self.logins.supports_device_code(self.tenant, self.name).await?;
        match server.filter(|_| !with_code) {
            Some(base) => self.log_in_via_server(&base).await,
            None if with_code || takes_codes => self.log_in_with_code().await,
            None => self.log_in_locally().await,
        }
    }

    fn ask(&self, shown: &serde_json::Value, words: String) -> Result<()> {
        ask(self.context, shown, words)
    }

    async fn log_in_with_code(&self) -> Result<()> {
        let back = OAuthReturnUrls { redirect: "http://127.0.0.1/".to_owned(), document: None };
        let code = self.logins.begin_device_login(self.tenant, self.name, &back, self.by.clone()).await?;
        let place = code.whole.as_deref().unwrap_or(&code.place);
        let words = format!("Open {place} and enter {}. Waiting…", code.user_code);
        self.ask(&json!({ "open": place, "code": code.user_code }), words)?;
        self.logins.finish_device_login(code).await?;
        Ok(())
    }

    /// The browser comes back to the server; here one waits until it has.
    async fn log_in_via_server(&self, base: &str) -> Result<()> {
        let begun = self.context.now();
        let link =
            self.logins.create_link(self.tenant, self.name.as_str(), base, (self.by.clone(), None)).await?;
        let started = match (&self.vault, link.strip_prefix(base)) {
            (Some(vault), Some(path)) => self.server.create_local_link(vault, begun, base, path).await?,
            _ => None,
        };
        let open = started.as_ref().unwrap_or(&link);
        self.ask(&json!({ "open": open }), describe_link(open))?;
        while self.context.now() < begun.plus(LIFE) {
            tokio::time::sleep(LOOK).await;
            if self.logins.is_link_used(self.tenant, &link).await? {
                return Ok(());
            }
        }
        Err(timeout_failure())
    }

    /// No server runs: the browser comes back to this very command, on this machine.
    async fn log_in_locally(&self) -> Result<()> {
        let failed =
            |error: std::io::Error| CommandFailure::failed(format!("can't listen for the redirect: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let back = OAuthReturnUrls { redirect: format!("http://{address}/"), document: None };
        let begun = self.logins.begin(self.tenant, self.name, &back, self.by.clone()).await?;
        let to = begun.to.as_str();
        let words = format!("Open this link on this machine and sign in. Waiting…\n\n  {to}\n");
        self.ask(&json!({ "open": to }), words)?;
        let returned = tokio::time::timeout(LIFE, wait_for_callback(&listener, &begun))
            .await
            .map_err(|_| timeout_failure())?;
        self.logins.finish(&begun.token, returned.map_err(failed)?, None).await?;
        Ok(())
    }
}

fn timeout_failure() -> CommandFailure {
    CommandFailure::failed("login timed out after 15 minutes").hint("run the command again for a new link")
}

/// Ends only when somebody presses Ctrl-C.
async fn wait_for_interrupt() -> CommandFailure {
    if tokio::signal::ctrl_c().await.is_err() {
        // Where signals can't be heard, the system's own way ends the program.
        std::future::pending::<()>().await;
    }
    CommandFailure::failed("login interrupted").hint("run the command again for a new link")
}

/// What a browser brings as the answer to this login. Others, such as one that asks for an icon or comes with another's
/// answer, get nothing and end nothing.
async fn wait_for_callback(
    listener: &TcpListener,
    begun: &PendingOAuthLogin,
) -> std::io::Result<OAuthCallback> {
    loop {
        let (line, _) = listener.accept().await?;
        match read_callback(line, begun).await {
            Ok(Some(returned)) => return Ok(returned),
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "unexpected connection to the login callback"),
        }
    }
}

async fn read_callback(line: TcpStream, begun: &PendingOAuthLogin) -> std::io::Result<Option<OAuthCallback>> {
    let (read, mut write) = line.into_split();
    let mut first = String::new();
    let mut read = BufReader::new(tokio::io::AsyncReadExt::take(read, LONGEST));
    tokio::time::timeout(TIMEOUT, read.read_line(&mut first)).await.map_err(std::io::Error::other)??;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let query = path.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let returned: Option<OAuthCallback> = serde_urlencoded::from_str(query).ok();
    let returned = returned.filter(|returned| begun.matches_callback(returned));
    let (status, words) = match returned.is_some() {
        true => ("200 OK", "Munshi received the login. You can close this page."),
        false => ("404 Not Found", ""),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    // Who does not wait for the page has brought the answer all the same.
    if let Err(error) = write_response(&mut read, &mut write, &answer).await {
        tracing::debug!(%error, "browser closed the connection early");
    }
    Ok(returned)
}

/// Says it, and hears the rest of what was asked: a line that is closed before that loses the page.
async fn write_response(
    read: &mut (impl AsyncRead + Unpin),
    write: &mut OwnedWriteHalf,
    answer: &str,
) -> std::io::Result<()> {
    write.write_all(answer.as_bytes()).await?;
    write.shutdown().await?;
    let mut nothing = tokio::io::sink();
    // Whoever keeps the line open has the page by then.
    let _heard = tokio::time::timeout(LOOK, tokio::io::copy(read, &mut nothing)).await;
    Ok(())
}
