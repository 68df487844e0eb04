//! Saying yes or no to what a program asked for.

use munshi_identity::keys::{self, ApiAccess, ApiKeyRecord, Area, KeySpeaker};
use munshi_pack::operation::{
    CallerClass, IdempotencyKey, Operation, OperationCaller, OperationEffect, OperationError,
    OperationErrorCode, OperationSpec, RouteMethod,
};
use munshi_safety::proposals::{self, ProposalState, ProposedOperation};
use munshi_safety::requests::KEPT;
use munshi_store::Tx;
use munshi_types::{KeyId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::show::find;
use super::{ProposalInput, ProposalView};
use crate::connectors::continue_call;
use crate::{HouseCall, HouseServices, is_offered_to_agents, list_operations};

const GRANTED: &str = "operation.granted";
const REFUSED: &str = "operation.refused";
const CONCLUDED: &str = "operation.concluded";
const REOPENED: &str = "operation.reopened";

const INTERRUPTED: &str = "It was begun before and cut short. Look at how things stand; where it was not done, it can be asked for again.";

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantProposalInput {
    /// The proposal's id.
    pub id: String,
    /// The digest that was shown with it.
    pub digest: String,
}

pub struct GrantProposal;

impl Operation<HouseServices> for GrantProposal {
    type Input = GrantProposalInput;
    type View = ProposalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "proposals",
        noun: "proposal",
        command: "proposals",
        verb: "grant",
        about: "Do what a program asked for. Whoever grants it must be allowed to do it themselves.",
        needs: CallerClass::MemberOrKeeper(Area::Administration, ApiAccess::Write),
        effect: OperationEffect::Write(&[GRANTED, CONCLUDED, REOPENED]),
        method: RouteMethod::Post,
        path: "/v1/proposals/{id}/grant",
    };

    async fn run(call: &HouseCall, input: GrantProposalInput) -> Result<ProposalView, OperationError> {
        if call.caller.speaks_as() == KeySpeaker::Program {
            return Err(OperationError::new(OperationErrorCode::Forbidden, "A program grants nothing.")
                .hint("Use a key that speaks as a person, or `munshi proposals grant`."));
        }
        let id = input.id.clone();
        let asked = call.read(move |tx| find(tx, &id)).await?;
        if !asked.digest().eq_ignore_ascii_case(input.digest.trim()) {
            return Err(OperationError::field("digest", "is not that of this proposal: look at it first"));
        }
        let packs = call.services.parts.pack_operations()?;
        let entry = list_operations(&packs).find(|entry| entry.spec.id() == asked.operation);
        let entry = entry.filter(|entry| is_offered_to_agents(&entry.spec)).ok_or_else(|| {
            OperationError::new(OperationErrorCode::Conflict, "This version has no such operation.")
                .hint("Refuse the proposal.")
        })?;
        // Whoever may not do it grants nothing, and it goes on waiting.
        entry.check(call, &asked.input).await?;
        let proposal = take(call, input.id, ProposalState::Granted).await?;
        // Under the proposal's own key: cut short and granted again, by whomever, it is carried out once.
        let mut work = continue_call(call);
        work.idempotency = IdempotencyKey::shared(format!("proposal {}", proposal.id));
        match entry.execute(&work, proposal.input.clone()).await {
            Ok(view) => keep(call, proposal, ProposalState::Done, view).await,
            Err(error) => conclude(call, &work, asked.state, proposal, error).await,
        }
    }
}

/// What is done about a grant whose operation did not go through.
async fn conclude(
    call: &HouseCall,
    work: &HouseCall,
    before: ProposalState,
    proposal: ProposedOperation,
    error: OperationError,
) -> Result<ProposalView, OperationError> {
    match error.code {
        // Nothing was begun: it waits for somebody else.
        OperationErrorCode::Forbidden | OperationErrorCode::TooManyRequests
            if before == ProposalState::Waiting =>
        {
            let (id, now, words) = (proposal.id, call.now, json!({ "why": error.message }));
            call.write(move |tx| {
                proposals::reopen(tx, id, now)?;
                tx.note(REOPENED, id.to_string(), words);
                Ok(())
            })
            .await?;
            Err(error)
        }
        // It may go through when it is granted again, once nobody can be at it any more.
        OperationErrorCode::Forbidden
        | OperationErrorCode::TooManyRequests
        | OperationErrorCode::Unavailable
        | OperationErrorCode::Internal => Err(error),
        code => {
            let begun = work.idempotency.was_begun();
            let state = if begun { ProposalState::Interrupted } else { ProposalState::Failed };
            let words = if begun { INTERRUPTED.to_owned() } else { error.message };
            keep(call, proposal, state, json!({ "code": code.as_str(), "message": words })).await
        }
    }
}

pub struct RefuseProposal;

impl Operation<HouseServices> for RefuseProposal {
    type Input = ProposalInput;
    type View = ProposalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "proposals",
        noun: "proposal",
        command: "proposals",
        verb: "refuse",
        about: "Refuse what a program asked for.",
        needs: CallerClass::MemberOrKeeper(Area::Administration, ApiAccess::Write),
        effect: OperationEffect::Write(&[REFUSED]),
        method: RouteMethod::Post,
        path: "/v1/proposals/{id}/refuse",
    };

    async fn run(call: &HouseCall, input: ProposalInput) -> Result<ProposalView, OperationError> {
        let proposal = take(call, input.id, ProposalState::Refused).await?;
        Ok(ProposalView::new(call, &call.services.parts.pack_operations()?, proposal))
    }
}

/// Decides on one that waits, or takes up one whose work was cut short.
async fn take(
    call: &HouseCall,
    id: String,
    state: ProposalState,
) -> Result<ProposedOperation, OperationError> {
    let (by, caller, now) = (call.caller.actor().id.clone(), call.caller.clone(), call.now);
    let event = if state == ProposalState::Granted { GRANTED } else { REFUSED };
    call.write(move |tx| {
        let found = find(tx, &id)?;
        match state {
            ProposalState::Granted => check_asker(tx, &caller, found.asked_key, now)?,
            _ => check_refusal(&caller, found.asked_key)?,
        }
        let waits = found.state == ProposalState::Granted || now < found.ends_at;
        let is_kept = found.decided_at.is_none_or(|at| now < at.plus(KEPT));
        if !waits || !is_kept || !proposals::decide(tx, found.id, state, &by, now)? {
            let is_done = found.state == ProposalState::Granted;
            let what = match is_done {
                true => "This proposal is being done.",
                false => "This proposal does not wait for an answer any more.",
            };
            let error = OperationError::new(OperationErrorCode::Conflict, what);
            return Err(if is_done { error.hint("Look at it again in ten minutes.") } else { error });
        }
        tx.note(event, found.id.to_string(), json!({ "operation": found.operation }));
        Ok(ProposedOperation { state, decided_by: Some(by), decided_at: Some(now), ..found })
    })
    .await
}

/// Nobody grants what a program of their own asked for, nor what a key asked for that has ended since.
fn check_asker(
    tx: &mut Tx<'_>,
    caller: &OperationCaller,
    asked: KeyId,
    now: Timestamp,
) -> Result<(), OperationError> {
    let key = keys::find(tx, asked)?;
    let is_over =
        |key: &ApiKeyRecord| key.revoked_at.is_some() || key.expires_at.is_some_and(|end| end <= now);
    if key.as_ref().is_some_and(is_over) {
        let what = "The key that asked for this is revoked or has ended.";
        return Err(OperationError::new(OperationErrorCode::Forbidden, what).hint("Refuse the proposal."));
    }
    let is_same = match (caller.api_key(), caller.is_keeper_key()) {
        (Some(own), _) => keys::has_common_maker(tx, asked, own)?,
        (None, true) => keys::has_keeper_maker(tx, asked)?,
        (None, false) => false,
    };
    if !is_same {
        return Ok(());
    }
    let what = "Whoever made the program's key does not grant what it asks for with another key.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("Run `munshi proposals grant` on the machine itself, or ask somebody else."))
}

/// A program takes back what it asked for itself.
fn check_refusal(caller: &OperationCaller, asked: KeyId) -> Result<(), OperationError> {
    let is_own = caller.api_caller().is_some_and(|api| api.key == asked);
    if caller.speaks_as() != KeySpeaker::Program || is_own {
        return Ok(());
    }
    let what = "A program refuses only what it asked for itself.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what))
}

async fn keep(
    call: &HouseCall,
    proposal: ProposedOperation,
    state: ProposalState,
    outcome: Value,
) -> Result<ProposalView, OperationError> {
    let (id, kept) = (proposal.id, outcome.clone());
    call.write(move |tx| {
        if !proposals::keep_outcome(tx, id, state, &kept)? {
            return Err(OperationError::internal("a proposal was decided on twice"));
        }
        tx.note(CONCLUDED, id.to_string(), json!({ "state": state.as_str() }));
        Ok(())
    })
    .await?;
    let proposal = ProposedOperation { state, outcome: Some(outcome), ..proposal };
    Ok(ProposalView::new(call, &call.services.parts.pack_operations()?, proposal))
}
