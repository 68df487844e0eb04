//! Whom somebody means who asks for all that is known of a person, or for its end.

use std::collections::BTreeMap;

use munshi_identity::{Person, persons};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_pack::{PackRegistry, SubjectRecord, load_tenant_packs};
use munshi_store::Tx;
use uuid::Uuid;

use super::rules::lock_covered;

/// A person, what packs know of them, or both.
pub(super) struct DataSubject {
    pub(super) person: Option<Person>,
    pub(super) records: Vec<PackRecord>,
}

/// A pack's record, and the pack.
pub(super) type PackRecord = (&'static str, SubjectRecord);

impl DataSubject {
    pub(super) fn record_ids(&self) -> BTreeMap<String, Vec<Uuid>> {
        self.records.iter().map(|(pack, record)| ((*pack).to_owned(), record.ids.clone())).collect()
    }

    /// Nothing takes back what is shown or removed by mistake: so one alone may be meant, and surely. Those who have left count too, and
    /// who stands only in a pack.
    pub(super) fn find(
        tx: &mut Tx<'_>,
        caller: &OperationCaller,
        packs: &PackRegistry,
        given: &str,
    ) -> Result<Self, OperationError> {
        let listed = load_tenant_packs(tx)?;
        let of_tenant = || packs.subjects.iter().filter(|of| listed.has(of.pack));
        let people = list_candidates(tx, given)?;
        let person = match people.as_slice() {
            [only] => Some(lock_covered(tx, caller, &only.id.to_string())?),
            _ => None,
        };
        let mut linked = Vec::new();
        if let Some(person) = &person {
            let addresses = persons::list_addresses(tx, person.id)?;
            for of in of_tenant() {
                let records = of.find_by_addresses(tx, &addresses)?;
                linked.extend(records.into_iter().map(|record| (of.pack, record)));
            }
        }
        let mut named = Vec::new();
        for of in of_tenant() {
            let records = of.find_by_text(tx, given)?;
            named.extend(records.into_iter().map(|record| (of.pack, record)));
        }
        named.retain(|(_, record)| linked.iter().all(|(_, known): &PackRecord| known.ids != record.ids));
        let is_sure = named.iter().all(|(_, record)| record.is_exact);
        if people.len() + named.len() > 1 || !is_sure || linked.len() > 1 {
            return Err(describe_choices(given, &people, named.iter().chain(&linked)));
        }
        if person.is_none() && named.is_empty() {
            return Err(OperationError::not_found("person", given)
                .hint("`munshi person list --all` shows everybody."));
        }
        Ok(Self { person, records: linked.into_iter().chain(named).collect() })
    }
}

/// Those whom a text means among people: by id or address one, by a name all who have it, also those who have left.
fn list_candidates(tx: &mut Tx<'_>, given: &str) -> Result<Vec<Person>, OperationError> {
    let named = persons::list_by_name(tx, given)?;
    if !named.is_empty() {
        return Ok(named);
    }
    match super::find(tx, given) {
        Ok(person) => Ok(vec![person]),
        Err(error) if error.code == OperationErrorCode::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn describe_choices<'r>(
    given: &str,
    people: &[Person],
    records: impl Iterator<Item = &'r PackRecord>,
) -> OperationError {
    let people = people.iter().map(|person| format!("{} ({}, a person)", person.id, person.name));
    let records = records.map(|(pack, record)| {
        let id = record.ids.first().map(ToString::to_string).unwrap_or_default();
        format!("{id} ({}, of {pack})", record.name)
    });
    let all: Vec<String> = people.chain(records).collect();
    let what = format!("It is not sure who is meant by {given}.");
    OperationError::new(OperationErrorCode::Invalid, what)
        .hint(format!("Name each that is meant by its id: {}.", all.join(", ")))
}
