//! What a turn writes in the transactions of its acts, so that its own record never disagrees with them.

use munshi_safety::acts::Begun;
use munshi_safety::approvals::Expiry;
use munshi_store::{Result, Tx};

use crate::answer::Answer;

pub trait Journal: Send + Sync + 'static {
    /// After it was decided, before anything is done.
    fn begun(&self, tx: &mut Tx<'_>, begun: &Begun) -> Result<()>;

    /// With what came of it.
    fn ended(&self, tx: &mut Tx<'_>, answer: &Answer) -> Result<()>;

    /// Nobody answered a question in time, or made use of an answer: it goes to somebody above, or its act is dropped.
    /// In the transaction that notes it, so that those whom it concerns are told if and only if it is so. Whoever keeps
    /// no conversation has nobody to tell; it is logged and stands in the audit all the same.
    fn expired(&self, _tx: &mut Tx<'_>, _expiry: &Expiry) -> Result<()> {
        Ok(())
    }
}

/// For calls outside a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn begun(&self, _tx: &mut Tx<'_>, _begun: &Begun) -> Result<()> {
        Ok(())
    }

    fn ended(&self, _tx: &mut Tx<'_>, _answer: &Answer) -> Result<()> {
        Ok(())
    }
}
