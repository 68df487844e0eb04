//! What the installation has decided about turns.

use std::time::Duration;

use munshi_blobs::BlobService;
use munshi_conversations::holders::ProcessIdentity;
use munshi_safety::budget::ModelClasses;

#[derive(Clone, Debug)]
pub struct TurnSettings {
    /// How often a turn that takes long renews it.
    pub renew: Duration,
    /// How often runs are looked for whose process died, and those whose question was answered.
    pub sweep: Duration,
    /// How long turns under way may go on once the process is told to stop.
    pub grace: Duration,
    /// Which plans may use which model.
    pub classes: ModelClasses,
    /// How other processes can tell whether this one lives; none for one that only asks.
    pub process: Option<ProcessIdentity>,
    pub isolation: IsolationTimes,
    /// People's files, for models that can see; none where no model is shown any.
    pub files: Option<BlobService>,
    /// How many turns this process works on at a time; messages beyond wait.
    pub chat_places: usize,
    /// How close a person's messages come that join one turn, and how long a reply that is sent waits for the next. At zero
    /// each message is answered by itself.
    pub join_window: Duration,
}

/// How long a run that may have broken processes has this one to itself.
#[derive(Clone, Copy, Debug)]
pub struct IsolationTimes {
    /// So long it is waited for that other turns end, a few times.
    pub wait: Duration,
    /// In which others begin, between these times.
    pub pause: Duration,
    /// So long others wait for it. Whatever breaks the process at once has done so by then: the marker is taken back, since
    /// what happens beside others is nobody's.
    pub hold: Duration,
}

impl Default for IsolationTimes {
    fn default() -> Self {
        Self { wait: Duration::from_secs(10), pause: Duration::from_secs(5), hold: Duration::from_secs(30) }
    }
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            renew: Duration::from_secs(10),
            sweep: Duration::from_secs(5),
            grace: Duration::from_secs(20),
            classes: ModelClasses::default(),
            process: None,
            isolation: IsolationTimes::default(),
            files: None,
            chat_places: 256,
            join_window: Duration::ZERO,
        }
    }
}
