//! What goes wrong, in the words a person reads and the code a script reads.

use std::process::ExitCode;

use munshi_config::ConfigProblems;
use munshi_pack::operation::{OperationError, OperationErrorCode};
use serde_json::{Value, json};

use crate::operations::SettingsFault;

/// How the program ends when it did not do what was asked. The help of `munshi` and `docs/cli.md` list them for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Failed = 1,
    Usage = 2,
    Settings = 3,
    Database = 4,
    NotFound = 5,
    AlreadyThere = 6,
    Refused = 7,
    Schema = 8,
    Files = 9,
    Halted = 10,
}

impl Exit {
    /// The word for it in JSON.
    const fn code(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Settings => "settings",
            Self::Database => "database",
            Self::NotFound => "not_found",
            Self::AlreadyThere => "already_there",
            Self::Refused => "refused",
            Self::Schema => "schema",
            Self::Files => "files",
            Self::Halted => "halted",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do what was asked: what happened, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// Every problem of the settings or of a folder, for `--json`.
    problems: Option<Value>,
    /// An operation's code, where one says no: the same on every surface.
    code: Option<&'static str>,
}

pub type Result<T, E = CommandFailure> = std::result::Result<T, E>;

impl CommandFailure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None, problems: None, code: None }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, message)
    }

    pub fn already_there(message: impl Into<String>) -> Self {
        Self::new(Exit::AlreadyThere, message)
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Exit::Refused, message)
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Takes the hint out of a text that ends with a `hint:` line of its own.
    pub fn with_own_hint(exit: Exit, text: &str) -> Self {
        match text.split_once("\nhint: ") {
            Some((message, hint)) => Self::new(exit, message).hint(hint),
            None => Self::new(exit, text),
        }
    }

    /// `{"error":{"code":…,"message":…,"hint":…}}`
    pub fn to_json(&self) -> Value {
        let code = self.code.unwrap_or_else(|| self.exit.code());
        let mut error = json!({ "code": code, "message": self.message, "hint": self.hint });
        if let (Some(problems), Some(fields)) = (&self.problems, error.as_object_mut()) {
            fields.insert("problems".to_owned(), problems.clone());
        }
        json!({ "error": error })
    }
}

impl From<OperationError> for CommandFailure {
    fn from(error: OperationError) -> Self {
        // At the machine the database's own words help more.
        if let Some(store) =
            error.cause.as_ref().and_then(|cause| cause.downcast_ref::<munshi_store::Error>())
        {
            return store.clone().into();
        }
        if let Some(fault) = error.cause.as_ref().and_then(|cause| cause.downcast_ref::<SettingsFault>()) {
            return fault.0.clone();
        }
        if error.problems.is_some() {
            return Self { problems: error.problems, ..Self::new(Exit::Files, error.message) };
        }
        let exit = match error.code {
            OperationErrorCode::Invalid => Exit::Usage,
            OperationErrorCode::NotFound => Exit::NotFound,
            OperationErrorCode::Conflict => Exit::AlreadyThere,
            OperationErrorCode::Unauthenticated
            | OperationErrorCode::Forbidden
            | OperationErrorCode::TooManyRequests => Exit::Refused,
            OperationErrorCode::Unavailable => Exit::Database,
            OperationErrorCode::Internal => Exit::Failed,
        };
        // At the machine nothing is kept from whoever asks.
        let message = match (&error.cause, error.code) {
            (Some(cause), OperationErrorCode::Internal | OperationErrorCode::Unavailable) => {
                format!("{} ({cause})", error.message)
            }
            _ => error.message,
        };
        Self { hint: error.hint, code: Some(error.code.as_str()), ..Self::new(exit, message) }
    }
}

impl From<munshi_store::Error> for CommandFailure {
    fn from(error: munshi_store::Error) -> Self {
        use munshi_store::Error;
        let text = error.to_string();
        match error {
            Error::Unavailable { .. } => Self::new(Exit::Database, text)
                .hint("check that the database is running and store.url is correct; run `munshi doctor` for details"),
            Error::Full | Error::Corrupt(_) => Self::new(Exit::Database, text),
            Error::Busy(_) => Self::new(Exit::Database, text).hint("try again in a moment"),
            Error::OutcomeUnknown => {
                Self::new(Exit::Database, text).hint("check whether it was done before you retry")
            }
            Error::Conflict { .. } => Self::already_there(text),
            Error::Schema(_) => Self::new(Exit::Schema, text),
            Error::Forgotten(_) => Self::not_found(text),
            Error::ErasureRefused(_) => Self::refused(text),
            Error::KeysUnavailable(_) | Error::UnknownKey(_) => Self::new(Exit::Database, text)
                .hint("check that the store of keys is there and keys.url is correct; run `munshi doctor` for details"),
            Error::Address(_) => Self::new(Exit::Settings, text),
            Error::Refused(_) => {
                Self::failed(text).hint("check the permissions of this database login; run `munshi doctor` for details")
            }
            Error::Decode(_) | Error::Misuse(_) | Error::Panicked(_) => {
                Self::failed(text).hint("this is a bug in Munshi: please report it with this message")
            }
        }
    }
}

impl From<munshi_jobs::Error> for CommandFailure {
    fn from(error: munshi_jobs::Error) -> Self {
        match error {
            munshi_jobs::Error::Store(error) => error.into(),
            error @ munshi_jobs::Error::AlreadyQueued(_) => Self::already_there(error.to_string()),
            error => Self::failed(error.to_string()),
        }
    }
}

impl From<munshi_connectors::Error> for CommandFailure {
    fn from(error: munshi_connectors::Error) -> Self {
        use munshi_connectors::Error;
        match error {
            Error::Store(error) => error.into(),
            Error::Safety(error) => error.into(),
            Error::Invalid(what) => Self::usage(what),
            Error::Unreachable(what)
            | Error::TooSlow(what)
            | Error::WantsLogin(what)
            | Error::NoLogin(what) => Self::failed(what),
        }
    }
}

impl From<munshi_tiers::Error> for CommandFailure {
    fn from(error: munshi_tiers::Error) -> Self {
        use munshi_tiers::Error;
        let text = error.to_string();
        match error {
            Error::Store(error) => error.into(),
            Error::Problems(problems) => {
                Self { problems: serde_json::to_value(&problems).ok(), ..Self::new(Exit::Files, text) }
            }
            Error::Overtaken { .. } => Self::refused(text).hint("run the command again to see what is left"),
            Error::Taken(_) => Self::refused(text).hint("remove it from the other tenant's binding first"),
            Error::NoTenant(_) => Self::not_found(text).hint("`munshi tenant list` shows them all"),
            Error::TenantArchived(_) => Self::refused(text).hint("use another name"),
            Error::NoTier { tenant, .. } => {
                Self::not_found(text).hint(format!("`munshi tier list {tenant}` shows them all"))
            }
            Error::NoVersion { .. } | Error::FirstVersion { .. } => {
                Self::not_found(text).hint("`munshi tier log` shows them all")
            }
            Error::Folder { .. } | Error::OnlyShown => Self::failed(text),
            Error::Existing(_) => {
                Self::already_there(text).hint("use --replace to overwrite them, or another folder")
            }
            Error::Unreadable(_) => {
                Self::failed(text).hint("check that this program is not older than the database")
            }
        }
    }
}

impl From<munshi_identity::Error> for CommandFailure {
    fn from(error: munshi_identity::Error) -> Self {
        use munshi_identity::Error;
        let text = error.to_string();
        match error {
            Error::Store(error) => error.into(),
            Error::Invalid(_) => Self::usage(text),
            Error::NoPerson(_) => Self::not_found(text).hint("`munshi person list` shows everybody"),
            Error::Unmergeable(_) => Self::refused(text),
            Error::Busy => Self::failed(text),
            Error::Unproved(email) => Self::refused(text).hint(format!(
                "they must sign in once with the identity provider; or, if the e-mail is theirs, run `munshi operator prove {email}`"
            )),
            Error::NameTaken(_) => Self::already_there(text)
                .hint("use another name, or revoke that one: `munshi key revoke NAME`"),
        }
    }
}

impl From<munshi_safety::Error> for CommandFailure {
    fn from(error: munshi_safety::Error) -> Self {
        use munshi_safety::Error;
        let text = error.to_string();
        match error {
            Error::Store(error) => error.into(),
            Error::Invalid(_) => Self::usage(text),
            Error::Key(_) => Self::new(Exit::Settings, text),
            Error::UnderWay => Self::already_there(error.to_string()),
            Error::NoSecret { .. } => Self::not_found(text),
            Error::Tampered { .. } => Self::failed(text),
            Error::File { .. } => Self::refused(text)
                .hint("check that this user can read and write there, and that the disk has space"),
            Error::OverBudget(_) | Error::RateLimited(_) => Self::refused(text),
        }
    }
}

impl From<munshi_keys::Error> for CommandFailure {
    fn from(error: munshi_keys::Error) -> Self {
        munshi_safety::Error::from(error).into()
    }
}

impl From<munshi_conversations::Error> for CommandFailure {
    fn from(error: munshi_conversations::Error) -> Self {
        use munshi_conversations::Error;
        let text = error.to_string();
        match error {
            Error::Store(error) => error.into(),
            Error::Identity(error) => error.into(),
            Error::Safety(error) => error.into(),
            Error::Tiers(error) => error.into(),
            Error::Jobs(error) => error.into(),
            Error::NoBinding(_) | Error::NoRun => Self::not_found(text),
            Error::TenantPaused { tenant } => {
                Self::refused(text).hint(format!("run `munshi tenant resume {tenant}`"))
            }
            Error::TenantArchived { .. } | Error::BindingArchived { .. } | Error::NoConversation(_) => {
                Self::refused(text)
            }
            Error::Unfit(_) => Self::usage(text),
            Error::LostRun(_) | Error::Followed(_) | Error::Archive(_) | Error::Tools(_) => {
                Self::failed(text)
            }
        }
    }
}

impl From<munshi_llm::ModelError> for CommandFailure {
    fn from(fault: munshi_llm::ModelError) -> Self {
        use munshi_llm::ModelError;
        let failure = Self::failed(fault.to_string());
        match fault {
            ModelError::Unauthorised => failure.hint("check the model's key: `munshi config show`"),
            ModelError::Unreachable(_) | ModelError::Timeout(_) => {
                failure.hint("check that the server runs and base_url is correct; see `munshi models`")
            }
            ModelError::NoTarget(_) => failure.hint("`munshi models` shows the models and their state"),
            _ => failure,
        }
    }
}

impl From<ConfigProblems> for CommandFailure {
    fn from(problems: ConfigProblems) -> Self {
        let list = serde_json::to_value(&problems).ok();
        Self { problems: list, ..Self::new(Exit::Settings, problems.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_at_the_end_of_a_text_becomes_the_hint() {
        let failure = CommandFailure::with_own_hint(Exit::Refused, "the port is in use\nhint: use another");
        assert_eq!(failure.message, "the port is in use");
        assert_eq!(failure.hint.as_deref(), Some("use another"));
    }

    #[test]
    fn an_error_of_the_database_has_the_code_a_script_expects() {
        let exit = |error: munshi_store::Error| CommandFailure::from(error).exit;
        assert_eq!(exit(munshi_store::Error::Full), Exit::Database);
        assert_eq!(exit(munshi_store::Error::Schema(String::new())), Exit::Schema);
        assert_eq!(exit(munshi_store::Error::Address(String::new())), Exit::Settings);
    }
}
