//! What a provider sends our address, looked at and stored before it is answered.

use std::fmt;
use std::sync::Arc;

use munshi_jobs::JobQueue;
use munshi_store::Tx;
use munshi_types::{Clock, IdGenerator, TenantId};

use super::event::ChannelEvent;
use super::request::{ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelVerdict};
use super::rows::{self, StoredArrivals};
use crate::accounts::{ChannelAccountName, ReceiveWay};
use crate::error::Result;
use crate::senders::ChannelSenders;

/// No provider tells more in one request; what is more is somebody's who tries what we bear.
const MOST_EVENTS: usize = 1000;

/// Takes what providers send.
#[derive(Clone)]
pub struct ChannelIntake {
    pub accounts: ChannelSenders,
    pub queue: JobQueue,
    pub ids: IdGenerator,
    pub clock: Arc<dyn Clock>,
}

/// What a request came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntakeOutcome {
    Stored(StoredArrivals),
    Answered(ChannelAnswer),
    /// It is from whom it should be, and there is nothing in it for us.
    Ignored,
    /// There is no such account, or it did not come from whom it should.
    Unverified(String),
    /// Nobody can say now.
    Failed(String),
}

impl ChannelIntake {
    /// What a request is, once it is on disk.
    pub async fn take(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
        request: &ChannelRequest,
    ) -> Result<IntakeOutcome> {
        Ok(self.take_answered(tenant, name, request).await?.0)
    }

    /// The same, with what its provider is answered where it was taken.
    pub async fn take_answered(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
        request: &ChannelRequest,
    ) -> Result<(IntakeOutcome, ChannelAnswer)> {
        let refuse = |why: &str| Ok((IntakeOutcome::Unverified(why.to_owned()), ChannelAnswer::plain("")));
        let Some(link) = self.accounts.find_link(tenant, name).await? else {
            return refuse("there is no such channel");
        };
        let account = self.accounts.find_account(tenant, name).await?;
        if account.is_some_and(|account| account.receive == Some(ReceiveWay::None)) {
            return refuse("this channel hears nothing");
        }
        let outcome = match link.verify(request).await {
            Ok(ChannelVerdict::Answer(answer)) => IntakeOutcome::Answered(answer),
            Ok(ChannelVerdict::Take(events)) if events.is_empty() => IntakeOutcome::Ignored,
            Ok(ChannelVerdict::Take(events)) if events.len() > MOST_EVENTS => {
                IntakeOutcome::Failed(format!("more than {MOST_EVENTS} events in one request"))
            }
            Ok(ChannelVerdict::Take(events)) => {
                IntakeOutcome::Stored(self.store(tenant, name, link.channel(), events).await?)
            }
            Err(ChannelRefusal::Unverified(why)) => IntakeOutcome::Unverified(why),
            Err(ChannelRefusal::Unreadable(why)) => {
                tracing::warn!(%tenant, channel = %name, why, "the provider says what can't be read");
                IntakeOutcome::Ignored
            }
            Err(ChannelRefusal::Failed(why)) => IntakeOutcome::Failed(why),
        };
        Ok((outcome, link.acknowledge()))
    }

    /// Stores what was told, or what was heard by asking.
    pub(crate) async fn store(
        &self,
        tenant: TenantId,
        name: &ChannelAccountName,
        channel: munshi_types::tier::Channel,
        events: Vec<ChannelEvent>,
    ) -> Result<StoredArrivals> {
        let (queue, ids, now, name) = (self.queue.clone(), self.ids.clone(), self.clock.now(), name.clone());
        let unit = move |tx: &mut Tx<'_>| {
            rows::store(tx, (&queue, &ids), (&name, channel), &events, now).map_err(crate::error::Error::from)
        };
        self.accounts.db().write(tenant, unit).await
    }
}

impl fmt::Debug for ChannelIntake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelIntake").finish_non_exhaustive()
    }
}
