//! What is measured of a turn.

use munshi_types::tier::Channel;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnMeasure {
    // How long, in microseconds.
    Ingest,
    Prepare,
    /// Of turns that asked a model.
    Think,
    /// Of turns that called a tool.
    Act,
    Check,
    /// Until the reply goes to the store.
    Respond,
    /// From when the message came.
    FirstWord,
    Total,
    // How much, in tokens.
    Human,
    Team,
    Agent,
    /// The conversation, what was looked up, and the message.
    Dynamic,
    Output,
}

/// What the median and the ninety-fifth of a hundred should stay under, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyTarget {
    pub p50: i64,
    /// None where nobody has set one.
    pub p95: Option<i64>,
}

impl TurnMeasure {
    pub const STAGES: [Self; 8] = [
        Self::Ingest,
        Self::Prepare,
        Self::Think,
        Self::Act,
        Self::Check,
        Self::Respond,
        Self::FirstWord,
        Self::Total,
    ];
    pub const SIZES: [Self; 5] = [Self::Human, Self::Team, Self::Agent, Self::Dynamic, Self::Output];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Prepare => "prepare",
            Self::Think => "think",
            Self::Act => "act",
            Self::Check => "check",
            Self::Respond => "respond",
            Self::FirstWord => "first_word",
            Self::Total => "total",
            Self::Human => "human",
            Self::Team => "team",
            Self::Agent => "agent",
            Self::Dynamic => "dynamic",
            Self::Output => "output",
        }
    }

    /// Where words are shown as they come the first one counts; where they are sent, all of them.
    pub fn target(self, channel: Channel) -> Option<LatencyTarget> {
        let target = |p50, p95| Some(LatencyTarget { p50, p95 });
        match (channel, self) {
            (Channel::Whatsapp, Self::Total) => target(3_000_000, Some(8_000_000)),
            (Channel::Web, Self::FirstWord) => target(800_000, Some(2_000_000)),
            (Channel::Voice, Self::FirstWord) => target(1_500_000, None),
            _ => None,
        }
    }
}
