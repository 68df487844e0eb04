//! What goes wrong with a connector, as an answer.

use munshi_pack::operation::{OperationError, OperationErrorCode, sentence};

/// For `map_err`: errors of the floors below become answers by `?` alone.
pub(crate) fn convert_connector_error(error: munshi_connectors::Error) -> OperationError {
    use munshi_connectors::Error as E;
    match error {
        E::Store(error) => error.into(),
        E::Safety(error) => error.into(),
        E::Invalid(what) => OperationError::new(OperationErrorCode::Invalid, sentence(&what)),
        E::WantsLogin(what) | E::NoLogin(what) => {
            OperationError::new(OperationErrorCode::Conflict, sentence(&what))
        }
        error @ (E::Unreachable(_) | E::TooSlow(_)) => OperationError::unavailable(error),
    }
}
