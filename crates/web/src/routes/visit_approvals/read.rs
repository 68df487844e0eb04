//! `GET /visit/{place}/approvals/{id}`: a question of one's own thread.

use munshi_conversations::sessions;
use munshi_identity::Person;
use munshi_lang::{Locale, ScriptForm};
use munshi_safety::acts::ActServices;
use munshi_safety::approvals::{self, Approval};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameterPair;
use munshi_server::phrases::to_locale;
use munshi_store::Tx;
use munshi_types::{ApprovalId, BindingId, Language, SessionId};

use crate::app::api::ApiState;
use crate::views::visit::VisitApproval;
use crate::visitor::page_visitor::{PageVisitor, PageVisitorIdentity, find_person};

/// Get an approval requested in one's own session.
#[utoipa::path(get, path = "/visit/{place}/approvals/{id}", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "The approval."),
    ),
    responses((status = 200, description = "The approval.", body = VisitApproval)))]
pub(crate) async fn read_visit_approval(
    visitor: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ApprovalId>,
) -> Result<Json<VisitApproval>, ApiError> {
    let (proved, binding, api) = (visitor.proved.clone(), visitor.binding.binding_id, visitor.api.clone());
    let read = move |tx: &mut Tx<'_>| {
        let asked = load_own_approval(tx, &proved, binding, id)?;
        build_view(tx, &api, (&asked, &proved), &asked.approval)
    };
    Ok(Json(visitor.api.db.read(visitor.binding.tenant, read).await?))
}

/// A question, whoever asks about it, and what they speak.
pub(crate) struct VisitApprovalContext {
    pub(crate) person: Person,
    pub(crate) approval: Approval,
    voice: Locale,
}

pub(crate) fn build_view(
    tx: &mut Tx<'_>,
    api: &ApiState,
    (asked, proved): (&VisitApprovalContext, &PageVisitorIdentity),
    approval: &Approval,
) -> Result<VisitApproval, ApiError> {
    let yours = is_answerable(tx, &api.act_services, approval, (&asked.person, proved))?;
    Ok(VisitApproval::new(approval, yours, (&api.visitor_services.tools, asked.voice)))
}

/// Whether whoever is at the page may answer it there. What a person consents to is not said by a host for them.
pub(crate) fn is_answerable(
    tx: &mut Tx<'_>,
    act_services: &ActServices,
    approval: &Approval,
    (person, proved): (&Person, &PageVisitorIdentity),
) -> Result<bool, ApiError> {
    let is_consent = approval.question.purpose.is_some();
    Ok(!(is_consent && proved.is_vouched())
        && approvals::is_addressed_to(tx, act_services, approval, &person.principal(tx))?)
}

/// The question and whoever asks about it, if it was asked in a thread of theirs in this very place.
pub(crate) fn load_own_approval(
    tx: &mut Tx<'_>,
    proved: &PageVisitorIdentity,
    binding: BindingId,
    id: ApprovalId,
) -> Result<VisitApprovalContext, ApiError> {
    let gone = || ApiError::new(ApiErrorCode::NotFound, "No such approval of yours.");
    let person = find_person(tx, proved)?.ok_or_else(gone)?;
    let approval = approvals::find(tx, id)?.ok_or_else(gone)?;
    let session = approval.session.map(SessionId::from_uuid).ok_or_else(gone)?;
    let session = sessions::find_current(tx, session)?.ok_or_else(gone)?;
    if session.person == person.id && session.binding == binding {
        let english = Locale::new(Language::English, ScriptForm::Latin);
        let voice = session.language.as_ref().and_then(to_locale).unwrap_or(english);
        Ok(VisitApprovalContext { person, approval, voice })
    } else {
        Err(gone())
    }
}
