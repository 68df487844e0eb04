//! Whom somebody means who asks for all that is known of a person, or for its end.

use std::collections::BTreeMap;

use munshi_identity::{ContactAddress, Person, persons};
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_pack::{FromPack, PackRegistry, SubjectRecord, SubjectRecords, load_tenant_packs};
use munshi_store::Tx;
use munshi_types::PersonId;
use munshi_types::tier::Channel;
use uuid::Uuid;

use super::rules::check_covered;

/// Who is meant, as it is given.
#[derive(Clone, Debug)]
pub(super) struct SubjectName {
    pub(super) id: String,
    /// The other one who is meant, or [`ALONE`].
    pub(super) with: Option<String>,
}

/// How often somebody may be merged meanwhile before something else must be wrong.
const TRIES: usize = 4;

/// What says that nobody else is meant.
const ALONE: &str = "none";

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
}

/// How somebody who is found is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubjectLock {
    /// Not at all: they are only looked at.
    None,
    /// With everybody who turned out to be them, until the transaction ends. At once, since two who hold somebody a little and then want
    /// more wait for each other.
    Group,
}

/// Finds whom somebody means.
pub(super) struct SubjectFinder<'a> {
    pub(super) caller: &'a OperationCaller,
    pub(super) packs: &'a PackRegistry,
    pub(super) lock: SubjectLock,
}

impl SubjectFinder<'_> {
    /// Nothing takes back what is shown or removed by mistake: so one alone may be meant, and surely. Those who have left count too, and
    /// who stands only in a pack. A record takes along the person whom its addresses lead to, and a person their record. An id means whoever
    /// has it, whatever others are called. Where several records share an address of a person, even an id does not say who is meant.
    pub(super) fn find(&self, tx: &mut Tx<'_>, named: &SubjectName) -> Result<DataSubject, OperationError> {
        let listed = load_tenant_packs(tx)?;
        let known: Vec<&KnownRecords> = self.packs.subjects.iter().filter(|of| listed.has(of.pack)).collect();
        match &named.with {
            Some(with) => self.find_by_ids(tx, &known, (&named.id, with)),
            None => self.find_one(tx, &known, &named.id),
        }
    }

    fn find_one(
        &self,
        tx: &mut Tx<'_>,
        known: &[&KnownRecords],
        given: &str,
    ) -> Result<DataSubject, OperationError> {
        let id: Option<Uuid> = given.parse().ok();
        let mut people = list_candidates(tx, given)?;
        let is_record = people.is_empty();
        let mut named = match id {
            Some(_) if !is_record => Vec::new(),
            _ => list_named(tx, known, given)?,
        };
        if let (true, [(_, record)]) = (is_record, named.as_slice())
            && record.is_exact
        {
            people = list_holders(tx, &record.addresses)?;
        }
        let person = match people.as_slice() {
            [only] => Some(self.take(tx, only.id)?),
            _ => None,
        };
        let linked = person.as_ref().map_or(Ok(Vec::new()), |person| list_linked(tx, known, person))?;
        named.retain(|(_, record)| linked.iter().all(|(_, known)| known.ids != record.ids));
        let is_sure = named.iter().all(|(_, record)| record.is_exact);
        let is_one = people.len() <= 1 && linked.len() + named.len() <= 1;
        if !is_sure || !is_one || (!is_record && !named.is_empty()) {
            return Err(describe_choices(given, &people, named.iter().chain(&linked)));
        }
        if person.is_none() && named.is_empty() {
            return Err(OperationError::not_found("person", given)
                .hint("`munshi person list --all` shows everybody."));
        }
        Ok(DataSubject { person, records: linked.into_iter().chain(named).collect() })
    }

    /// Those who are named, and nobody whom an address leads to besides.
    fn find_by_ids(
        &self,
        tx: &mut Tx<'_>,
        known: &[&KnownRecords],
        (id, with): (&str, &str),
    ) -> Result<DataSubject, OperationError> {
        let mut found = DataSubject { person: None, records: Vec::new() };
        for (field, given) in [("id", id), ("with", with)] {
            if field == "with" && given == ALONE {
                continue;
            }
            if given.parse::<Uuid>().is_err() {
                let what = "must be an id where it is said who else is meant; `with` may be `none`";
                return Err(OperationError::field(field, what));
            }
            match list_candidates(tx, given)?.as_slice() {
                [person] => found.person = Some(self.take(tx, person.id)?),
                _ => found.records.extend(list_named(tx, known, given)?),
            }
        }
        let is_whole = match (&found.person, found.records.as_slice()) {
            (None, []) => return Err(OperationError::not_found("person", id)),
            (Some(_), []) | (None, [_]) => with == ALONE,
            (Some(person), [(_, record)]) => {
                let linked = list_linked(tx, known, person)?;
                linked.iter().any(|(_, known)| known.ids == record.ids)
            }
            _ => false,
        };
        if !is_whole {
            let what = "must be `none`, or the id of the person or contact who has a phone of the first";
            return Err(OperationError::field("with", what));
        }
        Ok(found)
    }

    /// The person as they are now, where they stand no higher than the caller.
    fn take(&self, tx: &mut Tx<'_>, mut id: PersonId) -> Result<Person, OperationError> {
        for _ in 0..TRIES {
            if self.lock == SubjectLock::Group {
                persons::lock_group(tx, id)?;
            }
            let person = super::find(tx, &id.to_string())?;
            if person.id == id {
                check_covered(self.caller, &person)?;
                return Ok(person);
            }
            // Merged while this waited for them.
            id = person.id;
        }
        let what = "This person is being merged with others; try again.";
        Err(OperationError::new(OperationErrorCode::Conflict, what))
    }
}

/// What a pack knows of people.
type KnownRecords = FromPack<dyn SubjectRecords>;

/// Those whom a text means among people: by id or address one, by a name all who have it, also those who have left.
fn list_candidates(tx: &mut Tx<'_>, given: &str) -> Result<Vec<Person>, OperationError> {
    if given.parse::<PersonId>().is_err() {
        let named = persons::list_by_name(tx, given)?;
        if !named.is_empty() {
            return Ok(named);
        }
    }
    match super::find(tx, given) {
        Ok(person) => Ok(vec![person]),
        Err(error) if error.code == OperationErrorCode::NotFound => list_texting(tx, given),
        Err(error) => Err(error),
    }
}

/// Who wrote text messages from a number that nobody has proved: they are known by what the channel calls them alone.
fn list_texting(tx: &mut Tx<'_>, given: &str) -> Result<Vec<Person>, OperationError> {
    let Ok(phone) = ContactAddress::phone(given) else { return Ok(Vec::new()) };
    let Ok(address) = ContactAddress::channel(Channel::Sms.as_str(), phone.as_str()) else {
        return Ok(Vec::new());
    };
    Ok(persons::find_by_address(tx, &address)?.into_iter().collect())
}

fn list_named(
    tx: &mut Tx<'_>,
    known: &[&KnownRecords],
    given: &str,
) -> Result<Vec<PackRecord>, OperationError> {
    let mut named = Vec::new();
    for of in known {
        let records = of.find_by_text(tx, given)?;
        named.extend(records.into_iter().map(|record| (of.pack, record)));
    }
    if let Ok(id) = given.parse::<Uuid>() {
        named.retain(|(_, record)| record.ids.contains(&id));
    }
    Ok(named)
}

/// Whose addresses these are.
fn list_holders(tx: &mut Tx<'_>, addresses: &[ContactAddress]) -> Result<Vec<Person>, OperationError> {
    let mut holders: Vec<Person> = Vec::new();
    for address in addresses {
        let holder = persons::find_by_address(tx, address)?;
        holders.extend(holder.filter(|holder| holders.iter().all(|known| known.id != holder.id)));
    }
    Ok(holders)
}

fn list_linked(
    tx: &mut Tx<'_>,
    known: &[&KnownRecords],
    person: &Person,
) -> Result<Vec<PackRecord>, OperationError> {
    let addresses = persons::list_addresses(tx, person.id)?;
    let mut linked = Vec::new();
    for of in known {
        let records = of.find_by_addresses(tx, &addresses)?;
        linked.extend(records.into_iter().map(|record| (of.pack, record)));
    }
    Ok(linked)
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
    let all = all.join(", ");
    let hint = match given.parse::<Uuid>() {
        Ok(_) => format!(
            "They share a phone. Name one by its id, and who else is meant: `--with ID`, or `--with none`: {all}."
        ),
        Err(_) => format!("Name each that is meant by its id: {all}."),
    };
    OperationError::new(OperationErrorCode::Invalid, what).hint(hint)
}

#[cfg(test)]
mod tests {
    use munshi_test_support::{DatabaseEngine, TestDb};
    use munshi_types::Clock;

    use super::*;

    #[tokio::test]
    async fn who_only_wrote_text_messages_is_found_by_their_number() {
        let lists = [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS];
        let test = TestDb::open(DatabaseEngine::Sqlite, &lists).await;
        let tenant = test.add_tenant("sharma").await;
        let (ids, now) = (test.ids.clone(), test.clock.now());
        let find = move |tx: &mut Tx<'_>| {
            let address = ContactAddress::channel("sms", "+919812345678").unwrap();
            let met = persons::find_or_add(tx, &ids, &[address], "", now)?.person.id;
            let found = |tx: &mut Tx<'_>, given: &str| {
                list_candidates(tx, given).unwrap().iter().map(|person| person.id).collect::<Vec<_>>()
            };
            assert_eq!(found(tx, "98123 45678"), [met]);
            assert!(found(tx, "+919812345679").is_empty());
            assert!(super::super::find(tx, "+919812345678").is_err(), "nobody is given a role by it");
            Ok::<_, munshi_identity::Error>(())
        };
        test.db.write(tenant, find).await.unwrap();
    }
}
