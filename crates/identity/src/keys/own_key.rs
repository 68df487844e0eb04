//! Keys that nobody but their own person has ever had in hand: what comes through one is that person's word.

use munshi_store::{Tx, params};
use munshi_types::{KeyId, PersonId};

use super::rows::{read_speaker, read_subject};
use super::{KeySpeaker, KeySubject};
use crate::links;
use crate::persons::find_of_operator;

/// What a key says of itself and of those who have seen its text.
struct KeyOrigin {
    carries: KeySubject,
    speaks_as: KeySpeaker,
    parent: Option<KeyId>,
    made_by: String,
    maker: String,
}

/// Whether a key carries this person and they made it themself: signed in as an operator, or with a key of which the same holds. Whoever makes
/// or rotates a key sees its text and can speak through it, so one that anybody else had a hand in is not theirs.
pub fn is_own(tx: &mut Tx<'_>, id: KeyId, person: PersonId) -> munshi_store::Result<bool> {
    let mut next = Some(id);
    while let Some(id) = next {
        let Some(origin) = find_origin(tx, id)? else { return Ok(false) };
        if origin.carries != KeySubject::Person(person) || origin.speaks_as != KeySpeaker::Person {
            return Ok(false);
        }
        let mut makers = list_secret_makers(tx, id)?;
        makers.extend([origin.made_by, origin.maker]);
        for maker in &makers {
            if !is_their_name(tx, (maker, origin.parent), person)? {
                return Ok(false);
            }
        }
        next = origin.parent;
    }
    Ok(true)
}

/// Whether a maker's name is this person's: their sign-in's, or their own with the key that they made it with.
fn is_their_name(
    tx: &mut Tx<'_>,
    (maker, parent): (&str, Option<KeyId>),
    person: PersonId,
) -> munshi_store::Result<bool> {
    if parent.is_some() && maker == person.to_string() {
        return Ok(true);
    }
    let Some(operator) = links::parse_maker(maker) else { return Ok(false) };
    Ok(find_of_operator(tx, operator)?.is_some_and(|known| known.id == person))
}

fn find_origin(tx: &mut Tx<'_>, id: KeyId) -> munshi_store::Result<Option<KeyOrigin>> {
    tx.optional(
        "SELECT role, person_id, speaks_as, parent, made_by, maker FROM api_keys WHERE tenant_id = $1 AND id = $2",
        params![id],
        |row| {
            Ok(KeyOrigin {
                carries: read_subject(row)?,
                speaks_as: read_speaker(row)?,
                parent: row.get("parent")?,
                made_by: row.get("made_by")?,
                maker: row.get("maker")?,
            })
        },
    )
}

fn list_secret_makers(tx: &mut Tx<'_>, id: KeyId) -> munshi_store::Result<Vec<String>> {
    tx.all(
        "SELECT maker FROM api_key_secrets WHERE tenant_id = $1 AND key_id = $2 AND maker IS NOT NULL",
        params![id],
        |row| row.get(0),
    )
}
