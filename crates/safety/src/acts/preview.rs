//! What would be decided about a proposal, without deciding it.

use munshi_store::Tx;
use munshi_types::Timestamp;

use super::decision_store::TxDecisionStore;
use super::digest::ActDigest;
use super::services::ActServices;
use crate::error::{Error, Result};
use crate::pipeline::{DecisionTrace, PolicyRequest, Proposal, trace};

/// Walks the stages as `begin` would and tells what each said. Nothing is kept: what was counted and set aside on the
/// way is undone, and no act is written.
pub fn preview(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    proposal: &Proposal,
    now: Timestamp,
) -> Result<DecisionTrace> {
    let policy = act_services.load_policy(tx)?;
    let ask = PolicyRequest { proposal, policy: &policy, tenant: act_services.load_tenant_status(tx)? };
    let digest = ActDigest::compute(proposal).key(tx)?;
    let undone = tx.attempt(|tx| -> Result<(), Undone> {
        let mut decision_store =
            TxDecisionStore { tx, act_services, digest, now, reservation: None, consent: None };
        Err(match trace(&ask, &mut decision_store) {
            Ok(seen) => Undone::Seen(Box::new(seen)),
            Err(error) => Undone::Broke(error),
        })
    });
    match undone {
        Err(Undone::Seen(seen)) => Ok(*seen),
        Err(Undone::Broke(error)) => Err(error),
        Ok(()) => Err(Error::Invalid("the decision was not rolled back".to_owned())),
    }
}

/// Why the attempt ends: always, so that it is undone.
enum Undone {
    Seen(Box<DecisionTrace>),
    Broke(Error),
}

impl From<munshi_store::Error> for Undone {
    fn from(error: munshi_store::Error) -> Self {
        Self::Broke(error.into())
    }
}
