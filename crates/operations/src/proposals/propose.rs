//! Stores what a program asks for, where it might do it itself were it a person.

use munshi_pack::operation::{OperationError, OperationErrorCode, OperationShape};
use munshi_safety::proposals::{self, LIFE, ProposalState, ProposedOperation};
use munshi_types::PersonId;
use serde_json::{Value, json};

use super::ProposalView;
use crate::HouseCall;

/// What the audit hears.
const PROPOSED: &str = "operation.proposed";

/// Nothing is done yet: somebody has to say yes. What could never be done is refused at once.
pub async fn propose(
    call: &HouseCall,
    entry: &OperationShape,
    input: Value,
) -> Result<ProposalView, OperationError> {
    entry.check(call, &input).await?;
    check_fixed(entry, &input)?;
    let Some(key) = call.caller.api_caller().map(|caller| caller.key) else {
        let what = "Whoever sits at the machine does it without asking.";
        return Err(OperationError::new(OperationErrorCode::Invalid, what));
    };
    let (packs, now) = (call.services.parts.pack_operations()?, call.now);
    let waiting = call.read(move |tx| Ok(proposals::list_waiting(tx, key, now)?)).await?;
    let operation = entry.spec.id();
    let mut known = waiting.into_iter().filter(|one| one.operation == operation && one.input == input);
    if let Some(known) = known.next() {
        return Ok(ProposalView::new(call, &packs, known));
    }
    let proposal = ProposedOperation {
        id: call.ids.next(),
        operation,
        input,
        asked_by: call.caller.actor().id.clone(),
        asked_key: key,
        asked_at: call.now,
        ends_at: call.now.plus(LIFE),
        state: ProposalState::Waiting,
        decided_by: None,
        decided_at: None,
        outcome: None,
    };
    let stored = proposal.clone();
    call.write(move |tx| {
        proposals::add(tx, &stored)?;
        // Names and addresses stay out of the audit.
        let payload = json!({ "operation": stored.operation, "digest": stored.digest() });
        tx.note(PROPOSED, stored.id.to_string(), payload);
        Ok(())
    })
    .await?;
    Ok(ProposalView::new(call, &packs, proposal))
}

/// What could mean something else by the time somebody grants it is named for good.
fn check_fixed(entry: &OperationShape, input: &Value) -> Result<(), OperationError> {
    let id = entry.spec.id();
    if id == "rollback_tier" && input["to"].is_null() {
        return Err(OperationError::field("to", "must be given where somebody else decides later"));
    }
    let is_person = matches!(id.as_str(), "change_person" | "forget_person" | "leave_person");
    let is_named = input["id"].as_str().is_some_and(|text| text.parse::<PersonId>().is_err());
    if is_person && is_named {
        return Err(OperationError::field("id", "must be the person's id where somebody else decides later"));
    }
    Ok(())
}
