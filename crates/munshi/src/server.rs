//! The web server, the job runner, the turns and the watch over tiers: started together, stopped together.

use std::sync::Arc;

use munshi_channels::incoming::ChannelIntake;
use munshi_channels::listen::{ChannelListener, ListenPace};
use munshi_config::Config;
use munshi_jobs::JobQueue;
use munshi_store::Db;
use munshi_tiers::BindingResolver;
use munshi_types::{Clock, IdGenerator, SystemRandom};
use munshi_web::visitor::authenticator::VisitorAuthenticator;
use munshi_web::{App, HttpServer, Metrics};
use munshi_wiring::engine::ConfiguredEngine;
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use munshi_wiring::keeper_alerts::KeeperAlertWatch;
use munshi_wiring::key_watch::KeyStoreWatch;
use munshi_wiring::row_sealing::RowSealer;
use munshi_wiring::{account, channels, consents, data_folder, installation, jobs, key_copies, packs};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::api;
use crate::readiness::ReadinessParts;

/// What is made before the database is opened: a taken port is told first, and counts begin with the first unit.
pub(crate) struct ServerBootstrap {
    pub(crate) server: HttpServer,
    pub(crate) metrics: Metrics,
    /// What is proved about people at pages, where it is not by signing in.
    proofs: Option<Arc<dyn VisitorAuthenticator>>,
}

impl ServerBootstrap {
    pub(crate) async fn bind(config: &Config, clock: &dyn Clock) -> Result<Self> {
        let metrics = Metrics::install(clock).map_err(|error| to_command_failure(&error))?;
        let server = HttpServer::bind(&config.server.listen.to_string()).await;
        Ok(Self { server: server.map_err(|error| to_command_failure(&error))?, metrics, proofs: None })
    }

    /// The same, with other proofs of who is at a page.
    pub(crate) fn with_authenticator(self, proofs: Arc<dyn VisitorAuthenticator>) -> Self {
        Self { proofs: Some(proofs), ..self }
    }

    /// Serves until `stop`, then lets requests and jobs in flight finish, both within the grace.
    pub(crate) async fn serve(
        self,
        config: &Config,
        db: Db,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Result<()> {
        let resolver = BindingResolver::new(db.clone()).with_tools(installation::tools()?);
        let queue = JobQueue::new(clock.clone(), IdGenerator::new(clock.clone(), Arc::new(SystemRandom)));
        let base = account::base_url(config, self.server.address());
        let turns =
            ConfiguredEngine::build(config, &db, &clock, resolver.clone(), queue.clone(), Some(base)).await?;
        let runner = Arc::new(jobs::build_runner(config, &db, &clock, &queue, &turns).await?);
        let mail = channels::build_installation_mail(config, &db, &clock).await?;
        let api =
            api::build(config, &db, &clock, resolver.clone(), (&turns, mail.as_ref()), self.proofs).await?;
        let sealer = RowSealer::from_config(config, &db, &clock);
        let (keys, own_clock) = (KeyStoreWatch::new(db.clone(), clock.clone()), clock.clone());
        let (looked_at, began_at) = (db.clone(), clock.now());
        let parts = ReadinessParts {
            db,
            keys: keys.clone(),
            runner: runner.clone(),
            resolver: resolver.clone(),
            connectors: turns.host.clone(),
            started: clock.now(),
            clock,
            poll: config.jobs.poll,
        };
        let (live, intake) = (api.live().clone(), api.intake().cloned());
        let alerts =
            KeeperAlertWatch::from_config(config, &looked_at, &own_clock, parts.to_node_checks(), mail)?;
        let app = App::with_api(IdGenerator::system(), self.metrics, parts, api);
        let mut tasks = JoinSet::new();
        tasks.spawn({
            let (server, options, stop) = (self.server, web_options(config), stop.clone());
            let packs = packs::load_registry()?;
            let routes = munshi_web::routes().merge(munshi_web::pack_operation_routes(&packs));
            async move {
                server.serve(routes, app, options, stop).await;
            }
        });
        tasks.spawn({
            let stop = stop.clone();
            async move { runner.run(stop).await }
        });
        tasks.spawn(listen_to_channels(intake, stop.clone()));
        let watch_stop = stop.clone();
        tasks.spawn(async move { resolver.watch(watch_stop).await });
        tasks.spawn({
            let stop = stop.clone();
            async move { live.run(stop).await }
        });
        if let Some(alerts) = alerts {
            tasks.spawn(alerts.run(stop.clone()));
        }
        tasks.spawn(sealer.run(stop.clone()));
        tasks.spawn(keys.run(stop.clone()));
        tasks.spawn(key_copies::watch_age(data_folder::key_copies(config), own_clock, stop.clone()));
        tasks.spawn({
            let stop = stop.clone();
            async move {
                // Nobody waits for it, also not whoever stops the server: there may be many tenants.
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = consents::warn_of_undeclared(&looked_at, began_at) => stop.cancelled().await,
                }
            }
        });
        tasks.spawn({
            let (host, stop) = (turns.host, stop.clone());
            async move { host.serve(stop).await }
        });
        tasks.spawn({
            let (engine, stop) = (turns.engine, stop.clone());
            async move { engine.serve(stop).await }
        });
        wait(&mut tasks, &stop).await
    }
}

/// Asks the providers of tenants' channels that do not tell by themselves.
async fn listen_to_channels(intake: Option<ChannelIntake>, stop: CancellationToken) {
    match intake {
        Some(intake) => ChannelListener::new(intake, ListenPace::default()).run(stop).await,
        None => stop.cancelled().await,
    }
}

/// Waits for all of them. One that ends before it was told to has broken; then the others are stopped too.
async fn wait(tasks: &mut JoinSet<()>, stop: &CancellationToken) -> Result<()> {
    let mut broken = None;
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            broken.get_or_insert(CommandFailure::failed(format!("a server task panicked: {error}")));
        }
        if !stop.is_cancelled() {
            broken.get_or_insert(CommandFailure::failed("a server task exited unexpectedly"));
            stop.cancel();
        }
    }
    broken.map_or(Ok(()), |failure| Err(failure.hint("see the log, then restart Munshi")))
}

/// Why the server could not be started, with the exit code that scripts expect.
pub(crate) fn to_command_failure(error: &munshi_web::Error) -> CommandFailure {
    use munshi_web::Error;
    let exit = match error {
        Error::AddressInUse { .. } | Error::AddressRefused { .. } => Exit::Refused,
        Error::AddressUnusable { .. } | Error::Filter { .. } => Exit::Settings,
        Error::AlreadySetUp(_) => Exit::Failed,
    };
    CommandFailure::with_own_hint(exit, &error.to_string())
}

fn web_options(config: &Config) -> munshi_web::ServerOptions {
    munshi_web::ServerOptions {
        request_timeout: config.server.request_timeout,
        body_limit: config.server.body_limit,
        shutdown_grace: config.server.shutdown_grace,
        max_connections: config.server.max_connections,
        connections_per_address: config.server.connections_per_address,
        proxies: config.web.proxies.clone(),
        monitors: match config.server.public_metrics {
            true => munshi_web::MonitorAccess::Everybody,
            false => munshi_web::MonitorAccess::Local,
        },
        ..munshi_web::ServerOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_address_is_refused_with_what_to_do() {
        let failure =
            to_command_failure(&munshi_web::Error::AddressInUse { address: "127.0.0.1:1".to_owned() });
        assert_eq!(
            (failure.exit, failure.message.as_str()),
            (Exit::Refused, "127.0.0.1:1 is already in use")
        );
        assert!(failure.hint.unwrap().starts_with("stop the other program"));
    }
}
