//! Why a run is there, and as whom it acts where nobody typed anything.

use std::str::FromStr;

use munshi_pack::RunDelegator;
use munshi_types::{Autonomy, ScopeGlob};
use serde::{Deserialize, Serialize};

/// What began a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunCause {
    /// A person's message.
    Message,
    /// A schedule, or a time that was waited for.
    Clock,
    /// Something that happened outside: a webhook, what a poll found.
    Event,
    /// Somebody's command.
    Operation,
    /// Another run.
    Run,
    /// Somebody else's agent.
    Agent,
}

impl RunCause {
    pub const ALL: [Self; 6] =
        [Self::Message, Self::Clock, Self::Event, Self::Operation, Self::Run, Self::Agent];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Clock => "clock",
            Self::Event => "event",
            Self::Operation => "operation",
            Self::Run => "run",
            Self::Agent => "agent",
        }
    }
}

impl FromStr for RunCause {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|cause| cause.as_str() == text);
        found.ok_or_else(|| format!("unknown run cause `{text}`"))
    }
}

/// Among whom a run waits for a place to be worked on in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLane {
    /// Somebody waits for an answer.
    Chat,
    Background,
}

impl RunLane {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Background => "background",
        }
    }
}

impl FromStr for RunLane {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = [Self::Chat, Self::Background].into_iter().find(|lane| lane.as_str() == text);
        found.ok_or_else(|| format!("unknown run lane `{text}`"))
    }
}

/// As whom a run acts that nobody typed: a kind of work that a pack brings, with what the pack declares for it. The tenant's
/// policy stands above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServicePrincipal {
    pub pack: String,
    /// The scopes it may use.
    pub scopes: Vec<ScopeGlob>,
    /// How far it goes by itself.
    pub autonomy: Autonomy,
    /// On whose behalf it acts: then it may do what they may, too, and nothing that they may not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegator: Option<RunDelegator>,
}
