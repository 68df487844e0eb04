//! Whom and what a message names, of those in the books: looked up by the bones of its words, so that the length of the
//! books costs nothing.

use std::collections::BTreeSet;

use munshi_lang::names::name_key;
use munshi_lang::{Certainty, Directory, fold};
use munshi_store::{Tx, params};
use munshi_types::Id;
use uuid::Uuid;

use crate::books::contacts::{self, Contact};
use crate::books::{ContactId, Item, ItemId, items};
use crate::error::Result;

/// A longer message is read no further.
const WORDS: usize = 40;
/// So many of each are told of.
const MOST: usize = 5;
/// So many names share the bones of one word.
const SHARED: i64 = 50;

pub(super) fn contacts(tx: &mut Tx<'_>, message: &str) -> Result<Vec<Contact>> {
    let mut found: Vec<Contact> = Vec::new();
    for id in named(tx, "contact", message)? {
        let contact = contacts::get(tx, ContactId::from_uuid(id))?;
        if found.len() < MOST && found.iter().all(|known| known.id != contact.id) {
            found.push(contact);
        }
    }
    Ok(found)
}

pub(super) fn items(tx: &mut Tx<'_>, message: &str) -> Result<Vec<Item>> {
    let ids = named(tx, "item", message)?;
    ids.into_iter().take(MOST).map(|id| items::get(tx, ItemId::from_uuid(id))).collect()
}

/// Those that a message may name, each once. Of one name that is several people's, all.
fn named(tx: &mut Tx<'_>, kind: &str, message: &str) -> Result<Vec<Uuid>> {
    let mut known: Vec<(Uuid, String)> = Vec::new();
    for bone in bones(message) {
        let alike = tx.all(
            "SELECT subject_id, name FROM ledger_names WHERE tenant_id = $1 AND kind = $2 AND bone = $3
             ORDER BY subject_id, name LIMIT $4",
            params![kind, bone, SHARED],
            |row| Ok((row.get::<Uuid>(0)?, row.get::<String>(1)?)),
        )?;
        known.extend(alike);
    }
    let directory = Directory::new(known.iter().map(|(_, name)| name.as_str()));
    let keys: BTreeSet<String> = words(message).map(fold::key).collect();
    let is_said = |name: &str| name.split_whitespace().all(|word| keys.contains(&fold::key(word)));
    let mut ids: Vec<Uuid> = Vec::new();
    for (id, _) in known.iter().filter(|(_, name)| is_said(name)) {
        if !ids.contains(id) {
            ids.push(*id);
        }
    }
    for found in directory.find(message) {
        let most = if found.certainty == Certainty::Exact { 1 } else { found.candidates.len() };
        let meant = found.candidates.iter().take(most).filter_map(|one| known.get(one.contact));
        for (id, _) in meant {
            if !ids.contains(id) {
                ids.push(*id);
            }
        }
    }
    Ok(ids)
}

/// The bones of every word, and of each without its last: a case may be written at the end of a name.
fn bones(message: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for word in words(message) {
        let bone = name_key(word);
        if let Some((cut, _)) = bone.char_indices().next_back().filter(|(cut, _)| *cut > 1) {
            all.insert(bone.get(..cut).unwrap_or_default().to_owned());
        }
        all.insert(bone);
    }
    all.retain(|bone| !bone.is_empty() && !bone.contains(' '));
    all
}

fn words(message: &str) -> impl Iterator<Item = &str> {
    let words = message.split_whitespace().take(WORDS);
    words.map(|word| word.trim_matches(|letter: char| letter.is_ascii_punctuation() || letter == '।'))
}
