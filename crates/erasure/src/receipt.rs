//! What went, and what had to stay.

use munshi_pack::PackRegistry;
use serde::{Deserialize, Serialize};

use crate::rows::{Erasure, ErasureState};

/// What stays of a person.
const KEPT_OF_PERSONS: &[(&str, &str)] = &[
    (
        "that there were conversations, when, and what they cost",
        "usage is billed and limited by it; it names nobody",
    ),
    (
        "that their messages were taken, as keyed hashes of the ids that channels know them by",
        "a channel may send one again; they go after 30 days",
    ),
    (
        "backups of the database from before, which have keyed hashes of their phones and other addresses",
        "whoever has one with the store of keys and the vault's key can try out all phone numbers on it, until you delete it",
    ),
    (
        "in the same backups keyed hashes of the words of messages",
        "whoever has all three can try out a dictionary on them until the next night's new key, and with a copy of the store of keys from \
         before until that is gone",
    ),
    (
        "in the same backups messages that came by channels and were not taken in yet, or could not be",
        "those of somebody who was known when they came are encrypted by the key that was destroyed, and a restore empties whatever came \
         from their addresses; a first message of somebody new is encrypted by the workspace's key: whoever has all three can read it \
         until you delete the backup",
    ),
    (
        "messages in the archive's files",
        "encrypted by the key that was destroyed: nobody can read them; those of before the upgrade that encrypts them are removed by it, \
         and stay in older copies of the files until you delete these",
    ),
    (
        "what they wrote in others' conversations and into the books about others",
        "it belongs to those conversations and entries",
    ),
    (
        "copies of the store of keys from before",
        "whoever has one with a copy of the database of then reads it all: the server deletes those that `munshi backup --keys` made in its \
         folder after 30 days; a copy elsewhere is yours to delete",
    ),
    (
        "where the store of keys is on Postgres, free space of its table, dead rows that a long transaction still sees, its write-ahead log, \
         and archives and replicas of that log",
        "a destroyed key may stand there; the table is vacuumed at once, the log is recycled, and archives of the log are yours to delete, \
         like copies",
    ),
    ("backups of the database from before messages were encrypted", "they can be read until you delete them"),
    (
        "an account to sign in to the console with, if they have one",
        "it is theirs in every workspace: `munshi operator remove` closes it",
    ),
];

/// What stays of everybody, also where only a pack knew them.
const KEPT_OF_ALL: &[(&str, &str)] = &[
    ("the audit", "it is a chain that nothing may be taken from; it names people by pseudonyms"),
    ("what others said of them in their own conversations", "encrypted by the keys of those who said it"),
    (
        "what the workspace keeps for nobody in particular: answers to repeated requests, one-time codes, deliveries to packs, \
         jobs, alerts, changes that programs propose, details of failed calls to models",
        "encrypted by the workspace's key; it may quote them, and nobody can tell where. Codes go within a day, answers and what \
         handled deliveries brought within 7 days, what others brought and changes within 30; alerts, failed jobs and details of calls stay",
    ),
    (
        "what the workspace wrote itself, such as files of policies and names of keys",
        "nobody looks through it for names",
    ),
];

/// Said of a workspace's books.
const OLDER_BACKUPS: (&str, &str) =
    ("older backups of the books", "they name contacts in plain words until you delete them");
/// Pages of a database that were freed are not wiped.
const FREE_SPACE: (&str, &str) = (
    "free space of the database's file and its backups; on Postgres dead rows, the write-ahead log and archives of it",
    "plain names of the books may stand there until it is written over, or the database is vacuumed and backed up anew",
);

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
            all.extend(KEPT_OF_PERSONS.iter().copied().map(kept));
        }
        let of_packs = packs.subjects.iter().filter(|of| erasure.records.contains_key(of.pack));
        for records in of_packs {
            all.extend(records.kept().iter().map(|data| kept((data.what, data.why))));
            all.extend([OLDER_BACKUPS, FREE_SPACE].map(kept));
        }
        all.extend(KEPT_OF_ALL.iter().copied().map(kept));
        Self { state: erasure.state(), erasure, kept: all }
    }
}
