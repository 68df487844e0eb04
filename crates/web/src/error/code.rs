//! The one table of error codes: what a client may be told, and with which status.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong, as a client's program reads it. Codes are only ever added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Code)]
pub enum ApiErrorCode {
    BadRequest,
    Unauthenticated,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    /// The client did not finish sending the body in time.
    SlowRequest,
    Conflict,
    TooLarge,
    UnsupportedMediaType,
    /// Well-formed, but a value does not fit.
    Invalid,
    /// A little work is asked for first; `x-challenge` says which.
    ProofNeeded,
    TooManyRequests,
    Internal,
    /// Something the server needs is away for the moment: the database, the disk, a provider.
    Unavailable,
    /// The server did not finish in time.
    Timeout,
}

/// One line of the table.
struct Row {
    status: StatusCode,
    name: &'static str,
    /// Said when the error itself has no better one.
    message: &'static str,
    hint: &'static str,
}

const fn row(status: StatusCode, name: &'static str, message: &'static str, hint: &'static str) -> Row {
    Row { status, name, message, hint }
}

impl ApiErrorCode {
    pub const ALL: [Self; 15] = [
        Self::BadRequest,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::SlowRequest,
        Self::Conflict,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::Invalid,
        Self::ProofNeeded,
        Self::TooManyRequests,
        Self::Internal,
        Self::Unavailable,
        Self::Timeout,
    ];

    #[rustfmt::skip]
    const fn row(self) -> Row {
        use StatusCode as S;
        match self {
            Self::BadRequest => row(S::BAD_REQUEST, "bad_request", "The request could not be understood.", "Compare it with /openapi.json."),
            Self::Unauthenticated => row(S::UNAUTHORIZED, "unauthenticated", "This needs a sign-in or an API key.", "Send `authorization: Bearer <key>`."),
            Self::Forbidden => row(S::FORBIDDEN, "forbidden", "You may not do this.", "Ask an owner of the workspace for the right to."),
            Self::NotFound => row(S::NOT_FOUND, "not_found", "There is nothing here.", "Check the address; /openapi.json lists every route."),
            Self::MethodNotAllowed => row(S::METHOD_NOT_ALLOWED, "method_not_allowed", "This address does not take that method.", "The `allow` header lists the methods it takes."),
            Self::SlowRequest => row(S::REQUEST_TIMEOUT, "slow_request", "The request body did not arrive in time.", "Send it again, on a better line or in smaller parts."),
            Self::Conflict => row(S::CONFLICT, "conflict", "This clashes with what is already there.", "Read the current state and try again."),
            Self::TooLarge => row(S::PAYLOAD_TOO_LARGE, "too_large", "The request body is too large.", "Send less at once."),
            Self::UnsupportedMediaType => row(S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body is of a kind this address does not read.", "Send `content-type: application/json`."),
            Self::Invalid => row(S::UNPROCESSABLE_ENTITY, "invalid", "A value does not fit.", "Compare the body with /openapi.json."),
            Self::ProofNeeded => row(S::PRECONDITION_REQUIRED, "proof_needed", "A little work is asked for before this message.", "Find a number that, behind `x-challenge` and a dot, gives a SHA-256 with as many zero bits in front as it begins with, and send both as `proof`."),
            Self::TooManyRequests => row(S::TOO_MANY_REQUESTS, "too_many_requests", "Too many requests.", "Wait for the seconds in `retry-after`, then try again."),
            Self::Internal => row(S::INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side.", "Try again; if it stays, tell the operator the request id."),
            Self::Unavailable => row(S::SERVICE_UNAVAILABLE, "unavailable", "The service can't do this right now.", "Nothing was lost. Try again after the seconds in `retry-after`."),
            Self::Timeout => row(S::SERVICE_UNAVAILABLE, "timeout", "This took too long and was stopped.", "Look whether it happened before you repeat it."),
        }
    }

    pub const fn status(self) -> StatusCode {
        self.row().status
    }

    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    pub(crate) const fn message(self) -> &'static str {
        self.row().message
    }

    pub(crate) const fn hint(self) -> &'static str {
        self.row().hint
    }

    /// The code for a status that some other layer chose.
    pub(crate) fn for_status(status: StatusCode) -> Self {
        let other = if status.is_client_error() { Self::BadRequest } else { Self::Internal };
        Self::ALL.into_iter().find(|code| code.status() == status).unwrap_or(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_and_the_wire_use_the_same_word_once() {
        let names: BTreeSet<&str> = ApiErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), ApiErrorCode::ALL.len());
        for code in ApiErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }

    #[test]
    fn a_foreign_status_keeps_its_side() {
        assert_eq!(ApiErrorCode::for_status(StatusCode::SERVICE_UNAVAILABLE), ApiErrorCode::Unavailable);
        assert_eq!(ApiErrorCode::for_status(StatusCode::IM_A_TEAPOT), ApiErrorCode::BadRequest);
        assert_eq!(ApiErrorCode::for_status(StatusCode::BAD_GATEWAY), ApiErrorCode::Internal);
    }
}
