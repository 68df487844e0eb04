//! The job that asks for what is new, page by page, and stores each with the cursor behind it.

use std::sync::Arc;

use munshi_jobs::{JobFailure, JobKind};
use munshi_store::Tx;
use serde::{Deserialize, Serialize};

use crate::delivery::{DeliveryOrigin, DeliveryOutcome, DeliveryQueue, LARGEST_DELIVERY, NewDelivery};
use crate::job::{PackJob, PackJobCall};
use crate::poll::{self, PackPoll, PollCursor, PolledPage};
use crate::registry::{FromPack, PackRegistry};
use crate::tenant_packs::has_pack;

/// So many items a page has at most: they are stored in one transaction.
const LARGEST_PAGE: usize = 1000;
/// So many pages one job reads; what is left comes with the next.
const MOST_PAGES: usize = 100;
/// A cursor is where something begins, and no document.
const LONGEST_CURSOR: usize = 10_000;

/// Every poll of every pack is a job of this kind.
pub(crate) struct PollJob {
    pub(crate) packs: Arc<PackRegistry>,
}

/// Which poll asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PollPayload {
    pub(crate) pack: String,
    pub(crate) poll: String,
}

impl PackJob for PollJob {
    const KIND: JobKind = JobKind::new("pack.poll").limit(4);
    type Payload = PollPayload;

    async fn run(&self, call: PackJobCall<PollPayload>) -> Result<(), JobFailure> {
        let PollPayload { pack, poll: name } = &call.payload;
        let Some(of) = self.packs.find_poll(pack, name).cloned() else {
            return Err(JobFailure::Lasting(format!("there is no poll {pack}.{name}")));
        };
        if !has_pack(call.db(), call.tenant.id, of.pack).await? {
            return call.finish(|_| Ok(())).await;
        }
        let (pack, name) = (of.pack, of.what.name());
        let cursor = call.read(move |tx| Ok(poll::find_cursor(tx, pack, name)?)).await?;
        let mut call = call.for_pack(pack).with_payload(PollCursor(cursor));
        for number in 1..=MOST_PAGES {
            let page = match of.what.poll(&call).await {
                Err(JobFailure::Unconfigured(why)) => {
                    tracing::debug!(tenant = %call.tenant.id, pack, poll = name, why, "the tenant has not set up this poll");
                    return call.finish(|_| Ok(())).await;
                }
                polled => polled?,
            };
            check_page(&page, &call.payload).map_err(JobFailure::Lasting)?;
            let (next, is_last) = (page.next.clone(), !page.has_more || number == MOST_PAGES);
            let store = build_unit(&of, &call, page);
            if is_last {
                return call.finish(store).await;
            }
            call.write(store).await?;
            call.payload = PollCursor(next.or(call.payload.0));
        }
        Ok(())
    }
}

/// What is wrong with a page, by the pack's mistake.
fn check_page(page: &PolledPage, before: &PollCursor) -> Result<(), String> {
    if page.items.len() > LARGEST_PAGE {
        return Err(format!("a page has {} items; the most are {LARGEST_PAGE}", page.items.len()));
    }
    if page.items.iter().any(|item| item.sender_id.is_empty()) {
        return Err("an item has no id of its sender".to_owned());
    }
    if page.next.as_ref().is_some_and(|next| next.len() > LONGEST_CURSOR || next.contains('\0')) {
        return Err(format!("a cursor must have at most {LONGEST_CURSOR} bytes, none of them zero"));
    }
    if page.has_more && (page.next.is_none() || page.next == before.0) {
        return Err("there is more, but the cursor has not moved".to_owned());
    }
    Ok(())
}

/// Stores a page and moves the cursor behind it. An item that is too large is noted and left out: the poll must not stop at it for ever.
fn build_unit(
    of: &FromPack<dyn PackPoll>,
    call: &PackJobCall<PollCursor>,
    page: PolledPage,
) -> impl FnOnce(&mut Tx<'_>) -> Result<(), JobFailure> + Send + use<> {
    let (pack, name, source) = (of.pack, of.what.name(), of.what.source());
    let (deliveries, now) =
        (DeliveryQueue { queue: call.queue.inner().clone(), ids: call.ids.clone() }, call.now);
    let tenant = call.tenant.id;
    move |tx| {
        for item in &page.items {
            let new = NewDelivery {
                pack,
                source,
                origin: DeliveryOrigin::Poll,
                name,
                sender_id: Some(&item.sender_id),
                headers: &[],
                body: item.body.get(),
            };
            if new.body.len() <= LARGEST_DELIVERY {
                deliveries.store(tx, &new, now)?;
            } else if let DeliveryOutcome::Stored(id) = deliveries.store_too_large(tx, &new, now)? {
                let (sender_id, bytes) = (&item.sender_id, new.body.len());
                tracing::error!(%tenant, pack, poll = name, sender_id, bytes, delivery = %id,
                    "an item of a poll is too large and was left out; the most are {LARGEST_DELIVERY} bytes");
            }
        }
        if let Some(next) = &page.next {
            poll::move_cursor(tx, (pack, name), next, now)?;
        }
        Ok(())
    }
}
