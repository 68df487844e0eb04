//! What the installation has decided about turns.

use std::time::Duration;

use munshi_safety::budget::ModelClasses;

use crate::holders::ProcessIdentity;

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
}

impl Default for TurnSettings {
    fn default() -> Self {
        Self {
            renew: Duration::from_secs(10),
            sweep: Duration::from_secs(5),
            grace: Duration::from_secs(20),
            classes: ModelClasses::default(),
            process: None,
        }
    }
}
