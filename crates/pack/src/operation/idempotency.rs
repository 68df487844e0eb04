//! The key under which a caller sends a write, so that it is carried out once however often it is sent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use munshi_safety::requests::{self, RequestClaim, RequestStanding};
use munshi_store::Tx;
use munshi_types::KeyId;
use serde_json::Value;

use super::error::{OperationError, OperationErrorCode};
use super::spec::OperationSpec;
use super::{OperationCall, OperationCaller};

/// A caller's key, and the claim to it while the operation runs. Copies are the same key.
#[derive(Clone, Debug, Default)]
pub struct IdempotencyKey(Arc<KeyState>);

#[derive(Debug, Default)]
struct KeyState {
    key: Option<String>,
    /// Whose key it is where it is not the caller's own.
    owner: Option<String>,
    /// Whoever sends it again needs no answer: none is kept.
    drops_answer: bool,
    claim: OnceLock<RequestClaim>,
    is_taken: AtomicBool,
    is_begun: AtomicBool,
}

impl IdempotencyKey {
    pub fn new(key: Option<String>) -> Self {
        Self(Arc::new(KeyState { key, ..KeyState::default() }))
    }

    /// The key of something that several may carry out, and that is carried out once.
    pub fn shared(owner: String) -> Self {
        let key = Some("once".to_owned());
        Self(Arc::new(KeyState { key, owner: Some(owner), ..KeyState::default() }))
    }

    /// The key of a form, where nobody asks for the answer again: what somebody wrote in it is not kept a second time.
    pub fn of_form(key: String) -> Self {
        Self(Arc::new(KeyState { key: Some(key), drops_answer: true, ..KeyState::default() }))
    }

    /// Whether the request was refused because it had been begun before, and nobody knows how it ended.
    pub fn was_begun(&self) -> bool {
        self.0.is_begun.load(Ordering::SeqCst)
    }

    pub(super) fn is_given(&self) -> bool {
        self.0.key.is_some()
    }

    pub(super) fn keeps_answer(&self) -> bool {
        !self.0.drops_answer
    }

    /// For the first transaction of the operation; those after it belong to the same request.
    pub(super) fn next_claim(&self) -> Option<RequestClaim> {
        let claim = self.0.claim.get()?;
        (!self.0.is_taken.swap(true, Ordering::SeqCst)).then(|| claim.clone())
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
    let (Some(key), Some(input), true) = (call.idempotency.0.key.as_deref(), input, spec.writes()) else {
        return Ok(Request::Unnamed);
    };
    let owner = call.idempotency.0.owner.clone().unwrap_or_else(|| render_caller(&call.caller));
    let claim = RequestClaim::new(&owner, key, spec.id(), &input)?;
    let asked = claim.clone();
    let standing = call.read(move |tx| Ok(asked.find(tx)?)).await?;
    match standing {
        RequestStanding::New => {
            // A call is one request.
            let claim = call.idempotency.0.claim.get_or_init(|| claim).clone();
            Ok(Request::New(claim))
        }
        RequestStanding::Answered(Some(answer)) => Ok(Request::Answered(answer)),
        RequestStanding::Answered(None) => {
            call.idempotency.0.is_begun.store(true, Ordering::SeqCst);
            let what = "A request under this idempotency key was begun before, and its answer is not kept.";
            Err(OperationError::new(OperationErrorCode::Conflict, what)
                .hint("Read the current state before you send it under another key. A text that is shown once is not shown again."))
        }
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
/// Lets go of what a key asked for, with the answers: whom it stands for was forgotten.
pub fn forget_answers(tx: &mut Tx<'_>, key: KeyId) -> munshi_store::Result<u64> {
    requests::delete_of_caller(tx, &render_key(key))
}

fn render_key(key: KeyId) -> String {
    format!("key {key}")
}

fn render_caller(caller: &OperationCaller) -> String {
    match caller.api_caller() {
        None => format!("machine {}", caller.actor().id),
        Some(caller) => match caller.operator {
            Some(operator) => format!("operator {operator}"),
            None => render_key(caller.key),
        },
    }
}
