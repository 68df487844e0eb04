//! What goes wrong on the floors below, as an answer: one table.

use munshi_identity::passwords::PasswordRejection;
use munshi_store::Error as Store;

use crate::error::{ApiError, ApiErrorCode};

impl From<Store> for ApiError {
    fn from(error: Store) -> Self {
        match error {
            error @ (Store::Unavailable { .. } | Store::Full | Store::Busy(_)) => Self::unavailable(error),
            Store::OutcomeUnknown => Self::new(
                ApiErrorCode::Unavailable,
                "The database connection was lost during the write; it was applied completely or not at all.",
            )
            .hint("Check whether it was applied before you retry; a message with the same id is stored once.")
            .caused_by(Store::OutcomeUnknown),
            error @ Store::Conflict { .. } => Self::from_code(ApiErrorCode::Conflict).caused_by(error),
            error => Self::internal(error),
        }
    }
}

impl From<munshi_identity::Error> for ApiError {
    fn from(error: munshi_identity::Error) -> Self {
        use munshi_identity::Error as E;
        match error {
            E::Store(error) => error.into(),
            E::Invalid(what) => Self::new(ApiErrorCode::Invalid, sentence(&what)),
            E::NoPerson(id) => not_found_error("person", &id.to_string()),
            E::Unmergeable(why) => Self::new(ApiErrorCode::Conflict, sentence(&why.to_string()))
                .hint("Nothing was changed. These two records can't be merged."),
            error @ E::Busy => Self::unavailable(error),
            error @ E::Unproved(_) => Self::new(ApiErrorCode::Forbidden, sentence(&error.to_string())).hint(
                "They sign in once with the sign-in service, or whoever runs this server runs `munshi operator prove EMAIL`.",
            ),
            error @ E::NameTaken(_) => Self::new(ApiErrorCode::Conflict, sentence(&error.to_string()))
                .hint("Choose another name, or revoke that key first."),
        }
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
        use munshi_safety::Error as E;
        match error {
            E::Store(error) => error.into(),
            E::Invalid(what) => Self::new(ApiErrorCode::Invalid, sentence(&what)),
            E::OverBudget(refused) => {
                Self::new(ApiErrorCode::TooManyRequests, sentence(&refused.to_string()))
                    .hint("See GET /v1/usage for when the limit resets.")
            }
            E::RateLimited(reached) => reached.into(),
            error => Self::internal(error),
        }
    }
}

impl From<munshi_tiers::Error> for ApiError {
    fn from(error: munshi_tiers::Error) -> Self {
        use munshi_tiers::Error as E;
        match error {
            E::Store(error) => error.into(),
            error @ (E::NoTenant(_) | E::NoTier { .. } | E::NoVersion { .. }) => {
                Self::new(ApiErrorCode::NotFound, sentence(&error.to_string()))
                    .hint("List them with GET /v1/tiers.")
            }
            error => Self::internal(error),
        }
    }
}

/// Another tenant's, another binding's, or nobody's: they look the same.
pub fn not_found_error(noun: &str, id: &str) -> ApiError {
    let id = crate::json::shorten(id);
    ApiError::new(ApiErrorCode::NotFound, format!("No {noun} {id} exists, or this key has no access to it."))
        .hint(format!("List the accessible ones with GET /v1/{noun}s."))
}

/// Our errors begin small and have no full stop: they stand behind `error:` elsewhere.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    // A quoted value at the beginning is not ours to change.
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_its_code() {
        let code = |error: ApiError| error.code();
        assert_eq!(code(Store::Busy("x".to_owned()).into()), ApiErrorCode::Unavailable);
        assert_eq!(code(Store::Misuse("x".to_owned()).into()), ApiErrorCode::Internal);
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
