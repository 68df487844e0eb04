//! The leave to call a tool, once.

use std::time::{Duration, Instant};

use munshi_types::{ActId, ConsentId, Effect, Id, Money, ReservationId, TenantId, Timestamp, ToolName};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::{Builder, Uuid};

use super::services::ActServices;

/// Says that this act was decided and its intent written down. Only this crate makes one; a tool can't be called
/// without; it can't be copied, and ending the act uses it up.
///
/// ```compile_fail
/// let permit = munshi_safety::acts::Permit { ..todo!() };
/// ```
/// ```compile_fail
/// fn twice(permit: munshi_safety::acts::Permit) -> (munshi_safety::acts::Permit, munshi_safety::acts::Permit) {
///     (permit.clone(), permit)
/// }
/// ```
#[derive(Debug)]
#[must_use = "a started act must be finished"]
pub struct Permit {
    pub(super) act: ActId,
    pub(super) tenant: TenantId,
    pub(super) tool: ToolName,
    pub(super) effect: Effect,
    pub(super) arguments: Value,
    pub(super) mode: PermitMode,
    pub(super) attempt: i64,
    /// A try before this one may have done it.
    pub(super) is_repeat: bool,
    /// What the tool says is not kept.
    pub(super) is_transient: bool,
    /// What the person agreed to, which it rests on.
    pub(super) consent: Option<ConsentId>,
    pub(super) began_at: Timestamp,
    pub(super) cost: Option<Money>,
    pub(super) reservation: Option<ReservationId>,
    pub(super) actor: String,
    pub(super) term: PermitTerm,
}

/// How long an act is this process's, by a clock that goes on while the process is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct PermitTerm {
    issued: Instant,
    lease: Duration,
}

impl PermitTerm {
    pub(super) fn begin(timeout: Duration) -> Self {
        Self { issued: Instant::now(), lease: ActServices::lease(timeout) }
    }

    fn is_too_late_for(&self, takes: Duration) -> bool {
        self.issued.elapsed() + takes > self.lease
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermitMode {
    Apply,
    /// Say what would happen; change nothing.
    Rehearse,
}

impl Permit {
    /// Whether something that takes so long might end after another process has taken the act over: whoever was stopped
    /// between the permit and the call must not make it any more.
    pub fn is_too_late_for(&self, takes: Duration) -> bool {
        self.term.is_too_late_for(takes)
    }

    pub fn act(&self) -> ActId {
        self.act
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// As they may leave.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    pub fn mode(&self) -> PermitMode {
        self.mode
    }

    /// 1 the first time.
    pub fn attempt(&self) -> i64 {
        self.attempt
    }

    /// Whether a try before this one may have done it.
    pub fn is_repeat(&self) -> bool {
        self.is_repeat
    }

    /// The consent that it rests on, which may be withdrawn at any moment.
    pub fn consent(&self) -> Option<ConsentId> {
        self.consent
    }

    /// Makes repeating harmless where the other side keeps such keys: the same for every attempt at this act. A rehearsal
    /// has another: whoever answers a known key with what was answered before would answer the act with its rehearsal.
    pub fn idempotency_key(&self) -> String {
        match self.mode {
            PermitMode::Apply => self.act.to_string(),
            PermitMode::Rehearse => derive_rehearsal_id(self.act).to_string(),
        }
    }
}

/// Of the same form as an act's own, since others may take nothing else for a key.
fn derive_rehearsal_id(act: ActId) -> Uuid {
    let hash = Sha256::new().chain_update("rehearsal").chain_update(act.as_uuid().as_bytes()).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash).for_each(|(byte, of)| *byte = of);
    Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_stopped_past_the_lease_calls_no_more() {
        let timeout = Duration::from_secs(10);
        let fresh = PermitTerm::begin(timeout);
        assert!(!fresh.is_too_late_for(timeout), "a call that has just been allowed");
        let stopped = PermitTerm { issued: Instant::now() - fresh.lease, ..fresh };
        assert!(stopped.is_too_late_for(Duration::ZERO), "it may be somebody else's");
        let nearly = PermitTerm { issued: Instant::now() - (fresh.lease - timeout / 2), ..fresh };
        assert!(nearly.is_too_late_for(timeout), "it could end after the lease");
    }
}
