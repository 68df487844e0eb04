//! Vectors for texts, in the name of a binding: its models, its budget, its record of calls.

use std::sync::Arc;

use munshi_llm::gateway::{About, Account, MemoryTab, Route};
use munshi_llm::{Fault, calls};
use munshi_safety::budget::{Account as Payer, DurableBudget, Lane, plan};
use munshi_store::Tx;
use munshi_tiers::Resolution;
use munshi_types::{Id, PersonId};

use crate::engine::Engine;
use crate::error::Result;
use crate::routing;

/// Vectors in the order of their texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    pub vectors: Vec<Vec<f32>>,
    /// As the provider counted them; none of the model of this machine.
    pub tokens: u64,
}

/// Why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoVectors {
    OverBudget(String),
    /// The request can't be answered by this model.
    Unfit(String),
    Failed(String),
}

impl Engine {
    /// Asks the model that the binding's route embeds with. Every attempt is paid and written down.
    pub async fn vectors(
        &self,
        place: &Resolution,
        person: Option<PersonId>,
        texts: &[String],
    ) -> Result<Result<Vectors, NoVectors>> {
        let inner = &self.inner;
        let settings = inner.office.clone();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            Ok((plan(tx, settings.governor.settings())?, settings.policy(tx)?))
        };
        let (plan, policy) = inner.db.read(place.tenant, read).await?;
        let own = routing::route(&place.agent.body, &inner.route, inner.gateway.targets());
        let own = policy.residency.restrict(own);
        let route = Route { permitted: inner.settings.classes.permitted(plan), ..own };
        let tab = Arc::new(MemoryTab::default());
        let account = self.account(place, person, tab.clone());
        let made = match inner.gateway.embedder(&route) {
            Ok(target) => inner.gateway.embed(&target, texts, &account).await,
            Err(fault) => Err(fault),
        };
        let attempts = tab.take();
        let record = move |tx: &mut Tx<'_>| attempts.iter().try_for_each(|call| calls::record(tx, call));
        inner.db.write(place.tenant, record).await?;
        Ok(made
            .map(|made| Vectors { vectors: made.vectors, tokens: made.input_tokens.unwrap_or(0) })
            .map_err(refused))
    }

    fn account(&self, place: &Resolution, person: Option<PersonId>, tab: Arc<MemoryTab>) -> Account {
        let inner = &self.inner;
        let payer =
            Payer { binding: Some(place.binding_id), person, lane: Lane::People, zone: place.zone.clone() };
        let budget = DurableBudget {
            db: inner.db.clone(),
            governor: Arc::new(inner.office.governor.clone()),
            tenant: place.tenant,
            account: payer,
            run: None,
            clock: inner.clock.clone(),
        };
        let about = About { run: None, binding: Some(place.binding_id.as_uuid()) };
        Account { tenant: place.tenant, about, budget: Arc::new(budget), tab, prices: None }
    }
}

fn refused(fault: Fault) -> NoVectors {
    match fault {
        Fault::OverBudget(what) => NoVectors::OverBudget(what),
        fault @ (Fault::TooLong | Fault::Rejected { .. } | Fault::NoTarget(_)) => {
            NoVectors::Unfit(fault.to_string())
        }
        fault => NoVectors::Failed(fault.to_string()),
    }
}
