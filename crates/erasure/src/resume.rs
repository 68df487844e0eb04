//! Asking again for what was begun and has nobody who goes on with it.

use munshi_jobs::EnqueueOutcome;
use munshi_store::Tx;
use munshi_types::{ErasureId, TenantId};

use crate::ERASURES;
use crate::error::{Error, Result};
use crate::job::build_job;
use crate::rows::{self, OpenErasure};
use crate::service::ErasureService;

const PAGE: u32 = 500;

/// As many as a day takes, most of them an hour apart: what keeps failing leaves one dead letter a day and not one an hour.
const ATTEMPTS: u32 = 30;

impl ErasureService {
    /// Makes a job for each erasure that is open and has none: the last try of its own failed, and without a restart nobody would go on
    /// with it. Says for how many.
    pub async fn resume_open(&self) -> Result<usize> {
        let (mut resumed, mut after) = (0, None);
        loop {
            let open = self.db.platform(ERASURES).read(move |tx| rows::list_open(tx, after, PAGE)).await?;
            let Some(last) = open.last() else { return Ok(resumed) };
            after = Some(*last);
            for OpenErasure { tenant, id, .. } in open {
                match self.enqueue_again(tenant, id).await {
                    Ok(true) => {
                        tracing::warn!(erasure = %id, "an erasure was given up; it is tried again");
                        resumed += 1;
                    }
                    Ok(false) => {}
                    // It keeps no other.
                    Err(Error::Store(error)) if error.is_unreadable() => {
                        tracing::error!(erasure = %id, %error, "an erasure can't be read: somebody has to look at it");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// False where there is a job, or it has ended meanwhile.
    pub(crate) async fn enqueue_again(&self, tenant: TenantId, id: ErasureId) -> Result<bool> {
        let queue = self.queue.clone();
        let ask = move |tx: &mut Tx<'_>| {
            if rows::find(tx, id)?.is_none_or(|erasure| erasure.ended_at.is_some()) {
                return Ok(false);
            }
            let asked = queue.enqueue(tx, &build_job(id)?.attempts(ATTEMPTS))?;
            Ok::<_, Error>(matches!(asked, EnqueueOutcome::New(_)))
        };
        self.db.write(tenant, ask).await
    }
}
