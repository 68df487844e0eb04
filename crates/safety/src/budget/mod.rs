//! Plans, limits, what is set aside and what is spent.
//!
//! One ledger counts interactions, jobs, tokens and money for every tenant, binding and person, by day and by month, in
//! two lanes: what people wait for, and background work. The rows of the ledger are the gate too: each has its limits
//! beside what is used and held, so that setting something aside is one conditional statement over all of them, and the
//! strictest decides.
//!
//! # Layout
//! - [`Plan`], [`ModelClasses`]: what a tenant has agreed to; [`Settings`]: what the installation has decided
//! - [`Account`], [`Amount`]: who pays how much; `rates`: how rupees and unknown prices become dollars
//! - [`Governor`]: `reserve`, `settle`, `release` and `let_go`; `counters`, `reservations`: the rows; `expire`: what nobody settled
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

pub use account::{Account, Lane, Period, Scope};
pub use amount::{Amount, Measure};
pub use durable::DurableBudget;
pub use expire::{BUDGET, Swept, sweep};
pub use plan::{ModelClass, ModelClasses, NotInPlan, Plan};
pub use rates::Rates;
pub use refusal::{Frees, Refused};
pub use reservations::{Aside, aside};
pub use reserve::{Governor, Reserved};
pub use run::{RunBudget, RunSpent, RunUse};
pub use settings::Settings;
pub use settle::{Settled, is_held_for};
pub use stored::{LimitOn, LimitTo, plan, set_limit, set_plan};
pub use usage::{By, Line, Standing, Used, standings, unsettled, used};
