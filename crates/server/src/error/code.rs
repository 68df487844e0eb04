//! The one table of error codes: what a client may be told, and with which status.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Machine-readable error code. Codes are never removed or renamed.
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
            Self::BadRequest => row(S::BAD_REQUEST, "bad_request", "The request is malformed.", "Compare it with /openapi.json."),
            Self::Unauthenticated => row(S::UNAUTHORIZED, "unauthenticated", "Authentication required: sign in or send an API key.", "Send `authorization: Bearer <key>`."),
            Self::Forbidden => row(S::FORBIDDEN, "forbidden", "You are not allowed to do this.", "Ask an owner of the workspace for access."),
            Self::NotFound => row(S::NOT_FOUND, "not_found", "Not found.", "Check the URL; /openapi.json lists every route."),
            Self::MethodNotAllowed => row(S::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed for this URL.", "The `allow` header lists the allowed methods."),
            Self::SlowRequest => row(S::REQUEST_TIMEOUT, "slow_request", "The request body did not arrive in time.", "Send it again, on a faster connection or in smaller parts."),
            Self::Conflict => row(S::CONFLICT, "conflict", "This conflicts with the current state.", "Read the current state and try again."),
            Self::TooLarge => row(S::PAYLOAD_TOO_LARGE, "too_large", "The request body is too large.", "Send a smaller body."),
            Self::UnsupportedMediaType => row(S::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "Unsupported content type.", "Send `content-type: application/json`."),
            Self::Invalid => row(S::UNPROCESSABLE_ENTITY, "invalid", "A value is invalid.", "Compare the body with /openapi.json."),
            Self::ProofNeeded => row(S::PRECONDITION_REQUIRED, "proof_needed", "This message requires a proof of work.", "Find a number such that the SHA-256 of `x-challenge`, a dot and the number starts with as many zero bits as the challenge's leading number; send both as `proof`."),
            Self::TooManyRequests => row(S::TOO_MANY_REQUESTS, "too_many_requests", "Too many requests.", "Wait for the seconds in `retry-after`, then try again."),
            Self::Internal => row(S::INTERNAL_SERVER_ERROR, "internal", "Internal server error.", "Try again; if it persists, give the operator the request id."),
            Self::Unavailable => row(S::SERVICE_UNAVAILABLE, "unavailable", "The service is temporarily unavailable.", "No data was lost. Try again after the seconds in `retry-after`."),
            Self::Timeout => row(S::SERVICE_UNAVAILABLE, "timeout", "The request timed out and was stopped.", "Check whether it took effect before you retry."),
        }
    }

    pub const fn status(self) -> StatusCode {
        self.row().status
    }

    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    pub const fn message(self) -> &'static str {
        self.row().message
    }

    pub const fn hint(self) -> &'static str {
        self.row().hint
    }

    /// The code for a status that some other layer chose.
    pub fn for_status(status: StatusCode) -> Self {
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
