//! One line of the report.

use munshi_wiring::failure::CommandFailure;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DoctorLevel {
    Ok,
    /// Works, but somebody should look at it.
    Warn,
    /// Does not work.
    Fail,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// One word: `disk`, `schema`.
    pub(super) name: &'static str,
    pub(super) level: DoctorLevel,
    /// What was found.
    pub(super) detail: String,
    /// What to do.
    pub(super) hint: Option<String>,
}

impl DoctorFinding {
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, level: DoctorLevel::Ok, detail: detail.into(), hint: None }
    }

    pub fn warn(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, level: DoctorLevel::Warn, detail: detail.into(), hint: Some(hint.into()) }
    }

    pub(super) fn fail(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, level: DoctorLevel::Fail, detail: detail.into(), hint: Some(hint.into()) }
    }

    /// A failure in its own words.
    pub fn from_failure(name: &'static str, failure: CommandFailure) -> Self {
        Self { name, level: DoctorLevel::Fail, detail: failure.message, hint: failure.hint }
    }
}
