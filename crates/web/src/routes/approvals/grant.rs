//! `POST /v1/approvals/{id}/grant`: lets the agent go ahead.

use munshi_identity::keys::KeySpeaker;
use munshi_safety::acts;
use munshi_safety::approvals::{
    Approval as Stored, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision,
    ApprovalKind, ApprovalStatus, answer,
};
use munshi_store::Tx;
use munshi_types::{ApprovalId, RunId, TenantId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::read::find;
use crate::api::ApiState;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::{UrlPathParameter, invalid};
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::views::approval::ApprovalView;

/// More than any digest has.
const LONGEST: usize = 200;

/// A yes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Grant)]
pub(crate) struct GrantApprovalRequest {
    /// The `digest` that was shown: if the act is not that one any more, nothing is answered.
    #[schema(max_length = 200)]
    digest: String,
    #[serde(default)]
    covers: GrantCoverage,
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = GrantCovers)]
pub(crate) enum GrantCoverage {
    #[default]
    Act,
    /// Don't ask again for this tool in this conversation. Never for money, messages and what can do harm.
    Session,
}

/// Lets the agent go ahead. The turn that waits goes on by itself.
#[utoipa::path(post, path = "/v1/approvals/{id}/grant", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "Granted, now or before.", body = ApprovalView)))]
pub(crate) async fn grant_approval(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<ApprovalId>,
    Json(grant): Json<GrantApprovalRequest>,
) -> Result<Json<ApprovalView>, ApiError> {
    let covers = match grant.covers {
        GrantCoverage::Act => ApprovalCoverage::Act,
        GrantCoverage::Session => ApprovalCoverage::Session,
    };
    give(&key, id, ApprovalDecision::Yes, grant.digest, covers).await
}

pub(crate) async fn give(
    key: &AuthorizedCaller,
    id: ApprovalId,
    said: ApprovalDecision,
    digest: String,
    covers: ApprovalCoverage,
) -> Result<Json<ApprovalView>, ApiError> {
    if digest.chars().count() > LONGEST {
        return Err(invalid("digest", "it is the one that was shown, twelve digits and letters"));
    }
    let shown = digest.clone();
    let (caller, office, now) = (key.caller.clone(), key.api.office.clone(), key.api.clock.now());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let asked = find(tx, &caller, id)?;
        // It may take back what it asked for; a yes is a person's to say.
        if caller.speaks_as == KeySpeaker::Program
            && (asked.kind, said) != (ApprovalKind::Act, ApprovalDecision::No)
        {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "A person is to be asked; nothing was answered.")
                .hint("Whoever may answers in the console, with `munshi approvals grant`, or with a key with which they type."));
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
        Ok(answer(tx, &office, id, &said, now)?)
    };
    let answered = key.api.db.write(key.tenant(), unit).await?;
    let approval = read(answered, said, &shown)?;
    go_on(&key.api, key.tenant(), &approval).await?;
    Ok(Json(approval.into()))
}

/// The same answer a second time is no mistake; another one comes too late.
pub(crate) fn read(
    answered: ApprovalAnswerOutcome,
    said: ApprovalDecision,
    shown: &str,
) -> Result<Stored, ApiError> {
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
            &format!("It was {} already, and an answer is given once.", approval.state.as_str()),
            "Ask the agent again: it will propose it anew.",
        ),
        (ApprovalAnswerOutcome::NotYours { ask }, _) => {
            Err(ApiError::new(ApiErrorCode::Forbidden, "This is for somebody else to answer; nothing was answered.")
                .hint(format!("An owner or {ask} of the workspace may.")))
        }
        (ApprovalAnswerOutcome::OwnWish, _) => Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "This key asked for it itself, or another of the same maker, and a person is to be asked; nothing was answered.",
        )
        .hint(
            "Whoever may answers in the console, with `munshi approvals grant`, or with a key of their own.",
        )),
        (ApprovalAnswerOutcome::Changed { now }, _) => conflict(
            &format!(
                "What was shown is not what would be done: that has the digest {now}. Nothing was answered."
            ),
            "Look at it again: GET /v1/approvals/{id}.",
        ),
        (ApprovalAnswerOutcome::Expired, _) => {
            conflict("Its time is over; the act is dropped.", "Ask the agent again: it will propose it anew.")
        }
        (ApprovalAnswerOutcome::Unknown, _) => Err(ApiError::plain(ApiErrorCode::NotFound)),
    }
}

/// The turn that waits for this very question is taken up; what waits for others waits on. Where another turn has taken
/// its work over, the engine's own round finds that one.
pub(crate) async fn go_on(
    api: &ApiState,
    tenant: TenantId,
    approval: &Stored,
) -> Result<Option<RunId>, ApiError> {
    let act = approval.act;
    let found = api.db.read(tenant, move |tx| acts::find(tx, act)).await?;
    let Some(run) = found.and_then(|act| act.rests_on.caller.run) else { return Ok(None) };
    match api.engine.take_up(tenant, run).await {
        Ok(()) => Ok(Some(run)),
        // Acts that no turn of ours asked for have none to go on with.
        Err(munshi_agent::Error::NoRun) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
