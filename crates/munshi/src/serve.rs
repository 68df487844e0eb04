//! `munshi serve`: the server, until it is told to stop.

use std::net::SocketAddr;
use std::time::Duration;

use munshi_cli::context::CommandContext;
use munshi_cli::output::TextStyler;
use munshi_config::Config;
use munshi_types::SystemRandom;
use munshi_wiring::account::{self, to_reachable_address};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::lock::DatabaseLock;
use munshi_wiring::models::GatewayModels;
use munshi_wiring::{data_folder, erasure, row_sealing, vault};
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::installation_parts::InstallationParts;
use crate::open_files::OpenFileShortage;
use crate::server::ServerBootstrap;
use crate::{open_files, sign_in, telemetry};

/// What a waiting person or script needs to know.
#[derive(Debug, Serialize)]
struct Ready {
    url: String,
    address: SocketAddr,
    database: String,
    data_dir: String,
    version: &'static str,
    /// Makes the first operator, while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_link: Option<String>,
    /// Opens the start page for whoever sits at this machine, while there is no operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_link: Option<String>,
    /// What has to be kept, while there is no tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<InstallationParts>,
}

/// What lets the first person in.
#[derive(Default)]
struct FirstLinks {
    account: Option<String>,
    start: Option<String>,
}

pub(crate) fn run(context: &CommandContext) -> Result<()> {
    let config = context.config()?;
    let guard = telemetry::start(&config, context.output.colour_mode(), context.clock.clone())?;
    let shortage = open_files::raise_limit(config.server.max_connections);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandFailure::failed(format!("can't start the runtime: {error}")))?;
    let outcome = runtime.block_on(serve(context, &config, shortage));
    // Nothing that matters is left: what was acknowledged is on disk.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(guard);
    outcome
}

async fn serve(context: &CommandContext, config: &Config, shortage: Option<OpenFileShortage>) -> Result<()> {
    let database = ConfiguredDatabase::from_config(config)?;
    for warning in GatewayModels::from_config(config)?.warnings {
        tracing::warn!(%warning, "model configuration warning");
    }
    data_folder::prepare(config)?;
    let mut lock = database.file().map(|file| DatabaseLock::take(file)).transpose()?;
    let front = ServerBootstrap::bind(config, context.clock.as_ref()).await?;
    migrate(context, &database).await?;
    let db = database.open_unreplayed().await?;
    // A key that is missing or wrong is told now, not when the first secret or message is read.
    let vault = vault::open(config, db.clone(), context.clock.clone()).await?;
    database.keys.check(&db).await?;
    // Once nothing is in the way of serving: what is, is told alone.
    shortage.into_iter().for_each(open_files::warn_of_shortage);
    erasure::replay(&db, &context.clock).await?;
    row_sealing::rewrite_if_due(&database, &db, &context.clock).await?;
    // Made at the first start, so that no message has to wait for it.
    munshi_tiers::ensure_fence_key(&db, &SystemRandom, context.now()).await?;
    let mut signals = StopSignals::listen()?;
    // Whoever finds the database in use finds the server too.
    if let Some(lock) = &mut lock {
        lock.write_address(to_reachable_address(front.server.address()));
    }
    let base = account::base_url(config, front.server.address());
    // Nobody may be watching a log, and whoever reads it in time would be the keeper.
    let is_shown = context.output.is_json() || context.output.is_watched();
    let mut links = FirstLinks { account: None, start: None };
    if is_shown {
        links.account = account::create_first_link(&db, context.now(), &base).await?;
        if account::is_local_only(config, &db).await? {
            links.start = sign_in::create_local_link(&vault, context.now(), &base, "/").await?;
        }
    } else if account::has_no_operators(&db).await? {
        tracing::info!("no operator account yet; run `munshi operator link` to create the first");
    }
    let keep = InstallationParts::of_new(&database, &db).await?;
    let ready = describe_ready(config, &database, front.server.address(), (links, keep));
    announce(context, ready)?;

    let stop = CancellationToken::new();
    let mut serving = std::pin::pin!(front.serve(config, db, context.clock.clone(), stop.clone()));
    let name = tokio::select! {
        outcome = &mut serving => return outcome,
        (name, _) = signals.next() => name,
    };
    tracing::info!(signal = name, "shutting down gracefully; a second signal stops at once");
    stop.cancel();
    tokio::select! {
        outcome = &mut serving => outcome,
        (name, number) = signals.next() => {
            tracing::warn!(signal = name, "stopping at once; work in flight resumes at the next start");
            std::process::exit(128 + number)
        }
    }
}

async fn migrate(context: &CommandContext, database: &ConfiguredDatabase) -> Result<()> {
    let outcome = database.migrate(context.now()).await?;
    if !outcome.applied.is_empty() {
        let backup = outcome.backup.as_ref().map(|path| path.display().to_string());
        tracing::info!(applied = outcome.applied.join(" "), backup, "database schema is up to date");
    }
    Ok(())
}

fn describe_ready(
    config: &Config,
    database: &ConfiguredDatabase,
    address: SocketAddr,
    (links, keep): (FirstLinks, Option<InstallationParts>),
) -> Ready {
    Ready {
        url: format!("http://{}", to_reachable_address(address)),
        address,
        database: database.address.to_string(),
        data_dir: config.data.dir.display().to_string(),
        version: env!("CARGO_PKG_VERSION"),
        first_link: links.account,
        start_link: links.start,
        keep,
    }
}

fn announce(context: &CommandContext, ready: Ready) -> Result<()> {
    if context.output.is_json() || context.output.is_watched() {
        return context.output.print_result(&ready, banner);
    }
    let Ready { url, address, database, data_dir, version, keep, .. } = ready;
    tracing::info!(%address, url, database, data_dir, version, "ready");
    if let Some(parts) = keep {
        parts.log();
    }
    Ok(())
}

fn banner(ready: &Ready, painter: TextStyler) -> String {
    let label = |word: &str| painter.dim(&format!("  {word:<9}"));
    let Ready { url, address, database, data_dir, version, first_link, start_link, keep } = ready;
    let everyone = if address.ip().is_unspecified() { " (reachable from the network)" } else { "" };
    [
        format!("Munshi {version} is ready at {}{everyone}", painter.bold(url)),
        format!("{}{database}", label("database")),
        format!("{}{data_dir}", label("data")),
        format!("{}Ctrl-C", label("stop")),
        keep.as_ref().map(InstallationParts::render_text).unwrap_or_default()
            + &first_steps(first_link.as_deref(), start_link.as_deref(), painter),
    ]
    .join("\n")
}

/// What whoever has just begun can open.
fn first_steps(first: Option<&str>, start: Option<&str>, painter: TextStyler) -> String {
    let mut words = String::new();
    if let Some(link) = first {
        words += "\nThere is no operator account yet. This link creates the first one; it works once, for 15 minutes:\n";
        words += &format!("\n  {}\n", painter.bold(link));
    }
    if let Some(link) = start {
        words += "\nTo try Munshi without an account, open this link in a browser on this machine:\n";
        words += &format!("\n  {}\n", painter.bold(link));
    }
    words
}

/// What tells the server to stop.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    pub(crate) fn listen() -> Result<Self> {
        let listen = |kind| {
            signal(kind).map_err(|error| CommandFailure::failed(format!("can't listen for signals: {error}")))
        };
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// The next one's name and number.
    pub(crate) async fn next(&mut self) -> (&'static str, i32) {
        tokio::select! {
            _ = self.interrupt.recv() => ("SIGINT", 2),
            _ = self.terminate.recv() => ("SIGTERM", 15),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_says_where_and_how_to_stop() {
        let address: SocketAddr = "0.0.0.0:8400".parse().unwrap();
        let ready = Ready {
            url: format!("http://{}", to_reachable_address(address)),
            address,
            database: "sqlite:/srv/munshi/munshi.db".to_owned(),
            data_dir: "/srv/munshi".to_owned(),
            version: "1.2.3",
            first_link: None,
            start_link: None,
            keep: None,
        };
        insta::assert_snapshot!(banner(&ready, TextStyler::Plain));
        let keep = InstallationParts {
            database: "sqlite:/srv/munshi/munshi.db".to_owned(),
            vault_key: "/srv/munshi/vault.key".to_owned(),
            keys: "sqlite:/srv/munshi/keys.db".to_owned(),
        };
        insta::assert_snapshot!(
            "what_to_keep",
            banner(&Ready { keep: Some(keep), ..ready }, TextStyler::Plain)
        );
    }
}
