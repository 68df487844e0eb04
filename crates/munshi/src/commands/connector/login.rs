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
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};

use super::missing;
use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::lock::DatabaseLock;
use crate::wiring::{account, connectors, vault};

/// How often one looks whether somebody has come back to the server.
const LOOK: Duration = Duration::from_millis(500);
/// So long may a browser take to ask.
const PATIENCE: Duration = Duration::from_secs(5);
/// Of a request, in bytes.
const LONGEST: u64 = 16 * 1024;

#[derive(Debug, Args)]
pub(crate) struct ConnectorLoginArguments {
    name: ConnectorName,
    /// With a code that is typed on another device, where the service has that
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
    logins: ConnectorLogins,
    tenant: TenantId,
    name: &'a ConnectorName,
    by: AuditActor,
    /// What seals a link for whoever sits at this machine; none where somebody has an account to sign in with.
    vault: Option<Vault>,
}

pub(super) fn run(context: &CommandContext, arguments: &ConnectorLoginArguments) -> Result<()> {
    let config = context.config()?;
    let database = ConfiguredDatabase::for_one_question(&config)?;
    let name = &arguments.name;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?.id;
        known(&db, tenant, name).await?;
        let by = arguments.operator.known_in(context, &db, tenant).await?;
        let logins = connectors::logins(&config, &db, &context.clock).await?;
        let vault = match account::is_for_machine(&config, &db).await? {
            true => Some(vault::open(&config, db.clone(), context.clock.clone()).await?),
            false => None,
        };
        let asking = Asking { context, logins, tenant, name, by, vault };
        tokio::select! {
            asked = asking.ask_somebody(arguments.device, server(&config, &database)) => asked,
            failure = interruption() => Err(failure),
        }
    })?;
    context.output.answer(&json!({ "connector": name, "logged_in": true }), |_, _| {
        format!(
            "Munshi is let in at {name}. A running server goes on with what waited for it within seconds.\n"
        )
    })
}

async fn known(db: &Db, tenant: TenantId, name: &ConnectorName) -> Result<()> {
    let (_, declared) = db.read(tenant, rows::current).await?;
    if declared.0.contains_key(name) { Ok(()) } else { Err(missing(name)) }
}

/// Where a browser can come back to: the server that people open, if one runs as far as can be seen from here.
fn server(config: &Config, database: &ConfiguredDatabase) -> Option<String> {
    match database.file() {
        Some(file) => DatabaseLock::address(file).map(|address| account::base_url(config, address)),
        None => account::public_url(config),
    }
}

impl Asking<'_> {
    async fn ask_somebody(&self, with_code: bool, server: Option<String>) -> Result<()> {
        // Asked first: whoever wants no login says so here, before anybody is sent there.
        let takes_codes = self.logins.takes_codes(self.tenant, self.name).await?;
        match server.filter(|_| !with_code) {
            Some(base) => self.at_server(&base).await,
            None if with_code || takes_codes => self.with_code().await,
            None => self.here().await,
        }
    }

    fn ask(&self, shown: &serde_json::Value, words: String) -> Result<()> {
        match self.context.output.is_json() {
            true => self.context.output.answer(shown, |_, _| String::new()),
            false => {
                self.context.output.aside(|_| words);
                Ok(())
            }
        }
    }

    async fn with_code(&self) -> Result<()> {
        let back = OAuthReturnUrls { redirect: "http://127.0.0.1/".to_owned(), document: None };
        let code = self.logins.begin_with_code(self.tenant, self.name, &back, self.by.clone()).await?;
        let place = code.whole.as_deref().unwrap_or(&code.place);
        let words = format!("Open {place} and type {}. Waiting…", code.user_code);
        self.ask(&json!({ "open": place, "code": code.user_code }), words)?;
        self.logins.finish_with_code(code).await?;
        Ok(())
    }

    /// The browser comes back to the server; here one waits until it has.
    async fn at_server(&self, base: &str) -> Result<()> {
        let begun = self.context.now();
        let link = self.logins.link(self.tenant, self.name.as_str(), base, (self.by.clone(), None)).await?;
        let started = match (&self.vault, link.strip_prefix(base)) {
            (Some(vault), Some(path)) => account::start_link(vault, begun, base, path).await?,
            _ => None,
        };
        let open = started.as_ref().unwrap_or(&link);
        let words = format!(
            "Open this as an owner or admin of the tenant, and sign in at the service. Waiting…\n\n  {open}\n"
        );
        self.ask(&json!({ "open": open }), words)?;
        while self.context.now() < begun.plus(LIFE) {
            tokio::time::sleep(LOOK).await;
            if self.logins.is_answered(self.tenant, &link).await? {
                return Ok(());
            }
        }
        Err(too_late())
    }

    /// No server runs: the browser comes back to this very command, on this machine.
    async fn here(&self) -> Result<()> {
        let failed =
            |error: std::io::Error| CommandFailure::failed(format!("nobody can come back here: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let back = OAuthReturnUrls { redirect: format!("http://{address}/"), document: None };
        let begun = self.logins.begin(self.tenant, self.name, &back, self.by.clone()).await?;
        let to = begun.to.as_str();
        let words = format!("Open this on this machine and sign in there. Waiting…\n\n  {to}\n");
        self.ask(&json!({ "open": to }), words)?;
        let returned =
            tokio::time::timeout(LIFE, returned(&listener, &begun)).await.map_err(|_| too_late())?;
        self.logins.finish(&begun.token, returned.map_err(failed)?, None).await?;
        Ok(())
    }
}

fn too_late() -> CommandFailure {
    CommandFailure::failed("nobody signed in within a quarter of an hour")
        .hint("run this again for another link")
}

/// Ends only when somebody presses Ctrl-C.
async fn interruption() -> CommandFailure {
    if tokio::signal::ctrl_c().await.is_err() {
        // Where signals can't be heard, the system's own way ends the program.
        std::future::pending::<()>().await;
    }
    CommandFailure::failed("interrupted: nobody was let in").hint("run this again for another link")
}

/// What a browser brings as the answer to this login. Others, such as one that asks for an icon or comes with another's
/// answer, get nothing and end nothing.
async fn returned(listener: &TcpListener, begun: &PendingOAuthLogin) -> std::io::Result<OAuthCallback> {
    loop {
        let (line, _) = listener.accept().await?;
        match answered(line, begun).await {
            Ok(Some(returned)) => return Ok(returned),
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "somebody came who did not ask"),
        }
    }
}

async fn answered(line: TcpStream, begun: &PendingOAuthLogin) -> std::io::Result<Option<OAuthCallback>> {
    let (read, mut write) = line.into_split();
    let mut first = String::new();
    let mut read = BufReader::new(tokio::io::AsyncReadExt::take(read, LONGEST));
    tokio::time::timeout(PATIENCE, read.read_line(&mut first)).await.map_err(std::io::Error::other)??;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let query = path.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let returned: Option<OAuthCallback> = serde_urlencoded::from_str(query).ok();
    let returned = returned.filter(|returned| begun.is_answered_by(returned));
    let (status, words) = match returned.is_some() {
        true => ("200 OK", "Munshi has your answer. You can close this page."),
        false => ("404 Not Found", ""),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    // Who does not wait for the page has brought the answer all the same.
    if let Err(error) = said(&mut read, &mut write, &answer).await {
        tracing::debug!(%error, "the browser did not wait for its page");
    }
    Ok(returned)
}

/// Says it, and hears the rest of what was asked: a line that is closed before that loses the page.
async fn said(
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
