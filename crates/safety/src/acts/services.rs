//! What every act needs beside its transaction: ids, and policies kept by version.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_store::{Tx, tenants};
use munshi_types::{ActId, IdGenerator, TenantId, TenantStatus, Timestamp};

use super::Act;
use crate::budget::BudgetGovernor;

use crate::error::Result;
use crate::policy::{self, Policy};

/// How long past all its tries an act may run before it counts as one whose process died.
const GRACE: Duration = Duration::from_secs(30);
/// More policies are not kept at once; a tenant's comes back with its next act.
const KEPT: usize = 1_000;

/// Who is told that a person has said no to an act, in the transaction of the answer.
pub trait RefusalObserver: Send + Sync {
    fn notify(&self, tx: &mut Tx<'_>, act: &Act, now: Timestamp) -> munshi_store::Result<()>;
}

pub struct ActServices {
    pub ids: IdGenerator,
    pub governor: BudgetGovernor,
    hears: Option<Arc<dyn RefusalObserver>>,
    policies: Mutex<HashMap<TenantId, (i64, Arc<Policy>)>>,
}

impl ActServices {
    pub fn new(ids: IdGenerator, governor: BudgetGovernor) -> Self {
        Self { ids, governor, hears: None, policies: Mutex::default() }
    }

    /// With somebody who is told of every no.
    #[must_use]
    pub fn on_refusal(self, hears: Arc<dyn RefusalObserver>) -> Self {
        Self { hears: Some(hears), ..self }
    }

    pub(crate) fn notify_refused(&self, tx: &mut Tx<'_>, act: ActId, now: Timestamp) -> Result<()> {
        let (Some(hears), Some(act)) = (&self.hears, super::find(tx, act)?) else { return Ok(()) };
        Ok(hears.notify(tx, &act, now)?)
    }

    /// The policy in force in this transaction. Only its number is asked for each time.
    pub fn load_policy(&self, tx: &mut Tx<'_>) -> Result<Arc<Policy>> {
        let (tenant, version) = (tx.tenant(), policy::load_version(tx)?);
        if let Some((known, policy)) = self.lock_policies().get(&tenant)
            && *known == version
        {
            return Ok(policy.clone());
        }
        let (version, policy) = policy::load_current(tx)?;
        let policy = Arc::new(policy);
        let mut kept = self.lock_policies();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(tenant, (version, policy.clone()));
        Ok(policy)
    }

    /// How the tenant stands in this transaction. One that is not there is not active.
    pub(crate) fn load_tenant_status(&self, tx: &mut Tx<'_>) -> Result<TenantStatus> {
        Ok(tenants::find_status(tx)?.unwrap_or(TenantStatus::Archived))
    }

    fn lock_policies(&self) -> std::sync::MutexGuard<'_, HashMap<TenantId, (i64, Arc<Policy>)>> {
        self.policies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long an act may run: three tries, a look-up between each, and reading back.
    pub(super) fn lease(timeout: Duration) -> Duration {
        timeout * 7 + GRACE
    }
}
