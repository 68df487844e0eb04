//! Runs: the work of a turn.

mod cancel;
mod list;
mod queue;
mod show;
mod view;

pub use cancel::{CancelRun, CancelledRunView};
pub use list::{ListRuns, ListRunsInput};
pub use queue::{RunLaneView, RunQueueView, ShowQueueInput, ShowRunQueue};
pub use show::{RunInput, ShowRun};
pub use view::{RunHaltView, RunModelCallView, RunStateView, RunStepView, RunSummaryView, RunWithStepsView};
