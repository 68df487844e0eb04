//! Administrative verbs of the books, the same at the command line and over the API.

mod check;
mod profile;

use munshi_pack::operation::{OperationError, OperationErrorCode, sentence};
use munshi_pack::{InvalidPack, PackInstaller};

use crate::error::Error;

pub(crate) fn install(room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
    room.add_operation::<check::CheckBooks>()?;
    room.add_operation::<profile::ChangeProfile>()?;
    room.add_operation::<profile::ReadProfile>()
}

impl From<Error> for OperationError {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            Error::Missing { what, which } => Self::not_found(what, &which),
            Error::KeyTaken { .. } | Error::AlreadyCancelled { .. } => {
                Self::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
            }
            other => Self::new(OperationErrorCode::Invalid, sentence(&other.to_string())),
        }
    }
}
