//! What a dead process left behind: acts without a result, questions without an answer.

use std::sync::Arc;

use munshi_safety::acts::{self, ACTS, Lapsed, Recovery};
use munshi_safety::approvals;

use crate::attempts;
use crate::body::Body;
use crate::dispatcher::Dispatcher;
use crate::error::Result;
use crate::journal::Journal;

/// So many are looked at in one go.
const MOST: u32 = 100;

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Called again, or found to have happened.
    pub ended: u32,
    /// Marked unknown; a person is asked.
    pub unknown: u32,
    /// Questions whose time was over.
    pub expired: u32,
}

impl Dispatcher {
    /// Takes up what lapsed, of all tenants. Safe to run on every node at once: each act is taken by one.
    pub async fn sweep(&self, journal: Arc<dyn Journal>) -> Result<Swept> {
        let mut swept = Swept::default();
        let now = self.clock.now();
        let lapsed = self.db.platform(ACTS).read(move |tx| acts::lapsed(tx, MOST, now)).await?;
        let mut failed = None;
        for act in lapsed {
            // One act that can't be taken up keeps no other waiting.
            match self.take_over(act, journal.clone()).await {
                Ok(Some(true)) => swept.ended += 1,
                Ok(Some(false)) => swept.unknown += 1,
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let due = self.db.platform(ACTS).read(move |tx| approvals::due(tx, MOST, now)).await?;
        for question in due {
            let office = self.office.clone();
            let expire = move |tx: &mut munshi_store::Tx<'_>| approvals::expire(tx, &office, question, now);
            if self.db.write(question.tenant, expire).await? {
                tracing::warn!(approval = %question.approval, act = %question.act, "nobody answered in time; the act is dropped");
                swept.expired += 1;
            }
        }
        failed.map_or(Ok(swept), Err)
    }

    /// Some(true) when it came to an end, Some(false) when nobody can tell, none when it was not ours.
    async fn take_over(&self, lapsed: Lapsed, journal: Arc<dyn Journal>) -> Result<Option<bool>> {
        let (office, clock) = (self.office.clone(), self.clock.clone());
        let registry = self.registry.clone();
        let recovery = self.db.write(lapsed.tenant, move |tx| {
            // A tool that has another effect by now is another tool.
            let tool = acts::find(tx, lapsed.act)?.and_then(|act| {
                registry.get(&act.tool).filter(|tool| tool.known.spec.effect == act.effect).cloned()
            });
            let known = tool.as_ref().map(|tool| tool.known.as_ref());
            let recovery = acts::recover(tx, &office, lapsed.act, known, clock.now())?;
            Ok::<_, munshi_safety::Error>((recovery, tool))
        });
        match recovery.await? {
            (Recovery::Gone, _) => Ok(None),
            (Recovery::Asked, _) => Ok(Some(false)),
            (Recovery::Again(permit), Some(tool)) => {
                self.perform_far(permit, tool, journal).await?;
                Ok(Some(true))
            }
            (Recovery::LookUp(permit), Some(tool)) => {
                let Body::Far(far) = &tool.body else { return Ok(None) };
                let called = attempts::look_then_call(far.as_ref(), &permit, tool.known.spec.timeout).await;
                self.end(permit, Some(tool), called, journal).await?;
                Ok(Some(true))
            }
            (Recovery::Again(permit) | Recovery::LookUp(permit), None) => {
                let gone = attempts::gone();
                self.end(permit, None, gone, journal).await?;
                Ok(Some(false))
            }
        }
    }
}
