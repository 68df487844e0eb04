//! Who follows which conversation again: a page that is hidden lets go of its stream, and takes it up whenever it is looked at. The audit
//! is told of that once in a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_types::{KeyId, SessionId, TenantId, Timestamp};

/// Whoever comes back after so long opens it once more.
const LASTS: Duration = Duration::from_secs(10 * 60);
/// More than this are not remembered; then the audit is told too often, and never too seldom.
const MOST: usize = 10_000;

/// A key, or an operator's sign-in, and what it opened.
pub(crate) type OpenedSession = (TenantId, KeyId, SessionId);

#[derive(Clone, Default)]
pub(crate) struct OpenedSessions(Arc<Mutex<HashMap<OpenedSession, Timestamp>>>);

impl OpenedSessions {
    /// Whether the audit has it from a moment ago.
    pub(crate) fn is_noted(&self, opened: OpenedSession, now: Timestamp) -> bool {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get(&opened).is_some_and(|at| now.since(*at) < LASTS)
    }

    /// The audit has it.
    pub(crate) fn note(&self, opened: OpenedSession, now: Timestamp) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() >= MOST {
            noted.retain(|_, at| now.since(*at) < LASTS);
        }
        if noted.len() < MOST {
            noted.insert(opened, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn it_is_remembered_for_a_while_and_for_whoever_opened_it() {
        let (opened, ids, now) = (OpenedSessions::default(), IdGenerator::system(), Timestamp::EPOCH);
        let one = (ids.next(), ids.next(), ids.next());
        assert!(!opened.is_noted(one, now));
        opened.note(one, now);
        assert!(opened.is_noted(one, now.plus(LASTS - Duration::from_secs(1))));
        assert!(!opened.is_noted(one, now.plus(LASTS)));
        assert!(!opened.is_noted((one.0, ids.next(), one.2), now), "another key is another's");
    }

    #[test]
    fn only_so_much_is_remembered() {
        let (opened, ids, now) = (OpenedSessions::default(), IdGenerator::system(), Timestamp::EPOCH);
        let next = || (ids.next(), ids.next(), ids.next());
        (0..MOST).for_each(|_| opened.note(next(), now));
        let last = next();
        opened.note(last, now);
        assert!(!opened.is_noted(last, now));
        opened.note(last, now.plus(LASTS));
        assert!(opened.is_noted(last, now.plus(LASTS)), "what is over makes room");
    }
}
