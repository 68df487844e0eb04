//! `GET /visit/{place}/approvals/{id}`: a question of one's own thread.

use munshi_agent::sessions;
use munshi_identity::Person;
use munshi_lang::{Locale, ScriptForm};
use munshi_safety::approvals::{self, Approval};
use munshi_store::Tx;
use munshi_types::{ApprovalId, BindingId, Language, SessionId};

use crate::api::ApiState;
use crate::api::ask::UrlPathParameterPair;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::views::visit::VisitApproval;
use crate::visitor::guest::{PageVisitor, PageVisitorIdentity, find as find_person};
use crate::visitor::heard::voice_of;

/// A question before an act that was asked in one's own thread.
#[utoipa::path(get, path = "/visit/{place}/approvals/{id}", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "Which question."),
    ),
    responses((status = 200, description = "The question.", body = VisitApproval)))]
pub(crate) async fn read_visit_approval(
    guest: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ApprovalId>,
) -> Result<Json<VisitApproval>, ApiError> {
    let (proved, binding, api) = (guest.proved.clone(), guest.place.binding_id, guest.api.clone());
    let read = move |tx: &mut Tx<'_>| {
        let asked = own(tx, &proved, binding, id)?;
        shown(tx, &api, &asked, &asked.approval)
    };
    Ok(Json(guest.api.db.read(guest.place.tenant, read).await?))
}

/// A question, whoever asks about it, and what they speak.
pub(crate) struct VisitApprovalContext {
    pub(crate) person: Person,
    pub(crate) approval: Approval,
    voice: Locale,
}

pub(crate) fn shown(
    tx: &mut Tx<'_>,
    api: &ApiState,
    asked: &VisitApprovalContext,
    approval: &Approval,
) -> Result<VisitApproval, ApiError> {
    let yours = approvals::is_for(tx, &api.office, approval, &asked.person.principal(tx))?;
    Ok(VisitApproval::of(approval, yours, (&api.visits.tools, asked.voice)))
}

/// The question and whoever asks about it, if it was asked in a thread of theirs in this very place.
pub(crate) fn own(
    tx: &mut Tx<'_>,
    proved: &PageVisitorIdentity,
    binding: BindingId,
    id: ApprovalId,
) -> Result<VisitApprovalContext, ApiError> {
    let gone = || ApiError::new(ApiErrorCode::NotFound, "There is no such question of yours.");
    let person = find_person(tx, proved)?.ok_or_else(gone)?;
    let approval = approvals::find(tx, id)?.ok_or_else(gone)?;
    let session = approval.session.map(SessionId::from_uuid).ok_or_else(gone)?;
    let session = sessions::living(tx, session)?.ok_or_else(gone)?;
    if session.person == person.id && session.binding == binding {
        let english = Locale::new(Language::English, ScriptForm::Latin);
        let voice = session.language.as_ref().and_then(voice_of).unwrap_or(english);
        Ok(VisitApprovalContext { person, approval, voice })
    } else {
        Err(gone())
    }
}
