//! How a turn ends, and what it waits for when it pauses.

use munshi_conversations::HaltReason;
use munshi_safety::approvals::Approval;
use munshi_types::{ActId, Timestamp};

/// How a turn came to its end, for now or for good.
#[derive(Debug)]
pub(crate) enum TurnOutcome {
    Replied,
    Waiting(TurnPause),
    /// The program is to call tools of its own; whoever comes back with their answers goes on.
    Handed,
    Halted(HaltReason),
}

/// How far the stages came.
pub(crate) enum StagesOutcome {
    /// There is something to store.
    Ended(TurnOutcome),
    /// The run is somewhere else by now: with the team or binding that took over, or that had asked what was agreed to.
    Moved,
    /// Messages have joined the turn, and it begins to think anew.
    Joined,
}

impl From<TurnOutcome> for StagesOutcome {
    fn from(ended: TurnOutcome) -> Self {
        Self::Ended(ended)
    }
}

/// What a turn waits for.
#[derive(Debug, Default)]
pub(crate) struct TurnPause {
    /// Questions to a person.
    pub(crate) asked: Vec<Approval>,
    /// What somebody agreed to, and a limit stands in the way of, or whose tool is away.
    pub(crate) delayed: Vec<DelayedAct>,
    /// Somebody has to log in at a connector's service.
    pub(crate) is_shut: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayedAct {
    pub(crate) act: ActId,
    /// When the limit frees, where that is known.
    pub(crate) until: Option<Timestamp>,
    /// Its tool is away, and no limit in the way.
    pub(crate) is_away: bool,
}

impl TurnPause {
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.delayed.is_empty() && !self.is_shut
    }
}
