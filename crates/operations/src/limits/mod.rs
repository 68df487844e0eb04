//! What a tenant may use: its plan and its own limits.

mod amount;
mod list;
mod plan;
mod set;
mod set_plan;
mod view;

pub use list::ListLimits;
pub use plan::{PlanInput, PlanView, ShowPlan};
pub use set::{SetLimit, SetLimitInput};
pub use set_plan::{SetPlan, SetPlanInput};
pub use view::{LimitKind, LimitView};
