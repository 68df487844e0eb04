//! How many turns this node works on at a time.
//!
//! Whoever works on a turn has a place. A message that finds none free is stored all the same and waits: it is nobody's, and
//! whichever node has a place first takes it up ([`crate::waiting_turns`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Debug)]
pub(crate) struct ChatPlaces {
    most: usize,
    taken: AtomicUsize,
    /// Whether turns may be waiting for a place. Then a place that is free goes to whoever's turn it is, and not to the
    /// conversation that had it.
    is_contested: AtomicBool,
    freed: Notify,
}

/// The right to work on one turn; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ChatPlace {
    places: Arc<ChatPlaces>,
}

impl ChatPlaces {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most: most.max(1),
            taken: AtomicUsize::new(0),
            is_contested: AtomicBool::new(false),
            freed: Notify::new(),
        })
    }

    /// A place, if one is free.
    pub(crate) fn try_take(self: &Arc<Self>) -> Option<ChatPlace> {
        let add = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).ok()?;
        Some(ChatPlace { places: self.clone() })
    }

    /// As many places as are free, and no more than `limit`.
    pub(crate) fn take_free(self: &Arc<Self>, limit: usize) -> Vec<ChatPlace> {
        std::iter::from_fn(|| self.try_take()).take(limit).collect()
    }

    /// A place even where none is free: for what is short and can't be left, such as ending a turn that somebody stopped.
    pub(crate) fn take_beyond(self: &Arc<Self>) -> ChatPlace {
        self.taken.fetch_add(1, Ordering::AcqRel);
        ChatPlace { places: self.clone() }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }

    pub(crate) fn is_contested(&self) -> bool {
        self.is_contested.load(Ordering::Acquire)
    }

    /// Says whether turns wait for a place. Where one is free, whoever gives them out is told.
    pub(crate) fn set_contested(&self, is_contested: bool) {
        self.is_contested.store(is_contested, Ordering::Release);
        self.tell_if_free();
    }

    /// Waits until a place is free for a turn that waits.
    pub(crate) async fn wait_for_free(&self) {
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
    pub(crate) async fn lend_during<T>(&self, wait: impl Future<Output = T>) -> T {
        let lent = LentPlace::new(&self.places);
        let waited = wait.await;
        drop(lent);
        waited
    }
}

impl Drop for ChatPlace {
    fn drop(&mut self) {
        self.places.taken.fetch_sub(1, Ordering::AcqRel);
        self.places.tell_if_free();
    }
}

/// A place that is given to others until this is dropped, also where nobody waits to the end.
struct LentPlace<'a>(&'a ChatPlaces);

impl<'a> LentPlace<'a> {
    fn new(places: &'a ChatPlaces) -> Self {
        places.taken.fetch_sub(1, Ordering::AcqRel);
        places.tell_if_free();
        Self(places)
    }
}

impl Drop for LentPlace<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_add(1, Ordering::AcqRel);
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
        places.set_contested(true);
        assert!(!told(), "none is free");
        drop(place);
        assert!(told());
    }
}
