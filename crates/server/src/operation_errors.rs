//! What an operation says no with, as an answer.

use munshi_pack::operation::{OperationError, OperationErrorCode};

use crate::error::{ApiError, ApiErrorCode};

impl From<OperationError> for ApiError {
    fn from(error: OperationError) -> Self {
        let code = match error.code {
            OperationErrorCode::Invalid => ApiErrorCode::Invalid,
            OperationErrorCode::Unauthenticated => ApiErrorCode::Unauthenticated,
            OperationErrorCode::Forbidden => ApiErrorCode::Forbidden,
            OperationErrorCode::NotFound => ApiErrorCode::NotFound,
            OperationErrorCode::Conflict => ApiErrorCode::Conflict,
            OperationErrorCode::TooManyRequests => ApiErrorCode::TooManyRequests,
            OperationErrorCode::Unavailable => ApiErrorCode::Unavailable,
            OperationErrorCode::Internal => ApiErrorCode::Internal,
        };
        let mut answer = Self { problems: error.problems.map(Box::new), ..Self::new(code, error.message) };
        if let Some(hint) = error.hint {
            answer = answer.hint(hint);
        }
        if let Some(wait) = error.retry_after {
            answer = answer.retry_after(wait);
        }
        match error.cause {
            Some(cause) => answer.caused_by(cause),
            None => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_the_same_on_the_api() {
        for code in OperationErrorCode::ALL {
            assert_eq!(ApiError::from(OperationError::new(code, "No.")).code().as_str(), code.as_str());
        }
    }
}
