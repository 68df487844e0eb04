//! `munshi connector login NAME`: somebody lets us into a connector's service, in a browser or with a code.

use std::time::Duration;

use clap::Args;
use munshi_config::Config;
use munshi_connectors::login::{Back, LIFE, Returned};
use munshi_connectors::{Logins, rows};
use munshi_safety::audit::Actor;
use munshi_store::Db;
use munshi_types::{ConnectorName, TenantId};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::missing;
use crate::commands::tenant::Of;
use crate::commands::vault::Operator;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::wiring::database::Database;
use crate::wiring::lock::Lock;
use crate::wiring::{account, connectors};

/// How often one looks whether somebody has come back to the server.
const LOOK: Duration = Duration::from_millis(500);
/// Of a request's first line, in bytes.
const LONGEST: u64 = 16 * 1024;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    name: ConnectorName,
    /// With a code that is typed on another device, where the service has that
    #[arg(long)]
    device: bool,
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    operator: Operator,
}

/// What is asked of whom.
struct Asking<'a> {
    context: &'a Context,
    logins: Logins,
    tenant: TenantId,
    name: &'a ConnectorName,
    by: Actor,
}

pub(super) fn run(context: &Context, arguments: &Arguments) -> Result<()> {
    let config = context.config()?;
    let database = Database::for_one_question(&config)?;
    let name = &arguments.name;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?.id;
        known(&db, tenant, name).await?;
        let by = arguments.operator.known_in(context, &db, tenant).await?;
        let logins = connectors::logins(&config, &db, &context.clock).await?;
        let asking = Asking { context, logins, tenant, name, by };
        match (arguments.device, server(&config, &database)) {
            (true, _) => asking.with_code().await,
            (false, Some(base)) => asking.at_server(&base).await,
            (false, None) if asking.logins.takes_codes(tenant, name).await? => asking.with_code().await,
            (false, None) => asking.here().await,
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
fn server(config: &Config, database: &Database) -> Option<String> {
    match database.file() {
        Some(file) => Lock::address(file).map(|address| account::base_url(config, address)),
        None => account::public_url(config),
    }
}

impl Asking<'_> {
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
        let back = Back { redirect: "http://127.0.0.1/".to_owned(), document: None };
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
        let link = self.logins.link(self.tenant, self.name.as_str(), base, self.by.clone()).await?;
        self.ask(&json!({ "open": link }), format!("Open this and sign in there. Waiting…\n\n  {link}\n"))?;
        while self.context.now() < begun.plus(LIFE) {
            tokio::time::sleep(LOOK).await;
            let last = self.logins.last(self.tenant, self.name.as_str()).await?;
            if last.is_some_and(|last| last >= begun) {
                return Ok(());
            }
        }
        Err(too_late())
    }

    /// No server runs: the browser comes back to this very command, on this machine.
    async fn here(&self) -> Result<()> {
        let failed = |error: std::io::Error| Failure::failed(format!("nobody can come back here: {error}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let back = Back { redirect: format!("http://{address}/"), document: None };
        let begun = self.logins.begin(self.tenant, self.name, &back, self.by.clone()).await?;
        let to = begun.to.as_str();
        let words = format!("Open this on this machine and sign in there. Waiting…\n\n  {to}\n");
        self.ask(&json!({ "open": to }), words)?;
        let returned = tokio::time::timeout(LIFE, returned(&listener)).await.map_err(|_| too_late())?;
        self.logins.finish(&begun.token, returned.map_err(failed)?).await?;
        Ok(())
    }
}

fn too_late() -> Failure {
    Failure::failed("nobody signed in within a quarter of an hour").hint("run this again for another link")
}

/// What the first browser brings that comes with an answer; others, such as one that asks for an icon, get nothing.
async fn returned(listener: &TcpListener) -> std::io::Result<Returned> {
    loop {
        let (line, _) = listener.accept().await?;
        let (read, mut write) = line.into_split();
        let mut first = String::new();
        let mut read = BufReader::new(tokio::io::AsyncReadExt::take(read, LONGEST));
        let asked = tokio::time::timeout(Duration::from_secs(5), read.read_line(&mut first)).await;
        if !matches!(asked, Ok(Ok(_))) {
            continue;
        }
        let path = first.split(' ').nth(1).unwrap_or_default();
        let query = path.split_once('?').map(|(_, query)| query).unwrap_or_default();
        let returned: Returned = serde_urlencoded::from_str(query).unwrap_or_default();
        let (status, words) = match returned.state.is_empty() {
            true => ("404 Not Found", ""),
            false => ("200 OK", "Munshi has your answer. You can close this page."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{words}",
            words.len()
        );
        write.write_all(answer.as_bytes()).await?;
        if !returned.state.is_empty() {
            return Ok(returned);
        }
    }
}
