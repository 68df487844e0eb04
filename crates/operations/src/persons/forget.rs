//! Somebody is forgotten for good.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_conversations::erasure::list_open_runs;
use munshi_conversations::{cancel, runs};
use munshi_erasure::{self as erasure, Erasure, ErasureReceipt, ErasureRequest, ErasureService};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::{Person, persons};
use munshi_pack::operation::{
    CallerClass, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use munshi_pack::{PackRegistry, SubjectRecord, load_tenant_packs};
use munshi_safety::audit::AuditActor;
use munshi_store::{AdminTx, Tx};
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::rules::{lock_covered, revoke_keys};
use crate::erasures::ErasureView;
use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

/// Whom to forget.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetPersonInput {
    /// The person: an id, name, phone, e-mail or @handle; or, where nobody is known so, a pack's record of them, such as
    /// a contact of the books.
    pub id: String,
    /// Also where something is still open with them, such as money they owe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub despite_open_matters: Option<bool>,
}

pub struct ForgetPerson;

impl Operation<HouseServices> for ForgetPerson {
    type Input = ForgetPersonInput;
    type View = ErasureView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "forget",
        about: "Forget a person for good: their encryption keys are destroyed, their text and files removed, and packs' \
                records of them pseudonymised. This can't be undone. The answer is a receipt of what went and what stayed.",
        needs: CallerClass::Member(Area::Erasure, ApiAccess::Write),
        effect: OperationEffect::Write(&["person.erasure_begun", "api_key.revoked"]),
        method: RouteMethod::Post,
        path: "/v1/persons/{id}/forget",
    };

    async fn run(call: &HouseCall, input: ForgetPersonInput) -> Result<ErasureView, OperationError> {
        let service = call.services.parts.open_erasure()?;
        let packs = service.packs.clone();
        let begun = begin(call, service.clone(), input).await?;
        if let Some(engine) = &call.services.engine {
            // Those that work here stop at once; others hear of it with the next renewal of their lease.
            for run in &begun.stopped {
                // One that is not stopped here is ended by the erasure.
                let _stopped = engine.cancel(call.tenant.id, *run).await;
            }
        }
        // From here on a job goes on with it where this does not: whoever asked hears that it has begun.
        let ended = service.try_carry_out(call.tenant.id, begun.erasure.id).await;
        let erasure = ended.unwrap_or(begun.erasure);
        Ok(ErasureReceipt::of(erasure, &packs).into())
    }
}

/// As it is told on the receipt: `operator 0190…`.
fn describe_actor(actor: &AuditActor) -> String {
    format!("{} {}", actor.kind.as_str(), actor.id)
}

struct BegunErasure {
    erasure: Erasure,
    /// Runs that were asked to stop.
    stopped: Vec<munshi_types::RunId>,
}

async fn begin(
    call: &HouseCall,
    service: ErasureService,
    input: ForgetPersonInput,
) -> Result<BegunErasure, OperationError> {
    let (caller, now, ids) = (call.caller.clone(), call.now, call.ids.clone());
    let known = call.services.keys.clone();
    let has_engine = call.services.engine.is_some();
    call.write(move |tx| {
        let whom = find_whom(tx, &caller, &service.packs, &input)?;
        let mut stopped = Vec::new();
        if let Some(person) = &whom.person {
            for run in list_open_runs(tx, person.id)? {
                match has_engine {
                    true => runs::request_cancel(tx, run, now).map(drop)?,
                    false => cancel::request_unattended(tx, &ids, run, now)
                        .map(drop)
                        .map_err(convert_turn_error)?,
                }
                stopped.push(run);
            }
            let gone = Person { left_at: Some(now), ..person.clone() };
            revoke_keys(tx, &known, person, &gone, now)?;
        }
        let request = ErasureRequest {
            id: service.ids.next(),
            person: whom.person.map(|person| person.id),
            records: whom.records,
            asked_by: describe_actor(caller.actor()),
        };
        let erasure = start(tx, &service, request, now)?;
        Ok(BegunErasure { erasure, stopped })
    })
    .await
}

fn start(
    tx: &mut AdminTx<'_, '_>,
    service: &ErasureService,
    request: ErasureRequest,
    now: Timestamp,
) -> Result<Erasure, OperationError> {
    erasure::begin(tx, &service.queue, request, now).map_err(OperationError::unavailable)
}

/// Who is to be forgotten, and what packs know of them.
struct Whom {
    person: Option<Person>,
    records: BTreeMap<String, Vec<uuid::Uuid>>,
}

/// Nothing brings back whom it takes by mistake: so one alone may be meant, and surely. Those who have left count too, and who stands
/// only in a pack.
fn find_whom(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    packs: &Arc<PackRegistry>,
    input: &ForgetPersonInput,
) -> Result<Whom, OperationError> {
    let listed = load_tenant_packs(tx)?;
    let of_tenant = || packs.subjects.iter().filter(|of| listed.has(of.pack));
    let people = list_candidates(tx, &input.id)?;
    let person = match people.as_slice() {
        [only] => Some(lock_covered(tx, caller, &only.id.to_string())?),
        _ => None,
    };
    let mut linked = Vec::new();
    if let Some(person) = &person {
        check_forgettable(person)?;
        let addresses = persons::list_addresses(tx, person.id)?;
        for of in of_tenant() {
            let records = of.find_by_addresses(tx, &addresses)?;
            linked.extend(records.into_iter().map(|record| (of.pack, record)));
        }
    }
    let mut named = Vec::new();
    for of in of_tenant() {
        let records = of.find_by_text(tx, &input.id)?;
        named.extend(records.into_iter().map(|record| (of.pack, record)));
    }
    named.retain(|(_, record)| linked.iter().all(|(_, known): &PackRecord| known.ids != record.ids));
    let is_sure = named.iter().all(|(_, record)| record.is_exact);
    if people.len() + named.len() > 1 || !is_sure || linked.len() > 1 {
        return Err(describe_choices(&input.id, &people, named.iter().chain(&linked)));
    }
    if person.is_none() && named.is_empty() {
        return Err(OperationError::not_found("person", &input.id)
            .hint("`munshi person list --all` shows everybody."));
    }
    let records: Vec<PackRecord> = linked.into_iter().chain(named).collect();
    if input.despite_open_matters != Some(true) {
        check_settled(&records)?;
    }
    let by_pack = records.into_iter().map(|(pack, record)| (pack.to_owned(), record.ids)).collect();
    Ok(Whom { person, records: by_pack })
}

/// A pack's record, and the pack.
type PackRecord = (&'static str, SubjectRecord);

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
        .hint(format!("Forget each that is meant by its id: {}.", all.join(", ")))
}

/// Who works here leaves first: what they may do ends by rules of its own.
fn check_forgettable(person: &Person) -> Result<(), OperationError> {
    if person.role.is_some() && person.left_at.is_none() {
        let what = "A member of the workspace can't be forgotten while they work here.";
        return Err(OperationError::new(OperationErrorCode::Conflict, what)
            .hint(format!("Mark them as left first: `munshi person leave {}`.", person.id)));
    }
    Ok(())
}

fn check_settled(found: &[PackRecord]) -> Result<(), OperationError> {
    let open: Vec<&str> = found.iter().filter_map(|(_, record)| record.open_matter.as_deref()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let what = format!("Something is still open: {}.", open.join("; "));
    Err(OperationError::new(OperationErrorCode::Conflict, what)
        .hint("Settle it first, or forget them all the same with --despite-open-matters."))
}
