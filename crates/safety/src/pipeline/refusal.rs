//! A no, for the model and for the person.

use munshi_identity::Role;
use munshi_types::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::StageName;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActRefusal {
    pub stage: StageName,
    pub code: RefusalCode,
    /// What the model may do about it, in a sentence. Holds no argument's value.
    pub suggestion: String,
    /// Who could do it or allow it.
    pub ask: Option<Role>,
    /// When it may pass, where that is known: the same call before then is refused again.
    pub again_at: Option<Timestamp>,
}

/// What kind of no; a later caller acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    UnknownTool,
    NotOffered,
    BadArguments,
    NotPermitted,
    WrongDoor,
    OutOfScope,
    Denied,
    Off,
    ReadOnly,
    TooFar,
    OverLimit,
    /// The tenant is paused, or archived.
    Paused,
    /// So much was refused that no more is looked at for a while.
    TooManyRefused,
    /// What may not leave can't be left out either.
    Hidden,
    NoRehearsal,
    /// A look that may carry away what the run knows.
    CarriesData,
    /// A person agreed, but no longer the one who has to.
    Outgrown,
    /// What the tool is for is not declared, so nobody can agree to it.
    UndeclaredPurpose,
    /// The person does not agree to what the tool is for, or no longer does.
    NoConsent,
    /// The act is known, and was another.
    Changed,
}

impl RefusalCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::NotOffered => "not_offered",
            Self::BadArguments => "bad_arguments",
            Self::NotPermitted => "not_permitted",
            Self::WrongDoor => "wrong_door",
            Self::OutOfScope => "out_of_scope",
            Self::Denied => "denied",
            Self::Off => "off",
            Self::ReadOnly => "read_only",
            Self::TooFar => "too_far",
            Self::OverLimit => "over_limit",
            Self::Paused => "paused",
            Self::TooManyRefused => "too_many_refused",
            Self::Hidden => "hidden",
            Self::NoRehearsal => "no_rehearsal",
            Self::CarriesData => "carries_data",
            Self::Outgrown => "outgrown",
            Self::UndeclaredPurpose => "undeclared_purpose",
            Self::NoConsent => "no_consent",
            Self::Changed => "changed",
        }
    }

    /// Whether the same call may pass later or in another form without anybody changing the policy.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::BadArguments | Self::OverLimit | Self::TooManyRefused | Self::Outgrown)
    }

    /// Whether it passes by itself. An act that a person approved waits for that, and is not refused for good.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::OverLimit | Self::Paused)
    }

    /// The phrase that tells the person.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::UnknownTool | Self::NotOffered | Self::BadArguments | Self::NoRehearsal | Self::Changed => {
                "not-understood"
            }
            Self::OverLimit | Self::TooManyRefused => "limit-reached",
            _ => "not-permitted",
        }
    }
}

impl ActRefusal {
    pub(crate) fn new(stage: StageName, code: RefusalCode, suggestion: impl Into<String>) -> Self {
        Self { stage, code, suggestion: suggestion.into(), ask: None, again_at: None }
    }

    pub(super) fn with_approver(self, ask: Option<Role>) -> Self {
        Self { ask, ..self }
    }

    pub(crate) fn again_at(self, again_at: Option<Timestamp>) -> Self {
        Self { again_at, ..self }
    }

    /// As a tool's answer to the model.
    pub fn to_model_json(&self) -> Value {
        let mut told = json!({
            "ok": false,
            "code": self.code.as_str(),
            "retryable": self.code.is_retryable(),
            "suggestion": self.suggestion,
        });
        if let Some(at) = self.again_at {
            told["again_at"] = json!(at);
        }
        told
    }
}
