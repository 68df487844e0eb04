//! Connectors: `connectors.toml` in a tenant's folder, and the host that runs what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use munshi_config::Config;
use munshi_connectors::conformance::{ConnectorTest, WriteTestMode};
use munshi_connectors::entries::{
    self, ConnectorEntries, ConnectorEntry, find_refused_entry, list_path_warnings, list_secret_warnings,
};
use munshi_connectors::{
    AllowedHosts, Confinement, ConnectorHost, ConnectorHostParts, ConnectorLoginParts, ConnectorLogins,
    ConnectorTimings, Error as ConnectorError, IsolationProbe, KernelSupport, login, rows,
};
use munshi_operations::folders::{CONNECTORS_FILE, POLICY_FILE};
use munshi_safety::pipeline::CompiledTool;
use munshi_safety::policy::Policy;
use munshi_store::{DatabaseAddress, Db, Tx};
use munshi_tiers::{
    Authorship, Error, ExtensionBodies, ExtensionChange, FolderExtension, FolderProblem, Result, TierBody,
};
use munshi_tools::{TenantToolSource, TenantTools, ToolRegistry};
use munshi_types::{Clock, ConnectorName, IdGenerator, SystemRandom, TenantId};
use serde_json::Value;

use crate::consents::{UndeclaredPurpose, list_of_connectors};
use crate::failure;
use crate::{tools, vault};

/// What the file is called in a plan.
const CONNECTORS: &str = "connectors";

/// All that a connector's program gets of our own environment.
const BASICS: [&str; 6] = ["PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE"];

/// What runs the connectors of this installation.
pub(crate) async fn build_host(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    registry: Arc<ToolRegistry>,
    (logins, base): (ConnectorLogins, Option<String>),
) -> failure::Result<ConnectorHost> {
    Ok(ConnectorHost::new(ConnectorHostParts {
        db: db.clone(),
        vault: Some(vault::open(config, db.clone(), clock.clone()).await?),
        logins: Some(logins),
        base,
        random: Arc::new(SystemRandom),
        ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        clock: clock.clone(),
        registry,
        folder: folder(config),
        basics: collect_base_environment(),
        confinement: confinement(config, Some(db.clone())),
        allowed: build_allowed_hosts(config),
        inside: BTreeMap::new(),
        pace: ConnectorTimings {
            grace: config.server.shutdown_grace.min(ConnectorTimings::default().grace),
            ..ConnectorTimings::default()
        },
    }))
}

/// How people let us into connectors' services.
pub async fn build_logins(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
) -> failure::Result<ConnectorLogins> {
    Ok(ConnectorLogins::new(ConnectorLoginParts {
        db: db.clone(),
        vault: vault::open(config, db.clone(), clock.clone()).await?,
        allowed: build_allowed_hosts(config),
        clock: clock.clone(),
        random: Arc::new(SystemRandom),
        ids: IdGenerator::new(clock.clone(), Arc::new(SystemRandom)),
        timeout: login::LOGIN_TIMEOUT,
    })?)
}

/// A tool of the installation, or of the tenant's connectors. They are started for it, so only where the name can be one
/// of theirs.
pub(crate) async fn find_tool(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    tenant: TenantId,
    name: &str,
) -> failure::Result<Option<Arc<CompiledTool>>> {
    if let Some(tool) = tools::registry()?.get(name) {
        return Ok(Some(tool.known.clone()));
    }
    let (_, declared) = db.read(tenant, rows::load_entries).await?;
    if !declared.0.keys().any(|connector| name.starts_with(&format!("{connector}_"))) {
        return Ok(None);
    }
    let shelf = load_tenant_tools(config, db, clock, tenant).await?;
    Ok(shelf.get(name).map(|tool| tool.known.clone()))
}

/// What a tenant's connectors bring: started for one question, and stopped again.
pub async fn load_tenant_tools(
    config: &Config,
    db: &Db,
    clock: &Arc<dyn Clock>,
    tenant: TenantId,
) -> failure::Result<Arc<TenantTools>> {
    let logins = build_logins(config, db, clock).await?;
    let registry = Arc::new(tools::registry()?);
    let host = build_host(config, db, clock, registry, (logins, None)).await?;
    host.start_tenant(tenant).await?;
    let shelf = host.tenant_tools(tenant);
    host.stop().await;
    Ok(shelf)
}

/// A test of a connector that is nobody's: without secrets, in a folder for tests.
pub fn build_test(
    config: &Config,
    name: ConnectorName,
    db: Option<Db>,
    clock: Arc<dyn Clock>,
) -> ConnectorTest {
    let scratch = folder(config).join("tested");
    ConnectorTest {
        name,
        entry: ConnectorEntry::default(),
        tenant: TenantId::PLATFORM,
        vault: None,
        logins: None,
        logs: scratch.with_extension("logs"),
        folder: scratch,
        basics: collect_base_environment(),
        confinement: confinement(config, db),
        allowed: build_allowed_hosts(config),
        inside: BTreeMap::new(),
        clock,
        writes: WriteTestMode::Never,
    }
}

/// Where connectors have their folders and logs.
pub fn folder(config: &Config) -> PathBuf {
    let folder = config.data.dir.join("connectors");
    // A child stands elsewhere, and has its own folder by this name.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The program as it runs now, though its file were replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";

/// How the programs of connectors are confined here.
pub fn confinement(config: &Config, db: Option<Db>) -> Confinement {
    let support = KernelSupport::detect();
    Confinement {
        launcher: (support > KernelSupport::None).then(|| PathBuf::from(OURSELVES)),
        is_whole: support == KernelSupport::Full,
        protected: list_protected_paths(config),
        allows_unconfined: config.connectors.unconfined,
        db,
        isolation: IsolationProbe::default(),
    }
}

/// The files of a SQLite database; none of another.
fn list_database_files(url: &str) -> Vec<PathBuf> {
    let Ok(DatabaseAddress::Sqlite(file)) = url.parse() else { return Vec::new() };
    let beside = |ending: &str| {
        let mut name = file.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    ["", "-wal", "-shm", "-journal"].map(beside).to_vec()
}

/// What no connector's program may reach.
pub fn list_protected_paths(config: &Config) -> Vec<PathBuf> {
    let databases = [config.store_url(), config.keys_url()];
    let database = databases.iter().flat_map(|url| list_database_files(url.reveal()));
    let own = [config.data.dir.clone(), config.vault_key_file()];
    let all = own.into_iter().chain(database).chain(config.file());
    // Settings may name them from where we stand.
    all.map(|path| std::path::absolute(&path).unwrap_or(path)).collect()
}

pub fn build_allowed_hosts(config: &Config) -> AllowedHosts {
    AllowedHosts::new(config.connectors.private_hosts.iter().cloned())
}

#[allow(
    clippy::disallowed_methods,
    reason = "what a child inherits is the environment's, and no setting of ours"
)]
pub fn collect_base_environment() -> Vec<(OsString, OsString)> {
    BASICS.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect()
}

/// The file of a tenant's folder.
pub(crate) struct ConnectorsFile {
    /// Whose names connectors can't have.
    pub registry: ToolRegistry,
    /// What no connector's program may reach.
    pub protected: Vec<PathBuf>,
}

impl std::fmt::Debug for ConnectorsFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(CONNECTORS_FILE)
    }
}

/// A name that a pack has, where one of these has it: a policy that opens the pack would open somebody else's program.
pub fn find_pack_conflict(registry: &ToolRegistry, declared: &ConnectorEntries) -> Option<String> {
    let packs = |name: &str| registry.all().any(|tool| tool.known.connector.name == name);
    declared.0.keys().find(|name| packs(name.as_str())).map(ToString::to_string)
}

/// What a file that is to be applied declares.
fn parse_entries(change: &ExtensionChange) -> Result<ConnectorEntries> {
    serde_json::from_value(Value::Object(change.body.clone()))
        .map_err(|error| Error::Unreadable(format!("can't store the connectors: {error}")))
}

impl FolderExtension for ConnectorsFile {
    fn file_name(&self) -> &'static str {
        CONNECTORS_FILE
    }

    fn noun(&self) -> &'static str {
        CONNECTORS
    }

    fn read(&self, file: &str, text: &str) -> Result<TierBody, Vec<FolderProblem>> {
        let wrong = |problem: FolderProblem| vec![problem.hint("docs/connectors.md lists every key")];
        let declared = entries::parse_with_position(text)
            .map_err(|slip| wrong(FolderProblem::in_file(file, slip.what).at_position(slip.position)))?;
        if let Some(name) = find_pack_conflict(&self.registry, &declared) {
            return Err(wrong(FolderProblem::in_file(
                file,
                format!("{name} is the name of a pack: choose another"),
            )));
        }
        if let Some(what) = find_refused_entry(&declared, &self.protected) {
            return Err(wrong(FolderProblem::in_file(file, what)));
        }
        entries::to_map(&declared).map_err(|error| wrong(FolderProblem::in_file(file, error.to_string())))
    }

    fn warnings(&self, body: &TierBody, beside: &ExtensionBodies) -> Vec<String> {
        let open = beside.get(POLICY_FILE).and_then(|policy| policy.get("connectors")?.as_object().cloned());
        let is_closed = |name: &&String| !open.as_ref().is_some_and(|open| open.contains_key(*name));
        let closed = body.keys().filter(is_closed);
        let words =
            |name: &String| format!("connector {name} is denied: policy.toml has no [connectors.{name}]");
        let declared: ConnectorEntries =
            serde_json::from_value(Value::Object(body.clone())).unwrap_or_default();
        let bare =
            declared.0.iter().flat_map(|(name, entry)| list_secret_warnings(name, entry)).collect::<Vec<_>>();
        let unread =
            declared.0.iter().flat_map(|(name, entry)| list_path_warnings(name, entry)).collect::<Vec<_>>();
        let policy = beside.get(POLICY_FILE).map(|policy| Value::Object(policy.clone()));
        let policy: Policy =
            policy.and_then(|policy| serde_json::from_value(policy).ok()).unwrap_or_default();
        let undeclared = list_of_connectors(&declared, &policy);
        let undeclared = undeclared.iter().map(UndeclaredPurpose::describe);
        closed.map(words).chain(bare).chain(unread).chain(undeclared).collect()
    }

    fn connectors(&self, body: &TierBody) -> Option<BTreeSet<String>> {
        Some(body.keys().cloned().collect())
    }

    fn load_stored(&self, tx: &mut Tx<'_>) -> Result<(i64, TierBody)> {
        let (version, declared) = rows::load_entries(tx).map_err(convert_connector_error)?;
        Ok((version, entries::to_map(&declared).map_err(convert_connector_error)?))
    }

    fn write(&self, tx: &mut Tx<'_>, change: &ExtensionChange, by: &Authorship) -> Result<()> {
        let declared = parse_entries(change)?;
        rows::save_entries(tx, &declared, &by.author, &by.note, by.made_at)
            .map_err(convert_connector_error)?;
        Ok(())
    }

    fn event(&self) -> &'static str {
        "connectors.changed"
    }
}

fn convert_connector_error(error: ConnectorError) -> Error {
    match error {
        ConnectorError::Store(error) => Error::Store(error),
        other => Error::Unreadable(other.to_string()),
    }
}
