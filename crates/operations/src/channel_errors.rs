//! What goes wrong with a channel, as an answer.

use munshi_pack::operation::{OperationError, OperationErrorCode, sentence};

use crate::turn_errors::convert_turn_error;

/// For `map_err`: errors of the floors below become answers by `?` alone.
pub(crate) fn convert_channel_error(error: munshi_channels::Error) -> OperationError {
    use munshi_channels::Error as E;
    match error {
        E::Store(error) => error.into(),
        E::Tiers(error) => error.into(),
        E::Conversations(error) => convert_turn_error(error),
        error @ E::Jobs(_) => OperationError::internal(error),
        E::Invalid(what) => OperationError::new(OperationErrorCode::Invalid, sentence(&what)),
    }
}
