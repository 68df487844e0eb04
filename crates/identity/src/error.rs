//! What can go wrong here, by what a caller does about it.

use munshi_types::PersonId;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// What was given can't be kept; the words say what to write instead.
    #[error("{0}")]
    Invalid(String),

    #[error("there is no person {0}")]
    NoPerson(PersonId),

    #[error("{0}")]
    Unmergeable(MergeObstacle),

    /// A key of that name is in use.
    #[error("there is a key called {0} already")]
    NameTaken(String),

    /// The account's e-mail was never shown to be its holder's, and a role elsewhere goes to such accounts alone.
    #[error("nobody has proved that the e-mail {0} is theirs, so it gets no role in another workspace")]
    Unproved(String),

    /// More passwords are being looked at than can be.
    #[error("too many sign in at once: try again in a moment")]
    Busy,
}

/// Why two persons can't become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeObstacle {
    #[error("somebody who works here can't be merged into another person")]
    Member,
    #[error("two people who work here can't become one")]
    TwoMembers,
    #[error("somebody who works here signs in: a code makes nobody them")]
    IntoMember,
    #[error("somebody who has left can't be merged")]
    Left,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
