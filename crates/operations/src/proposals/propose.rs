//! Stores what a program asks for, where it might do it itself were it a person.

use munshi_pack::operation::{OperationError, OperationErrorCode, OperationShape};
use munshi_safety::proposals::{self, LIFE, ProposalState, ProposedOperation};
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
    entry.check(call, &input)?;
    let Some(key) = call.caller.api_caller().map(|caller| caller.key) else {
        let what = "Whoever sits at the machine does it without asking.";
        return Err(OperationError::new(OperationErrorCode::Invalid, what));
    };
    let proposal = ProposedOperation {
        id: call.ids.next(),
        operation: entry.spec.id(),
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
    let proposal = call
        .write(move |tx| {
            if let Some(known) = proposals::add(tx, &proposal)? {
                tx.note(
                    PROPOSED,
                    known.id.to_string(),
                    json!({ "operation": known.operation, "again": true }),
                );
                return Ok(known);
            }
            let payload = json!({ "operation": proposal.operation, "input": proposal.input });
            tx.note(PROPOSED, proposal.id.to_string(), payload);
            Ok(proposal)
        })
        .await?;
    Ok(ProposalView::new(proposal, call.now))
}
