//! Two rows that turn out to be one person.

use munshi_store::{Tx, params};
use munshi_types::{PersonId, ScopeGlob};

use super::sealed_contacts::seal_plain_addresses;
use super::{Person, find_living, forget_browsers, is_forgotten, list_addresses, read, upsert};
use crate::address::ContactAddress;
use crate::error::{Error, MergeObstacle, Result};

/// What came of a merge. Whoever keeps rows by person moves theirs in the same transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonMerge {
    /// The row that leads to the other from now on.
    pub from: PersonId,
    /// The living person, as they are now.
    pub into: Person,
    /// The addresses that came along.
    pub moved: Vec<ContactAddress>,
    /// False when the two were one already; then nothing is left to move.
    pub changed: bool,
}

/// Makes two persons one: when a visitor proves the phone of somebody known, say. Old ids are followed first. The
/// addresses move; name, language and tags fill what `into` lacks; what was closed to either stays closed. A role comes
/// from `into` alone, and nothing is opened that was not open to them.
///
/// Refused where `from` works here: a member is never merged away. Also where either has left or was forgotten.
pub fn merge(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<PersonMerge> {
    lock_merges(tx)?;
    let (from, into) = (resolve_living(tx, from)?, resolve_living(tx, into)?);
    if from == into {
        let into = lock_both(tx, into, into)?.pop().ok_or(Error::NoPerson(into))?;
        return Ok(PersonMerge { from, into, moved: Vec::new(), changed: false });
    }
    let mut two = lock_both(tx, from, into)?;
    let both = (two.pop(), two.pop());
    let (Some(one), Some(other)) = both else { return Err(Error::NoPerson(from)) };
    let (gone, stays) = if one.id == from { (one, other) } else { (other, one) };
    check_forgotten(tx, [gone.id, stays.id])?;
    check(&gone, &stays)?;
    if stays.role.is_some() {
        // What a page's token proves is too little for a member, as where a role is given: see `upsert`.
        forget_browsers(tx, gone.id)?;
    }
    let moved = list_addresses(tx, gone.id)?;
    let person = combine(&gone, stays);
    redirect(tx, gone.id, person.id)?;
    // Those that stand plain may have come behind the walk that seals them.
    seal_plain_addresses(tx, person.id)?;
    upsert(tx, &person)?;
    tx.execute(
        "UPDATE persons SET visitor = $3 WHERE tenant_id = $1 AND id = $2",
        params![person.id, person.visitor],
    )?;
    Ok(PersonMerge { from: gone.id, into: person, moved, changed: true })
}

/// Merges of a tenant follow each other, so none can close a circle behind another's back. SQLite has one writer.
fn lock_merges(tx: &mut Tx<'_>) -> Result<()> {
    tx.all(
        ("SELECT 1 WHERE $1 IS NOT NULL", "SELECT 1 FROM pg_advisory_xact_lock(uuid_hash_extended($1, 13))"),
        &[],
        |_| Ok(()),
    )?;
    Ok(())
}

fn resolve_living(tx: &mut Tx<'_>, id: PersonId) -> Result<PersonId> {
    if let Some(person) = find_living(tx, id)? {
        return Ok(person.id);
    }
    check_forgotten(tx, [id])?;
    Err(Error::NoPerson(id))
}

/// Asked again once both are held: whoever forgets one of them was perhaps quicker.
fn check_forgotten<const N: usize>(tx: &mut Tx<'_>, persons: [PersonId; N]) -> Result<()> {
    for person in persons {
        if is_forgotten(tx, person)? {
            return Err(Error::Unmergeable(MergeObstacle::Forgotten));
        }
    }
    Ok(())
}

/// Both, until the transaction ends: whoever gives one a role or an address meanwhile waits.
fn lock_both(tx: &mut Tx<'_>, one: PersonId, other: PersonId) -> Result<Vec<Person>> {
    Ok(tx.all(
        (
            "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into
             FROM persons WHERE tenant_id = $1 AND id IN ($2, $3) ORDER BY id",
            "SELECT id, name, role, opened, closed, tags, language, made_at, left_at, visitor, merged_into
             FROM persons WHERE tenant_id = $1 AND id IN ($2, $3) ORDER BY id FOR UPDATE",
        ),
        params![one, other],
        read,
    )?)
}

fn check(gone: &Person, stays: &Person) -> Result<()> {
    let refused = match (gone, stays) {
        _ if gone.left_at.is_some() || stays.left_at.is_some() => MergeObstacle::Left,
        _ if gone.role.is_some() && stays.role.is_some() => MergeObstacle::TwoMembers,
        _ if gone.role.is_some() => MergeObstacle::Member,
        _ => return Ok(()),
    };
    Err(Error::Unmergeable(refused))
}

fn combine(gone: &Person, stays: Person) -> Person {
    let mut person = stays;
    if person.name.is_empty() {
        person.name.clone_from(&gone.name);
    }
    person.language = person.language.or(gone.language);
    person.visitor &= gone.visitor;
    let missing = |tag: &&String| !person.tags.contains(tag);
    let tags: Vec<String> = gone.tags.iter().filter(missing).cloned().collect();
    person.tags.extend(tags);
    let missing = |glob: &&ScopeGlob| !person.closed.contains(glob);
    let closed: Vec<ScopeGlob> = gone.closed.iter().filter(missing).cloned().collect();
    person.closed.extend(closed);
    person
}

/// From now on the one leads to the other, and so does everybody who led to the one.
fn redirect(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<()> {
    tx.execute(
        "UPDATE persons SET merged_into = $3 WHERE tenant_id = $1 AND (id = $2 OR merged_into = $2)",
        params![from, into],
    )?;
    tx.execute(
        "UPDATE person_addresses SET person_id = $3 WHERE tenant_id = $1 AND person_id = $2",
        params![from, into],
    )?;
    Ok(())
}
