//! Saying yes or no to what a program asked for.

use munshi_identity::keys::{ApiAccess, Area, KeySpeaker, has_common_maker};
use munshi_pack::operation::{
    CallerClass, IdempotencyKey, Operation, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use munshi_safety::proposals::{self, ProposalState, ProposedOperation};
use munshi_safety::requests::KEPT;
use munshi_store::Tx;
use munshi_types::KeyId;
use serde_json::{Value, json};

use super::show::find;
use super::{ProposalInput, ProposalView};
use crate::connectors::continue_call;
use crate::{HouseCall, HouseServices, list_operations};

const GRANTED: &str = "operation.granted";
const REFUSED: &str = "operation.refused";
const CONCLUDED: &str = "operation.concluded";

const INTERRUPTED: &str = "It was begun before and cut short. Look at how things stand; where it was not done, it can be asked for again.";

pub struct GrantProposal;

impl Operation<HouseServices> for GrantProposal {
    type Input = ProposalInput;
    type View = ProposalView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "proposals",
        noun: "proposal",
        command: "proposals",
        verb: "grant",
        about: "Do what a program asked for. Whoever grants it must be allowed to do it themselves.",
        needs: CallerClass::MemberOrKeeper(Area::Administration, ApiAccess::Write),
        effect: OperationEffect::Write(&[GRANTED, CONCLUDED]),
        method: RouteMethod::Post,
        path: "/v1/proposals/{id}/grant",
    };

    async fn run(call: &HouseCall, input: ProposalInput) -> Result<ProposalView, OperationError> {
        refuse_program(call)?;
        let id = input.id.clone();
        let asked = call.read(move |tx| find(tx, &id)).await?;
        let packs = call.services.parts.pack_operations()?;
        let entry = list_operations(&packs).find(|entry| entry.spec.id() == asked.operation);
        let entry = entry.ok_or_else(|| {
            OperationError::new(OperationErrorCode::Conflict, "This version has no such operation.")
                .hint("Refuse the proposal.")
        })?;
        // Whoever may not do it grants nothing, and it goes on waiting.
        entry.check(call, &asked.input)?;
        let proposal = take(call, input.id, ProposalState::Granted).await?;
        // Under the proposal's own key: cut short and granted again, by whomever, it is carried out once.
        let mut work = continue_call(call);
        work.idempotency = IdempotencyKey::shared(format!("proposal {}", proposal.id));
        let error = match entry.execute(&work, proposal.input.clone()).await {
            Ok(view) => return keep(call, proposal, ProposalState::Done, view).await,
            Err(error) => error,
        };
        match error.code {
            OperationErrorCode::Forbidden | OperationErrorCode::TooManyRequests => {
                let (id, words) = (proposal.id, json!({ "not_done": error.message }));
                call.write(move |tx| {
                    proposals::reopen(tx, id)?;
                    tx.note(GRANTED, id.to_string(), words);
                    Ok(())
                })
                .await?;
                Err(error)
            }
            // It may go through when it is granted again.
            OperationErrorCode::Unavailable | OperationErrorCode::Internal => Err(error),
            code => {
                let begun = work.idempotency.was_begun();
                let state = if begun { ProposalState::Interrupted } else { ProposalState::Failed };
                let words = if begun { INTERRUPTED.to_owned() } else { error.message };
                keep(call, proposal, state, json!({ "code": code.as_str(), "message": words })).await
            }
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
        Ok(ProposalView::new(proposal, call.now))
    }
}

fn refuse_program(call: &HouseCall) -> Result<(), OperationError> {
    if call.caller.speaks_as() != KeySpeaker::Program {
        return Ok(());
    }
    Err(OperationError::new(OperationErrorCode::Forbidden, "A program grants nothing.")
        .hint("Use a key that speaks as a person, or `munshi proposals grant`."))
}

/// Decides on one that waits, or goes on with one whose work was cut short.
async fn take(
    call: &HouseCall,
    id: String,
    state: ProposalState,
) -> Result<ProposedOperation, OperationError> {
    let (by, asking, now) =
        (call.caller.actor().id.clone(), call.caller.api_caller().map(|one| one.key), call.now);
    let event = if state == ProposalState::Granted { GRANTED } else { REFUSED };
    call.write(move |tx| {
        let found = find(tx, &id)?;
        if let (ProposalState::Granted, Some(key)) = (state, asking) {
            check_maker(tx, key, found.asked_key)?;
        }
        let is_again = found.state == ProposalState::Granted
            && state == ProposalState::Granted
            && found.decided_at.is_some_and(|at| now < at.plus(KEPT));
        let waits = found.state == ProposalState::Waiting && now < found.ends_at;
        if !is_again && !(waits && proposals::decide(tx, found.id, state, &by, now)?) {
            let what = "This proposal does not wait for an answer any more.";
            return Err(OperationError::new(OperationErrorCode::Conflict, what));
        }
        tx.note(event, found.id.to_string(), json!({ "operation": found.operation, "again": is_again }));
        Ok(ProposedOperation { state, decided_by: Some(by), decided_at: Some(now), ..found })
    })
    .await
}

fn check_maker(tx: &mut Tx<'_>, key: KeyId, asked: KeyId) -> Result<(), OperationError> {
    if !has_common_maker(tx, asked, key)? {
        return Ok(());
    }
    let what = "Whoever made the program's key does not grant what it asks for with another key.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what)
        .hint("Run `munshi proposals grant` on the machine itself, or ask somebody else."))
}

async fn keep(
    call: &HouseCall,
    proposal: ProposedOperation,
    state: ProposalState,
    outcome: Value,
) -> Result<ProposalView, OperationError> {
    let (id, kept) = (proposal.id, outcome.clone());
    call.write(move |tx| {
        proposals::keep_outcome(tx, id, state, &kept)?;
        tx.note(CONCLUDED, id.to_string(), json!({ "state": state.as_str() }));
        Ok(())
    })
    .await?;
    Ok(ProposalView::new(ProposedOperation { state, outcome: Some(outcome), ..proposal }, call.now))
}
