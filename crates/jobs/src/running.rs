//! What runs in this process now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_types::{JobId, LeaseId};
use tokio_util::sync::CancellationToken;

use crate::job::Job;

/// Shared by a runner and the tasks it started; each task takes its job out when it ends.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashMap<JobId, InFlight>>>);

struct InFlight {
    kind: String,
    lease: LeaseId,
    cancelled: CancellationToken,
}

impl Running {
    pub(crate) fn add(&self, job: &Job) {
        let flight =
            InFlight { kind: job.kind.clone(), lease: job.lease.id, cancelled: job.cancelled.clone() };
        self.lock().insert(job.id, flight);
    }

    pub(crate) fn remove(&self, job: JobId) {
        self.lock().remove(&job);
    }

    /// How many of each kind, and in all.
    pub(crate) fn counts(&self) -> (HashMap<String, usize>, usize) {
        let flights = self.lock();
        let mut counts = HashMap::new();
        for flight in flights.values() {
            *counts.entry(flight.kind.clone()).or_insert(0) += 1;
        }
        (counts, flights.len())
    }

    pub(crate) fn leases(&self) -> Vec<LeaseId> {
        self.lock().values().map(|flight| flight.lease).collect()
    }

    /// Tells the jobs under these leases to leave off: nothing they write will count.
    pub(crate) fn leave_off(&self, leases: &[LeaseId]) {
        for (job, flight) in self.lock().iter().filter(|(_, flight)| leases.contains(&flight.lease)) {
            tracing::warn!(%job, kind = flight.kind, "telling a job to leave off");
            flight.cancelled.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, InFlight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
