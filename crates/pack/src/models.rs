//! A model for a pack: reserved, redacted and written down like every call, in the background's share of the tenant's budget.

use std::sync::Arc;

use munshi_identity::{Principal, PrincipalStanding, Role};
use munshi_llm::calls::StoredCallLog;
use munshi_llm::chat::TokenUsage;
use munshi_llm::gateway::{CallBilling, CallSubject, Capability, ModelCall, ModelRoute, PromptRecord};
use munshi_llm::{ChatRequest, Gateway, ModelError};
use munshi_privacy::{KnownPeopleCache, ProtectedPeople, PseudonymRedactor, PseudonymTable};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{self, BudgetAccount, BudgetLane, DurableBudget, ModelClasses};
use munshi_safety::pipeline::CallerAudience;
use munshi_store::{Db, Tx};
use munshi_tiers::{TenantModels, tenant_models};
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{Clock, Id, PersonId, Script, Tenant, TenantPacks, Zone};

use crate::registry::PackRegistry;
use crate::run_meter::{MeteredBudget, RunAccount};
use crate::turn_context::PackTurnContext;

/// What calls of packs are made with.
pub struct PackModelParts {
    pub gateway: Gateway,
    /// The installation's.
    pub route: Arc<ModelRoute>,
    pub classes: Arc<ModelClasses>,
    pub act_services: Arc<ActServices>,
    /// Those who know people by name that no model should.
    pub packs: Arc<PackRegistry>,
    pub db: Db,
    pub clock: Arc<dyn Clock>,
}

/// The models of the installation, for packs.
pub struct PackModels {
    parts: PackModelParts,
    people: KnownPeopleCache,
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackModelReply {
    pub text: String,
    pub usage: TokenUsage,
    /// As the provider names it.
    pub model: Option<String>,
}

/// What a tenant's calls depend on, read in one go.
struct TenantTerms {
    route: ModelRoute,
    people: ProtectedPeople,
}

impl PackModels {
    pub fn new(parts: PackModelParts) -> Self {
        Self { parts, people: KnownPeopleCache::default() }
    }

    pub(crate) async fn complete(
        self: &Arc<Self>,
        (tenant, run): (&Tenant, Option<&RunAccount>),
        purpose: Capability,
        request: ChatRequest,
    ) -> Result<PackModelReply, ModelError> {
        if purpose == Capability::Embeddings || !request.tools.is_empty() {
            let what = "a pack asks a model for text or JSON; tools are called by runs";
            return Err(ModelError::Rejected { status: 400, message: what.to_owned() });
        }
        let (own, zone) = (self.clone(), tenant.zone.clone());
        let read = move |tx: &mut Tx<'_>| own.load_terms(tx, zone);
        let terms = self.parts.db.read(tenant.id, read).await;
        let terms = terms.map_err(|error: munshi_safety::Error| ModelError::NoTarget(error.to_string()))?;
        let known = self.people.get_or_build(tenant.id, &terms.people);
        let person: PersonId = self.parts.act_services.ids.next();
        let table = PseudonymTable::new(tenant.id, person);
        let veil = PseudonymRedactor::new(known, table, find_script(request.language.as_ref()))
            .map_err(|crossed| ModelError::NoTarget(crossed.to_string()))?;
        let call = ModelCall {
            wanted: purpose,
            route: Arc::new(terms.route),
            account: self.build_billing(tenant, run, &request),
            request: Arc::new(request),
            veil: Some(Arc::new(veil)),
        };
        let reply = self.parts.gateway.complete(call).await?;
        Ok(PackModelReply { text: reply.text(), usage: reply.usage, model: reply.model })
    }

    fn load_terms(&self, tx: &mut Tx<'_>, zone: Zone) -> Result<TenantTerms, munshi_safety::Error> {
        let parts = &self.parts;
        let plan = budget::load_plan(tx, parts.act_services.governor.settings())?;
        let policy = parts.act_services.load_policy(tx)?;
        let decode = |error: munshi_tiers::Error| munshi_store::Error::Decode(error.to_string());
        let route = self.build_route(&tenant_models::load(tx).map_err(decode)?);
        let route =
            ModelRoute { permitted: parts.classes.permitted(plan), ..policy.residency.restrict(route) };
        let mut people = self.people.load_met(tx, None)?;
        let context = self.build_context(tx, zone, policy.packs.clone());
        // Also those whom a pack knows that the tenant has no longer.
        for source in &parts.packs.contexts {
            people.others.extend(source.what.gather(tx, &context)?.people);
        }
        Ok(TenantTerms { route, people })
    }

    /// The tenant's choice over the installation's. Of what is named, only what is there counts.
    fn build_route(&self, tenant: &TenantModels) -> ModelRoute {
        let mut route = ModelRoute::clone(&self.parts.route);
        for (wanted, names) in tenant {
            if names.iter().any(|name| self.parts.gateway.target(name).is_ok()) {
                route.targets.insert(*wanted, names.clone());
            }
        }
        route
    }

    /// What packs are asked with for the people they know: no message, and no agent's tools.
    fn build_context(&self, tx: &mut Tx<'_>, zone: Zone, packs: TenantPacks) -> PackTurnContext {
        let ids = &self.parts.act_services.ids;
        PackTurnContext {
            principal: Principal {
                standing: PrincipalStanding::Member(Role::Owner),
                ..Principal::anonymous(tx.tenant())
            },
            door: CallerAudience::Work,
            binding: ids.next(),
            session: ids.next(),
            channel: Channel::Api,
            language: None,
            message: String::new(),
            before: Arc::default(),
            standing: Arc::default(),
            tools: Arc::default(),
            packs,
            now: self.parts.clock.now(),
            zone,
            query: Arc::default(),
        }
    }

    fn build_billing(&self, tenant: &Tenant, run: Option<&RunAccount>, request: &ChatRequest) -> CallBilling {
        let parts = &self.parts;
        let (binding, person) = (run.and_then(|run| run.binding), run.and_then(|run| run.person));
        let lane = BudgetLane::Background;
        let budget = DurableBudget {
            db: parts.db.clone(),
            governor: Arc::new(parts.act_services.governor.clone()),
            tenant: tenant.id,
            account: BudgetAccount { binding, person, lane, zone: tenant.zone.clone() },
            run: run.map(|run| run.run),
            clock: parts.clock.clone(),
        };
        let about = CallSubject { run: run.map(|run| run.run.as_uuid()), binding: binding.map(Id::as_uuid) };
        CallBilling {
            tenant: tenant.id,
            about,
            budget: match run {
                Some(run) => Arc::new(MeteredBudget { budget, meter: run.meter.clone() }),
                None => Arc::new(budget),
            },
            tab: Arc::new(StoredCallLog::new(parts.db.clone())),
            prices: None,
            prompt: Some(Arc::new(PromptRecord::new(request, None))),
        }
    }
}

/// The script that names are put back in.
fn find_script(language: Option<&LanguageCode>) -> Script {
    match language.and_then(LanguageCode::language) {
        Some(known) if !language.is_some_and(LanguageCode::is_latin) => known.script(),
        _ => Script::Latin,
    }
}
