//! The job that lets a pack handle what came from outside.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use munshi_jobs::{JobFailure, JobKind};
use munshi_types::DeliveryId;
use serde::{Deserialize, Serialize};

use crate::delivery::{self, DeliveryOrigin, DeliveryRow};
use crate::job::{PackJob, PackJobCall};
use crate::registry::PackRegistry;
use crate::tenant_packs::{has_pack, missing_pack};
use crate::webhook::PackDeliveryCall;

pub(crate) const DELIVERY_KIND: &str = "pack.delivery";

/// Every delivery of every pack is a job of this kind.
pub(crate) struct DeliveryJob {
    pub(crate) packs: Arc<PackRegistry>,
}

/// Which delivery is handled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PackDeliveryPayload {
    pub(crate) delivery: DeliveryId,
}

impl PackJob for DeliveryJob {
    const KIND: JobKind = JobKind::new(DELIVERY_KIND).limit(8);
    type Payload = PackDeliveryPayload;

    async fn run(&self, call: PackJobCall<PackDeliveryPayload>) -> Result<(), JobFailure> {
        let id = call.payload.delivery;
        let Some(row) = call.read(move |tx| Ok(delivery::find(tx, id)?)).await? else {
            return Err(JobFailure::Lasting(format!("there is no delivery {id}")));
        };
        if row.is_handled {
            return Ok(());
        }
        if !has_pack(call.db(), call.tenant.id, &row.pack).await? {
            return Err(missing_pack(&row.pack));
        }
        let of = format!("{}.{} {}", row.pack, row.name, row.delivery.sender_id);
        if !row.has_body {
            return Err(JobFailure::Lasting(format!("{of}: its body was removed, unhandled for too long")));
        }
        let call = call.for_pack(&row.pack).for_delivery(row.delivery.clone());
        // Whatever the pack does with it comes from outside.
        call.services.mark_foreign();
        let handled = match self.find_handler(&row, &call) {
            Some(handling) => handling.await,
            None => Err(JobFailure::Lasting("no pack handles it any more".to_owned())),
        };
        handled.map_err(|failure| name_failure(&of, failure))?;
        // A pack that had nothing to write leaves the end to us.
        if call.is_finished() { Ok(()) } else { call.finish(|_| Ok(())).await }
    }
}

impl DeliveryJob {
    fn find_handler<'c>(
        &'c self,
        row: &DeliveryRow,
        call: &'c PackDeliveryCall,
    ) -> Option<BoxFuture<'c, Result<(), JobFailure>>> {
        if row.origin == DeliveryOrigin::Poll.as_str() {
            return self.packs.find_poll(&row.pack, &row.name).map(|of| of.what.handle(call));
        }
        self.packs.find_webhook(&row.pack, &row.name).map(|of| of.what.handle(call))
    }
}

/// Says whose delivery it was: the list of dead jobs shows it.
fn name_failure(of: &str, failure: JobFailure) -> JobFailure {
    match failure {
        JobFailure::Passing(why) => JobFailure::Passing(format!("{of}: {why}")),
        JobFailure::Outage(why) => JobFailure::Outage(format!("{of}: {why}")),
        JobFailure::Later { why, after } => JobFailure::Later { why: format!("{of}: {why}"), after },
        JobFailure::Unconfigured(why) => JobFailure::Unconfigured(format!("{of}: {why}")),
        JobFailure::Lasting(why) => JobFailure::Lasting(format!("{of}: {why}")),
    }
}
