//! `munshi demo`: a shop with ninety days of books, open in the browser and in the terminal at once. It has a folder of its
//! own and touches nothing else.
//!
//! # Layout
//! - `folder`: the folder, told and taken away again; `shop`: the ready tenant, its owner and its history
//! - `owner`: whoever sits at this machine, at its pages

mod folder;
mod owner;
mod shop;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use munshi_cli::chat_with_binding;
use munshi_cli::context::CommandContext;
use munshi_cli::output::TextStyler;
use munshi_cli::server_commands::DemoArguments;
use munshi_config::{Config, ConfigSources};
use munshi_store::Db;
use munshi_types::SystemRandom;
use munshi_wiring::account::to_reachable_address;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::lock::DatabaseLock;
use munshi_wiring::vault;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use self::folder::DemoFolder;
use self::owner::DemoOwnerAuthenticator;
use self::shop::DemoShop;
use crate::serve::StopSignals;
use crate::server::ServerBootstrap;
use crate::{sign_in, telemetry};

/// What a waiting person or script needs to know.
#[derive(Debug, Serialize)]
struct Ready {
    chat_url: String,
    /// The same for whoever sits at this machine: the browser that opens it is the owner's. None where it listens on another
    /// address alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_link: Option<String>,
    address: SocketAddr,
    data_dir: String,
    /// Whether the folder stays at the end.
    kept: bool,
    entries: i64,
}

pub(crate) fn run(context: &CommandContext, arguments: &DemoArguments) -> Result<()> {
    let place = DemoFolder::make(arguments.dir.as_deref(), arguments.keep)?;
    let outcome = run_server(context, arguments, &place);
    let left = place.close();
    outcome?;
    left?.map_or(Ok(()), |kept| {
        context.output.print_note(|paint| paint.dim(&format!("The shop is kept in {}", kept.display())));
        Ok(())
    })
}

fn run_server(context: &CommandContext, arguments: &DemoArguments, place: &DemoFolder) -> Result<()> {
    let config = settings(context, arguments, place)?;
    let guard = telemetry::start(&config, context.output.colour_mode(), context.clock.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandFailure::failed(format!("can't start the runtime: {error}")))?;
    let outcome = runtime.block_on(serve(context, arguments, &config, place));
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(guard);
    outcome
}

/// As everywhere, but with a database and an address of its own, and without models that cost somebody money: no setting of
/// an installation leads here.
fn settings(context: &CommandContext, arguments: &DemoArguments, place: &DemoFolder) -> Result<Config> {
    let mut config = context.config()?;
    let defaults = Config::load(&ConfigSources::default())?;
    (config.models, config.routes) = (defaults.models, defaults.routes);
    place.folder().clone_into(&mut config.data.dir);
    config.store.url = None;
    config.store.owner_url = None;
    config.server.public_url = None;
    config.server.listen = arguments.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    // What is told here is told in words; other lines of the log than what would leave would stand between them.
    "error,munshi_channels=info".clone_into(&mut config.log.level);
    Ok(config)
}

async fn serve(
    context: &CommandContext,
    arguments: &DemoArguments,
    config: &Config,
    place: &DemoFolder,
) -> Result<()> {
    let database = ConfiguredDatabase::from_config(config)?;
    let mut lock = database.file().map(|file| DatabaseLock::take(file)).transpose()?;
    let front = ServerBootstrap::bind(config, context.clock.as_ref()).await?;
    context.output.print_note(|paint| paint.dim("Starting the shop…"));
    let shop = shop::open(context, config, arguments.days, arguments.seed).await?;
    let db = database.open().await?;
    let vault = vault::open(config, db.clone(), context.clock.clone()).await?;
    munshi_tiers::ensure_fence_key(&db, &SystemRandom, context.now()).await?;
    let address = to_reachable_address(front.server.address());
    if let Some(lock) = &mut lock {
        lock.write_address(address);
    }
    let owner = DemoOwnerAuthenticator { tenant: shop.tenant, person: shop.owner };
    let front = front.with_authenticator(Arc::new(owner));
    let page = format!("/c/{}", shop.handle);
    let ready = Ready {
        chat_url: format!("http://{address}{page}"),
        start_link: sign_in::create_local_link(&vault, context.now(), &format!("http://{address}"), &page)
            .await?,
        address,
        data_dir: place.folder().display().to_string(),
        kept: place.is_kept(),
        entries: shop.entries,
    };
    context.output.print_result(&ready, banner)?;
    if !arguments.no_browser && !context.output.is_json() && munshi_config::has_display() {
        open_browser(ready.start_link.as_ref().unwrap_or(&ready.chat_url));
    }
    serve_until_stopped(context, config, front, (db, &shop)).await
}

/// Serves its pages and talks in the terminal, until somebody leaves or a signal comes.
async fn serve_until_stopped(
    context: &CommandContext,
    config: &Config,
    front: ServerBootstrap,
    (db, shop): (Db, &DemoShop),
) -> Result<()> {
    let mut signals = StopSignals::listen()?;
    let stop = CancellationToken::new();
    let mut serving = std::pin::pin!(front.serve(config, db, context.clock.clone(), stop.clone()));
    let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let talks = at_terminal && !context.output.is_json();
    let talked = tokio::select! {
        outcome = &mut serving => return outcome,
        _ = signals.next() => Ok(()),
        talked = chat_with_binding(context, config, &shop.binding), if talks => talked,
    };
    stop.cancel();
    tokio::select! {
        outcome = &mut serving => outcome.and(talked),
        _ = signals.next() => talked,
    }
}

fn banner(ready: &Ready, painter: TextStyler) -> String {
    let Ready { chat_url, start_link, data_dir, kept, entries, .. } = ready;
    let end = if *kept { "kept" } else { "removed at the end; --keep keeps it" };
    let label = |word: &str| painter.dim(&format!("  {word:<9}"));
    [
        format!("A kirana shop with {entries} ledger entries is running at {}", painter.bold(chat_url)),
        format!("{}{data_dir} ({end})", label("folder")),
        format!(
            "{}who owes me · Ramesh ko 200 udhaar diya · rojnamcha dikhao · Anil Deshmukh ko yaad dilao",
            label("try")
        ),
        format!("{}Ctrl-C; twice while chatting here", label("stop")),
        start_link.as_ref().map_or_else(String::new, |link| {
            format!(
                "\nOpen this link in a browser on this machine to sign in as the owner:\n\n  {}\n",
                painter.bold(link)
            )
        }),
    ]
    .join("\n")
}

/// Shows it where there is something to show it with. Where that fails, the address was told.
fn open_browser(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let null = std::process::Stdio::null;
    let _started =
        std::process::Command::new(opener).arg(url).stdin(null()).stdout(null()).stderr(null()).spawn();
}
