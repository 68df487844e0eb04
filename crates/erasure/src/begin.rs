//! Asking for it, in one transaction.

use std::collections::BTreeMap;
use std::time::Duration;

use munshi_identity::persons;
use munshi_store::{AdminTx, Tx};
use munshi_types::{DataKeyId, ErasureId, PersonId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::addressed::forget_addressed;
use crate::error::Result;
use crate::job::build_job;
use crate::rows::{self, Erasure};
use crate::service::ErasureService;

/// Whoever asked goes on with it at once; the job is for when they can't.
const TAKEOVER: Duration = Duration::from_secs(30);

/// Whom to forget.
#[derive(Clone, Debug)]
pub struct ErasureRequest {
    pub id: ErasureId,
    pub person: Option<PersonId>,
    /// What packs know of them, by pack.
    pub records: BTreeMap<String, Vec<Uuid>>,
    /// As the audit knows who asks.
    pub asked_by: String,
}

/// Writes down that somebody is to be forgotten, and takes from them everything they are known by: whoever writes from there is
/// somebody new from now on, and nobody comes upon what packs know of them. From here on it comes to its end, whatever happens.
pub fn begin(
    tx: &mut AdminTx<'_, '_>,
    service: &ErasureService,
    request: ErasureRequest,
    now: Timestamp,
) -> Result<Erasure> {
    let (persons, keys) =
        request.person.map_or(Ok((Vec::new(), Vec::new())), |person| lock_group(tx, person))?;
    let mut counts = BTreeMap::new();
    for person in &persons {
        for (name, count) in forget_addressed(tx, service, *person, now)? {
            *counts.entry(name).or_default() += count;
        }
        persons::detach(tx, *person, now)?;
    }
    counts.extend(detach_records(tx, service, &request.records, now)?);
    let erasure = Erasure {
        id: request.id,
        persons,
        keys,
        records: request.records,
        asked_by: request.asked_by,
        asked_at: now,
        destroyed_at: None,
        ended_at: None,
        counts,
    };
    rows::add(tx, &erasure)?;
    service.queue.enqueue(tx, &build_job(erasure.id)?.run_at(now.plus(TAKEOVER)))?;
    let payload = json!({ "persons": erasure.persons, "records": erasure.records });
    tx.note("person.erasure_begun", erasure.id.to_string(), payload);
    Ok(erasure)
}

/// Says how many rows were changed, by kind. What is of a pack that is not installed is found out when it is carried out.
pub(crate) fn detach_records(
    tx: &mut Tx<'_>,
    service: &ErasureService,
    records: &BTreeMap<String, Vec<Uuid>>,
    now: Timestamp,
) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for known in &service.packs.subjects {
        for record in records.get(known.pack).into_iter().flatten() {
            *counts.entry(known.name().to_owned()).or_default() += known.detach(tx, *record, now)?;
        }
    }
    Ok(counts)
}

/// Somebody with everybody who turned out to be them, held, and the key of each, in the same order. Who has none yet is given one: so what is
/// written for them until it is destroyed goes with it, and no other comes after it.
fn lock_group(tx: &mut Tx<'_>, person: PersonId) -> Result<(Vec<PersonId>, Vec<DataKeyId>)> {
    let group = persons::lock_group(tx, person)?;
    for one in &group {
        persons::seal_by_person(tx, *one)?;
    }
    let keys = persons::list_keys(tx, person)?;
    Ok((group, keys))
}
