//! GST as a small shop meets it: rates by the day of supply, the parts of a tax, the states.
//!
//! A shop's prices have the tax in them. So a tax is taken out of what was paid, never put on top, and a bill comes to
//! what stands in the books.
//!
//! # Layout
//! - [`TaxRate`]: a rate, and whether there is such a one on a day
//! - [`known`]: rates of goods that changed hands often, by the beginning of their HSN code and the day
//! - [`TaxBreakdown`]: an amount and the taxes in it
//! - [`state`]: states by the two digits that a GSTIN begins with

mod known;
mod rate;
mod state;
mod taxed;

pub use known::known;
pub use rate::TaxRate;
pub use state::{name as state_name, of_gstin};
pub use taxed::{GstSupplyType, TaxBreakdown};
