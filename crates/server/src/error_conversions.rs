//! What goes wrong on the floors below, as an answer: one table.

use munshi_identity::passwords::PasswordRejection;
use munshi_pack::operation::OperationError;
pub use munshi_pack::operation::sentence;
use munshi_store::Error as Store;

use crate::error::{ApiError, ApiErrorCode};

impl From<Store> for ApiError {
    fn from(error: Store) -> Self {
        OperationError::from(error).into()
    }
}

impl From<munshi_identity::Error> for ApiError {
    fn from(error: munshi_identity::Error) -> Self {
        OperationError::from(error).into()
    }
}

impl From<PasswordRejection> for ApiError {
    fn from(why: PasswordRejection) -> Self {
        let error = Self::new(ApiErrorCode::Invalid, sentence(&why.to_string()));
        match why {
            PasswordRejection::Short => error.phrase("password-short"),
            PasswordRejection::Pattern => error.phrase("password-pattern"),
            PasswordRejection::Common => error.phrase("password-common"),
            PasswordRejection::Long => error,
        }
    }
}

impl From<munshi_safety::Error> for ApiError {
    fn from(error: munshi_safety::Error) -> Self {
        match error {
            munshi_safety::Error::RateLimited(reached) => reached.into(),
            error => OperationError::from(error).into(),
        }
    }
}

impl From<munshi_tiers::Error> for ApiError {
    fn from(error: munshi_tiers::Error) -> Self {
        OperationError::from(error).into()
    }
}

/// Another tenant's, another binding's, or nobody's: they look the same.
pub fn not_found_error(noun: &str, id: &str) -> ApiError {
    let id = crate::json::shorten(id);
    ApiError::new(ApiErrorCode::NotFound, format!("No {noun} {id} exists, or this key has no access to it."))
        .hint(format!("List the accessible ones with GET /v1/{noun}s."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_code() {
        let code = |error: ApiError| error.code();
        assert_eq!(code(Store::Busy("x".to_owned()).into()), ApiErrorCode::Unavailable);
        assert_eq!(code(Store::Misuse("x".to_owned()).into()), ApiErrorCode::Internal);
        assert_eq!(code(Store::Forgotten("x".to_owned()).into()), ApiErrorCode::Conflict);
        assert_eq!(code(munshi_safety::Error::Invalid("x".to_owned()).into()), ApiErrorCode::Invalid);
    }

    #[test]
    fn words_stand_by_themselves() {
        assert_eq!(sentence("the message is empty"), "The message is empty.");
        assert_eq!(sentence("`x` is no run id"), "`x` is no run id.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence(""), "");
    }
}
