//! `POST /v1/approvals/{id}/grant`: lets the agent go ahead.

use munshi_identity::keys::KeySpeaker;
use munshi_safety::acts;
use munshi_safety::approvals::{
    Approval, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision, ApprovalStatus,
    answer, may_take_back,
};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::{UrlPathParameter, field_error};
use munshi_store::Tx;
use munshi_types::{ApprovalId, RunId, TenantId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::read::load_approval;
use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;
use crate::app::api::ApiState;
use crate::views::approval::ApprovalView;

/// More than any digest has.
const LONGEST: usize = 200;

/// A request to grant an approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Grant)]
pub(crate) struct GrantApprovalRequest {
    /// The `digest` that was shown. If the act has changed since, the answer is rejected.
    #[schema(max_length = 200)]
    digest: String,
    #[serde(default)]
    covers: GrantCoverage,
}

/// The scope of a grant.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = GrantCovers)]
pub(crate) enum GrantCoverage {
    #[default]
    Act,
    /// Don't ask again for this tool in this conversation. Never for money, messages and what can do harm.
    Session,
}

/// Grant an approval. The waiting run resumes.
#[utoipa::path(post, path = "/v1/approvals/{id}/grant", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The approval.")),
    responses((status = 200, description = "Granted, now or earlier.", body = ApprovalView)))]
pub(crate) async fn grant_approval(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<ApprovalId>,
    Json(grant): Json<GrantApprovalRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    let covers = match grant.covers {
        GrantCoverage::Act => ApprovalCoverage::Act,
        GrantCoverage::Session => ApprovalCoverage::Session,
    };
    answer_approval(&key, id, ApprovalDecision::Yes, grant.digest, covers).await
}

pub(crate) async fn answer_approval(
    key: &AuthorizedCaller,
    id: ApprovalId,
    said: ApprovalDecision,
    digest: String,
    covers: ApprovalCoverage,
) -> Result<Json<ApprovalView>, ApiError> {
    if digest.chars().count() > LONGEST {
        return Err(field_error("digest", "must be the digest that was shown: twelve hexadecimal digits"));
    }
    let shown = digest.clone();
    let (caller, act_services, now) = (key.caller.clone(), key.api.act_services.clone(), key.api.clock.now());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let asked = load_approval(tx, &caller, id)?;
        // It may take back what it asked for; a yes is a person's to say.
        if caller.speaks_as == KeySpeaker::Program
            && !(said == ApprovalDecision::No && may_take_back(tx, &asked, caller.key)?)
        {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "Only a person may answer this approval; it is unchanged.")
                .hint("Answer it in the console, with `munshi approvals grant`, or with a key that speaks as a person."));
        }
        let via = format!("api:{}", caller.key);
        let said = ApprovalAnswer {
            who: &caller.principal,
            answer: said,
            shown: Some(&digest),
            covers,
            via: &via,
            key: Some(caller.key),
        };
        Ok(answer(tx, &act_services, id, &said, now)?)
    };
    let answered = key.api.db.write(key.tenant(), unit).await?;
    let approval = resolve_outcome(answered, said, &shown)?;
    resume_run(&key.api, key.tenant(), &approval).await?;
    Ok(Json(approval.into()))
}

/// The same answer a second time is no mistake; another one comes too late.
pub(crate) fn resolve_outcome(
    answered: ApprovalAnswerOutcome,
    said: ApprovalDecision,
    shown: &str,
) -> Result<Approval, ApiError> {
    let answered = match answered {
        ApprovalAnswerOutcome::Already(approval) if approval.digest.to_string() != shown => {
            ApprovalAnswerOutcome::Changed { now: approval.digest }
        }
        other => other,
    };
    let conflict = |what: &str, hint: &'static str| {
        Err(ApiError::new(ApiErrorCode::Conflict, what.to_owned()).hint(hint))
    };
    match (answered, said) {
        (ApprovalAnswerOutcome::Granted(approval) | ApprovalAnswerOutcome::Refused(approval), _) => Ok(*approval),
        (ApprovalAnswerOutcome::Already(approval), ApprovalDecision::Yes) if approval.state == ApprovalStatus::Granted => Ok(*approval),
        (ApprovalAnswerOutcome::Already(approval), ApprovalDecision::No) if approval.state == ApprovalStatus::Refused => Ok(*approval),
        (ApprovalAnswerOutcome::Already(approval), _) => conflict(
            &format!("This approval was already {}; it can be answered only once.", approval.state.as_str()),
            "Ask the agent again to create a new approval.",
        ),
        (ApprovalAnswerOutcome::NotYours { ask }, _) => {
            Err(ApiError::new(ApiErrorCode::Forbidden, "You may not answer this approval; it is unchanged.")
                .hint(format!("Ask an owner or {ask} of the workspace.")))
        }
        (ApprovalAnswerOutcome::OwnWish, _) => Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "The key that requested this act, or one with the same creator, can't answer its approval; it is unchanged.",
        )
        .hint(
            "Another person answers it in the console, with `munshi approvals grant`, or with their own key.",
        )),
        (ApprovalAnswerOutcome::Changed { now }, _) => conflict(
            &format!(
                "The act has changed since it was shown: its digest is now {now}. The approval is unchanged."
            ),
            "Read it again with GET /v1/approvals/{id}.",
        ),
        (ApprovalAnswerOutcome::Expired, _) => {
            conflict("This approval has expired; the act is cancelled.", "Ask the agent again to create a new approval.")
        }
        (ApprovalAnswerOutcome::Unknown, _) => Err(ApiError::from_code(ApiErrorCode::NotFound)),
    }
}

/// The turn that waits for this very question is taken up; what waits for others waits on. Where another turn has taken
/// its work over, the engine's own round finds that one.
pub(crate) async fn resume_run(
    api: &ApiState,
    tenant: TenantId,
    approval: &Approval,
) -> Result<Option<RunId>, ApiError> {
    let act = approval.act;
    let found = api.db.read(tenant, move |tx| acts::find(tx, act)).await?;
    let Some(run) = found.and_then(|act| act.rests_on.caller.run) else { return Ok(None) };
    match api.engine.resume(tenant, run).await {
        Ok(()) => Ok(Some(run)),
        // Acts that no turn of ours asked for have none to go on with.
        Err(munshi_agent::Error::NoRun) => Ok(None),
        Err(error) => Err(convert_turn_error(error)),
    }
}
