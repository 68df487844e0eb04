//! What goes wrong with files, as answers.

use munshi_blobs::{Error, UploadRefusal};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::sentence;

pub(crate) fn convert_file_error(error: Error) -> ApiError {
    match error {
        Error::Database(error) => error.into(),
        Error::Refused(refusal) => convert_refusal(&refusal),
        Error::Unknown(_) | Error::Address => {
            ApiError::new(ApiErrorCode::NotFound, sentence(&error.to_string()))
        }
        Error::Storage(why) | Error::StorageTimeout(why) => {
            ApiError::new(ApiErrorCode::Unavailable, "The file store does not answer.")
                .hint("Try again in a minute.")
                .caused_by(std::io::Error::other(why))
        }
        error @ (Error::Missing(_) | Error::Damaged(_)) => ApiError::internal(error),
    }
}

fn convert_refusal(refusal: &UploadRefusal) -> ApiError {
    use UploadRefusal as R;
    let code = match refusal {
        R::TooLarge { .. } => ApiErrorCode::TooLarge,
        R::NotTaken { .. } | R::UnknownType => ApiErrorCode::UnsupportedMediaType,
        R::Empty | R::DamagedPicture | R::TooManyPixels { .. } => ApiErrorCode::Invalid,
        R::QuotaReached { .. } => ApiErrorCode::Conflict,
        R::BrokenOff => ApiErrorCode::BadRequest,
        R::TooSlow { .. } => ApiErrorCode::SlowRequest,
        R::TooManyUploads => ApiErrorCode::TooManyRequests,
        R::DiskFull => ApiErrorCode::Unavailable,
    };
    // What happened, and what would pass.
    let text = refusal.to_string();
    match text.split_once(": ") {
        Some((what, hint)) => ApiError::new(code, sentence(what)).hint(sentence(hint)),
        None => ApiError::new(code, sentence(&text)),
    }
}
