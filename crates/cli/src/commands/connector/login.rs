//! `munshi connector login NAME`: somebody lets us into a connector's service, in a browser or with a code.

use std::time::Duration;

use clap::Args;
use munshi_config::Config;
use munshi_connectors::login::{LIFE, OAuthCallback, OAuthReturnUrls, PendingOAuthLogin};
use munshi_connectors::{ConnectorLogins, rows};
use munshi_safety::audit::AuditActor;
use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_types::{ConnectorName, TenantId};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::lock::DatabaseLock;
use munshi_wiring::{account, connectors, vault};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};

use super::not_found_failure;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::server_commands::ServerCommands;

/// How often one looks whether somebody has come back to the server.
const LOOK: Duration = Duration::from_millis(500);
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
    let config = context.config()?;
    let database = ConfiguredDatabase::single_connection(&config)?;
    let name = &arguments.name;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?.id;
        ensure_declared(&db, tenant, name).await?;
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
    })?;
    context.output.print_result(&json!({ "connector": name, "logged_in": true }), |_, _| {
        format!("Logged in to {name}. A running server resumes the waiting runs within seconds.\n")
    })
}

async fn ensure_declared(db: &Db, tenant: TenantId, name: &ConnectorName) -> Result<()> {
    let (_, declared) = db.read(tenant, rows::load_entries).await?;
    if declared.0.contains_key(name) { Ok(()) } else { Err(not_found_failure(name)) }
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
        match self.context.output.is_json() {
            true => self.context.output.print_result(shown, |_, _| String::new()),
            false => {
                self.context.output.print_note(|_| words);
                Ok(())
            }
        }
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
        let words =
            format!("Open this link as an owner or admin of the tenant and sign in. Waiting…\n\n  {open}\n");
        self.ask(&json!({ "open": open }), words)?;
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
