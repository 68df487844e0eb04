//! What a pack works with besides its own tables, in jobs, webhooks, polls, operations and steps of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use munshi_http::GuardedHttpClients;
use munshi_jobs::JobFailure;
use munshi_llm::gateway::Capability;
use munshi_llm::{ChatRequest, ModelError};
use munshi_safety::vault::{SecretRef, Vault, VaultSecret};
use munshi_store::Tx;
use munshi_types::{RunId, Tenant};

use crate::foreign::Foreign;
use crate::http::PackHttp;
use crate::models::{PackModelReply, PackModels};
use crate::operation::OperationCaller;
use crate::run_meter::RunAccount;
use crate::run_starter::{NewPackRun, PackRunCause, RunDelegator, RunStarter};

/// Clones share everything, also whether something foreign was read with them.
#[derive(Clone, Default)]
pub struct PackServices {
    runs: Option<Arc<dyn RunStarter>>,
    vault: Option<Vault>,
    models: Option<Arc<PackModels>>,
    clients: Option<GuardedHttpClients>,
    /// Makes what is not ready.
    source: Option<Arc<dyn PackServiceSource>>,
    /// Whose call it is.
    tenant: Option<Arc<Tenant>>,
    /// The person who commands it.
    delegator: Option<Arc<RunDelegator>>,
    /// The run whose step it is.
    run: Option<RunAccount>,
    foreign: Arc<AtomicBool>,
}

/// Makes services when a pack first asks for one: a command seldom does.
#[async_trait]
pub trait PackServiceSource: Send + Sync {
    async fn open_vault(&self) -> Result<Vault, PackServiceError>;
    async fn open_models(&self) -> Result<Arc<PackModels>, PackServiceError>;
    async fn open_http(&self) -> Result<GuardedHttpClients, PackServiceError>;
}

/// Why a service did not do what a pack asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PackServiceError {
    /// It is not there where the pack runs, as in a command without a server.
    #[error("{0} is not available here")]
    Absent(&'static str),
    /// It can't be made of the settings.
    #[error("{0}")]
    Broken(String),
    #[error("the tenant has no secret vault:{0}: `munshi vault set {0}` stores it")]
    NoCredential(String),
    #[error("can't open the secret vault:{name}: {why}")]
    Credential { name: String, why: String },
    /// The request can't be sent as it is.
    #[error("{0}")]
    Request(String),
    /// Not where this leads.
    #[error("{0}")]
    Address(String),
    #[error("can't ask {host}: {why}")]
    Unreachable { host: String, why: String },
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<PackServiceError> for JobFailure {
    fn from(error: PackServiceError) -> Self {
        match error {
            PackServiceError::Request(_) | PackServiceError::Address(_) => Self::Lasting(error.to_string()),
            PackServiceError::NoCredential(_) => Self::Unconfigured(error.to_string()),
            _ => Self::Passing(error.to_string()),
        }
    }
}

impl PackServices {
    pub fn new(runs: Arc<dyn RunStarter>) -> Self {
        Self { runs: Some(runs), ..Self::default() }
    }

    pub fn with_vault(self, vault: Vault) -> Self {
        Self { vault: Some(vault), ..self }
    }

    pub fn with_models(self, models: Arc<PackModels>) -> Self {
        Self { models: Some(models), ..self }
    }

    pub fn with_http(self, clients: GuardedHttpClients) -> Self {
        Self { clients: Some(clients), ..self }
    }

    pub fn with_source(self, source: Arc<dyn PackServiceSource>) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The same for one call of one tenant, which has read nothing foreign yet.
    pub fn for_call(&self, tenant: &Tenant) -> Self {
        Self { tenant: Some(Arc::new(tenant.clone())), foreign: Arc::default(), ..self.clone() }
    }

    /// The same for an operation that this caller commands.
    pub fn for_caller(self, caller: &OperationCaller) -> Self {
        Self { delegator: RunDelegator::from_caller(caller).map(Arc::new), ..self }
    }

    /// The same for the steps of one run: what models cost there counts against its own limit.
    pub fn for_run(self, account: RunAccount) -> Self {
        Self { run: Some(account), ..self }
    }

    /// Begins a run on behalf of the person who commands this operation, in its transaction: it acts with the rights that they have
    /// at each act, and counts as one conversation of theirs. Refused where no person commands it.
    pub fn delegate_run(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> munshi_store::Result<RunId> {
        let nobody = || munshi_store::Error::Refused("no person asks for this run".to_owned());
        let by = self.delegator.as_ref().ok_or_else(nobody)?;
        self.starter()?.begin_delegated(tx, &self.note_foreign(new), by)
    }

    /// Begins work that goes on by itself, in the caller's transaction; gives the run that the cause made before, where it did. Once
    /// something foreign was read in this call, an event has begun it, whatever `new` says.
    pub fn begin_run(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> munshi_store::Result<RunId> {
        self.starter()?.begin(tx, &self.note_foreign(new))
    }

    fn starter(&self) -> munshi_store::Result<&Arc<dyn RunStarter>> {
        let refused = || munshi_store::Error::Refused("no run can be begun here".to_owned());
        self.runs.as_ref().ok_or_else(refused)
    }

    fn note_foreign(&self, new: &NewPackRun) -> NewPackRun {
        let cause = if self.has_read_foreign() { PackRunCause::Event } else { new.cause };
        NewPackRun { cause, ..new.clone() }
    }

    /// A secret of the tenant's vault, by its name or as `vault:NAME`. It does not print itself.
    pub async fn credential(&self, name: &str) -> Result<VaultSecret, PackServiceError> {
        let name = name.strip_prefix("vault:").unwrap_or(name).to_owned();
        let tenant = self.tenant.as_ref().ok_or(PackServiceError::Absent("the vault"))?;
        let vault = match (&self.vault, &self.source) {
            (Some(vault), _) => vault.clone(),
            (None, Some(source)) => source.open_vault().await?,
            (None, None) => return Err(PackServiceError::Absent("the vault")),
        };
        let failed = |why: munshi_safety::Error| PackServiceError::Credential {
            name: name.clone(),
            why: why.to_string(),
        };
        let reference = SecretRef::from_name(&name).map_err(failed)?;
        match vault.open(tenant.id, &reference).await {
            Err(munshi_safety::Error::NoSecret { .. }) => Err(PackServiceError::NoCredential(name)),
            opened => opened.map_err(failed),
        }
    }

    /// Asks a model for a purpose, in the tenant's name and within its budget. Its words are foreign.
    pub async fn model(
        &self,
        purpose: Capability,
        request: ChatRequest,
    ) -> Result<Foreign<PackModelReply>, PackServiceError> {
        let tenant = self.tenant.as_ref().ok_or(PackServiceError::Absent("a model"))?;
        let models = match (&self.models, &self.source) {
            (Some(models), _) => models.clone(),
            (None, Some(source)) => source.open_models().await?,
            (None, None) => return Err(PackServiceError::Absent("a model")),
        };
        self.mark_foreign();
        Ok(Foreign::new(models.complete((tenant, self.run.as_ref()), purpose, request).await?))
    }

    /// The guarded client. What it brings is foreign.
    pub fn http(&self) -> PackHttp {
        PackHttp::new(self.clone())
    }

    pub(crate) async fn http_clients(&self) -> Result<GuardedHttpClients, PackServiceError> {
        match (&self.clients, &self.source) {
            (Some(clients), _) => Ok(clients.clone()),
            (None, Some(source)) => source.open_http().await,
            (None, None) => Err(PackServiceError::Absent("the HTTP client")),
        }
    }

    /// Whether this call has read something from outside.
    pub fn has_read_foreign(&self) -> bool {
        self.foreign.load(Ordering::SeqCst)
    }

    /// What says so, for whatever must know it later in the call.
    pub(crate) fn foreign_mark(&self) -> Arc<AtomicBool> {
        self.foreign.clone()
    }

    pub(crate) fn mark_foreign(&self) {
        self.foreign.store(true, Ordering::SeqCst);
    }
}
