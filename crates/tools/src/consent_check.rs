//! Whether the person still agrees, asked right before a tool is called: a consent may be withdrawn at any moment.

use std::sync::Arc;

use munshi_safety::acts::{ActOutcome, Permit};
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
    clock: Arc<dyn Clock>,
    tenant: TenantId,
    consent: Option<ConsentId>,
}

impl ConsentCheck {
    pub(crate) fn new(db: &Db, clock: &Arc<dyn Clock>, permit: &Permit) -> Self {
        Self { db: db.clone(), clock: clock.clone(), tenant: permit.tenant(), consent: permit.consent() }
    }

    /// Where it can't be looked at, it does not hold.
    pub(crate) async fn holds(&self) -> bool {
        let Some(consent) = self.consent else { return true };
        let now = self.clock.now();
        let read = move |tx: &mut Tx<'_>| -> Result<bool> { Ok(consents::is_valid(tx, consent, now)?) };
        self.db.read(self.tenant, read).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "consent can't be looked up; the tool is not called");
            false
        })
    }
}

/// Whether what an act rests on holds, in the transaction of its effect.
pub(crate) fn holds_in(tx: &mut Tx<'_>, permit: &Permit, now: Timestamp) -> Result<bool> {
    permit.consent().map_or(Ok(true), |consent| Ok(consents::is_valid(tx, consent, now)?))
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
        detail: "the person has withdrawn what they had agreed to".to_owned(),
        next: None,
    }
}
