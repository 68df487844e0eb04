//! What became of a message that came in.

use munshi_identity::Person;
use munshi_types::{MessageId, PersonId, ReservationId, RunId, SessionId};

use crate::runs::{DuplicateMessage, RunLease};
use crate::sessions::Session;
use crate::state::HaltReason;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngestStatus {
    Begun,
    /// It follows by itself: another turn of the session is under way, or, where there is none, this node has no free place.
    Queued {
        behind: Option<RunId>,
    },
    /// It was taken before; the ids are those of then.
    SeenBefore,
}

#[derive(Clone, Debug, PartialEq)]
pub struct IngestOutcome {
    pub run: RunId,
    pub session: SessionId,
    pub message: MessageId,
    pub person: PersonId,
    pub status: IngestStatus,
    /// Where this process may begin the turn now.
    pub begun: Option<Box<TurnStart>>,
    /// Where the turn has ended already, with its reply stored.
    pub halted: Option<HaltReason>,
}

/// What the turn begins with, so that nothing is read twice.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnStart {
    pub lease: RunLease,
    /// With the message counted.
    pub session: Session,
    pub person: Person,
    pub reservation: Option<ReservationId>,
}

impl From<DuplicateMessage> for IngestOutcome {
    fn from(seen: DuplicateMessage) -> Self {
        Self {
            run: seen.run,
            session: seen.session,
            message: seen.message,
            person: seen.person,
            status: IngestStatus::SeenBefore,
            begun: None,
            halted: None,
        }
    }
}
