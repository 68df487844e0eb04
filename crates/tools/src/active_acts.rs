//! Which acts this process is at, so that none is taken for a dead one's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_types::ActId;

/// Shared by all clones of a dispatcher.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveActs(Arc<Mutex<HashMap<ActId, u32>>>);

impl ActiveActs {
    /// Counts as under way until what this gives is dropped.
    #[must_use]
    pub(crate) fn begin(&self, act: ActId) -> ActiveActGuard {
        *self.lock().entry(act).or_default() += 1;
        ActiveActGuard { all: self.clone(), act }
    }

    pub(crate) fn has(&self, act: ActId) -> bool {
        self.lock().contains_key(&act)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ActId, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct ActiveActGuard {
    all: ActiveActs,
    act: ActId,
}

impl Drop for ActiveActGuard {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        let left = all.get(&self.act).map_or(0, |count| count - 1);
        match left {
            0 => all.remove(&self.act),
            left => all.insert(self.act, left),
        };
    }
}
