//! Words that are sent by a form of the desk: once, however often the form is.

use munshi_operations::{HouseCall, HouseServices, execute};
use munshi_pack::operation::{IdempotencyKey, Operation, OperationError, OperationErrorCode};
use munshi_server::error::ApiError;
use serde::Deserialize;
use uuid::Uuid;

/// What somebody writes to a visitor, or tells the agent.
#[derive(Deserialize)]
pub(crate) struct DeskWordsForm {
    text: String,
    /// The form's own: the same again is carried out once.
    #[serde(default)]
    key: String,
}

impl DeskWordsForm {
    /// Browsers end lines in their own way.
    pub(super) fn text(&self) -> String {
        self.text.replace("\r\n", "\n")
    }

    /// All forms of a page have the same key.
    fn idempotency<O: Operation<HouseServices>>(&self) -> IdempotencyKey {
        match self.key.as_str() {
            "" => IdempotencyKey::default(),
            key => IdempotencyKey::of_form(format!("desk:{}:{key}", O::SPEC.verb)),
        }
    }
}

/// A key for a form that is rendered now.
pub(super) fn make_form_key(call: &HouseCall) -> String {
    let mut bytes = [0; 16];
    call.random.fill(&mut bytes);
    Uuid::from_bytes(bytes).simple().to_string()
}

/// Carries a form out, unless it was before.
pub(super) async fn execute_form<O: Operation<HouseServices>>(
    call: &mut HouseCall,
    form: &DeskWordsForm,
    input: impl Fn() -> O::Input,
) -> Result<(), ApiError> {
    call.idempotency = form.idempotency::<O>();
    let Some(refused) = execute_new::<O>(call, input()).await? else { return Ok(()) };
    call.idempotency = match refused.retry_after {
        // Sent twice at once: the other has done it.
        Some(_) => form.idempotency::<O>(),
        // The form was sent before with other words, as after going back to it.
        None => IdempotencyKey::default(),
    };
    match execute_new::<O>(call, input()).await? {
        Some(refused) => Err(refused.into()),
        None => Ok(()),
    }
}

/// A conflict, where it is not that the same was done before.
async fn execute_new<O: Operation<HouseServices>>(
    call: &HouseCall,
    input: O::Input,
) -> Result<Option<OperationError>, ApiError> {
    match execute::<O>(call, input).await {
        Ok(_) => Ok(None),
        Err(_) if call.idempotency.was_begun() => Ok(None),
        Err(error) if error.code == OperationErrorCode::Conflict => Ok(Some(error)),
        Err(error) => Err(error.into()),
    }
}
