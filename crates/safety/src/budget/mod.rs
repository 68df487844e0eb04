//! Plans, limits, what is set aside and what is spent.
//!
//! One ledger counts interactions, jobs, tokens and money for every tenant, binding and person, by day and by month, in
//! two lanes: what people wait for, and background work. The rows of the ledger are the gate too: each has its limits
//! beside what is used and held, so that setting something aside is one conditional statement over all of them, and the
//! strictest decides.
//!
//! # Layout
//! - [`UsagePlan`], [`ModelClasses`]: what a tenant has agreed to; [`BudgetSettings`]: what the installation has decided
//! - [`BudgetAccount`], [`BudgetAmount`]: who pays how much; `rates`: how rupees and unknown prices become dollars
//! - [`BudgetGovernor`]: `reserve`, `settle`, `release` and `let_go`; `counters`, `reservations`: the rows; `expire`: what nobody settled
//! - `stored`: a tenant's plan and own limits; `usage`: reading the ledger
//! - [`DurableBudget`]: the same for the gateway; [`RunBudget`]: a pure value for one run; [`rate`]: how often

mod account;
mod amount;
mod counters;
mod durable;
mod expire;
mod plan;
pub mod rate;
mod rates;
mod refusal;
mod reservations;
mod reserve;
mod run;
mod settings;
mod settle;
mod stored;
mod usage;

pub use account::{BudgetAccount, BudgetLane, BudgetPeriod, BudgetScope};
pub use amount::{BudgetAmount, BudgetMeasure};
pub use durable::DurableBudget;
pub use expire::{BUDGET, BudgetSweepReport, sweep};
pub use plan::{ModelClass, ModelClasses, PlanExclusion, UsagePlan};
pub use rates::PriceConversion;
pub use refusal::{BudgetRefusal, BudgetRelease};
pub use reservations::{OpenReservation, aside};
pub use reserve::{BudgetGovernor, Reservation};
pub use run::{RunBudget, RunExhaustion, RunUse};
pub use settings::BudgetSettings;
pub use settle::{SettleOutcome, is_held_for};
pub use stored::{BudgetLimitSubject, BudgetLimitValue, plan, set_limit, set_plan};
pub use usage::{BudgetLimitStatus, UsageDimension, UsageLine, UsageTotals, standings, unsettled, used};
