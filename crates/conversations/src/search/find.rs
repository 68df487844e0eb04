//! A page of what is found.

use munshi_index::SearchQuery;
use munshi_store::{Cursor, Result, Tx};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, Id, MessageId, PersonId, RunId, SessionId, Timestamp};

use super::candidates::CandidateSource;
use super::limits::SearchLimits;
use super::opening::open_matching;
use crate::messages::MessageSpeaker;

/// Which messages are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSearch {
    pub query: SearchQuery,
    /// Whose conversations; none for everybody's.
    pub persons: Option<Vec<PersonId>>,
    /// Conversations with which bindings; none for all.
    pub bindings: Option<Vec<BindingId>>,
    /// Not what this run has said or was told.
    pub except_run: Option<RunId>,
    /// Not what is older.
    pub since: Timestamp,
    /// What stands behind this in a list of the newest first.
    pub before: Cursor,
    pub limit: usize,
    pub limits: SearchLimits,
    /// What is as new as this is looked at, however far the index says that it is filled.
    pub now: Timestamp,
}

impl MessageSearch {
    /// In everybody's conversations, at any time.
    pub fn new(query: SearchQuery, limit: usize, now: Timestamp) -> Self {
        Self {
            query,
            persons: None,
            bindings: None,
            except_run: None,
            since: Timestamp::EPOCH,
            before: Cursor::START,
            limit,
            limits: SearchLimits::PAGE,
            now,
        }
    }

    pub(super) fn admits(&self, (person, binding): (PersonId, BindingId), run: RunId) -> bool {
        self.persons.as_ref().is_none_or(|persons| persons.contains(&person))
            && self.bindings.as_ref().is_none_or(|bindings| bindings.contains(&binding))
            && self.except_run != Some(run)
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
    /// Where it goes on, always at a message that whoever searches may see; none at the end. There may be fewer hits than were
    /// asked for, or none, and more behind.
    pub next: Option<Cursor>,
}

pub fn search_messages(tx: &mut Tx<'_>, wanted: &MessageSearch) -> Result<MessageHits> {
    search_shown(tx, wanted, |_, _| Ok(true))
}

/// The same among those that may be shown.
pub(super) fn search_shown(
    tx: &mut Tx<'_>,
    wanted: &MessageSearch,
    mut is_shown: impl FnMut(&mut Tx<'_>, &MessageHit) -> Result<bool>,
) -> Result<MessageHits> {
    let mut source = CandidateSource::open(tx, wanted)?;
    let (mut hits, mut opened, mut bytes, mut before) = (Vec::new(), 0, 0, wanted.before);
    let at_once = (wanted.limit + 1).clamp(16, 64).min(wanted.limits.opened.max(1));
    loop {
        let window = source.list_next(tx, before)?;
        for part in window.positions.chunks(at_once) {
            let matching = open_matching(tx, wanted, part)?;
            for hit in matching.hits {
                if !is_shown(tx, &hit)? {
                    continue;
                }
                if hits.len() == wanted.limit {
                    let next = hits.last().map(MessageHit::position);
                    return Ok(MessageHits { hits, next });
                }
                hits.push(hit);
            }
            opened += matching.opened;
            bytes += matching.bytes;
            if matching.last.is_some() && (opened >= wanted.limits.opened || bytes >= wanted.limits.bytes) {
                return Ok(MessageHits { hits, next: matching.last });
            }
        }
        match window.next {
            Some(next) => before = next,
            None => return Ok(MessageHits { hits, next: None }),
        }
    }
}
