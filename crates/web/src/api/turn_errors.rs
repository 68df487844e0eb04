//! What goes wrong with a turn, as an answer.

use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::sentence;

/// For `map_err`: errors of the floors below the agent's become answers by `?` alone.
pub(crate) fn convert_turn_error(error: munshi_conversations::Error) -> ApiError {
    use munshi_conversations::Error as E;
    match error {
        E::NoBinding(_) => ApiError::new(ApiErrorCode::NotFound, sentence(&error.to_string()))
            .hint("List the accessible ones with GET /v1/bindings."),
        E::TenantPaused { .. } => ApiError::new(ApiErrorCode::Conflict, sentence(&error.to_string()))
            .hint("Run `munshi tenant resume`, then send it again."),
        E::TenantArchived { .. } | E::BindingArchived { .. } => {
            ApiError::new(ApiErrorCode::Conflict, sentence(&error.to_string()))
                .hint("Use another binding; list them with GET /v1/bindings.")
        }
        E::Unfit(what) => ApiError::new(ApiErrorCode::Invalid, sentence(&what)),
        E::NoRun => ApiError::new(ApiErrorCode::NotFound, "No such run.")
            .hint("List the accessible ones with GET /v1/runs."),
        E::NoConversation(_) => ApiError::new(ApiErrorCode::Conflict, sentence(&error.to_string()))
            .hint("Look at it with GET /v1/runs/{id}."),
        E::Store(error) => error.into(),
        E::Identity(error) => error.into(),
        E::Safety(error) => error.into(),
        E::Tiers(error) => error.into(),
        error => ApiError::internal(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_code() {
        let code = |error: munshi_conversations::Error| convert_turn_error(error).code();
        assert_eq!(code(munshi_conversations::Error::NoRun), ApiErrorCode::NotFound);
        assert_eq!(code(munshi_conversations::Error::NoBinding("x".to_owned())), ApiErrorCode::NotFound);
        assert_eq!(code(munshi_conversations::Error::Unfit("x".to_owned())), ApiErrorCode::Invalid);
        assert_eq!(code(munshi_conversations::Error::Archive("x".to_owned())), ApiErrorCode::Internal);
    }
}
