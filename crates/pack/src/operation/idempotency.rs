//! The key under which a caller sends a write, so that it is carried out once however often it is sent.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use munshi_safety::requests::{RequestClaim, RequestStanding};
use serde_json::Value;

use super::error::{OperationError, OperationErrorCode};
use super::spec::OperationSpec;
use super::{OperationCall, OperationCaller};

/// A caller's key, and the claim to it while the operation runs.
#[derive(Debug, Default)]
pub struct IdempotencyKey {
    key: Option<String>,
    claim: OnceLock<RequestClaim>,
    is_taken: AtomicBool,
}

impl IdempotencyKey {
    pub fn new(key: Option<String>) -> Self {
        Self { key, ..Self::default() }
    }

    pub(super) fn is_given(&self) -> bool {
        self.key.is_some()
    }

    /// For the first transaction of the operation; those after it belong to the same request.
    pub(super) fn next_claim(&self) -> Option<RequestClaim> {
        let claim = self.claim.get()?;
        (!self.is_taken.swap(true, Ordering::SeqCst)).then(|| claim.clone())
    }
}

/// A request that is carried out under its key, or was.
pub(super) enum Request {
    Unnamed,
    New(RequestClaim),
    Answered(Value),
}

/// Looks whether the same was asked before.
pub(super) async fn begin<S: Sync>(
    call: &OperationCall<S>,
    spec: &OperationSpec,
    input: Option<Value>,
) -> Result<Request, OperationError> {
    let (Some(key), Some(input), true) = (call.idempotency.key.as_deref(), input, spec.writes()) else {
        return Ok(Request::Unnamed);
    };
    let claim = RequestClaim::new(&render_caller(&call.caller), key, spec.id(), &input)?;
    let asked = claim.clone();
    let standing = call.read(move |tx| Ok(asked.find(tx)?)).await?;
    match standing {
        RequestStanding::New => {
            // A call is one request.
            let claim = call.idempotency.claim.get_or_init(|| claim).clone();
            Ok(Request::New(claim))
        }
        RequestStanding::Answered(Some(answer)) => Ok(Request::Answered(answer)),
        RequestStanding::Answered(None) => Err(OperationError::new(
            OperationErrorCode::Conflict,
            "A request under this idempotency key was begun before, and its answer is not kept.",
        )
        .hint("Read the current state before you send it under another key. A text that is shown once is not shown again.")),
        RequestStanding::Different => Err(OperationError::new(
            OperationErrorCode::Conflict,
            "This idempotency key was used for something else.",
        )
        .hint("Use another for each request, and the same only to send one again.")),
    }
}

/// Keeps the answer for whoever asks again. What was done is done, also where this can't be written.
pub(super) async fn keep<S: Sync>(call: &OperationCall<S>, claim: RequestClaim, answer: Option<Value>) {
    let now = call.now;
    let kept = call.db.write(call.tenant.id, move |tx| claim.keep_answer(tx, answer.as_ref(), now)).await;
    if let Err(error) = kept {
        tracing::warn!(%error, "keeping the answer to an administrative request failed");
    }
}

/// Whose keys they are: nobody hears another's answers.
fn render_caller(caller: &OperationCaller) -> String {
    match caller.api_caller() {
        None => format!("machine {}", caller.actor().id),
        Some(caller) => match caller.operator {
            Some(operator) => format!("operator {operator}"),
            None => format!("key {}", caller.key),
        },
    }
}
