//! What goes wrong with a turn that is stopped or taken up again, as an answer.

use munshi_pack::operation::{OperationError, OperationErrorCode, sentence};

/// For `map_err`: errors of the floors below the agent's become answers by `?` alone.
pub(crate) fn convert_turn_error(error: munshi_conversations::Error) -> OperationError {
    use munshi_conversations::Error as E;
    match error {
        E::NoRun => OperationError::new(OperationErrorCode::NotFound, "No such run.")
            .hint("List the accessible ones with GET /v1/runs or `munshi runs list`."),
        E::NoConversation(_) => {
            OperationError::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
        }
        E::Store(error) => error.into(),
        E::Identity(error) => error.into(),
        E::Safety(error) => error.into(),
        E::Tiers(error) => error.into(),
        error => OperationError::internal(error),
    }
}
