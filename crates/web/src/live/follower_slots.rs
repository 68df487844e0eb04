//! How many streams somebody may have open on this node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_types::{KeyId, PersonId, TenantId};

/// Of a visitor: a browser has one for all its tabs, where it can share it.
pub(crate) const VISITOR_STREAMS: usize = 8;
/// Of a key, or of an operator's browser.
pub(crate) const KEY_STREAMS: usize = 64;
/// One that was cut off is noticed by then, and its place is free.
const AGAIN: Duration = Duration::from_secs(20);

/// Who follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FollowerIdentity {
    Visitor(TenantId, PersonId),
    /// A key, or an operator's sign-in.
    Key(TenantId, KeyId),
}

impl FollowerIdentity {
    const fn limit(self) -> usize {
        match self {
            Self::Visitor(..) => VISITOR_STREAMS,
            Self::Key(..) => KEY_STREAMS,
        }
    }
}

type OpenStreams = HashMap<FollowerIdentity, usize>;

#[derive(Clone, Default)]
pub(crate) struct FollowerSlots(Arc<Mutex<OpenStreams>>);

/// A stream's place; it goes when the client has gone.
pub(crate) struct FollowerSlot {
    open: Arc<Mutex<OpenStreams>>,
    whose: FollowerIdentity,
}

impl FollowerSlots {
    pub(crate) fn take(&self, whose: FollowerIdentity) -> Result<FollowerSlot, ApiError> {
        let mut open = lock(&self.0);
        let count = open.entry(whose).or_default();
        if *count >= whose.limit() {
            let words = format!("Too many open streams: the limit is {}.", whose.limit());
            return Err(ApiError::new(ApiErrorCode::TooManyRequests, words)
                .hint("Close one, or share one among the tabs of a browser.")
                .retry_after(AGAIN));
        }
        *count += 1;
        Ok(FollowerSlot { open: self.0.clone(), whose })
    }
}

impl Drop for FollowerSlot {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        if let Some(count) = open.get_mut(&self.whose) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.whose);
            }
        }
    }
}

fn lock(open: &Mutex<OpenStreams>) -> MutexGuard<'_, OpenStreams> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_place_is_free_again_when_its_client_has_gone() {
        let (slots, ids) = (FollowerSlots::default(), IdGenerator::system());
        let whose = FollowerIdentity::Visitor(ids.next(), ids.next());
        let mut held: Vec<FollowerSlot> = (0..VISITOR_STREAMS).map(|_| slots.take(whose).unwrap()).collect();
        assert_eq!(slots.take(whose).err().unwrap().code(), ApiErrorCode::TooManyRequests);
        assert!(slots.take(FollowerIdentity::Visitor(ids.next(), ids.next())).is_ok(), "others' are others'");
        held.pop();
        let again = slots.take(whose);
        assert!(again.is_ok());
        drop((again, held));
        assert!(lock(&slots.0).is_empty(), "nothing is left behind");
    }
}
