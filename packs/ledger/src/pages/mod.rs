//! Pages of the pack: bills to print and send, the day book.

mod bills;
mod day_book;

pub(crate) use bills::{BillPage, build_path as bill_path};
pub(crate) use day_book::DayBookPage;

use crate::error::Error;

/// What the books refuse, as the store says it: a page only reads, so it is what is stored that can't be read.
fn as_store(error: Error) -> munshi_store::Error {
    match error {
        Error::Store(error) => error,
        other => munshi_store::Error::Decode(other.to_string()),
    }
}
