//! Whether the person still agrees, asked right before a tool is called: a consent may be withdrawn at any moment.

use std::sync::Arc;

use munshi_safety::acts::{ActOutcome, ActServices, Permit};
use munshi_safety::consents;
use munshi_store::{Db, Tx};
use munshi_types::{Clock, ConsentId, TenantId, Timestamp};

use crate::attempts::{ToolAttemptResult, unknown_result};
use crate::error::Result;
use crate::handler::EffectCertainty;

/// The code of what was not done because the person no longer agrees.
const NO_CONSENT: &str = "no_consent";

/// For one act; where it rests on no consent, it costs nothing.
pub(crate) struct ConsentCheck {
    db: Db,
    act_services: Arc<ActServices>,
    clock: Arc<dyn Clock>,
    tenant: TenantId,
    consent: Option<ConsentId>,
}

impl ConsentCheck {
    pub(crate) fn new(
        db: &Db,
        (act_services, clock): (&Arc<ActServices>, &Arc<dyn Clock>),
        permit: &Permit,
    ) -> Self {
        Self {
            db: db.clone(),
            act_services: act_services.clone(),
            clock: clock.clone(),
            tenant: permit.tenant(),
            consent: permit.consent(),
        }
    }

    /// Where it can't be looked at, it does not hold.
    pub(crate) async fn holds(&self) -> bool {
        let Some(consent) = self.consent else { return true };
        let (act_services, now) = (self.act_services.clone(), self.clock.now());
        let read = move |tx: &mut Tx<'_>| is_valid(tx, &act_services, consent, now);
        self.db.read(self.tenant, read).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "consent can't be looked up; the tool is not called");
            false
        })
    }
}

/// Whether what an act rests on holds, in the transaction of its effect.
pub(crate) fn holds_in(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    permit: &Permit,
    now: Timestamp,
) -> Result<bool> {
    permit.consent().map_or(Ok(true), |consent| is_valid(tx, act_services, consent, now))
}

fn is_valid(tx: &mut Tx<'_>, act_services: &ActServices, consent: ConsentId, now: Timestamp) -> Result<bool> {
    let policy = act_services.load_policy(tx)?;
    Ok(consents::is_valid(tx, &policy.consent, consent, now)?)
}

/// What came of a call that is not made, or of a look whose result nobody may use any more. `earlier` says whether a try before it may
/// have done it.
pub(crate) fn no_consent_result(permit: &Permit, earlier: EffectCertainty) -> ToolAttemptResult {
    if earlier == EffectCertainty::Maybe && permit.effect().writes() {
        return unknown_result("the person no longer agrees, and an earlier try may have done it");
    }
    ToolAttemptResult { outcome: no_consent_outcome(), done: None, mismatch: None }
}

pub(crate) fn no_consent_outcome() -> ActOutcome {
    ActOutcome::Failed {
        code: NO_CONSENT.to_owned(),
        retryable: false,
        detail: "what the person had agreed to holds no longer".to_owned(),
        next: None,
    }
}
