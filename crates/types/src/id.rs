//! Newtype ids. Two kinds of id can't be mixed up, and each sorts by the time it was made.

use std::fmt;
use std::hash::Hash;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::{Clock, SystemClock};
use crate::random::{Random, SystemRandom};

/// What every id can do; the store binds and reads ids through this.
pub trait Id: Copy + Eq + Ord + Hash + fmt::Display + Send + Sync + 'static {
    /// The word for it in messages: "tenant", "job".
    const NOUN: &'static str;

    fn from_uuid(uuid: Uuid) -> Self;
    fn as_uuid(self) -> Uuid;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a valid {noun} id: expected 32 hexadecimal digits, such as 01a1dd41-32c0-704f-b28c-400adb3d8fd2"
)]
pub struct IdError {
    noun: &'static str,
    text: String,
}

macro_rules! define_ids {
    ($($(#[$doc:meta])* $name:ident = $noun:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl Id for $name {
            const NOUN: &'static str = $noun;

            fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self).map_err(|_| IdError { noun: $noun, text: text.to_owned() })
            }
        }
    )+};
}

/// Every kind of id, once. The macro named in the call gets the list: this file defines the types from it,
/// the store teaches its columns to hold them.
#[macro_export]
macro_rules! for_each_id {
    ($callback:ident) => {
        $callback! {
            /// One customer of the installation: a person or a business. Nothing crosses from one to another.
            TenantId = "tenant";
            /// One piece of work in the queue.
            JobId = "job";
            /// One claim of a job by one worker; a worker that lost it can no longer finish the job.
            LeaseId = "lease";
            /// One attempt at a model.
            CallId = "call";
            /// A human, team or agent, through all its versions.
            TierId = "tier";
            /// What ties addresses to a human, a team and an agent.
            BindingId = "binding";
            /// Somebody the tenant deals with or who works for it, on whatever channel.
            PersonId = "person";
            /// One conversation of a person with a binding, on whatever channels.
            SessionId = "session";
            /// Something that was said in a session, by either side.
            MessageId = "message";
            /// What lets a program in, through all its secrets.
            KeyId = "key";
            /// A one-time code, from being asked for to being used.
            CodeId = "code";
            /// One handing on of a conversation.
            HandoffId = "handoff";
            /// One time that somebody of the business took a conversation over.
            HoldId = "hold";
            /// Something that a colleague told the agent of a conversation.
            WhisperId = "whisper";
            /// Somebody's place in the line for a human.
            HumanRequestId = "request for a human";
            /// A turn's durable work.
            RunId = "run";
            /// One process that works on runs, from its start to its end.
            HolderId = "holder";
            /// One act: a tool called, or asked for and refused.
            ActId = "act";
            /// A question to a person: may this be done?
            ApprovalId = "approval";
            /// What somebody agreed to, for a purpose and a time.
            ConsentId = "consent";
            /// An administrative change that a program asked for.
            ProposalId = "proposal";
            /// Something that a pack's heartbeat found, from its first beat to its last.
            AlertId = "alert";
            /// A connector's login that its service takes no more, until the next.
            LoginLossId = "lost login";
            /// Something that came from outside for a pack, by a webhook or a poll.
            DeliveryId = "delivery";
            /// A file that somebody gave, sealed, by its content.
            BlobId = "file";
            /// A key that text is sealed with at rest: a person's, or the tenant's own.
            DataKeyId = "data key";
            /// Somebody forgotten, or about to be.
            ErasureId = "erasure";
            /// One entry of a tenant's audit.
            EntryId = "entry";
            /// Somebody who looks after tenants through the web, with an account of the installation.
            OperatorId = "operator";
            /// One browser in which an operator is signed in.
            SignInId = "sign-in";
            /// A one-time link, from being made to being used.
            LinkId = "link";
            /// What was set aside of a budget, until it is settled.
            ReservationId = "reservation";
        }
    };
}

for_each_id!(define_ids);

impl TenantId {
    /// The installation itself: work that belongs to no tenant. It has no row among the tenants.
    pub const PLATFORM: Self = Self(Uuid::nil());
}

/// Makes ids from the clock and chance it was given.
#[derive(Clone, Debug)]
pub struct IdGenerator {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl IdGenerator {
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { clock, random }
    }

    /// Ids from the machine's own clock and generator: what the binary uses.
    pub fn system() -> Self {
        Self::new(Arc::new(SystemClock), Arc::new(SystemRandom))
    }

    /// A UUIDv7: 48 bits of milliseconds, then 74 random bits.
    pub fn next<I: Id>(&self) -> I {
        let mut bytes = [0; 10];
        self.random.fill(&mut bytes);
        I::from_uuid(
            uuid::Builder::from_unix_timestamp_millis(self.clock.now().as_millis(), &bytes).into_uuid(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FakeClock, SeededRandom, Timestamp};
    use std::time::Duration;

    #[test]
    fn ids_sort_by_the_time_they_were_made() {
        let clock = Arc::new(FakeClock::new(Timestamp::from_micros(1_700_000_000_000_000)));
        let ids = IdGenerator::new(clock.clone(), Arc::new(SeededRandom::new(1)));
        let first: JobId = ids.next();
        clock.advance(Duration::from_millis(1));
        let second: JobId = ids.next();
        assert!(first < second);
        assert_eq!(first.as_uuid().get_version_num(), 7);
    }

    #[test]
    fn an_id_survives_text_and_json() {
        let id: TenantId = IdGenerator::system().next();
        assert_eq!(id.to_string().parse::<TenantId>().unwrap(), id);
        assert_eq!(serde_json::from_str::<TenantId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        assert!("xyz".parse::<JobId>().unwrap_err().to_string().starts_with("`xyz` is not a valid job id"));
    }
}
