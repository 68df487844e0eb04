//! Books from comma-separated files: those that [`export`](super::export) wrote, or a person in a spreadsheet.
//!
//! All rows are taken or none. A rehearsal does everything and undoes it, so its report is the truth. Taking the same
//! files again adds nothing.
//!
//! # Layout
//! - `csv_table`: one row and what stands in it
//! - `contacts_and_items`: contacts and items; `entries`: what happened

mod contacts_and_items;
mod csv_table;
mod entries;

use munshi_store::Tx;
use munshi_types::Money;
use serde::Serialize;

use super::book::BookingContext;
use super::profile;
use crate::error::{Error, Result};

/// The texts of the files; one that is empty brings nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct BooksFiles<'a> {
    pub contacts: &'a str,
    pub items: &'a str,
    pub entries: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportMode {
    /// Says what would happen, and does nothing.
    Rehearse,
    /// Takes everything if every row is right, and nothing otherwise.
    Apply,
}

/// What was taken, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BooksImportReport {
    pub contacts: usize,
    pub items: usize,
    pub entries: usize,
    /// Rows that were in the books already.
    pub known: usize,
    /// The first hundred rows that are wrong.
    pub errors: Vec<ImportRowError>,
    pub wrong: usize,
    /// The first hundred new entries above what the owner wants to be asked about, and how many there are.
    pub large: Vec<LargeRow>,
    pub large_in_all: usize,
    /// Above this an entry is asked about.
    pub confirm_above: Money,
    /// Whether anything was written.
    pub is_applied: bool,
}

/// A row of a large amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargeRow {
    pub line: u64,
    pub amount: Money,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportRowError {
    pub file: &'static str,
    /// As an editor counts them, the header being the first.
    pub line: u64,
    pub what: String,
}

const MOST_ERRORS: usize = 100;

/// How a rehearsal, or an import with errors, gets out of its transaction.
enum Undone {
    With(BooksImportReport),
    Failed(Error),
}

impl From<munshi_store::Error> for Undone {
    fn from(error: munshi_store::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Error> for Undone {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

pub fn import(
    tx: &mut Tx<'_>,
    writing: &BookingContext<'_>,
    files: &BooksFiles<'_>,
    mode: ImportMode,
) -> Result<BooksImportReport> {
    let outcome = tx.attempt(|tx| {
        let confirm_above = profile::get(tx)?.confirm_above;
        let mut report = BooksImportReport { confirm_above, ..BooksImportReport::default() };
        let people = contacts_and_items::import_contacts(tx, writing, files.contacts, &mut report)?;
        contacts_and_items::import_items(tx, writing, files.items, &mut report)?;
        entries::import(tx, writing, files.entries, &mut report)?;
        contacts_and_items::apply_roles_and_merges(tx, &people, &mut report)?;
        report.is_applied = mode == ImportMode::Apply && report.wrong == 0;
        if report.is_applied { Ok(report) } else { Err(Undone::With(report)) }
    });
    match outcome {
        Ok(report) | Err(Undone::With(report)) => Ok(report),
        Err(Undone::Failed(error)) => Err(error),
    }
}

impl BooksImportReport {
    fn note_large(&mut self, line: u64, amount: Money) {
        self.large_in_all += 1;
        if self.large.len() < MOST_ERRORS {
            self.large.push(LargeRow { line, amount });
        }
    }

    /// Tries one row by itself, and notes what is wrong with it. Only an ailing store ends the whole.
    fn try_row<T>(
        &mut self,
        tx: &mut Tx<'_>,
        place: (&'static str, u64),
        take: impl FnOnce(&mut Tx<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        match tx.attempt(take) {
            Ok(taken) => Ok(Some(taken)),
            Err(Error::Store(error)) if error.is_outage() || error.is_retryable() => Err(error.into()),
            Err(error) => {
                self.wrong += 1;
                if self.errors.len() < MOST_ERRORS {
                    let (file, line) = place;
                    self.errors.push(ImportRowError { file, line, what: error.to_string() });
                }
                Ok(None)
            }
        }
    }
}
