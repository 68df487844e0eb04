//! Telling what was done to an entry that does not follow the one before it. Only runs once something is wrong, so it
//! may take its time.

use munshi_store::Db;

use super::finding::{Fault, Finding};
use super::{Chain, Entry};
use crate::audit::read::{self, is_unreadable};
use crate::error::Result;

/// How many entries past the end of the chain may have been removed and the moved one still be recognised.
const PAST_THE_END: i64 = 100;

/// `chain` is sound up to the entry before.
pub(super) async fn of(db: &Db, entry: &Entry, chain: &Chain) -> Result<Finding> {
    let expected = chain.entries + 1;
    if entry.seq > expected {
        return Ok(Finding { seq: expected, fault: Fault::Removed });
    }
    if entry.seq < expected {
        return Ok(Finding { seq: entry.seq, fault: Fault::Inserted });
    }
    let (follower, last) = surroundings(db, entry).await?;
    if entry.computed_hash() == entry.hash {
        // It is whole in itself and was written upon another. If what follows was written upon it, the other is false.
        let genuine = follower == Some(entry.hash) && expected > 1;
        return Ok(Finding { seq: if genuine { expected - 1 } else { expected }, fault: Fault::Changed });
    }
    let fault = match own_place(entry, last + PAST_THE_END) {
        // It was pushed on by something that now stands in its place.
        Some(place) if place < expected => return Ok(Finding { seq: place, fault: Fault::Inserted }),
        Some(from) => {
            let before = entry.prev;
            match db.read(entry.tenant, move |tx| read::stands(tx, before)).await? {
                true => Fault::Reordered { from },
                false => Fault::Removed,
            }
        }
        None if follower == Some(chain.hash) => Fault::Inserted,
        None => Fault::Changed,
    };
    Ok(Finding { seq: expected, fault })
}

/// The hash that the next entry was written upon, or that the head names where there is none; and how long the chain
/// is or was.
async fn surroundings(db: &Db, entry: &Entry) -> Result<(Option<super::Hash>, i64)> {
    let (tenant, seq) = (entry.tenant, entry.seq);
    let (head, last, _) = db.read(tenant, read::ends).await?;
    let length = last.max(head.map_or(0, |head| head.seq));
    let follower = match db.read(tenant, move |tx| read::page(tx, seq, 1)).await {
        Err(error) if is_unreadable(&error) => None,
        next => next?.first().map(|next| next.prev).or(head.map(|head| head.hash)),
    };
    Ok((follower, length))
}

/// The number under which the entry matches its hash, looked for from its place outwards.
fn own_place(entry: &Entry, most: i64) -> Option<i64> {
    let here = entry.seq;
    let places = (1..most.max(here)).flat_map(|step| [here - step, here + step]);
    let mut candidate = entry.clone();
    places.filter(|place| (1..=most).contains(place)).take(known(entry)).find(|place| {
        candidate.seq = *place;
        candidate.computed_hash() == entry.hash
    })
}

/// A small payload is tried in a million places within seconds; a large one in fewer.
fn known(entry: &Entry) -> usize {
    256_000_000 / (512 + entry.payload.len())
}
