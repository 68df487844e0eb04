//! What an installation says about connectors.

use std::time::Duration;

/// How often a connector is tried again, and how long things may take. The defaults are the ones of the docs.
#[derive(Clone, Copy, Debug)]
pub struct ConnectorTimings {
    /// So many restarts within the window; the next makes it degraded.
    pub restarts: usize,
    pub window: Duration,
    /// The first pause before a restart; it doubles up to the longest.
    pub pause: Duration,
    pub longest_pause: Duration,
    /// A degraded connector is tried again after this.
    pub retry: Duration,
    /// How often it is asked whether it is there, and how long the answer may take.
    pub health: Duration,
    pub answer: Duration,
    /// So many rounds of health bring a new look at its tools.
    pub relist: u32,
    /// How long calls and children have when it is stopped.
    pub grace: Duration,
    /// How often the store is asked what changed.
    pub look: Duration,
}

impl Default for ConnectorTimings {
    fn default() -> Self {
        Self {
            restarts: 5,
            window: Duration::from_secs(300),
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            retry: Duration::from_secs(300),
            health: Duration::from_secs(30),
            answer: Duration::from_secs(10),
            relist: 10,
            grace: Duration::from_secs(10),
            look: Duration::from_secs(2),
        }
    }
}
