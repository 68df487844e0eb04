//! What tells one process from all others, and what proves that one is dead.

use std::path::Path;

/// "No such process", as Linux numbers it.
const ESRCH: i32 = 3;

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
        let Ok(Some(started)) = find_process_start(pid) else { return None };
        Some(Self { node, machine, pid, started })
    }

    /// What proves that another process is dead; none where it may live.
    pub fn prove_death(&self, other: &Self) -> Option<DeathProof> {
        if other.machine == self.machine {
            let is_gone = find_process_start(other.pid).is_ok_and(|now| now != Some(other.started));
            return is_gone.then_some(DeathProof::ProcessGone);
        }
        (self.node.is_some() && self.node == other.node).then_some(DeathProof::NodeRestarted)
    }
}

/// Why a process is known to be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeathProof {
    /// This machine has no such process any more.
    ProcessGone,
    /// This process has the lock of its node. It speaks of the time before: a copy of a data folder has a lock of its
    /// own, so whoever renews a lease after this process has started lives.
    NodeRestarted,
}

/// When a process of this machine began; none where there surely is none of that number. An error where nobody can tell.
fn find_process_start(pid: u32) -> std::io::Result<Option<i64>> {
    // Where processes of others are hidden, one that is not seen may live.
    std::fs::metadata("/proc/1")?;
    let stat = match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // It ended while it was read.
        Err(error) if error.raw_os_error() == Some(ESRCH) => return Ok(None),
        stat => stat?,
    };
    let odd = || std::io::Error::other("unexpected format of /proc/PID/stat");
    // The name in brackets may hold anything; behind it stand the state, and 18 numbers on the start.
    let (_, fields) = stat.rsplit_once(')').ok_or_else(odd)?;
    let mut fields = fields.split_whitespace();
    if matches!(fields.next(), Some("Z" | "X")) {
        return Ok(None);
    }
    let started = fields.nth(18).and_then(|number| number.parse().ok());
    started.map(Some).ok_or_else(odd)
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
        assert_eq!(me.prove_death(&me), None, "it lives");
        let earlier = ProcessIdentity { started: me.started - 1, ..me.clone() };
        assert_eq!(me.prove_death(&earlier), Some(DeathProof::ProcessGone), "its number is another's by now");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let since = find_process_start(child.id()).unwrap().unwrap();
        let theirs = ProcessIdentity { pid: child.id(), started: since, node: None, ..me.clone() };
        assert_eq!(me.prove_death(&theirs), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(me.prove_death(&theirs), Some(DeathProof::ProcessGone));
        let elsewhere =
            ProcessIdentity { machine: "another".to_owned(), node: Some("other".to_owned()), ..me.clone() };
        assert_eq!(me.prove_death(&elsewhere), None, "nobody can look there");
        let restarted = ProcessIdentity { machine: "another".to_owned(), ..me.clone() };
        assert_eq!(me.prove_death(&restarted), Some(DeathProof::NodeRestarted), "its node is this one now");
        let nameless = ProcessIdentity { node: None, ..me };
        assert_eq!(nameless.prove_death(&ProcessIdentity { node: None, ..elsewhere }), None);
    }
}
