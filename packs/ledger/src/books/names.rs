//! Finding contacts and items by name, in whatever script and spelling.
//!
//! Every name something has had is kept by the consonants of its words. A name that is asked for brings up those that
//! have all of its words, and `lang` decides between them.

use std::collections::BTreeSet;

use munshi_lang::names::name_key;
use munshi_lang::{Certainty, ContactDirectory, fold};
use munshi_store::{Tx, params};
use serde::Serialize;
use uuid::Uuid;

use crate::error::{Error, Result};

const LONGEST: usize = 120;
/// Words of a name that are looked for; the rest is left to the comparison.
const WORDS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameSubject {
    Contact,
    Item,
}

impl NameSubject {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Item => "item",
        }
    }
}

/// Whom or what a name means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum NameMatch<T> {
    Nobody,
    One(T),
    /// Each may be meant, the likeliest first; also a single one whose name is only near.
    Choices(Vec<T>),
}

impl<T> NameMatch<T> {
    pub fn into_one(self) -> Option<T> {
        match self {
            Self::One(found) => Some(found),
            Self::Nobody | Self::Choices(_) => None,
        }
    }
}

/// A name with single spaces; an empty or endless one is refused.
pub(super) fn clean(name: &str) -> Result<String> {
    let clean = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = clean.chars().count();
    if letters == 0 || letters > LONGEST || clean.chars().any(char::is_control) {
        return Err(Error::invalid(format!("a name has 1 to {LONGEST} letters: `{clean}` can't be one")));
    }
    Ok(clean)
}

/// The words a name is kept by. One without consonants of its own, such as `A1`, is kept whole.
fn index_keys(name: &str) -> BTreeSet<String> {
    let key = name_key(name);
    let bones: BTreeSet<String> = key.split(' ').filter(|bone| !bone.is_empty()).map(str::to_owned).collect();
    if bones.is_empty() { BTreeSet::from([format!("={}", fold::normalize_spelling(name))]) } else { bones }
}

/// Keeps a name, so that it finds its subject from now on.
pub(super) fn add(tx: &mut Tx<'_>, subject: NameSubject, id: Uuid, name: &str) -> Result<()> {
    for bone in index_keys(name) {
        tx.execute(
            "INSERT INTO ledger_names (tenant_id, kind, bone, subject_id, name) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id, kind, bone, subject_id, name) DO NOTHING",
            params![subject.as_str(), bone, id, name],
        )?;
    }
    Ok(())
}

/// Every name that finds a subject.
pub(super) fn list(tx: &mut Tx<'_>, subject: NameSubject, id: Uuid) -> Result<Vec<String>> {
    Ok(tx.all(
        "SELECT DISTINCT name FROM ledger_names WHERE tenant_id = $1 AND kind = $2 AND subject_id = $3 ORDER BY name",
        params![subject.as_str(), id],
        |row| row.get(0),
    )?)
}

pub(super) fn find<T>(
    tx: &mut Tx<'_>,
    subject: NameSubject,
    name: &str,
    get: impl Fn(&mut Tx<'_>, Uuid) -> Result<T>,
    root: impl Fn(&T) -> Uuid,
) -> Result<NameMatch<T>> {
    let name = clean(name)?;
    let (candidates, is_whole) = candidates(tx, subject, &name)?;
    let (near, certainty) = match (is_whole, candidates.len()) {
        (_, 0) => return Ok(NameMatch::Nobody),
        (true, 1) => (candidates, Certainty::Exact),
        (true, _) => (candidates, Certainty::Ambiguous),
        (false, _) => compare(&candidates, &name),
    };
    let mut found: Vec<T> = Vec::new();
    for (id, _) in &near {
        let subject = get(tx, *id)?;
        if found.iter().all(|other| root(other) != root(&subject)) {
            found.push(subject);
        }
    }
    // Two names of one contact are no tie: whether it is meant rests on the nearer name alone.
    let merged = found.len() == 1 && near.len() > 1;
    let alone = || near.first().map(|best| compare(std::slice::from_ref(best), &name).1);
    let certainty = if merged { alone().unwrap_or(certainty) } else { certainty };
    Ok(match (found.len(), certainty) {
        (0, _) => NameMatch::Nobody,
        (1, Certainty::Exact) => found.pop().map_or(NameMatch::Nobody, NameMatch::One),
        _ => NameMatch::Choices(found),
    })
}

type Named = (Uuid, String);

fn compare(candidates: &[Named], name: &str) -> (Vec<Named>, Certainty) {
    let directory = ContactDirectory::new(candidates.iter().map(|(_, name)| name));
    match directory.look_up(name) {
        Some(found) => {
            let near =
                found.candidates.iter().filter_map(|candidate| candidates.get(candidate.contact).cloned());
            (near.collect(), found.certainty)
        }
        None => (Vec::new(), Certainty::Ambiguous),
    }
}

/// Those that have every word of a name, and whether the name was looked for as a whole.
fn candidates(tx: &mut Tx<'_>, subject: NameSubject, name: &str) -> Result<(Vec<Named>, bool)> {
    let bones: Vec<String> = index_keys(name).into_iter().take(WORDS).collect();
    let bone = |at: usize| bones.get(at).or_else(|| bones.last()).cloned().unwrap_or_default();
    let wanted = i64::try_from(bones.len()).unwrap_or(i64::MAX);
    let rows = tx.all(
        "SELECT subject_id, name FROM ledger_names
         WHERE tenant_id = $1 AND kind = $2 AND bone IN ($3, $4, $5)
         GROUP BY subject_id, name HAVING count(*) = $6 ORDER BY subject_id, name LIMIT 500",
        params![subject.as_str(), bone(0), bone(1), bone(2), wanted],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok((rows, bone(0).starts_with('=')))
}
