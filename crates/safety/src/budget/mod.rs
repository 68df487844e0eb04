//! Plans, limits, what is set aside and what is spent.
//!
//! One ledger counts interactions, jobs, tokens and money for every tenant, binding and person, by day and by month, in
//! two lanes: what people wait for, and background work. The rows of the ledger are the gate too: each has its limits
//! beside what is used and held, so that setting something aside is one conditional statement over all of them, and the
//! strictest decides.
//!
//! # Layout
//! - [`UsagePlan`], [`ModelClasses`]: what a tenant has agreed to; [`BudgetSettings`]: what the installation has decided
//! - [`BudgetAccount`], [`BudgetAmount`]: who pays how much; `price_conversion`: how rupees and unknown prices become dollars
//! - [`BudgetGovernor`]: `reserve`, `settle`, `release` and `release_run`; `counters`, `reservations`: the rows; `expire`: what nobody settled
//! - `tenant_terms`: a tenant's plan and own limits; `usage`: reading the ledger
//! - [`DurableBudget`]: the same for the gateway; [`RunBudget`]: a pure value for one run; [`rate_quota`]: how often

mod account;
mod amount;
mod counters;
mod durable;
mod expire;
mod plan;
mod price_conversion;
pub mod rate_quota;
mod refusal;
mod reservations;
mod reserve;
mod run;
mod settings;
mod settle;
mod tenant_terms;
mod usage;

pub use account::{BudgetAccount, BudgetLane, BudgetPeriod, BudgetScope};
pub use amount::{BudgetAmount, BudgetMeasure};
pub use durable::DurableBudget;
pub use expire::{BUDGET, BudgetSweepReport, sweep};
pub use plan::{ModelClass, ModelClasses, PlanExclusion, UsagePlan};
pub use price_conversion::PriceConversion;
pub use refusal::{BudgetRefusal, BudgetRelease};
pub use reservations::{OpenReservation, find_reservation};
pub use reserve::{BudgetGovernor, Reservation};
pub use run::{RunBudget, RunExhaustion, RunUse};
pub use settings::BudgetSettings;
pub use settle::{SettleOutcome, has_open_reservations};
pub use tenant_terms::{
    BudgetLimitSubject, BudgetLimitValue, list_own_limits, load_plan, set_limit, set_plan,
};
pub use usage::{
    BudgetLimitStatus, UsageDimension, UsageLine, UsageTotals, list_limit_statuses, list_usage, sum_unsettled,
};
