//! `POST /v1/approvals/{id}/grant`: lets the agent go ahead.

use munshi_identity::keys::SpeaksAs;
use munshi_safety::acts;
use munshi_safety::approvals::{Answer, Answered, Approval as Stored, Covers, Kind, Said, State, answer};
use munshi_store::Tx;
use munshi_types::{ApprovalId, RunId, TenantId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::read::find;
use crate::api::Inner;
use crate::api::access::Key;
use crate::api::ask::{At, invalid};
use crate::error::{ApiError, Code};
use crate::json::Json;
use crate::views::approval::Approval;

/// More than any digest has.
const LONGEST: usize = 200;

/// A yes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grant {
    /// The `digest` that was shown: if the act is not that one any more, nothing is answered.
    #[schema(max_length = 200)]
    digest: String,
    #[serde(default)]
    covers: GrantCovers,
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GrantCovers {
    #[default]
    Act,
    /// Don't ask again for this tool in this conversation. Never for money, messages and what can do harm.
    Session,
}

/// Lets the agent go ahead. The turn that waits goes on by itself.
#[utoipa::path(post, path = "/v1/approvals/{id}/grant", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "Granted, now or before.", body = Approval)))]
pub(crate) async fn grant_approval(
    key: Key,
    At(id): At<ApprovalId>,
    Json(grant): Json<Grant>,
) -> Result<Json<Approval>, ApiError> {
    let covers = match grant.covers {
        GrantCovers::Act => Covers::Act,
        GrantCovers::Session => Covers::Session,
    };
    give(&key, id, Answer::Yes, grant.digest, covers).await
}

pub(crate) async fn give(
    key: &Key,
    id: ApprovalId,
    said: Answer,
    digest: String,
    covers: Covers,
) -> Result<Json<Approval>, ApiError> {
    if digest.chars().count() > LONGEST {
        return Err(invalid("digest", "it is the one that was shown, twelve digits and letters"));
    }
    let shown = digest.clone();
    let (caller, office, now) = (key.caller.clone(), key.api.office.clone(), key.api.clock.now());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let asked = find(tx, &caller, id)?;
        // It may take back what it asked for; a yes is a person's to say.
        if caller.speaks_as == SpeaksAs::Program && (asked.kind, said) != (Kind::Act, Answer::No) {
            return Err(ApiError::new(Code::Forbidden, "A person is to be asked; nothing was answered.")
                .hint("Whoever may answers in the console, with `munshi approvals grant`, or with a key with which they type."));
        }
        let via = format!("api:{}", caller.key);
        let said = Said {
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
pub(crate) fn read(answered: Answered, said: Answer, shown: &str) -> Result<Stored, ApiError> {
    let answered = match answered {
        Answered::Already(approval) if approval.digest.to_string() != shown => {
            Answered::Changed { now: approval.digest }
        }
        other => other,
    };
    let conflict =
        |what: &str, hint: &'static str| Err(ApiError::new(Code::Conflict, what.to_owned()).hint(hint));
    match (answered, said) {
        (Answered::Granted(approval) | Answered::Refused(approval), _) => Ok(*approval),
        (Answered::Already(approval), Answer::Yes) if approval.state == State::Granted => Ok(*approval),
        (Answered::Already(approval), Answer::No) if approval.state == State::Refused => Ok(*approval),
        (Answered::Already(approval), _) => conflict(
            &format!("It was {} already, and an answer is given once.", approval.state.as_str()),
            "Ask the agent again: it will propose it anew.",
        ),
        (Answered::NotYours { ask }, _) => {
            Err(ApiError::new(Code::Forbidden, "This is for somebody else to answer; nothing was answered.")
                .hint(format!("An owner or {ask} of the workspace may.")))
        }
        (Answered::OwnWish, _) => Err(ApiError::new(
            Code::Forbidden,
            "This key asked for it itself, or another of the same maker, and a person is to be asked; nothing was answered.",
        )
        .hint(
            "Whoever may answers in the console, with `munshi approvals grant`, or with a key of their own.",
        )),
        (Answered::Changed { now }, _) => conflict(
            &format!(
                "What was shown is not what would be done: that has the digest {now}. Nothing was answered."
            ),
            "Look at it again: GET /v1/approvals/{id}.",
        ),
        (Answered::Expired, _) => {
            conflict("Its time is over; the act is dropped.", "Ask the agent again: it will propose it anew.")
        }
        (Answered::Unknown, _) => Err(ApiError::plain(Code::NotFound)),
    }
}

/// The turn that waits for this very question is taken up; what waits for others waits on. Where another turn has taken
/// its work over, the engine's own round finds that one.
pub(crate) async fn go_on(
    api: &Inner,
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
