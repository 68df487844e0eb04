//! What is told of a backup.

use std::fs::Metadata;
use std::path::Path;
use std::time::UNIX_EPOCH;

use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A copy of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Backup)]
pub struct BackupView {
    /// Where it is on the machine.
    pub file: String,
    pub bytes: u64,
    /// Null where the file system does not say.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub made_at: Option<Timestamp>,
}

impl BackupView {
    pub fn new(file: &Path, about: &Metadata) -> Self {
        let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let made_at = since.and_then(|since| i64::try_from(since.as_micros()).ok());
        Self {
            file: file.display().to_string(),
            bytes: about.len(),
            made_at: made_at.map(Timestamp::from_micros),
        }
    }
}
