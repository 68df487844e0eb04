//! What is stored of runs that may have broken the process that worked on them: in which epochs one went on alone, and
//! which of those ended with a death.

use munshi_store::Tx;
use munshi_types::HolderId;

use crate::error::{Error, Result};
use crate::runs::{self, RunLease};
use crate::sealing::seal_by;
use crate::snapshot::RunSnapshot;

/// Take-ups beside other turns, before a run goes on alone.
pub const MOST_TOGETHER: i64 = 3;
/// So often a process may lose a run under its marker without that counting as a death.
const MOST_SURVIVED: u32 = 10;

impl RunSnapshot {
    /// How often the process died while this run went on alone, since it last came further.
    pub fn deaths(&self, lease: RunLease) -> usize {
        self.alone.iter().filter(|epoch| **epoch > self.rested && **epoch < lease.epoch).count()
    }

    /// Takes the last marker off where this very process made it in an earlier lease: it lost the run and did not die of it.
    /// Not for ever: a run that holds its process up for so long that its lease passes is as bad as one that ends it.
    pub fn forgive_survived(&mut self, process: HolderId, lease: RunLease) {
        let is_lost = self.alone.last().is_some_and(|epoch| *epoch > self.rested && *epoch < lease.epoch);
        if is_lost && self.alone_in == Some(process) && self.survived < MOST_SURVIVED {
            self.alone.pop();
            self.alone_in = None;
            self.survived += 1;
        }
    }

    /// Whether it was taken up a few times without coming further.
    pub fn is_suspect(&self, lease: RunLease) -> bool {
        lease.epoch - self.rested > MOST_TOGETHER
    }
}

/// Commits that the run goes on alone from here.
pub fn mark_alone(tx: &mut Tx<'_>, lease: RunLease, process: HolderId) -> Result<()> {
    let run = runs::find(tx, lease.run)?.ok_or(Error::NoRun)?;
    let (person, mut snapshot) = (run.person(), run.snapshot);
    snapshot.forgive_survived(process, lease);
    snapshot.alone.retain(|epoch| *epoch > snapshot.rested && *epoch < lease.epoch);
    snapshot.alone.push(lease.epoch);
    snapshot.alone_in = Some(process);
    let by = seal_by(tx, person)?;
    runs::advance(tx, (lease, by), run.state, &snapshot)?;
    Ok(())
}

/// Commits that it is alone no longer: a death from here on is nobody's in particular.
pub fn unmark_alone(tx: &mut Tx<'_>, lease: RunLease) -> Result<()> {
    let run = runs::find(tx, lease.run)?.ok_or(Error::NoRun)?;
    let (person, mut snapshot) = (run.person(), run.snapshot);
    snapshot.alone.retain(|epoch| *epoch != lease.epoch);
    snapshot.alone_in = None;
    let by = seal_by(tx, person)?;
    runs::advance(tx, (lease, by), run.state, &snapshot)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use munshi_types::{IdGenerator, Timestamp};

    use super::*;

    #[test]
    fn a_process_that_lost_a_run_is_no_death_and_a_second_try_of_one_lease_is_neither() {
        let ids = IdGenerator::system();
        let (process, another): (HolderId, HolderId) = (ids.next(), ids.next());
        let lease =
            |epoch| RunLease { tenant: ids.next(), run: ids.next(), epoch, until: Timestamp::from_micros(0) };
        let marked = |epoch| RunSnapshot {
            rested: 1,
            alone: vec![epoch],
            alone_in: Some(process),
            ..RunSnapshot::default()
        };
        let forgiven = |mut snapshot: RunSnapshot, process, epoch| {
            snapshot.forgive_survived(process, lease(epoch));
            (snapshot.alone, snapshot.survived)
        };
        assert_eq!(forgiven(marked(5), process, 6), (vec![], 1));
        assert_eq!(forgiven(marked(5), process, 5), (vec![5], 0), "it is the same take-up");
        assert_eq!(forgiven(marked(1), process, 6), (vec![1], 0), "it came further since");
        assert_eq!(forgiven(marked(5), another, 6), (vec![5], 0), "another process died");
        let often = RunSnapshot { survived: MOST_SURVIVED, ..marked(5) };
        assert_eq!(forgiven(often.clone(), process, 6), (vec![5], MOST_SURVIVED));
        let mut further = often;
        further.note_progress(6);
        assert_eq!(further.survived, 0);
    }
}
