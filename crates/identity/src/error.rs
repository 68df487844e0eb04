//! What can go wrong here, by what a caller does about it.

use munshi_types::PersonId;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// What was given can't be kept; the words say what to write instead.
    #[error("{0}")]
    Invalid(String),

    #[error("person {0} not found")]
    NoPerson(PersonId),

    #[error("{0}")]
    Unmergeable(MergeObstacle),

    /// A key of that name is in use.
    #[error("a key named {0} already exists")]
    NameTaken(String),

    /// The account's e-mail was never shown to be its holder's, and a role elsewhere goes to such accounts alone.
    #[error("the e-mail {0} is not verified, so it can't get a role in another workspace")]
    Unproved(String),

    /// More passwords are being looked at than can be.
    #[error("too many sign-ins at once: try again in a moment")]
    Busy,
}

/// Why two persons can't become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeObstacle {
    #[error("a member can't be merged into another person")]
    Member,
    #[error("two members can't be merged")]
    TwoMembers,
    #[error("a code can't merge a person into a member: members sign in")]
    IntoMember,
    #[error("a person who has left can't be merged")]
    Left,
    #[error("a person who was forgotten can't be merged")]
    Forgotten,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
