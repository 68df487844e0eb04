//! What a turn writes in the transactions of its acts, so that its own record never disagrees with them.

use munshi_safety::acts::ActDecision;
use munshi_safety::approvals::{Approval, ApprovalExpiry};
use munshi_store::{Result, Tx};
use munshi_types::PersonId;

use crate::answer::ToolAnswer;

pub trait ActJournal: Send + Sync + 'static {
    /// After it was decided, before anything is done.
    fn record_decision(&self, tx: &mut Tx<'_>, begun: &ActDecision) -> Result<()>;

    /// With what came of it.
    fn record_answer(&self, tx: &mut Tx<'_>, answer: &ToolAnswer) -> Result<()>;

    /// Before a question is held whose time is over. Whoever tells conversations of it holds these first, as whoever answers does, those
    /// of the people above included, to whom it may go.
    fn prepare_expiry(&self, _tx: &mut Tx<'_>, _approval: &Approval, _above: &[PersonId]) -> Result<()> {
        Ok(())
    }

    /// Nobody answered a question in time, or made use of an answer: it goes to somebody above, or its act is dropped.
    /// In the transaction that notes it, so that those whom it concerns are told if and only if it is so. Whoever keeps
    /// no conversation has nobody to tell; it is logged and stands in the audit all the same.
    fn record_expiry(&self, _tx: &mut Tx<'_>, _expiry: &ApprovalExpiry) -> Result<()> {
        Ok(())
    }
}

/// For calls outside a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoActJournal;

impl ActJournal for NoActJournal {
    fn record_decision(&self, _tx: &mut Tx<'_>, _begun: &ActDecision) -> Result<()> {
        Ok(())
    }

    fn record_answer(&self, _tx: &mut Tx<'_>, _answer: &ToolAnswer) -> Result<()> {
        Ok(())
    }
}
