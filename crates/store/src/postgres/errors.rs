//! Postgres's error codes as what a caller does about them.

use tokio_postgres::error::{DbError, SqlState};

use crate::error::Error;
use crate::session::read_only_error;

/// A plan made before a migration no longer fits; made anew, it does.
pub(super) const TABLES_CHANGED: &str = "the schema has just changed";

pub(crate) fn translate(error: tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(refusal) => from_refusal(refusal),
        None if error.is_closed() || is_io(&error) => Error::unavailable("the connection failed", error),
        None => Error::Misuse(render_error_chain(&error)),
    }
}

/// An error met while connecting: whatever it is, the database can't be reached.
pub(crate) fn translate_connect(error: tokio_postgres::Error, place: &str) -> Error {
    let what = format!("{place}: {}", render_error_chain(&error));
    Error::unavailable(what, error)
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if inner.is::<std::io::Error>() {
            return true;
        }
        cause = inner.source();
    }
    false
}

fn render_error_chain(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn from_refusal(refusal: &DbError) -> Error {
    let code = refusal.code();
    let text = refusal.message().to_owned();
    let constraint = || refusal.constraint().unwrap_or(&text).to_owned();
    match code {
        &SqlState::UNIQUE_VIOLATION | &SqlState::EXCLUSION_VIOLATION => {
            Error::Conflict { constraint: constraint() }
        }
        &SqlState::DISK_FULL => Error::Full,
        &SqlState::QUERY_CANCELED => Error::Busy("the statement ran too long and was stopped".to_owned()),
        &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
            Error::Busy("the transaction stood still for too long and was undone".to_owned())
        }
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE => Error::Busy(text),
        &SqlState::FEATURE_NOT_SUPPORTED if text.contains("cached plan") => {
            Error::Busy(TABLES_CHANGED.to_owned())
        }
        &SqlState::READ_ONLY_SQL_TRANSACTION => read_only_error(),
        &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => Error::Corrupt(text),
        // What a row breaks: integrity (23), data too long or malformed (22), and row-level security (42501).
        code if code.code().starts_with("23") || code.code().starts_with("22") => Error::Refused(text),
        &SqlState::INSUFFICIENT_PRIVILEGE => Error::Refused(text),
        // Connection trouble (08), resources (53), an operator's stop (57), the system itself (58).
        code if ["08", "53", "57", "58"].iter().any(|class| code.code().starts_with(class)) => {
            Error::Unavailable { what: text, source: None }
        }
        _ => Error::Misuse(format!("{text} ({})", code.code())),
    }
}
