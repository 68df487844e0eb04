//! All connectors of all tenants that this process runs, and the tools that each tenant gets from them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use metrics::gauge;
use munshi_safety::vault::Vault;
use munshi_store::Db;
use munshi_tools::{TenantTools, ToolRegistry};
use munshi_types::{Clock, ConnectorName, Id, IdGenerator, Random, RunId, TenantId, Timestamp, ToolName};
use tokio::sync::{Mutex as AsyncMutex, Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::confine::Confinement;
use crate::entries::{ConnectorEntries, ConnectorEntry};
use crate::error::{Error, Result};
use crate::login::{self, ConnectorLogins};
use crate::rows::{self, CONNECTORS};
use crate::state::{ConnectorState, ConnectorStatus};
use crate::supervisor::{ConnectorSupervisor, ReviewedManifest};
use crate::timings::ConnectorTimings;
use crate::translate::{self, TranslationSource, TranslationSummary};
use crate::transport::logs::ConnectorLog;
use crate::transport::{ConnectorHandle, ConnectorServices, ConnectorSnapshot, InProcessConnector};
use munshi_http::AllowedHosts;

/// Starting many at once would take the machine from everybody else.
const AT_ONCE: usize = 4;
/// How long somebody waits for a tenant's connectors to settle, or as long as one of them may take to start.
const SETTLING: Duration = Duration::from_secs(60);
const COUNT: &str = "munshi_connectors";

/// What a host is made of.
pub struct ConnectorHostParts {
    pub db: Db,
    pub vault: Option<Vault>,
    pub ids: IdGenerator,
    pub clock: Arc<dyn Clock>,
    /// The installation's own tools, whose names are theirs.
    pub registry: Arc<ToolRegistry>,
    /// Where connectors have their folders and logs.
    pub folder: PathBuf,
    /// All that a child inherits of the environment.
    pub basics: Vec<(OsString, OsString)>,
    pub confinement: Confinement,
    pub allowed: AllowedHosts,
    /// None where nobody can log in at a connector.
    pub logins: Option<ConnectorLogins>,
    /// The address by which people open a server of ours, where there is one: links begin with it.
    pub base: Option<String>,
    pub random: Arc<dyn Random>,
    pub inside: BTreeMap<String, Arc<dyn InProcessConnector>>,
    pub pace: ConnectorTimings,
}

/// Runs connectors. Clones share everything.
#[derive(Clone)]
pub struct ConnectorHost {
    pub(crate) inner: Arc<ConnectorHostState>,
}

pub(crate) struct ConnectorHostState {
    pub db: Db,
    pub ids: IdGenerator,
    pub clock: Arc<dyn Clock>,
    pub way: ConnectorServices,
    pub pace: ConnectorTimings,
    /// This process among those that run connectors.
    pub node: Uuid,
    pub starting: Semaphore,
    /// Told whenever a connector has become something.
    pub settled: Notify,
    registry: Arc<ToolRegistry>,
    pub base: Option<String>,
    pub random: Arc<dyn Random>,
    folder: PathBuf,
    stop: CancellationToken,
    pub tenant_tools: RwLock<HashMap<TenantId, Arc<TenantTools>>>,
    /// Whoever holds it rebuilds a tenant's tools.
    rebuilding: AsyncMutex<()>,
    running: Mutex<HashMap<TenantId, TenantConnectors>>,
    /// Whether the store was asked at least once.
    looked: watch::Sender<bool>,
    /// Tenants whose connectors may not be those that are declared: nothing was to be done for them when the store was last
    /// asked, or it could not tell.
    resting: Mutex<HashSet<TenantId>>,
}

/// The connectors of one tenant.
#[derive(Default)]
struct TenantConnectors {
    version: i64,
    supervised: BTreeMap<ConnectorName, SupervisedConnector>,
}

/// One of them, as the host holds it.
struct SupervisedConnector {
    entry: Arc<ConnectorEntry>,
    link: Arc<ConnectorHandle>,
    now: watch::Receiver<ConnectorSnapshot>,
    shown: watch::Receiver<Option<ReviewedManifest>>,
    look_again: Arc<Notify>,
    stop: CancellationToken,
    /// Once nothing of it is left.
    ended: CancellationToken,
}

impl ConnectorHost {
    pub fn new(parts: ConnectorHostParts) -> Self {
        let ConnectorHostParts { db, vault, ids, clock, registry, folder, basics, allowed, .. } = parts;
        let ConnectorHostParts { confinement, logins, base, random, inside, pace, .. } = parts;
        let way = ConnectorServices {
            vault,
            basics,
            confinement,
            allowed,
            logins,
            inside,
            tasks: TaskTracker::new(),
        };
        let node = ids.next::<RunId>().as_uuid();
        let inner = ConnectorHostState {
            db,
            ids,
            clock,
            way,
            pace,
            node,
            starting: Semaphore::new(AT_ONCE),
            settled: Notify::new(),
            registry,
            base,
            random,
            folder,
            stop: CancellationToken::new(),
            tenant_tools: RwLock::default(),
            rebuilding: AsyncMutex::default(),
            running: Mutex::default(),
            looked: watch::channel(false).0,
            resting: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Keeps what runs at what is declared, until told to stop; then stops all of it.
    pub async fn serve(&self, stop: CancellationToken) {
        let mut is_blind = false;
        loop {
            match self.reconcile().await {
                Ok(()) => is_blind = false,
                Err(error) if !is_blind => {
                    is_blind = true;
                    tracing::warn!(%error, "loading connector declarations failed; running connectors continue");
                }
                Err(_) => {}
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(self.inner.pace.look) => {}
            }
        }
        self.stop().await;
    }

    /// Looks once at what is declared, of all tenants, and starts and stops what differs.
    pub async fn reconcile(&self) -> Result<()> {
        let versions = self.inner.db.platform(CONNECTORS).read(rows::list_versions).await?;
        let (active, resting): (Vec<_>, Vec<_>) = versions.into_iter().partition(|file| file.is_active);
        let mut resting: HashSet<TenantId> = resting.iter().map(|file| file.tenant).collect();
        self.inner.with_resting(|known| known.extend(&resting));
        for gone in
            self.inner.tenants().into_iter().filter(|known| active.iter().all(|file| file.tenant != *known))
        {
            // A tenant that rests, or was put away: nothing is done for it.
            self.apply_entries(gone, 0, ConnectorEntries::default()).await;
        }
        // One whose file can't be read keeps nobody else's from being taken up.
        let mut failed = None;
        for rows::FileVersion { tenant, version, .. } in active {
            if let Err(error) = self.reconcile_tenant(tenant, version).await {
                // What the store could not tell may be a connector that is not started yet.
                if matches!(error, Error::Store(_))
                    || self.inner.with_resting(|known| known.contains(&tenant))
                {
                    resting.insert(tenant);
                }
                failed.get_or_insert(error);
            }
        }
        // Those that went on are known to be started by now.
        self.inner.with_resting(|known| *known = resting);
        self.inner.looked.send_replace(true);
        failed.map_or(Ok(()), Err)
    }

    /// Starts the connectors of one tenant and waits until each has started or failed to.
    pub async fn start_tenant(&self, tenant: TenantId) -> Result<()> {
        let (version, _) = self.inner.db.read(tenant, rows::load_entries).await?;
        self.reconcile_tenant(tenant, version).await?;
        self.inner.looked.send_replace(true);
        let settled = async {
            loop {
                let told = self.inner.settled.notified();
                tokio::pin!(told);
                told.as_mut().enable();
                if self.inner.is_settled(tenant) {
                    return;
                }
                told.await;
            }
        };
        // Each has its own limit, and a restart may follow: whoever asks waits no longer than for one of them.
        let longest = self.inner.with_connectors(tenant, |connectors| {
            connectors
                .supervised
                .values()
                .map(|supervised| u64::from(supervised.entry.start_seconds))
                .max()
                .unwrap_or_default()
        });
        let _ = tokio::time::timeout(Duration::from_secs(longest).max(SETTLING), settled).await;
        Ok(())
    }

    async fn reconcile_tenant(&self, tenant: TenantId, version: i64) -> Result<()> {
        let known = self.inner.with_connectors(tenant, |connectors| connectors.version);
        self.wake_accepted(tenant).await?;
        self.wake_logged_in(tenant).await?;
        if known == version {
            return Ok(());
        }
        let (version, declared) = self.inner.db.read(tenant, rows::load_entries).await?;
        self.apply_entries(tenant, version, declared).await;
        Ok(())
    }

    /// Has those look again whose list a person has accepted meanwhile.
    async fn wake_accepted(&self, tenant: TenantId) -> Result<()> {
        let held: Vec<(String, String, Arc<Notify>)> = self.inner.with_connectors(tenant, |connectors| {
            let held = |(name, supervised): (&ConnectorName, &SupervisedConnector)| {
                let standing = supervised.now.borrow().standing.clone();
                standing.held.then(|| (name.to_string(), standing.manifest, supervised.look_again.clone()))
            };
            connectors.supervised.iter().filter_map(held).collect()
        });
        for (name, hash, look_again) in held {
            let seen = self.inner.db.read(tenant, move |tx| rows::list_manifests(tx, &name)).await?;
            if seen.iter().any(|seen| seen.hash == hash && seen.accepted_at.is_some()) {
                look_again.notify_one();
            }
        }
        Ok(())
    }

    /// Has those try again where somebody has logged in meanwhile.
    async fn wake_logged_in(&self, tenant: TenantId) -> Result<()> {
        let shut: Vec<(String, Option<Timestamp>, Arc<Notify>)> =
            self.inner.with_connectors(tenant, |connectors| {
                let shut = |(name, supervised): (&ConnectorName, &SupervisedConnector)| {
                    let now = supervised.now.borrow();
                    let is_shut = now.standing.state == ConnectorState::WantsLogin;
                    is_shut.then(|| (name.to_string(), now.standing.since, supervised.look_again.clone()))
                };
                connectors.supervised.iter().filter_map(shut).collect()
            });
        for (name, since, look_again) in shut {
            let last = self.inner.db.read(tenant, move |tx| login::find_login_time(tx, &name)).await?;
            if last.is_some_and(|last| since.is_none_or(|since| last >= since)) {
                look_again.notify_one();
            }
        }
        Ok(())
    }

    async fn apply_entries(&self, tenant: TenantId, version: i64, declared: ConnectorEntries) {
        self.inner.with_connectors(tenant, |connectors| {
            connectors.version = version;
            let mut leaving: BTreeMap<ConnectorName, CancellationToken> = BTreeMap::new();
            connectors.supervised.retain(|name, supervised| {
                let stays = declared.0.get(name) == Some(supervised.entry.as_ref());
                if !stays {
                    supervised.stop.cancel();
                    leaving.insert(name.clone(), supervised.ended.clone());
                }
                stays
            });
            for (name, entry) in declared.0 {
                if !self.inner.is_reserved_name(&name) && !connectors.supervised.contains_key(&name) {
                    let supervised = self.launch(tenant, &name, entry, leaving.remove(&name));
                    connectors.supervised.insert(name, supervised);
                }
            }
        });
        self.inner.rebuild_tools(tenant).await;
    }

    fn launch(
        &self,
        tenant: TenantId,
        name: &ConnectorName,
        entry: ConnectorEntry,
        after: Option<CancellationToken>,
    ) -> SupervisedConnector {
        let (entry, look_again, stop) =
            (Arc::new(entry), Arc::new(Notify::new()), self.inner.stop.child_token());
        let (tell, link) = ConnectorHandle::new(name.to_string(), look_again.clone());
        let (shown, seen) = watch::channel(None);
        let home = build_folder_path(&self.inner.folder, tenant, name);
        let (now, ended) = (tell.subscribe(), CancellationToken::new());
        let supervisor = ConnectorSupervisor {
            host: self.inner.clone(),
            tenant,
            name: name.clone(),
            entry: entry.clone(),
            log: ConnectorLog::new(
                Some(build_logs_path(&self.inner.folder, tenant, name)),
                self.inner.clock.clone(),
            ),
            home,
            tell,
            shown,
            look_again: look_again.clone(),
            stop: stop.clone(),
            ended: ended.clone(),
        };
        self.inner.way.tasks.spawn(supervisor.run(after));
        SupervisedConnector { entry, link, now, shown: seen, look_again, stop, ended }
    }

    /// Stops all of them, each with what it started. Returns when none is left.
    pub async fn stop(&self) {
        self.inner.stop.cancel();
        self.inner.way.tasks.close();
        let patience = self.inner.pace.grace * 2 + Duration::from_secs(5);
        if tokio::time::timeout(patience, self.inner.way.tasks.wait()).await.is_err() {
            tracing::warn!("connectors did not stop in time; killing them");
        }
        // What a service gave us in this moment is kept, though nobody waits for it.
        if let Some(logins) = &self.inner.way.logins {
            logins.wait_for_tasks().await;
        }
    }

    /// How the tenant's connectors are here.
    pub fn statuses(&self, tenant: TenantId) -> BTreeMap<ConnectorName, ConnectorStatus> {
        self.inner.with_connectors(tenant, |connectors| {
            connectors
                .supervised
                .iter()
                .map(|(name, supervised)| (name.clone(), supervised.now.borrow().standing.clone()))
                .collect()
        })
    }

    /// How many connectors are in which state, of all tenants.
    pub fn count(&self) -> BTreeMap<&'static str, usize> {
        self.inner.count()
    }
}

/// Where a connector has its folder, in which it may write as it likes.
pub fn build_folder_path(folder: &Path, tenant: TenantId, name: &ConnectorName) -> PathBuf {
    folder.join(tenant.to_string()).join(name.as_str())
}

/// Where a connector has its log: out of its own reach, since we follow what stands there. No name has a dot in it.
pub fn build_logs_path(folder: &Path, tenant: TenantId, name: &ConnectorName) -> PathBuf {
    folder.join(tenant.to_string()).join(format!("{name}.logs"))
}

impl ConnectorHostState {
    /// What a connector's service said when it last let us not in.
    pub(crate) fn last_challenge(&self, tenant: TenantId, connector: &str) -> login::AuthChallenge {
        self.with_connectors(tenant, |connectors| {
            let found = connectors.supervised.iter().find(|(name, _)| name.as_str() == connector);
            found
                .and_then(|(_, supervised)| Some(supervised.now.borrow().pass.as_ref()?.last_challenge()))
                .unwrap_or_default()
        })
    }

    fn with_connectors<T>(&self, tenant: TenantId, act: impl FnOnce(&mut TenantConnectors) -> T) -> T {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        act(running.entry(tenant).or_default())
    }

    fn with_resting<T>(&self, act: impl FnOnce(&mut HashSet<TenantId>) -> T) -> T {
        act(&mut self.resting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tenants(&self) -> Vec<TenantId> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running
            .iter()
            .filter(|(_, connectors)| !connectors.supervised.is_empty())
            .map(|(tenant, _)| *tenant)
            .collect()
    }

    /// Whether the name is a pack's: a policy that speaks of the pack must not open somebody else's program.
    fn is_reserved_name(&self, name: &ConnectorName) -> bool {
        self.registry.all().any(|tool| tool.known.connector.name == name.as_str())
    }

    /// Rebuilds the tenant's tools from what its connectors show.
    pub(crate) async fn rebuild_tools(
        &self,
        tenant: TenantId,
    ) -> BTreeMap<ConnectorName, TranslationSummary> {
        // The last to look is the last to write.
        let _turn = self.rebuilding.lock().await;
        let shown: Vec<_> = self.with_connectors(tenant, |connectors| {
            let shown = |(name, supervised): (&ConnectorName, &SupervisedConnector)| {
                Some((
                    name.clone(),
                    supervised.entry.clone(),
                    supervised.link.clone(),
                    supervised.shown.borrow().clone()?,
                ))
            };
            connectors.supervised.iter().filter_map(shown).collect()
        });
        let (mut registry, mut always, mut outcomes) =
            (ToolRegistry::default(), BTreeSet::new(), BTreeMap::new());
        let is_taken = |tool: &ToolName| self.registry.has_name(tool.as_str());
        for (name, entry, link, shown) in &shown {
            let source = TranslationSource {
                name,
                entry,
                manifest: &shown.manifest,
                accepted: shown.accepted,
                link: link.clone(),
            };
            outcomes
                .insert(name.clone(), translate::add_tools(&source, &mut registry, &mut always, &is_taken));
        }
        let tools = Arc::new(TenantTools::new(registry, always));
        let mut tenant_tools = self.tenant_tools.write().unwrap_or_else(PoisonError::into_inner);
        tenant_tools.insert(tenant, tools);
        outcomes
    }

    pub(crate) async fn delete_state(&self, tenant: TenantId, name: &ConnectorName) {
        let (name, node) = (name.to_string(), self.node);
        if let Err(error) = self.db.write(tenant, move |tx| rows::delete_state(tx, &name, node)).await {
            tracing::debug!(%error, "removing stopped connector state failed; it expires by itself");
        }
        self.record_metrics();
    }

    fn count(&self) -> BTreeMap<&'static str, usize> {
        let mut count: BTreeMap<&'static str, usize> =
            ConnectorState::ALL.iter().map(|state| (state.as_str(), 0)).collect();
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for supervised in running.values().flat_map(|connectors| connectors.supervised.values()) {
            *count.entry(supervised.now.borrow().standing.state.as_str()).or_default() += 1;
        }
        count
    }

    pub(crate) fn record_metrics(&self) {
        for (state, count) in self.count() {
            #[allow(clippy::cast_precision_loss, reason = "a gauge is a float; nobody runs 2^52 connectors")]
            gauge!(COUNT, "state" => state).set(count as f64);
        }
    }

    pub(crate) fn is_settled(&self, tenant: TenantId) -> bool {
        *self.looked.borrow()
            && !self.with_resting(|resting| resting.contains(&tenant))
            && self.with_connectors(tenant, |connectors| {
                connectors
                    .supervised
                    .values()
                    .all(|supervised| supervised.now.borrow().standing.state != ConnectorState::Starting)
            })
    }

    /// Whether a tool is missing that this process, or the next one, may still bring: a connector whose first start failed
    /// is tried again, and one that stops with this process starts with the next.
    pub(crate) fn may_bring_tools(&self, tenant: TenantId) -> bool {
        let is_tried_again = |supervised: &SupervisedConnector| {
            supervised.now.borrow().standing.state == ConnectorState::Restarting
                && supervised.shown.borrow().is_none()
        };
        self.stop.is_cancelled()
            || self.with_connectors(tenant, |connectors| connectors.supervised.values().any(is_tried_again))
    }
}
