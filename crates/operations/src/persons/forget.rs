//! Somebody is forgotten for good.

use munshi_conversations::erasure::list_open_runs;
use munshi_conversations::{cancel, runs};
use munshi_erasure::{self as erasure, Erasure, ErasureReceipt, ErasureRequest, ErasureService};
use munshi_identity::keys::{self, ApiAccess, Area};
use munshi_identity::{Person, persons};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_safety::audit::AuditActor;
use munshi_store::AdminTx;
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::data_subject::{PackRecord, SubjectFinder, SubjectLock, SubjectName};
use super::rules::note_revoked;
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
    /// Where contacts share a phone and `id` is an id: the id of the person or contact who is meant with it, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
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
        let named = SubjectName { id: input.id, with: input.with };
        let finder = SubjectFinder { caller: &caller, packs: &service.packs, lock: SubjectLock::Group };
        let whom = finder.find(tx, &named)?;
        whom.person.as_ref().map_or(Ok(()), check_forgettable)?;
        if input.despite_open_matters != Some(true) {
            check_settled(&whom.records)?;
        }
        let mut stopped = Vec::new();
        if let Some(person) = &whom.person {
            for one in persons::lock_group(tx, person.id)? {
                stopped.extend(list_open_runs(tx, one)?);
                let revoked = keys::revoke_of_person(tx, one, now)?;
                note_revoked(tx, &known, &revoked, "whom it stood for, or who made it, is forgotten");
            }
            for &run in &stopped {
                match has_engine {
                    true => runs::request_cancel(tx, run, now).map(drop)?,
                    false => cancel::request_unattended(tx, &ids, run, now)
                        .map(drop)
                        .map_err(convert_turn_error)?,
                }
            }
        }
        let request = ErasureRequest {
            id: service.ids.next(),
            records: whom.record_ids(),
            person: whom.person.map(|person| person.id),
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
    erasure::begin(tx, service, request, now).map_err(OperationError::unavailable)
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
