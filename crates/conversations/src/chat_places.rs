//! How many turns this node works on at a time.
//!
//! Whoever works on a turn has a place. A message that finds none free is stored all the same and waits: it is nobody's, and
//! whichever node has a place first takes it up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Debug)]
pub struct ChatPlaces {
    most: usize,
    taken: AtomicUsize,
    /// How often somebody found none free since the last look that left nobody waiting; 0 where nobody waits. While somebody does, a place that is free goes to
    /// whoever's turn it is, and neither to the conversation that had it nor to whoever comes just then.
    demand: AtomicU64,
    /// Whether what a dead process left, or what somebody answered, found no place: that comes before those who wait.
    has_left: AtomicBool,
    freed: Notify,
}

/// The right to work on one turn; given back when it is dropped.
#[derive(Debug)]
pub struct ChatPlace {
    places: Arc<ChatPlaces>,
}

impl ChatPlaces {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most: most.max(1),
            taken: AtomicUsize::new(0),
            demand: AtomicU64::new(0),
            has_left: AtomicBool::new(false),
            freed: Notify::new(),
        })
    }

    /// A place for a message that comes now, if one is free and nobody waits for one.
    pub fn try_take_uncontested(self: &Arc<Self>) -> Option<ChatPlace> {
        if self.is_contested() { None } else { self.try_take() }
    }

    /// A place, if one is free.
    pub fn try_take(self: &Arc<Self>) -> Option<ChatPlace> {
        let add = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add).ok()?;
        Some(ChatPlace { places: self.clone() })
    }

    /// As many places as are free, and no more than `limit`.
    pub fn take_free(self: &Arc<Self>, limit: usize) -> Vec<ChatPlace> {
        std::iter::from_fn(|| self.try_take()).take(limit).collect()
    }

    /// A place even where none is free: for what is short and can't be left, such as ending a turn that somebody stopped.
    pub fn take_beyond(self: &Arc<Self>) -> ChatPlace {
        self.taken.fetch_add(1, Ordering::SeqCst);
        ChatPlace { places: self.clone() }
    }

    pub fn most(&self) -> usize {
        self.most
    }

    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    pub(crate) fn is_contested(&self) -> bool {
        self.demand() != 0
    }

    /// What [`settle`](Self::settle) is told after a look.
    pub fn demand(&self) -> u64 {
        self.demand.load(Ordering::SeqCst)
    }

    /// Somebody waits for a place. Where one is free, whoever gives them out is told.
    pub fn request(&self) {
        self.demand.fetch_add(1, Ordering::SeqCst);
        self.tell_if_free();
    }

    /// A look that began when the demand was this found a place for all who waited. Who has come since still waits.
    pub fn settle(&self, demand: u64) {
        // Where somebody came meanwhile it stays as it is.
        let _changed = self.demand.compare_exchange(demand, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Something that was left, or answered, found no place: it is looked for as soon as there is one.
    pub fn request_for_left(&self) {
        self.has_left.store(true, Ordering::SeqCst);
        self.request();
    }

    /// Whether it is looked for now.
    pub fn take_left(&self) -> bool {
        self.has_left.swap(false, Ordering::SeqCst)
    }

    /// Waits until a place is free for a turn that waits.
    pub async fn wait_for_free(&self) {
        self.freed.notified().await;
    }

    fn tell_if_free(&self) {
        if self.is_contested() && self.taken() < self.most {
            self.freed.notify_one();
        }
    }
}

impl ChatPlace {
    /// Gives the place to others while something is waited for that may take days. Afterwards there may be one more at work
    /// than there are places, until one of them has ended.
    pub async fn lend_during<T>(&self, wait: impl Future<Output = T>) -> T {
        let lent = LentPlace::new(&self.places);
        let waited = wait.await;
        drop(lent);
        waited
    }
}

impl Drop for ChatPlace {
    fn drop(&mut self) {
        self.places.taken.fetch_sub(1, Ordering::SeqCst);
        self.places.tell_if_free();
    }
}

/// A place that is given to others until this is dropped, also where nobody waits to the end.
struct LentPlace<'a>(&'a ChatPlaces);

impl<'a> LentPlace<'a> {
    fn new(places: &'a ChatPlaces) -> Self {
        places.taken.fetch_sub(1, Ordering::SeqCst);
        places.tell_if_free();
        Self(places)
    }
}

impl Drop for LentPlace<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_taken_than_there_are_and_dropping_one_frees_it() {
        let places = ChatPlaces::new(2);
        let first = places.try_take();
        let rest = places.take_free(9);
        assert_eq!((first.is_some(), rest.len(), places.try_take().is_none()), (true, 1, true));
        let beyond = places.take_beyond();
        drop(first);
        assert!(places.try_take().is_none(), "the one beyond counts");
        drop((beyond, rest));
        assert_eq!((places.taken(), places.take_free(9).len()), (0, 2));
    }

    #[tokio::test]
    async fn a_place_is_lent_while_its_holder_waits() {
        let places = ChatPlaces::new(1);
        let place = places.take_beyond();
        place.lend_during(async { assert!(places.try_take().is_some()) }).await;
        assert!(places.try_take().is_none());
        let waits = place.lend_during(std::future::pending::<()>());
        assert!(futures_util::FutureExt::now_or_never(waits).is_none());
        assert_eq!(places.taken(), 1, "given back also where nobody waits to the end");
    }

    #[tokio::test]
    async fn who_gives_out_places_is_told_only_where_somebody_waits() {
        let places = ChatPlaces::new(1);
        drop(places.try_take());
        let told = || futures_util::FutureExt::now_or_never(places.wait_for_free()).is_some();
        assert!(!told());
        let place = places.try_take();
        places.request();
        assert!(!told(), "none is free");
        assert!(places.try_take_uncontested().is_none());
        let seen = places.demand();
        drop(place);
        assert!(told());
        assert!(places.try_take_uncontested().is_none(), "who waits comes before who comes");
        places.request();
        places.settle(seen);
        assert!(places.is_contested(), "somebody came while it was looked");
        places.settle(places.demand());
        assert!(places.try_take_uncontested().is_some());
    }
}
