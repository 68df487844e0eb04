//! Bills: a sale as a tax invoice or a bill of supply, numbered, kept as printed and shown as a page.
//!
//! # Layout
//! - [`Bill`]: all that is printed; [`make`]: a bill of an entry, filed under the next number of its series
//! - `lines`: what was sold, and the tax in it
//! - `page`: the page

mod content;
mod lines;
mod make;
pub(crate) mod page;

pub use content::{Bill, BillBuyer, BillLine, BillSeller};
pub use make::{BillRequest, find_latest_sale, make};
