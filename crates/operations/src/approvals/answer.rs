//! Saying yes or no.

use munshi_agent::TurnEngine;
use munshi_conversations::sessions;
use munshi_identity::Principal;
use munshi_identity::keys::KeySpeaker;
use munshi_pack::operation::{OperationCaller, OperationError, OperationErrorCode};
use munshi_safety::acts;
use munshi_safety::approvals::{
    self, AnswerSource, Approval, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision,
    ApprovalStatus, may_take_back,
};
use munshi_store::{Db, Tx};
use munshi_types::{KeyId, RunId, TenantId};

use super::find::find;
use super::{AnsweredApprovalView, ApprovalView};
use crate::HouseCall;
use crate::persons as people;
use crate::turn_errors::convert_turn_error;

/// More than any digest has.
const LONGEST: usize = 200;

/// An answer as it is given.
pub(super) struct GivenAnswer {
    pub(super) id: String,
    pub(super) decision: ApprovalDecision,
    pub(super) digest: Option<String>,
    pub(super) covers: ApprovalCoverage,
    pub(super) person: Option<String>,
}

/// Who answers, and through what.
struct Answerer {
    who: Principal,
    /// Where somebody at the machine answers for them.
    name: Option<String>,
    via: String,
    key: Option<KeyId>,
    source: AnswerSource,
}

/// Answers a question. The domain tells the audit itself: an answer in a chat comes the same way.
pub(super) async fn answer(
    call: &HouseCall,
    given: GivenAnswer,
) -> Result<AnsweredApprovalView, OperationError> {
    check_given(&call.caller, &given)?;
    let (caller, act_services, now) = (call.caller.clone(), (call.services.act_services)()?, call.now);
    let decision = given.decision;
    let unit = move |tx: &mut Tx<'_>| -> Result<_, OperationError> {
        let asked = find(tx, &caller, &given.id)?;
        check_speaker(tx, &caller, &asked, decision)?;
        let answerer = resolve_answerer(tx, &caller, given.person.as_deref())?;
        let said = ApprovalAnswer {
            who: &answerer.who,
            answer: decision,
            shown: given.digest.as_deref(),
            covers: given.covers,
            via: &answerer.via,
            key: answerer.key,
            source: answerer.source,
        };
        if asked.state == ApprovalStatus::Pending {
            sessions::touch_asked(tx, asked.session, now)?;
        }
        let outcome = approvals::answer(tx, &act_services, asked.id, &said, now)?;
        if let (ApprovalAnswerOutcome::NotYours { ask }, Some(name)) = (&outcome, &answerer.name) {
            let what = format!("{name} may not answer this approval; it is unchanged.");
            return Err(OperationError::new(OperationErrorCode::Forbidden, what)
                .hint(format!("An owner or {ask} may answer: add --as PERSON.")));
        }
        let changed =
            matches!(outcome, ApprovalAnswerOutcome::Granted(_) | ApprovalAnswerOutcome::Refused(_));
        let approval = resolve_outcome(outcome, decision, given.digest.as_deref())?;
        let covers = describe_coverage(&approval, decision, given.covers, changed);
        let view = ApprovalView::load(tx, &caller, approval.clone())?;
        Ok((approval, AnsweredApprovalView { approval: view, changed, covers }))
    };
    let (approval, view) = call.db.write(call.tenant.id, unit).await?;
    if let Some(engine) = &call.services.engine {
        resume_run(&call.db, engine, call.tenant.id, &approval).await?;
    }
    Ok(view)
}

fn check_given(caller: &OperationCaller, given: &GivenAnswer) -> Result<(), OperationError> {
    let what = "must be the digest that was shown: twelve hexadecimal digits";
    match &given.digest {
        Some(digest) if digest.chars().count() > LONGEST => {
            return Err(OperationError::field("digest", what));
        }
        // At the machine the whole act stood before them.
        None if !caller.is_machine() => return Err(OperationError::field("digest", what)),
        _ => {}
    }
    if given.person.is_some() && !caller.is_machine() {
        let what = "Only somebody at the machine may answer for another person.";
        return Err(OperationError::new(OperationErrorCode::Forbidden, what)
            .hint("Leave `person` out: the key says who answers."));
    }
    Ok(())
}

/// A program may take back what it asked for; a yes is a person's to say.
fn check_speaker(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    asked: &Approval,
    decision: ApprovalDecision,
) -> Result<(), OperationError> {
    let Some(api) = caller.api_caller() else { return Ok(()) };
    if caller.is_keeper_key() && decision == ApprovalDecision::Yes {
        let what = "A keeper's key grants nothing: a yes is for somebody of the tenant to say.";
        return Err(OperationError::new(OperationErrorCode::Forbidden, what)
            .hint("Use a person's key, the account pages, or `munshi approvals grant` on the machine."));
    }
    if api.speaks_as != KeySpeaker::Program
        || (decision == ApprovalDecision::No && may_take_back(tx, asked, api.key)?)
    {
        return Ok(());
    }
    Err(OperationError::new(
        OperationErrorCode::Forbidden,
        "Only a person may answer this approval; it is unchanged.",
    )
    .hint("Answer it in the console, with `munshi approvals grant`, or with a key that speaks as a person."))
}

fn resolve_answerer(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    person: Option<&str>,
) -> Result<Answerer, OperationError> {
    if let Some(api) = caller.api_caller() {
        let via = format!("api:{}", api.key);
        let source = match api.speaks_as {
            KeySpeaker::Person => AnswerSource::Page,
            KeySpeaker::Program => AnswerSource::Other,
        };
        return Ok(Answerer { who: api.principal.clone(), name: None, via, key: Some(api.key), source });
    }
    if !caller.is_machine() {
        let what = "Approvals are answered by people of the workspace.";
        return Err(OperationError::new(OperationErrorCode::Forbidden, what));
    }
    let person = match person {
        Some(given) => people::find(tx, given)?,
        None => people::find_only_owner(tx)?,
    };
    let (who, via) = (person.principal(tx), format!("cli:{}", caller.actor().id));
    // Whoever sits at the machine answers in another's place.
    Ok(Answerer { who, name: Some(person.name), via, key: None, source: AnswerSource::Other })
}

fn describe_coverage(
    approval: &Approval,
    decision: ApprovalDecision,
    wanted: ApprovalCoverage,
    changed: bool,
) -> Option<String> {
    let waivable =
        approval.session.is_some() && approval.question.reasons.iter().all(|reason| reason.is_waivable());
    match (decision, wanted) {
        (ApprovalDecision::No, _) => None,
        (ApprovalDecision::Yes, ApprovalCoverage::Session) if changed && waivable => {
            Some("session".to_owned())
        }
        (ApprovalDecision::Yes, _) => Some("act".to_owned()),
    }
}

/// The same answer a second time is no mistake; another one comes too late.
pub fn resolve_outcome(
    answered: ApprovalAnswerOutcome,
    said: ApprovalDecision,
    shown: Option<&str>,
) -> Result<Approval, OperationError> {
    use ApprovalAnswerOutcome as O;
    let answered = match answered {
        O::Already(approval) if shown.is_some_and(|shown| approval.digest.to_string() != shown) => {
            O::Changed { now: approval.digest }
        }
        other => other,
    };
    let refuse = |code, what: &str, hint: &str| Err(OperationError::new(code, what).hint(hint));
    let (conflict, forbidden) = (OperationErrorCode::Conflict, OperationErrorCode::Forbidden);
    let again = "Ask the agent again to create a new approval.";
    match (answered, said) {
        (O::Granted(approval) | O::Refused(approval), _) => Ok(*approval),
        (O::Already(approval), ApprovalDecision::Yes) if approval.state == ApprovalStatus::Granted => {
            Ok(*approval)
        }
        (O::Already(approval), ApprovalDecision::No) if approval.state == ApprovalStatus::Refused => {
            Ok(*approval)
        }
        (O::Already(approval), _) => {
            let state = approval.state.as_str();
            refuse(
                conflict,
                &format!("This approval was already {state}; it can be answered only once."),
                again,
            )
        }
        (O::NotYours { ask }, _) => {
            let hint = format!("Ask an owner or {ask} of the workspace.");
            refuse(forbidden, "You may not answer this approval; it is unchanged.", &hint)
        }
        (O::OwnWish, _) => refuse(
            forbidden,
            "The key that requested this act, or one with the same creator, can't answer its approval; it is unchanged.",
            "Another person answers it in the console, with `munshi approvals grant`, or with their own key.",
        ),
        (O::NotTheirWord, _) => refuse(
            forbidden,
            "Only the person themself may consent; nobody was asked for them, and the approval is unchanged.",
            "They say yes in their conversation, on its page, or with a key that they made for themself.",
        ),
        (O::Changed { now }, _) => {
            let what = format!(
                "The act has changed since it was shown: its digest is now {now}. The approval is unchanged."
            );
            refuse(conflict, &what, "Read it again with GET /v1/approvals/{id} or `munshi approvals show`.")
        }
        (O::Expired, _) => refuse(conflict, "This approval has expired; the act is cancelled.", again),
        (O::Unknown, _) => Err(OperationError::new(OperationErrorCode::NotFound, "No such approval exists.")),
    }
}

/// The turn that waits for this very question is taken up; what waits for others waits on. Where another turn has taken
/// its work over, the engine's own round finds that one.
pub async fn resume_run(
    db: &Db,
    engine: &TurnEngine,
    tenant: TenantId,
    approval: &Approval,
) -> Result<Option<RunId>, OperationError> {
    let act = approval.act;
    let found = db.read(tenant, move |tx| acts::find(tx, act)).await?;
    let Some(run) = found.and_then(|act| act.rests_on.caller.run) else {
        // What takes an act back was asked for by no turn.
        engine.resume_undo(tenant, act).await.map_err(convert_turn_error)?;
        return Ok(None);
    };
    match engine.resume(tenant, run).await {
        Ok(()) => Ok(Some(run)),
        // Acts that no turn of ours asked for have none to go on with.
        Err(munshi_conversations::Error::NoRun) => Ok(None),
        Err(error) => Err(convert_turn_error(error)),
    }
}
