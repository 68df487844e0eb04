//! What goes wrong in an operation: one wording and one code on every surface.

use std::fmt;
use std::time::Duration;

use munshi_identity::MissingPermission;
use munshi_types::TenantName;
use serde_json::Value;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The code that programs read. Surfaces have a status or an exit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationErrorCode {
    /// A value does not fit.
    Invalid,
    Unauthenticated,
    Forbidden,
    NotFound,
    /// It does not go with how things stand.
    Conflict,
    TooManyRequests,
    /// Something that is needed is away for the moment.
    Unavailable,
    Internal,
}

impl OperationErrorCode {
    pub const ALL: [Self; 8] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::TooManyRequests,
        Self::Unavailable,
        Self::Internal,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::TooManyRequests => "too_many_requests",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// What to do where an error says nothing better; none where surfaces differ in it.
    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Invalid => Some("Compare it with /openapi.json, or with the command's --help."),
            Self::Forbidden => Some("Ask an owner of the workspace for access."),
            Self::NotFound => Some("List those there are first."),
            Self::Conflict => Some("Read the current state and try again."),
            Self::Unauthenticated | Self::TooManyRequests | Self::Unavailable | Self::Internal => None,
        }
    }
}

/// A no: a code, what happened, and what to do. The cause is for the log alone.
#[derive(Debug)]
pub struct OperationError {
    pub code: OperationErrorCode,
    pub message: String,
    /// None where the code's own will do.
    pub hint: Option<String>,
    pub retry_after: Option<Duration>,
    /// Of files: each thing that is wrong, with its place.
    pub problems: Option<Value>,
    pub cause: Option<Cause>,
}

impl OperationError {
    pub fn new(code: OperationErrorCode, message: impl Into<String>) -> Self {
        let hint = code.hint().map(str::to_owned);
        Self { code, message: message.into(), hint, retry_after: None, problems: None, cause: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    #[must_use]
    pub fn caused_by(self, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// A failure that is ours: nobody learns more than that it happened.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        let message = "Internal server error.";
        Self::new(OperationErrorCode::Internal, message).caused_by(cause)
    }

    pub fn unavailable(cause: impl Into<Cause>) -> Self {
        let message = "The service is temporarily unavailable.";
        Self::new(OperationErrorCode::Unavailable, message).caused_by(cause)
    }

    /// A value of the input that does not fit.
    pub fn field(field: &str, what: &str) -> Self {
        Self::new(OperationErrorCode::Invalid, format!("`{field}` is invalid: {what}."))
    }

    /// Nothing changes any more about an archived tenant.
    pub fn archived(name: &TenantName) -> Self {
        Self::new(OperationErrorCode::Forbidden, format!("Tenant {name} is archived permanently."))
            .hint("Add a new tenant under another name.")
    }

    /// Another tenant's, another binding's, or nobody's: they look the same.
    pub fn not_found(noun: &str, given: &str) -> Self {
        let shown: String = given.chars().take(80).collect();
        let message = format!("No {noun} {shown} exists, or you have no access to it.");
        Self::new(OperationErrorCode::NotFound, message)
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for OperationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as _)
    }
}

impl From<MissingPermission> for OperationError {
    /// What is missing, and whom to ask.
    fn from(lacking: MissingPermission) -> Self {
        let error = Self::new(OperationErrorCode::Forbidden, sentence(&lacking.what));
        match lacking.ask {
            Some(role) => error.hint(
                format!("Ask an {role} of the workspace for a key with this access.")
                    .replace("an staff", "a member of staff")
                    .replace("an viewer", "a viewer"),
            ),
            None => error,
        }
    }
}

impl From<munshi_store::Error> for OperationError {
    fn from(error: munshi_store::Error) -> Self {
        use munshi_store::Error as E;
        match error {
            error @ (E::Unavailable { .. }
            | E::KeysUnavailable(_)
            | E::UnknownKey(_)
            | E::Full
            | E::Busy(_)) => Self::unavailable(error),
            E::OutcomeUnknown => Self::new(
                OperationErrorCode::Unavailable,
                "The database connection was lost during the write; it was applied completely or not at all.",
            )
            .hint("Check whether it was applied before you retry; a message with the same id is stored once.")
            .caused_by(E::OutcomeUnknown),
            error @ E::Conflict { .. } => {
                Self::new(OperationErrorCode::Conflict, "This conflicts with the current state.")
                    .caused_by(error)
            }
            error @ E::Forgotten(_) => {
                let what = "Whose this was, was forgotten: nothing can be added to it.";
                Self::new(OperationErrorCode::Conflict, what)
                    .hint("Nothing brings it back. What is left of it can be read.")
                    .caused_by(error)
            }
            error => Self::internal(error),
        }
    }
}

impl From<munshi_identity::Error> for OperationError {
    fn from(error: munshi_identity::Error) -> Self {
        use munshi_identity::Error as E;
        match error {
            E::Store(error) => error.into(),
            E::Invalid(what) => Self::new(OperationErrorCode::Invalid, sentence(&what)),
            E::NoPerson(id) => Self::not_found("person", &id.to_string()),
            E::Unmergeable(why) => Self::new(OperationErrorCode::Conflict, sentence(&why.to_string()))
                .hint("Nothing was changed. These two records can't be merged."),
            error @ E::Busy => Self::unavailable(error),
            error @ E::Unproved(_) => Self::new(OperationErrorCode::Forbidden, sentence(&error.to_string())).hint(
                "They sign in once with the sign-in service, or whoever runs this server runs `munshi operator prove EMAIL`.",
            ),
            error @ E::NameTaken(_) => Self::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
                .hint("Choose another name, or revoke that key first."),
        }
    }
}

impl From<munshi_safety::Error> for OperationError {
    fn from(error: munshi_safety::Error) -> Self {
        use munshi_safety::Error as E;
        match error {
            E::Store(error) => error.into(),
            E::Invalid(what) => Self::new(OperationErrorCode::Invalid, sentence(&what)),
            E::OverBudget(refused) => {
                Self::new(OperationErrorCode::TooManyRequests, sentence(&refused.to_string()))
                    .hint("See `munshi usage` or GET /v1/usage for when the limit resets.")
            }
            error @ E::UnderWay => Self {
                retry_after: Some(Duration::from_secs(1)),
                ..Self::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
                    .hint("Send it again in a moment for its answer.")
            },
            error @ E::NoSecret { .. } => {
                Self::new(OperationErrorCode::NotFound, sentence(&error.to_string()))
            }
            // Somebody has to look after the key or the file; their words are for whoever keeps the installation.
            error @ (E::Key(_) | E::File { .. }) => Self::unavailable(error),
            error => Self::internal(error),
        }
    }
}

impl From<munshi_jobs::Error> for OperationError {
    fn from(error: munshi_jobs::Error) -> Self {
        use munshi_jobs::Error as E;
        match error {
            E::Store(error) => error.into(),
            error @ E::AlreadyQueued(_) => {
                Self::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
                    .hint("No action needed: it will run.")
            }
            E::Rule(what) => Self::new(OperationErrorCode::Invalid, sentence(&what)),
            error @ E::LeaseLost(_) => Self::internal(error),
        }
    }
}

impl From<munshi_tiers::Error> for OperationError {
    fn from(error: munshi_tiers::Error) -> Self {
        use munshi_tiers::Error as E;
        match error {
            E::Store(error) => error.into(),
            error @ (E::NoTenant(_) | E::NoTier { .. } | E::NoVersion { .. }) => {
                Self::new(OperationErrorCode::NotFound, sentence(&error.to_string()))
                    .hint("List them with GET /v1/tiers or `munshi tier list`.")
            }
            error @ E::FirstVersion { .. } => {
                Self::new(OperationErrorCode::NotFound, sentence(&error.to_string()))
                    .hint("List them with `munshi tier log`.")
            }
            E::Problems(problems) => Self {
                problems: serde_json::to_value(&problems).ok(),
                hint: None,
                ..Self::new(OperationErrorCode::Invalid, problems.to_string())
            },
            E::TenantArchived(name) => Self::archived(&name),
            error @ E::Overtaken { .. } => {
                Self::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
                    .hint("Run it again to see what is left.")
            }
            error @ E::Taken(_) => Self::new(OperationErrorCode::Conflict, sentence(&error.to_string()))
                .hint("Remove it from the other tenant's binding first."),
            error => Self::internal(error),
        }
    }
}

/// Errors of the crates below begin small and have no full stop: they stand behind `error:` in logs.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    // A quoted value at the beginning is not ours to change.
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}
