//! The same request sent again by a client's library, because it never heard the answer.
//!
//! OpenAI's libraries try again by themselves after a timeout or a broken line, and say so in a header, but give the
//! request no id. Here it gets the id of its first try, so that a turn is never begun twice for one question. This is
//! kept in the memory of this node; who needs more sends `Idempotency-Key`.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use munshi_types::{KeyId, Timestamp};

/// For whom a completion is, for clients that can't set `user`.
pub(crate) const PERSON: HeaderName = HeaderName::from_static("x-munshi-person");

/// How often it was sent before; what OpenAI's libraries say.
const COUNT: &str = "x-stainless-retry-count";
/// Their last try comes sooner.
const KEPT: Duration = Duration::from_secs(30 * 60);
/// More are not remembered.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct CompletionRetryCache {
    hasher: RandomState,
    tried: Mutex<HashMap<u64, (String, Timestamp)>>,
}

impl CompletionRetryCache {
    /// The id of the first try, where this is a later one; else the fresh one, which is remembered.
    pub(crate) fn resolve_id(
        &self,
        (key, body): (KeyId, &str),
        headers: &HeaderMap,
        (fresh, now): (String, Timestamp),
    ) -> String {
        // For whom it is stands beside the body.
        let person = headers.get(PERSON).map(HeaderValue::as_bytes);
        let hash = self.hasher.hash_one((key, body, person));
        let mut tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = |at: Timestamp| at <= now && now.since(at) < KEPT;
        if is_retry(headers)
            && let Some((id, _)) = tried.get(&hash).filter(|(_, at)| lately(*at))
        {
            return id.clone();
        }
        if tried.len() >= MOST {
            tried.retain(|_, (_, at)| lately(*at));
        }
        if tried.len() < MOST {
            tried.insert(hash, (fresh.clone(), now));
        }
        fresh
    }
}

fn is_retry(headers: &HeaderMap) -> bool {
    let count = headers.get(COUNT).and_then(|count| count.to_str().ok()?.parse::<u32>().ok());
    count.is_some_and(|count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn only_what_says_that_it_comes_again_is_the_same() {
        let (retries, key) = (CompletionRetryCache::default(), IdGenerator::system().next());
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        let again = HeaderMap::from_iter([(
            axum::http::HeaderName::from_static(COUNT),
            HeaderValue::from_static("1"),
        )]);
        let id = |headers: &HeaderMap, body: &str, fresh: &str, now| {
            retries.resolve_id((key, body), headers, (fresh.to_owned(), now))
        };
        assert_eq!(id(&HeaderMap::new(), "a", "1", now), "1");
        assert_eq!(id(&again, "a", "2", now), "1");
        assert_eq!(id(&again, "b", "3", now), "3", "another body is another question");
        assert_eq!(id(&HeaderMap::new(), "a", "4", now), "4", "the same words said once more");
        assert_eq!(id(&again, "a", "5", now), "4");
        let mut theirs = again.clone();
        theirs.insert(PERSON, HeaderValue::from_static("@meera"));
        assert_eq!(id(&theirs, "a", "7", now), "7", "another person's question");
        assert_eq!(id(&again, "a", "6", now.plus(KEPT)), "6");
    }
}
