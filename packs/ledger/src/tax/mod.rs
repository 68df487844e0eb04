//! GST as a small shop meets it: rates by the day of supply, the parts of a tax, the states.
//!
//! A shop's prices have the tax in them. So a tax is taken out of what was paid, never put on top, and a bill comes to
//! what stands in the books.
//!
//! # Layout
//! - [`TaxRate`]: a rate, and whether there is such a one on a day
//! - [`rate_table`]: rates of goods that changed hands often, by the beginning of their HSN code and the day
//! - [`TaxBreakdown`]: an amount and the taxes in it
//! - [`state`]: states by the two digits that a GSTIN begins with

mod breakdown;
mod rate;
mod rate_table;
mod state;

pub use breakdown::{GstSupplyType, TaxBreakdown};
pub use rate::TaxRate;
pub use rate_table::find_rate;
pub use state::{find_state_number, name as state_name};
