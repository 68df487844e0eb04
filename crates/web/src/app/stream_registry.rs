//! Who streams at this moment, on this node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use munshi_types::{PersonId, RunId, TenantId};

type Live = HashMap<(TenantId, PersonId), Vec<RunId>>;

/// The live streams of each person.
#[derive(Clone, Default)]
pub(crate) struct StreamRegistry(Arc<Mutex<Live>>);

/// A stream's place; it goes when the client has gone.
pub(crate) struct StreamSlot {
    live: Arc<Mutex<Live>>,
    whose: (TenantId, PersonId),
    run: RunId,
}

impl StreamRegistry {
    /// Takes a place, and says which of the person's runs are streamed already.
    pub(crate) fn register(
        &self,
        tenant: TenantId,
        person: PersonId,
        run: RunId,
    ) -> (StreamSlot, Vec<RunId>) {
        let whose = (tenant, person);
        let mut live = lock(&self.0);
        let runs = live.entry(whose).or_default();
        let others = runs.clone();
        runs.push(run);
        (StreamSlot { live: self.0.clone(), whose, run }, others)
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut live = lock(&self.live);
        let Some(runs) = live.get_mut(&self.whose) else { return };
        if let Some(at) = runs.iter().position(|run| *run == self.run) {
            runs.remove(at);
        }
        if runs.is_empty() {
            live.remove(&self.whose);
        }
    }
}

fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_second_stream_is_told_of_the_first_while_it_lasts() {
        let (streams, ids) = (StreamRegistry::default(), IdGenerator::system());
        let (tenant, person, first, second) = (ids.next(), ids.next(), ids.next(), ids.next());
        let (place, others) = streams.register(tenant, person, first);
        assert!(others.is_empty());
        assert!(streams.register(tenant, ids.next(), second).1.is_empty(), "others' are others'");
        let (_held, others) = streams.register(tenant, person, second);
        assert_eq!(others, [first]);
        drop(place);
        assert_eq!(streams.register(tenant, person, first).1, [second]);
        assert_eq!(lock(&streams.0).len(), 1, "nothing is left behind");
    }
}
