//! Telling what was done to an entry that does not follow the one before it. Only runs once something is wrong, so it
//! may take its time.

use munshi_store::Db;

use super::finding::{ChainFault, ChainFinding};
use super::{AuditEntry, ChainVerification};
use crate::audit::read::{self, is_unreadable};
use crate::error::Result;

/// How many entries past the end of the chain may have been removed and the moved one still be recognised.
const PAST_THE_END: i64 = 100;

/// `chain` is sound up to the entry before.
pub(super) async fn diagnose(db: &Db, entry: &AuditEntry, chain: &ChainVerification) -> Result<ChainFinding> {
    let expected = chain.entries + 1;
    if entry.seq > expected {
        return Ok(ChainFinding { seq: expected, fault: ChainFault::Removed });
    }
    if entry.seq < expected {
        return Ok(ChainFinding { seq: entry.seq, fault: ChainFault::Inserted });
    }
    let (follower, last) = surroundings(db, entry).await?;
    if entry.computed_hash() == entry.hash {
        // It is whole in itself and was written upon another. If what follows was written upon it, the other is false.
        let genuine = follower == Some(entry.hash) && expected > 1;
        return Ok(ChainFinding {
            seq: if genuine { expected - 1 } else { expected },
            fault: ChainFault::Changed,
        });
    }
    let fault = match find_original_seq(entry, last + PAST_THE_END) {
        // It was pushed on by something that now stands in its place.
        Some(place) if place < expected => {
            return Ok(ChainFinding { seq: place, fault: ChainFault::Inserted });
        }
        Some(from) => {
            let before = entry.prev;
            match db.read(entry.tenant, move |tx| read::contains_hash(tx, before)).await? {
                true => ChainFault::Reordered { from },
                false => ChainFault::Removed,
            }
        }
        None if follower == Some(chain.hash) => ChainFault::Inserted,
        None => ChainFault::Changed,
    };
    Ok(ChainFinding { seq: expected, fault })
}

/// The hash that the next entry was written upon, or that the head names where there is none; and how long the chain
/// is or was.
async fn surroundings(db: &Db, entry: &AuditEntry) -> Result<(Option<super::ChainHash>, i64)> {
    let (tenant, seq) = (entry.tenant, entry.seq);
    let (head, last, _) = db.read(tenant, read::load_ends).await?;
    let length = last.max(head.map_or(0, |head| head.seq));
    let follower = match db.read(tenant, move |tx| read::list_after(tx, seq, 1)).await {
        Err(error) if is_unreadable(&error) => None,
        next => next?.first().map(|next| next.prev).or(head.map(|head| head.hash)),
    };
    Ok((follower, length))
}

/// The number under which the entry matches its hash, looked for from its place outwards.
fn find_original_seq(entry: &AuditEntry, most: i64) -> Option<i64> {
    let here = entry.seq;
    let places = (1..most.max(here)).flat_map(|step| [here - step, here + step]);
    let mut candidate = entry.clone();
    places.filter(|place| (1..=most).contains(place)).take(max_attempts(entry)).find(|place| {
        candidate.seq = *place;
        candidate.computed_hash() == entry.hash
    })
}

/// A small payload is tried in a million places within seconds; a large one in fewer.
fn max_attempts(entry: &AuditEntry) -> usize {
    256_000_000 / (512 + entry.payload.len())
}
