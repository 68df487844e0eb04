//! Why a file is not taken, in words for whoever gave it.

use std::time::Duration;

/// The message says what is wrong and what would pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadRefusal {
    #[error("the file is empty")]
    Empty,
    #[error("the file is larger than {}: send a smaller one", describe_size(*most))]
    TooLarge { most: u64 },
    #[error("the files kept here have reached {}: ask the owner to delete some or to raise the limit", describe_size(*quota))]
    QuotaReached { quota: u64 },
    #[error(
        "the file is {found}, which is not taken: send a picture, a PDF, a text, an Office document, a sound or a video"
    )]
    NotTaken { found: &'static str },
    #[error(
        "the file's type is unknown: send a picture, a PDF, a UTF-8 text, an Office document, a sound or a video"
    )]
    UnknownType,
    #[error("the picture is damaged: open it, save it again, and send that")]
    DamagedPicture,
    #[error(
        "the picture is {width} x {height} pixels, which is too large to be opened here: send a smaller one"
    )]
    TooManyPixels { width: u32, height: u32 },
    #[error("the upload stopped before its end: send the file again")]
    BrokenOff,
    #[error("the upload took longer than {} s: send the file again over a faster connection", limit.as_secs())]
    TooSlow { limit: Duration },
    #[error("too many files are being uploaded at the moment: try again in a few seconds")]
    TooManyUploads,
    #[error("the disk for files is almost full: ask whoever runs this server to make room")]
    DiskFull,
}

impl UploadRefusal {
    /// One word for it, as clients compare.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "file_empty",
            Self::TooLarge { .. } => "file_too_large",
            Self::QuotaReached { .. } => "quota_reached",
            Self::NotTaken { .. } => "file_type_refused",
            Self::UnknownType => "file_type_unknown",
            Self::DamagedPicture => "picture_damaged",
            Self::TooManyPixels { .. } => "picture_too_large",
            Self::BrokenOff => "upload_incomplete",
            Self::TooSlow { .. } => "upload_too_slow",
            Self::TooManyUploads => "too_many_uploads",
            Self::DiskFull => "disk_full",
        }
    }
}

/// `25 MB`, `512 KB`, `12 bytes`.
fn describe_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    let unit = UNITS.into_iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes} bytes"), |(size, name)| format!("{} {name}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_the_limit_as_people_write_it() {
        let most = 25 * 1024 * 1024;
        assert_eq!(
            UploadRefusal::TooLarge { most }.to_string(),
            "the file is larger than 25 MB: send a smaller one"
        );
        assert_eq!(describe_size(1000), "1000 bytes");
        assert_eq!(describe_size(3 << 30), "3 GB");
    }
}
