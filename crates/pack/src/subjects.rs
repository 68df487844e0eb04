//! Whom a pack's own tables know, for when somebody asks what is known about them, or is forgotten.

use munshi_identity::ContactAddress;
use munshi_store::{Result, Tx};
use munshi_types::Timestamp;
use serde_json::Value;
use uuid::Uuid;

/// A pack's own records of people: a shop's customer, a lead, a requester.
pub trait SubjectRecords: Send + Sync {
    /// What such a record is called, as the receipt names it: `contacts`.
    fn name(&self) -> &'static str;

    /// Those that a text means or may mean: an id, a name or a phone, as an administrator gives it.
    fn find_by_text(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<SubjectRecord>>;

    /// Those that these addresses belong to: a person who is forgotten takes them along.
    fn find_by_addresses(&self, tx: &mut Tx<'_>, addresses: &[ContactAddress]) -> Result<Vec<SubjectRecord>>;

    /// Takes from one of them what it is found by, in the very transaction that asks for it to be forgotten: nobody comes upon it from
    /// then on, though it is erased only later. It says how many rows it changed. What is erased quickly is erased at once.
    fn detach(&self, tx: &mut Tx<'_>, record: Uuid, now: Timestamp) -> Result<u64> {
        self.erase(tx, record, now)
    }

    /// Overwrites what names one of them and says how many rows that were. Once again, or on an older copy of the database, it does the
    /// same; one that is not there is no error.
    fn erase(&self, tx: &mut Tx<'_>, record: Uuid, now: Timestamp) -> Result<u64>;

    /// What is known of one of them, to be told to them, kind by kind.
    fn data(&self) -> &'static [RecordData];

    /// What stays of them, and why.
    fn kept(&self) -> &'static [KeptData];
}

/// A record, and what an administrator knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectRecord {
    /// Its own id, and those of records that turned out to be the same.
    pub ids: Vec<Uuid>,
    pub name: String,
    /// How they are reached, as far as the pack knows: a person of the workspace who is reached so is the same one.
    pub addresses: Vec<ContactAddress>,
    /// Whether the text or address means this one surely: a name that is only near does not.
    pub is_exact: bool,
    /// What should be settled first, in words: somebody who owes money is not forgotten by the way.
    pub open_matter: Option<String>,
}

/// One kind of row that stands under a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordData {
    /// What it is, as the export names it: `entries`.
    pub name: &'static str,
    /// The next rows of a record behind a row, in the order of their ids.
    pub list_next: fn(&mut Tx<'_>, Uuid, Uuid, u32) -> Result<Vec<Uuid>>,
    /// What a row says; none where it is gone.
    pub show: fn(&mut Tx<'_>, Uuid) -> Result<Option<Value>>,
}

/// Something that stays when somebody is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptData {
    pub what: &'static str,
    pub why: &'static str,
}
