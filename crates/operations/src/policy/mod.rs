//! What a tenant allows.

mod decision;
mod log;
mod show;
mod test;

pub use decision::{DecisionStageView, PolicyDecisionView};
pub use log::{LogPolicy, LogPolicyInput, PolicyLogView, PolicyVersionView};
pub use show::{PolicyInput, PolicyView, ShowPolicy};
pub use test::{DescribedToolInput, TestPolicy, TestPolicyInput};
