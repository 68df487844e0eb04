//! SQLite's result codes as what a caller does about them.

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::error::Error;
use crate::session::read_only_error;

pub(crate) fn translate(error: rusqlite::Error) -> Error {
    match &error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            let text = message.clone().unwrap_or_else(|| failure.to_string());
            from_code(*failure, text).unwrap_or_else(|| Error::unavailable(error.to_string(), error))
        }
        rusqlite::Error::SqlInputError { msg, sql, .. } => {
            Error::Misuse(format!("{msg} in: {}", crate::sql::shorten(sql)))
        }
        _ => Error::Misuse(error.to_string()),
    }
}

fn from_code(failure: ffi::Error, text: String) -> Option<Error> {
    Some(match failure.code {
        ErrorCode::DiskFull => Error::Full,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Error::Corrupt(text),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::Busy("another program holds the lock".to_owned())
        }
        ErrorCode::ConstraintViolation => constraint(failure.extended_code, text),
        ErrorCode::TypeMismatch => Error::Refused(text),
        ErrorCode::TooBig => Error::Refused("the value is too large".to_owned()),
        ErrorCode::OperationInterrupted => {
            Error::Busy("the statement ran too long and was stopped".to_owned())
        }
        ErrorCode::ReadOnly => read_only_error(),
        ErrorCode::Unknown | ErrorCode::ApiMisuse | ErrorCode::ParameterOutOfRange => Error::Misuse(text),
        _ => return None,
    })
}

fn constraint(extended: i32, text: String) -> Error {
    match extended {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            let constraint = text.trim_start_matches("UNIQUE constraint failed: ").to_owned();
            Error::Conflict { constraint }
        }
        _ => Error::Refused(text),
    }
}
