//! What the house's operations need besides a database.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_agent::TurnEngine;
use munshi_channels::ChannelSenders;
use munshi_channels::email::MailSender;
use munshi_connectors::conformance::ConnectorTest;
use munshi_connectors::entries::ConnectorEntry;
use munshi_connectors::{AllowedHosts, ConnectorLogins};
use munshi_erasure::ErasureService;
use munshi_http::Url;
use munshi_identity::keys::ApiKeyCache;
use munshi_jobs::JobQueue;
use munshi_keys::TenantKeyRotation;
use munshi_pack::operation::{OperationEntry, OperationError, PackServices};
use munshi_pack::{PackRegistry, RunStarter};
use munshi_safety::acts::ActServices;
use munshi_safety::audit::anchors::AnchorService;
use munshi_safety::budget::BudgetSettings;
use munshi_safety::pipeline::CompiledTool;
use munshi_safety::vault::Vault;
use munshi_tiers::{FolderExtension, InstalledNames};
use munshi_types::{ConnectorName, TenantId};

use crate::models::HouseModels;

#[derive(Clone)]
pub struct HouseServices {
    pub keys: ApiKeyCache,
    /// None where no server runs turns: what it would do at once is left to one that does.
    pub engine: Option<TurnEngine>,
    /// What acts are decided with. Made when it is asked for: few operations need it, and settings and packs are read for it.
    pub act_services: ActServicesSource,
    pub parts: Arc<dyn HouseParts>,
}

impl HouseServices {
    /// What makes jobs: the engine's own, which wakes the runner beside it, or where none is at hand one that leaves them to a node.
    pub(crate) fn job_queue(&self) -> JobQueue {
        self.engine.as_ref().map_or_else(|| self.parts.job_queue(), TurnEngine::job_queue)
    }

    /// What begins runs: the engine's own, or where none is at hand one that leaves them to a node.
    pub(crate) fn run_starter(&self) -> Result<Arc<dyn RunStarter>, OperationError> {
        match &self.engine {
            Some(engine) => Ok(Arc::new(engine.run_starter())),
            None => self.parts.run_starter(),
        }
    }
}

pub type ActServicesSource = Arc<dyn Fn() -> Result<Arc<ActServices>, OperationError> + Send + Sync>;

/// What is made of the settings, when an operation needs it: most need none of it.
#[async_trait]
pub trait HouseParts: Send + Sync {
    /// Where people open this: links begin with it.
    fn base_url(&self) -> String;

    /// Whether the settings say so: else it is where this machine finds it, which is nowhere in somebody's mailbox.
    fn has_public_url(&self) -> bool {
        false
    }

    /// How long an invitation waits.
    fn invitation_life(&self) -> Duration;

    /// What begins runs where no engine is at hand.
    fn run_starter(&self) -> Result<Arc<dyn RunStarter>, OperationError>;

    /// What makes jobs where no engine is at hand.
    fn job_queue(&self) -> JobQueue;

    /// What packs' operations work with besides the call.
    fn pack_services(&self, runs: Arc<dyn RunStarter>) -> Result<PackServices, OperationError> {
        Ok(PackServices::new(runs))
    }

    /// What plans and limits are by default.
    fn budget(&self) -> BudgetSettings;

    /// Where copies of the database are put.
    fn backup_folder(&self) -> PathBuf;

    /// Where old messages are kept in files, a folder for each tenant.
    fn archive_folder(&self) -> PathBuf;

    /// The models of the settings.
    fn open_models(&self) -> Result<HouseModels, OperationError>;

    /// The packs there are.
    fn packs(&self) -> Result<Arc<PackRegistry>, OperationError>;

    /// What forgets people.
    fn open_erasure(&self) -> Result<ErasureService, OperationError>;

    async fn open_vault(&self) -> Result<Vault, OperationError>;

    /// Replaces a tenant's key in the store of keys; none for a tenant that has none yet.
    async fn rotate_tenant_key(&self, tenant: TenantId) -> Result<Option<TenantKeyRotation>, OperationError>;

    /// Where the connectors of this node have their folders and logs.
    fn connectors_folder(&self) -> PathBuf;

    /// What a connector that is declared here must not be or reach.
    fn connector_rules(&self) -> Result<ConnectorRules, OperationError>;

    /// All that a test of a tenant's connector needs, but the connector itself.
    async fn prepare_connector_test(
        &self,
        tenant: TenantId,
        name: &ConnectorName,
    ) -> Result<ConnectorTest, OperationError>;

    /// What a tier may name.
    fn installed_names(&self) -> Result<InstalledNames, OperationError>;

    /// The files of a tenant's folder that are no tiers: its policy, its connectors and its channels.
    fn folder_extensions(&self) -> Result<Vec<Arc<dyn FolderExtension>>, OperationError>;

    /// A tool of the installation, or of the tenant's connectors: those are started for it, so only where the name can be
    /// one of theirs.
    async fn find_tool(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<Arc<CompiledTool>>, OperationError>;

    /// How people let us into connectors' services.
    async fn build_logins(&self) -> Result<ConnectorLogins, OperationError>;

    /// What sends by tenants' channels.
    async fn build_channel_senders(&self) -> Result<ChannelSenders, OperationError>;

    /// What the installation's own mails leave by; none where it has no account.
    async fn open_installation_mail(&self) -> Result<Option<Arc<MailSender>>, OperationError> {
        Ok(None)
    }

    /// What packs have to be administered.
    fn pack_operations(&self) -> Result<Vec<OperationEntry<PackServices>>, OperationError> {
        Ok(Vec::new())
    }

    /// Where the audit is anchored outside of the database.
    fn open_anchors(&self) -> Result<AnchorService, OperationError>;
}

/// What holds of every connector of an installation.
#[derive(Clone, Debug, Default)]
pub struct ConnectorRules {
    /// Names that connectors can't have: a policy that opens the pack would open somebody else's program.
    pub pack_names: BTreeSet<String>,
    /// Paths that no connector's program may reach.
    pub protected: Vec<PathBuf>,
    /// Places of its own network that connectors may reach where its keeper leads them there.
    pub private_hosts: AllowedHosts,
}

impl ConnectorRules {
    /// A place that only a keeper leads a connector to: one that is not public, or that is listed since it is not.
    pub(crate) fn find_private_place(&self, entry: &ConnectorEntry) -> Option<String> {
        let named = [&entry.url, &entry.openapi, &entry.server].into_iter().flatten().chain(&entry.hosts);
        named.flat_map(|text| read_places(text)).find_map(|url| {
            let is_private =
                self.private_hosts.allows(&url) || self.private_hosts.find_refusal(&url).is_some();
            url.host_str().filter(|_| is_private).map(str::to_owned)
        })
    }
}

impl ConnectorRules {
    /// Whether only a keeper leads a channel to this place, for the same reasons.
    pub(crate) fn is_private_host(&self, host: &str, port: u16) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let written = if bare.contains(':') {
            format!("http://[{bare}]:{port}")
        } else {
            format!("http://{bare}:{port}")
        };
        let place = Url::parse(&written).ok();
        let is_literal = place.is_some_and(|url| self.private_hosts.find_refusal(&url).is_some());
        is_literal
            || self.private_hosts.allows_port(host, Some(port))
            || bare.eq_ignore_ascii_case("localhost")
    }
}

/// The places that a text may name: a URL, or a host with or without a port, which is no URL though it can be read as one.
fn read_places(text: &str) -> Vec<Url> {
    let read = |text: &str| Url::parse(text).ok().filter(Url::has_host);
    match read(text) {
        Some(url) => vec![url],
        None => ["http", "https"].iter().filter_map(|scheme| read(&format!("{scheme}://{text}"))).collect(),
    }
}

impl HouseServices {
    /// A tool that the tenant can use: as it runs on a server, else as whoever brings it says when asked.
    pub(crate) async fn find_tool(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<Arc<CompiledTool>>, OperationError> {
        match &self.engine {
            Some(engine) => Ok(engine.find_tool(tenant, name)),
            None => self.parts.find_tool(tenant, name).await,
        }
    }
}

impl fmt::Debug for HouseServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HouseServices").field("keys", &self.keys).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_mail_server_is_found_too() {
        let rules = ConnectorRules {
            private_hosts: AllowedHosts::new(["mail.local:25".to_owned(), "127.0.0.1:2525".to_owned()]),
            ..ConnectorRules::default()
        };
        let private =
            [("mail.local", 25), ("127.0.0.1", 2525), ("127.0.0.1", 25), ("[::1]", 25), ("::1", 25)];
        for (host, port) in private.into_iter().chain([("10.1.2.3", 587), ("LOCALHOST", 25)]) {
            assert!(rules.is_private_host(host, port), "{host}:{port}");
        }
        for (host, port) in [("smtp.example.com", 587), ("mail.local", 587), ("8.8.8.8", 25)] {
            assert!(!rules.is_private_host(host, port), "{host}:{port}");
        }
    }

    #[test]
    fn a_private_place_is_found_however_it_is_written() {
        let rules = ConnectorRules {
            private_hosts: AllowedHosts::new(["books.local:8080".to_owned(), "wiki.local".to_owned()]),
            ..ConnectorRules::default()
        };
        let public = || ConnectorEntry {
            url: Some("https://far.example/mcp".to_owned()),
            ..ConnectorEntry::default()
        };
        assert_eq!(rules.find_private_place(&public()), None);
        for place in [
            "books.local:8080",
            "http://books.local:8080",
            "wiki.local",
            "wiki.local:99",
            "10.0.0.7:80",
            "[::1]",
        ] {
            let entry = ConnectorEntry { hosts: vec![place.to_owned()], ..public() };
            assert!(rules.find_private_place(&entry).is_some(), "{place}");
            let entry = ConnectorEntry {
                server: Some(format!("http://{}", place.trim_start_matches("http://"))),
                ..public()
            };
            assert!(rules.find_private_place(&entry).is_some(), "{place}");
        }
        for place in ["far.example", "far.example:8080", "books.local", "{\"openapi\": \"3.1.0\"}"] {
            let entry = ConnectorEntry { hosts: vec![place.to_owned()], ..public() };
            assert_eq!(rules.find_private_place(&entry), None, "{place}");
        }
    }
}
