//! The least that commits in groups: a thread, a channel of rows, one commit for those that wait together.
//!
//! It takes rows, not units: no closure, no savepoint, no deadline, nobody may fail or walk away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, Sender, unbounded};
use munshi_types::{Id, TenantId};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

use crate::contest::Contestant;
use crate::fresh_database::{BODY, Fresh, INSERT, sequential_id};
use crate::load::{Load, Tally};
use crate::sqlite;

const GROUP_ROWS: usize = 256;

struct Waiting {
    number: u64,
    body: String,
    reply: oneshot::Sender<()>,
}

pub(crate) struct BareGroup {
    queue: Option<Sender<Waiting>>,
    thread: Option<JoinHandle<Result<()>>>,
    next: Arc<AtomicU64>,
    /// Goes last: the thread has the file open.
    _fresh: Fresh,
}

impl BareGroup {
    pub(crate) fn new(mut fresh: Fresh) -> Result<Self> {
        drop(fresh.take_db());
        let (connection, tenant) = (sqlite::open(&fresh.address)?, fresh.tenant);
        let (queue, waiting) = unbounded();
        let thread = std::thread::spawn(move || write(&connection, tenant, &waiting));
        Ok(Self { queue: Some(queue), thread: Some(thread), next: Arc::default(), _fresh: fresh })
    }
}

impl Contestant for BareGroup {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let queue = self.queue.clone().ok_or_else(|| anyhow!("the queue is closed"))?;
        let next = self.next.clone();
        load.run_tasks(move || {
            let (reply, answer) = oneshot::channel();
            let waiting =
                Waiting { number: next.fetch_add(1, Ordering::Relaxed), body: BODY.to_owned(), reply };
            let sent = queue.send(waiting);
            async move {
                sent.map_err(|_| anyhow!("the writer is gone"))?;
                Ok(answer.await?)
            }
        })
    }
}

impl Drop for BareGroup {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(Ok(Err(error))) = self.thread.take().map(JoinHandle::join) {
            println!("the bare writer failed: {error}");
        }
    }
}

fn write(connection: &Connection, tenant: TenantId, queue: &Receiver<Waiting>) -> Result<()> {
    let mut group = Vec::with_capacity(GROUP_ROWS);
    while let Ok(first) = queue.recv() {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut next = Some(first);
        while let Some(row) = next.take() {
            let (tenant, id) = (tenant.as_uuid(), sequential_id(row.number));
            connection.prepare_cached(INSERT)?.execute(params![
                tenant.as_bytes(),
                id.as_bytes(),
                row.body
            ])?;
            group.push(row);
            if group.len() < GROUP_ROWS {
                next = queue.try_recv().ok();
            }
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        for row in group.drain(..) {
            // A caller that has gone away needs no answer.
            let _gone = row.reply.send(());
        }
    }
    Ok(())
}
