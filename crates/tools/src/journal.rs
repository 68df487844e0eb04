//! What a turn writes in the transactions of its acts, so that its own record never disagrees with them.

use munshi_safety::acts::Begun;
use munshi_store::{Result, Tx};

use crate::answer::Answer;

pub trait Journal: Send + Sync + 'static {
    /// After it was decided, before anything is done.
    fn begun(&self, tx: &mut Tx<'_>, begun: &Begun) -> Result<()>;

    /// With what came of it.
    fn ended(&self, tx: &mut Tx<'_>, answer: &Answer) -> Result<()>;
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
