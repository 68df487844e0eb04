//! A page of what is found.

use munshi_index::SearchQuery;
use munshi_store::{Cursor, Result, Tx};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, Id, MessageId, PersonId, RunId, SessionId, Timestamp};

use super::candidates::CandidateSource;
use super::opening::open_matching;
use crate::messages::MessageSpeaker;

/// So many messages are opened for one page; what is left follows with the next.
const MOST_OPENED: usize = 2_000;

/// Which messages are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSearch {
    pub query: SearchQuery,
    /// Whose conversations; none for everybody's.
    pub persons: Option<Vec<PersonId>>,
    /// Conversations with which bindings; none for all.
    pub bindings: Option<Vec<BindingId>>,
    /// Not what is older.
    pub since: Timestamp,
    /// What stands behind this in a list of the newest first.
    pub before: Cursor,
    pub limit: usize,
    /// What is as new as this is looked at, however far the index says that it is filled.
    pub now: Timestamp,
}

impl MessageSearch {
    /// In everybody's conversations, at any time.
    pub fn new(query: SearchQuery, limit: usize, now: Timestamp) -> Self {
        let (persons, bindings) = (None, None);
        Self { query, persons, bindings, since: Timestamp::EPOCH, before: Cursor::START, limit, now }
    }

    pub(super) fn admits(&self, person: PersonId, binding: BindingId) -> bool {
        self.persons.as_ref().is_none_or(|persons| persons.contains(&person))
            && self.bindings.as_ref().is_none_or(|bindings| bindings.contains(&binding))
    }
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHit {
    pub message: MessageId,
    pub session: SessionId,
    pub person: PersonId,
    pub binding: BindingId,
    pub run: RunId,
    /// Its place in the session.
    pub number: i64,
    pub speaker: MessageSpeaker,
    pub channel: Channel,
    pub said_at: Timestamp,
    /// What stands around the first word that was looked for.
    pub excerpt: String,
}

impl MessageHit {
    fn position(&self) -> Cursor {
        Cursor { time: self.said_at, id: self.message.as_uuid() }
    }
}

/// Some of what is found, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHits {
    pub hits: Vec<MessageHit>,
    /// Where it goes on; none at the end. There may be fewer hits than were asked for, or none, and more behind.
    pub next: Option<Cursor>,
}

pub fn search_messages(tx: &mut Tx<'_>, wanted: &MessageSearch) -> Result<MessageHits> {
    let mut source = CandidateSource::open(tx, wanted)?;
    let (mut hits, mut opened, mut before) = (Vec::new(), 0, wanted.before);
    let at_once = (wanted.limit + 1).clamp(16, 64);
    loop {
        let window = source.list_next(tx, before)?;
        for part in window.positions.chunks(at_once) {
            for hit in open_matching(tx, wanted, part)? {
                if hits.len() == wanted.limit {
                    let next = hits.last().map(MessageHit::position);
                    return Ok(MessageHits { hits, next });
                }
                hits.push(hit);
            }
            opened += part.len();
            if opened >= MOST_OPENED {
                return Ok(MessageHits { hits, next: part.last().copied() });
            }
        }
        match window.next {
            Some(next) => before = next,
            None => return Ok(MessageHits { hits, next: None }),
        }
    }
}
