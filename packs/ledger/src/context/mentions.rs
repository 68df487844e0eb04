//! Whom and what a message names, of those in the books: looked up by the bones of its words, so that the length of the
//! books costs nothing.

use std::collections::BTreeSet;

use munshi_lang::names::name_key;
use munshi_lang::{Certainty, ContactDirectory, fold};
use munshi_store::{JsonText, Tx, params};
use munshi_types::Id;
use uuid::Uuid;

use crate::books::contacts::{self, Contact};
use crate::books::{ContactId, ItemId, StockItem, items};
use crate::error::Result;

/// A longer message is read no further.
const WORDS: usize = 40;
/// So many of each are told of.
const MOST: usize = 5;
/// So many names share the bones of one word.
const SHARED: i64 = 50;

/// Names in the books that share bones with the words of a message, and whose they are.
pub(super) struct SimilarNames {
    contacts: Vec<(Uuid, String)>,
    items: Vec<(Uuid, String)>,
}

/// One question to the database, however long the message is.
pub(super) fn find_similar(tx: &mut Tx<'_>, message: &str) -> Result<SimilarNames> {
    let bones = JsonText::of(&index_keys(message))?;
    let rows: Vec<(String, Uuid, String)> = tx.all(
        (
            "SELECT kind, subject_id, name FROM (
               SELECT kind, subject_id, name,
                      row_number() OVER (PARTITION BY kind, bone ORDER BY subject_id, name) AS place
               FROM ledger_names WHERE tenant_id = $1 AND kind IN ('contact', 'item')
                 AND bone IN (SELECT value FROM json_each($2)))
             WHERE place <= $3 ORDER BY kind, subject_id, name",
            "SELECT kind, subject_id, name FROM (
               SELECT kind, subject_id, name,
                      row_number() OVER (PARTITION BY kind, bone ORDER BY subject_id, name) AS place
               FROM ledger_names WHERE tenant_id = $1 AND kind IN ('contact', 'item')
                 AND bone = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)))) AS named
             WHERE place <= $3 ORDER BY kind, subject_id, name",
        ),
        params![bones, SHARED],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let of = |kind: &str| {
        let those = rows.iter().filter(|(one, ..)| one == kind);
        those.map(|(_, id, name)| (*id, name.clone())).collect()
    };
    Ok(SimilarNames { contacts: of("contact"), items: of("item") })
}

impl SimilarNames {
    pub(super) fn contacts(&self, tx: &mut Tx<'_>, message: &str) -> Result<Vec<Contact>> {
        let mut found: Vec<Contact> = Vec::new();
        for id in match_names(&self.contacts, message) {
            let contact = contacts::get(tx, ContactId::from_uuid(id))?;
            if found.len() < MOST && found.iter().all(|known| known.id != contact.id) {
                found.push(contact);
            }
        }
        Ok(found)
    }

    pub(super) fn items(&self, tx: &mut Tx<'_>, message: &str) -> Result<Vec<StockItem>> {
        let ids = match_names(&self.items, message);
        ids.into_iter().take(MOST).map(|id| items::get(tx, ItemId::from_uuid(id))).collect()
    }
}

/// Those that a message may name, each once. Of one name that is several people's, all.
fn match_names(known: &[(Uuid, String)], message: &str) -> Vec<Uuid> {
    let directory = ContactDirectory::new(known.iter().map(|(_, name)| name.as_str()));
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
    ids
}

/// The bones of every word, and of each without its last: a case may be written at the end of a name.
fn index_keys(message: &str) -> BTreeSet<String> {
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
