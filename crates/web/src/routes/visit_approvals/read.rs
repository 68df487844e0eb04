//! `GET /visit/{place}/approvals/{id}`: a question of one's own thread.

use munshi_agent::sessions;
use munshi_identity::Person;
use munshi_safety::acts::Office;
use munshi_safety::approvals::{self, Approval};
use munshi_store::Tx;
use munshi_types::{ApprovalId, BindingId, SessionId};

use crate::api::ask::AtBoth;
use crate::error::{ApiError, Code};
use crate::json::Json;
use crate::views::visit::VisitApproval;
use crate::visitor::guest::{Guest, Proved, find as find_person};

/// A question before an act that was asked in one's own thread.
#[utoipa::path(get, path = "/visit/{place}/approvals/{id}", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "Which question."),
    ),
    responses((status = 200, description = "The question.", body = VisitApproval)))]
pub(crate) async fn read_visit_approval(
    guest: Guest,
    AtBoth(_place, id): AtBoth<String, ApprovalId>,
) -> Result<Json<VisitApproval>, ApiError> {
    let (proved, binding, office) = (guest.proved.clone(), guest.place.binding_id, guest.api.office.clone());
    let read = move |tx: &mut Tx<'_>| {
        let (person, approval) = own(tx, &proved, binding, id)?;
        shown(tx, &office, &person, &approval)
    };
    Ok(Json(guest.api.db.read(guest.place.tenant, read).await?))
}

pub(crate) fn shown(
    tx: &mut Tx<'_>,
    office: &Office,
    person: &Person,
    approval: &Approval,
) -> Result<VisitApproval, ApiError> {
    let yours = approvals::is_for(tx, office, approval, &person.principal(tx))?;
    Ok(VisitApproval::of(approval, yours))
}

/// The question and whoever asks about it, if it was asked in a thread of theirs in this very place.
pub(crate) fn own(
    tx: &mut Tx<'_>,
    proved: &Proved,
    binding: BindingId,
    id: ApprovalId,
) -> Result<(Person, Approval), ApiError> {
    let gone = || ApiError::new(Code::NotFound, "There is no such question of yours.");
    let person = find_person(tx, proved)?.ok_or_else(gone)?;
    let approval = approvals::find(tx, id)?.ok_or_else(gone)?;
    let session = approval.session.map(SessionId::from_uuid).ok_or_else(gone)?;
    let session = sessions::living(tx, session)?.ok_or_else(gone)?;
    if session.person == person.id && session.binding == binding {
        Ok((person, approval))
    } else {
        Err(gone())
    }
}
