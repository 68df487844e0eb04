//! How long a tenant keeps what people said, gave and had done.

use serde::{Deserialize, Deserializer, Serialize};

/// A hundred years.
pub(super) const MOST_DAYS: u32 = 36_500;

/// In days. What is not said stays for good, and is archived as the installation does; prompts are the exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionPeriods {
    /// Messages go to the archive after so long.
    #[serde(deserialize_with = "deserialize_days")]
    pub archive_after_days: Option<u32>,
    /// Messages are deleted after so long, archived ones too, with what their conversations and runs knew.
    #[serde(deserialize_with = "deserialize_days")]
    pub messages_days: Option<u32>,
    /// Files that people gave are deleted after so long.
    #[serde(deserialize_with = "deserialize_days")]
    pub files_days: Option<u32>,
    /// Acts that have ended are deleted after so long, with their arguments, results and questions; the audit keeps that they were.
    #[serde(deserialize_with = "deserialize_days")]
    pub acts_days: Option<u32>,
    /// Prompts of turns' calls of models are stored, and deleted after so long. Without it none is stored.
    #[serde(deserialize_with = "deserialize_days")]
    pub prompts_days: Option<u32>,
}

fn deserialize_days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let Some(given) = Option::<i64>::deserialize(deserializer)? else { return Ok(None) };
    let fits = u32::try_from(given).ok().filter(|days| (1..=MOST_DAYS).contains(days));
    let refused =
        || serde::de::Error::custom(format!("a period of retention must be from 1 to {MOST_DAYS} days"));
    fits.map(Some).ok_or_else(refused)
}
