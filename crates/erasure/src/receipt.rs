//! What went, and what had to stay.

use munshi_pack::PackRegistry;
use serde::{Deserialize, Serialize};

use crate::rows::{Erasure, ErasureState};

/// What stays of everybody.
const KEPT: &[(&str, &str)] = &[
    (
        "that there were conversations, when, and what they cost",
        "usage is billed and limited by it; it names nobody",
    ),
    ("the audit", "it is a chain that nothing may be taken from; it names people by pseudonyms"),
    (
        "lines of the archive",
        "encrypted by the key that was destroyed: nobody can read them, once older archives are sealed",
    ),
    (
        "what they wrote in others' conversations and into the books",
        "it belongs to those conversations and entries",
    ),
    (
        "copies of the store of keys from before",
        "kept up to 30 days by `munshi backup --keys`; a copy elsewhere is yours to delete",
    ),
    (
        "answers kept for repeated requests, jobs, deliveries to packs, alerts, and changes that programs propose",
        "encrypted by the workspace's key; most are gone within 30 days; they may quote",
    ),
];

/// Said of a workspace's books.
const OLDER_BACKUPS: (&str, &str) =
    ("older backups of the books", "they name contacts in plain words until you delete them");
/// Pages of a database that were freed are not wiped.
const FREE_SPACE: (&str, &str) = (
    "free space of the database's file and its backups",
    "plain names may stand there until it is written over or the database is vacuumed",
);
/// Where only a pack knew them.
const OTHERS_WORDS: (&str, &str) =
    ("what others said of them in their own conversations", "encrypted by the keys of those who said it");

/// Something that stays, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRecord {
    pub what: String,
    pub why: String,
}

/// What is told of an erasure.
#[derive(Clone, Debug, PartialEq)]
pub struct ErasureReceipt {
    pub erasure: Erasure,
    pub state: ErasureState,
    pub kept: Vec<KeptRecord>,
}

impl ErasureReceipt {
    pub fn of(erasure: Erasure, packs: &PackRegistry) -> Self {
        let kept = |(what, why): (&str, &str)| KeptRecord { what: what.to_owned(), why: why.to_owned() };
        let mut all: Vec<KeptRecord> = Vec::new();
        if !erasure.persons.is_empty() {
            all.extend(KEPT.iter().copied().map(kept));
        }
        let of_packs = packs.subjects.iter().filter(|of| erasure.records.contains_key(of.pack));
        for records in of_packs {
            all.extend(records.kept().iter().map(|data| kept((data.what, data.why))));
            all.extend([OLDER_BACKUPS, FREE_SPACE].map(kept));
        }
        all.push(kept(OTHERS_WORDS));
        Self { state: erasure.state(), erasure, kept: all }
    }
}
