//! The proof that every kept figure follows from what was booked. Each check is one statement over all rows; the first
//! figure that does not follow is named.
//!
//! # Layout
//! - `figures`: days, accounts, contacts, stock
//! - `entries`: numbers and amounts of entries, and what cancels them
//! - `habits`: what is usual
//! - [`single_entry`]: one entry and what is kept of it, after it was booked

mod entries;
mod figures;
mod habits;
mod single_entry;

pub use single_entry::{EntryVerification, check_entry};

use std::fmt;

use munshi_store::Tx;
use serde::Serialize;

use crate::error::Result;

/// The first figure that does not follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FigureMismatch {
    /// Such as `balance of contact`.
    pub figure: &'static str,
    /// Whose: an id, a code or a day.
    pub which: String,
    pub kept: String,
    pub worked_out: String,
}

impl fmt::Display for FigureMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { figure, which, kept, worked_out } = self;
        write!(f, "{figure} {which}: stored {kept}, recomputed {worked_out}")
    }
}

impl FigureMismatch {
    fn new(
        figure: &'static str,
        which: &(impl ToString + ?Sized),
        kept: &(impl ToString + ?Sized),
        worked_out: &(impl ToString + ?Sized),
    ) -> Self {
        Self { figure, which: which.to_string(), kept: kept.to_string(), worked_out: worked_out.to_string() }
    }
}

type Check = fn(&mut Tx<'_>) -> Result<Option<FigureMismatch>>;

/// Works out everything that is kept of a tenant's books and names the first figure that is wrong. Later checks rest on
/// earlier ones: accounts and entries are held against days, which follow from postings.
pub fn verify(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    let checks: [Check; 10] = [
        figures::days,
        entries::amounts,
        entries::reversals,
        figures::accounts,
        figures::contacts,
        figures::merged,
        figures::sums,
        figures::stock,
        habits::counts,
        habits::statistics,
    ];
    for check in checks {
        if let Some(finding) = check(tx)? {
            return Ok(Some(finding));
        }
    }
    Ok(None)
}
