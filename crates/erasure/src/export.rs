//! What is known about somebody, to be told to them: page by page, kind by kind, with what packs know and what lies in the archive.
//! The kinds are those that go when they are forgotten.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use munshi_conversations::outbox;
use munshi_conversations::personal_records::describe_message;
use munshi_conversations::retention::{
    ArchiveOwner, ArchivePosition, ArchivedLine, UnreadableLine, read_part,
};
use munshi_identity::{PersonalData, persons};
use munshi_pack::{PackRegistry, RecordData, alerts};
use munshi_store::Tx;
use munshi_types::{DataKeyId, Id, PersonId, TenantId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::steps::list_kinds;

/// What lies in files is told last.
pub const ARCHIVED: &str = "archived messages";
/// A page ends where it has so many bytes, however few records that are.
const LARGEST: usize = 4 << 20;

/// About whom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportSubject {
    /// A person with everybody who turned out to be them, and the keys of all.
    pub persons: Vec<PersonId>,
    pub keys: Vec<DataKeyId>,
    /// What packs know of them, by pack.
    pub records: BTreeMap<String, Vec<Uuid>>,
}

/// Something that is known about somebody.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedRecord {
    /// Such as `messages`, or `ledger: entries`.
    pub kind: String,
    pub id: Uuid,
    pub data: Value,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportPage {
    pub records: Vec<ExportedRecord>,
    /// None at the end.
    pub next: Option<ExportPosition>,
}

/// Where an export is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportPosition {
    /// In a kind, at the person or record it is about, behind a row.
    Kind {
        kind: String,
        subject: Uuid,
        after: Uuid,
    },
    Archive(Option<ArchivePosition>),
}

impl fmt::Display for ExportPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind { kind, subject, after } => write!(f, "{kind}~{subject}~{after}"),
            Self::Archive(None) => write!(f, "{ARCHIVED}~0~"),
            Self::Archive(Some(at)) => write!(f, "{ARCHIVED}~{}~{}", at.lines, at.file),
        }
    }
}

impl FromStr for ExportPosition {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        const INVALID: &str = "must be the `next` of the previous page";
        let mut parts = text.splitn(3, '~');
        let (Some(kind), Some(middle), Some(end)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(INVALID);
        };
        if kind == ARCHIVED {
            let lines = middle.parse().map_err(|_| INVALID)?;
            let at = (!end.is_empty()).then(|| ArchivePosition { file: end.to_owned(), lines });
            return Ok(Self::Archive(at));
        }
        let (subject, after) = (middle.parse().map_err(|_| INVALID)?, end.parse().map_err(|_| INVALID)?);
        Ok(Self::Kind { kind: kind.to_owned(), subject, after })
    }
}

impl ExportSubject {
    pub fn load(
        tx: &mut Tx<'_>,
        person: Option<PersonId>,
        records: BTreeMap<String, Vec<Uuid>>,
    ) -> Result<Self> {
        let Some(person) = person else { return Ok(Self { records, ..Self::default() }) };
        Ok(Self { persons: persons::list_group(tx, person)?, keys: persons::list_keys(tx, person)?, records })
    }
}

/// The next records from the database; the position that follows may be in the archive. One that is of nobody whom it is about is
/// refused: an export that went on elsewhere would not be whole.
pub fn load_page(
    tx: &mut Tx<'_>,
    packs: &PackRegistry,
    subject: &ExportSubject,
    from: Option<&ExportPosition>,
    limit: u32,
) -> Result<ExportPage> {
    let sources = list_sources(packs, subject);
    let (begin, after) = match from {
        None => (0, Uuid::nil()),
        Some(ExportPosition::Archive(_)) => {
            return Ok(ExportPage { records: Vec::new(), next: from.cloned() });
        }
        Some(ExportPosition::Kind { kind, subject, after }) => {
            let at = sources.iter().position(|source| source.kind == *kind && source.subject == *subject);
            (at.ok_or(Error::InvalidPosition)?, *after)
        }
    };
    let mut page = PageBuilder { records: Vec::new(), bytes: 0, limit: limit as usize };
    for (at, source) in sources.iter().enumerate().skip(begin) {
        let after = if at == begin { after } else { Uuid::nil() };
        if let Some(after) = page.add_source(tx, source, after)? {
            let next = ExportPosition::Kind { kind: source.kind.clone(), subject: source.subject, after };
            return Ok(ExportPage { records: page.records, next: Some(next) });
        }
    }
    // Whoever is known by a pack alone has said nothing that could lie there.
    let next = (!subject.persons.is_empty()).then_some(ExportPosition::Archive(None));
    Ok(ExportPage { records: page.records, next })
}

/// The next records from the archive's files.
pub fn load_archived_page(
    tx: &mut Tx<'_>,
    (folder, tenant): (&Path, TenantId),
    subject: &ExportSubject,
    from: Option<&ArchivePosition>,
    limit: u32,
) -> Result<ExportPage> {
    let owner = ArchiveOwner { persons: &subject.persons, keys: &subject.keys };
    let part = read_part(tx, (folder, tenant), owner, from, limit as usize);
    let part = part.map_err(|error| match error {
        munshi_conversations::Error::Store(error) => Error::Store(error),
        other => Error::Archive(other.to_string()),
    })?;
    Ok(ExportPage {
        records: part.lines.iter().map(describe_line).collect(),
        next: part.next.map(|next| ExportPosition::Archive(Some(next))),
    })
}

/// Of a line that can't be read it is told that it can't: an export that is not whole says so.
fn describe_line(line: &ArchivedLine) -> ExportedRecord {
    let (id, data) = match line {
        ArchivedLine::Message(message) => (message.id.as_uuid(), describe_message(message)),
        ArchivedLine::Unreadable(UnreadableLine { day, message }) => {
            let note = match message {
                Some(_) => format!("A message of the archive of {day} is damaged and can't be read."),
                None => format!("A line of the archive of {day} is damaged: nobody can tell whose it is."),
            };
            (message.map_or(Uuid::nil(), Id::as_uuid), json!({ "note": note }))
        }
    };
    ExportedRecord { kind: ARCHIVED.to_owned(), id, data }
}

/// One kind of row of one of those it is about.
struct Source {
    kind: String,
    /// The person, or the pack's record.
    subject: Uuid,
    rows: SourceRows,
}

enum SourceRows {
    House(&'static PersonalData, PersonId),
    Pack(&'static RecordData, Uuid),
}

impl Source {
    fn list_next(&self, tx: &mut Tx<'_>, after: Uuid, limit: u32) -> munshi_store::Result<Vec<Uuid>> {
        match self.rows {
            SourceRows::House(data, person) => (data.list_next)(tx, person, after, limit),
            SourceRows::Pack(data, record) => (data.list_next)(tx, record, after, limit),
        }
    }

    fn show(&self, tx: &mut Tx<'_>, id: Uuid) -> munshi_store::Result<Option<Value>> {
        match self.rows {
            SourceRows::House(data, _) => (data.show)(tx, id),
            SourceRows::Pack(data, _) => (data.show)(tx, id),
        }
    }
}

fn list_sources(packs: &PackRegistry, subject: &ExportSubject) -> Vec<Source> {
    let mut sources = Vec::new();
    for data in list_kinds().rev() {
        for person in &subject.persons {
            let rows = SourceRows::House(data, *person);
            sources.push(Source { kind: data.name.to_owned(), subject: person.as_uuid(), rows });
        }
    }
    for known in &packs.subjects {
        let records = subject.records.get(known.pack).map_or(&[][..], Vec::as_slice);
        for data in known.data().iter().chain([&alerts::RECORD_DATA, &outbox::RECORD_DATA]) {
            for record in records {
                let kind = format!("{}: {}", known.pack, data.name);
                sources.push(Source { kind, subject: *record, rows: SourceRows::Pack(data, *record) });
            }
        }
    }
    sources
}

struct PageBuilder {
    records: Vec<ExportedRecord>,
    bytes: usize,
    limit: usize,
}

impl PageBuilder {
    /// Adds what there is; gives the row it ended behind where the page is full before the source is at its end.
    fn add_source(&mut self, tx: &mut Tx<'_>, source: &Source, mut after: Uuid) -> Result<Option<Uuid>> {
        loop {
            let room = self.limit.saturating_sub(self.records.len());
            if room == 0 {
                return Ok(Some(after));
            }
            let ids = source.list_next(tx, after, u32::try_from(room).unwrap_or(u32::MAX))?;
            if ids.is_empty() {
                return Ok(None);
            }
            for id in ids {
                if self.bytes >= LARGEST {
                    return Ok(Some(after));
                }
                after = id;
                if let Some(data) = source.show(tx, id)? {
                    self.bytes += data.to_string().len();
                    self.records.push(ExportedRecord { kind: source.kind.clone(), id, data });
                }
            }
        }
    }
}
