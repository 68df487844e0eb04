//! Which process works on which runs, and which of those processes are surely dead.
//!
//! On Postgres several processes take up runs. One that was killed leaves its runs under leases; waiting for these to
//! pass is safe and slow. Where it can be proved that a holder is dead, its runs are taken up within a second or two. A
//! proof is that its process is gone from this very machine, or that its node has been started again, told by the lock
//! on the node's data folder. A lost connection proves nothing: a holder that is cut off may still be at work, and
//! keeps its lease.

use std::path::Path;

use munshi_store::{PlatformTx, Result as Stored, Row, across_tenants, params};
use munshi_types::{HolderId, Timestamp};

use crate::RUNS;
use crate::engine::Engine;
use crate::error::Result;
use crate::recover::MOST;
use crate::runs::{self, Held};

/// What tells one process from all others, now and later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The data folder whose lock this process holds. Who has the lock now proves that earlier holders are dead.
    pub node: Option<String>,
    /// The machine since it was started, and the numbering of its processes: containers have their own.
    pub machine: String,
    pub pid: u32,
    /// When the process began, by the machine's own count: a number is given out again.
    pub started: i64,
}

impl ProcessIdentity {
    /// This process; none where the system does not tell.
    pub fn current(node: Option<String>) -> Option<Self> {
        let proc = Path::new("/proc");
        let boot = std::fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
        let numbering = std::fs::read_link(proc.join("self/ns/pid")).ok()?;
        let pid = std::process::id();
        let machine = format!("{} {}", boot.trim(), numbering.display());
        Some(Self { node, machine, pid, started: started(pid)? })
    }

    /// Whether another process is surely dead.
    pub fn proves_dead(&self, other: &Self) -> bool {
        if other.machine == self.machine {
            return started(other.pid) != Some(other.started);
        }
        self.node.is_some() && self.node == other.node
    }
}

/// When a process of this machine began; none where there is none of that number.
fn started(pid: u32) -> Option<i64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; behind it stand the state, and 18 numbers on the start.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let is_gone = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !is_gone)
}

impl Engine {
    /// Lets others tell whether this process lives.
    pub(crate) async fn register(&self) -> Result<()> {
        let inner = &self.inner;
        let (Some(process), Some(holder)) = (inner.settings.process.clone(), inner.desk.holder) else {
            return Ok(());
        };
        let now = inner.clock.now();
        inner.db.platform(RUNS).write(move |tx| add(tx, holder, &process, now)).await?;
        Ok(())
    }

    /// Takes up what processes left that are surely dead.
    pub(crate) async fn take_from_dead(&self) -> Result<usize> {
        let inner = &self.inner;
        let (Some(process), Some(holder)) = (&inner.settings.process, inner.desk.holder) else {
            return Ok(0);
        };
        let others = inner.db.platform(RUNS).read(move |tx| others(tx, holder)).await?;
        let mut taken = 0;
        for (dead, _) in others.into_iter().filter(|(_, other)| process.proves_dead(other)) {
            let terms = inner.desk.terms(inner.clock.now());
            let unit = move |tx: &mut PlatformTx<'_>| runs::claim_from(tx, dead, terms, MOST);
            let held: Vec<Held> = inner.db.platform(RUNS).write(unit).await?;
            taken += held.len();
            held.into_iter().for_each(|held| self.start(held, None));
        }
        Ok(taken)
    }
}

/// Stores a process, and forgets those that hold nothing any more.
fn add(tx: &mut PlatformTx<'_>, id: HolderId, process: &ProcessIdentity, now: Timestamp) -> Stored<()> {
    tx.execute(
        across_tenants(
            "DELETE FROM run_holders WHERE NOT EXISTS (
               SELECT 1 FROM runs WHERE runs.lease_until IS NOT NULL AND runs.holder = run_holders.id)
             AND since < $1",
        ),
        params![now.minus(std::time::Duration::from_secs(7 * 24 * 3600))],
    )?;
    tx.execute(
        across_tenants(
            "INSERT INTO run_holders (id, node, machine, pid, started, since) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (id) DO NOTHING",
        ),
        params![id, process.node, process.machine, i64::from(process.pid), process.started, now],
    )?;
    Ok(())
}

/// The other processes that hold runs now.
fn others(tx: &mut PlatformTx<'_>, me: HolderId) -> Stored<Vec<(HolderId, ProcessIdentity)>> {
    tx.all(
        across_tenants(
            "SELECT id, node, machine, pid, started FROM run_holders WHERE id <> $1 AND id IN (
               SELECT holder FROM runs WHERE lease_until IS NOT NULL AND holder IS NOT NULL)",
        ),
        params![me],
        read,
    )
}

fn read(row: &Row<'_>) -> Stored<(HolderId, ProcessIdentity)> {
    let pid: i64 = row.get(3)?;
    let process = ProcessIdentity {
        node: row.get(1)?,
        machine: row.get(2)?,
        pid: u32::try_from(pid).unwrap_or(u32::MAX),
        started: row.get(4)?,
    };
    Ok((row.get(0)?, process))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> ProcessIdentity {
        ProcessIdentity::current(Some("data".to_owned())).unwrap()
    }

    #[test]
    fn only_a_proof_counts() {
        let me = here();
        assert!(!me.proves_dead(&me), "it lives");
        let earlier = ProcessIdentity { started: me.started - 1, ..me.clone() };
        assert!(me.proves_dead(&earlier), "its number is another's by now");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let theirs = ProcessIdentity {
            pid: child.id(),
            started: started(child.id()).unwrap(),
            node: None,
            ..me.clone()
        };
        assert!(!me.proves_dead(&theirs));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(me.proves_dead(&theirs));
        let elsewhere =
            ProcessIdentity { machine: "another".to_owned(), node: Some("other".to_owned()), ..me.clone() };
        assert!(!me.proves_dead(&elsewhere), "nobody can look there");
        let restarted = ProcessIdentity { machine: "another".to_owned(), ..me.clone() };
        assert!(me.proves_dead(&restarted), "its node is this one now");
        let nameless = ProcessIdentity { node: None, ..me };
        assert!(!nameless.proves_dead(&ProcessIdentity { node: None, ..elsewhere }));
    }
}
