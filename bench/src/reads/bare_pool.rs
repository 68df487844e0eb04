//! Bare connections behind a channel, as many as the store has, answering the same callers: what the way to another
//! thread and back costs anybody.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, Sender, unbounded};
use munshi_store::StoreOptions;
use munshi_types::TenantId;
use tokio::sync::oneshot;

use super::bare_threads::read;
use super::scatter;
use crate::contest::Contestant;
use crate::fresh_database::Fresh;
use crate::load::{Load, Tally};
use crate::sqlite;

struct Wanted {
    number: u64,
    reply: oneshot::Sender<Result<String>>,
}

/// Its threads end when it does: they wait on the other end of the queue.
pub(crate) struct BarePool {
    queue: Sender<Wanted>,
    next: Arc<AtomicU64>,
}

impl BarePool {
    pub(crate) fn new(fresh: &Fresh) -> Result<Self> {
        let (queue, wanted) = unbounded();
        for _ in 0..StoreOptions::default().readers {
            let (connection, tenant, wanted) = (sqlite::open(&fresh.address)?, fresh.tenant, wanted.clone());
            std::thread::spawn(move || serve(&connection, tenant, &wanted));
        }
        Ok(Self { queue, next: Arc::default() })
    }
}

impl Contestant for BarePool {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (queue, next) = (self.queue.clone(), self.next.clone());
        load.run_tasks(move || {
            let (reply, answer) = oneshot::channel();
            let sent = queue.send(Wanted { number: scatter(next.fetch_add(1, Ordering::Relaxed)), reply });
            async move {
                sent.map_err(|_| anyhow!("the readers are gone"))?;
                answer.await??;
                Ok(())
            }
        })
    }
}

fn serve(connection: &rusqlite::Connection, tenant: TenantId, queue: &Receiver<Wanted>) {
    while let Ok(wanted) = queue.recv() {
        // A caller that has gone away needs no answer.
        let _gone = wanted.reply.send(read(connection, tenant, wanted.number));
    }
}
