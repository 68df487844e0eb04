//! What runs in this process now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_types::TenantId;
use tokio_util::sync::CancellationToken;

use crate::job::Job;
use crate::lease::JobLease;

/// Shared by a runner and the tasks it started; each task takes its job out when it ends. Kept by lease, not by job:
/// a job that was taken over runs under another.
#[derive(Clone, Default)]
pub(crate) struct RunningJobs(Arc<Mutex<HashMap<JobLease, InFlight>>>);

struct InFlight {
    kind: String,
    cancelled: CancellationToken,
}

impl RunningJobs {
    pub(crate) fn add(&self, job: &Job) {
        let flight = InFlight { kind: job.kind.clone(), cancelled: job.cancelled.clone() };
        self.lock().insert(job.lease, flight);
    }

    pub(crate) fn remove(&self, lease: JobLease) {
        self.lock().remove(&lease);
    }

    /// How many of a kind each tenant has.
    pub(crate) fn counts_of_tenants(&self, kind: &str) -> HashMap<TenantId, usize> {
        let mut counts = HashMap::new();
        for (lease, _) in self.lock().iter().filter(|(_, flight)| flight.kind == kind) {
            *counts.entry(lease.tenant).or_insert(0) += 1;
        }
        counts
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

    pub(crate) fn leases(&self) -> Vec<JobLease> {
        self.lock().keys().copied().collect()
    }

    /// Tells the jobs under these leases to leave off: nothing they write will count.
    pub(crate) fn cancel(&self, leases: &[JobLease]) {
        for (lease, flight) in self.lock().iter().filter(|(lease, _)| leases.contains(lease)) {
            tracing::warn!(job = %lease.job, kind = flight.kind, "cancelling job");
            flight.cancelled.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobLease, InFlight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
