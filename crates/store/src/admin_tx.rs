//! A transaction of administration: it is opened by the audit alone, and what it changes without a note is refused.

use std::ops::{Deref, DerefMut};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::tx::Tx;

/// What the audit is to hear of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditNote {
    /// As `thing.past`.
    pub event: &'static str,
    pub subject: String,
    pub payload: Value,
}

/// A tenant's transaction in which somebody administers. Functions that change what only administration may change take
/// it instead of a [`Tx`]; everything that reads takes it as one.
pub struct AdminTx<'a, 'u> {
    tx: &'a mut Tx<'u>,
    notes: Vec<AuditNote>,
}

impl<'u> AdminTx<'_, 'u> {
    /// Runs a unit and gives what it notes, for the audit to write in the same transaction. One that changed rows and notes
    /// nothing is refused; of rows changed by a statement that gives rows back nothing is known here. Clippy lets the audit alone call this.
    pub fn run<T, E: From<Error>>(
        tx: &mut Tx<'u>,
        unit: impl FnOnce(&mut AdminTx<'_, 'u>) -> Result<T, E>,
    ) -> Result<(T, Vec<AuditNote>), E> {
        let has_changed_before = tx.session.has_changed_rows();
        let mut admin = AdminTx { tx, notes: Vec::new() };
        let answer = unit(&mut admin)?;
        let AdminTx { tx, notes } = admin;
        if notes.is_empty() && !has_changed_before && tx.session.has_changed_rows() {
            let what = "an administrative change was made without an audit event";
            return Err(Error::Misuse(what.to_owned()).into());
        }
        Ok((answer, notes))
    }

    /// Tells the audit; it is written last.
    pub fn note(&mut self, event: &'static str, subject: impl Into<String>, payload: Value) {
        self.notes.push(AuditNote { event, subject: subject.into(), payload });
    }
}

impl<'u> Deref for AdminTx<'_, 'u> {
    type Target = Tx<'u>;

    fn deref(&self) -> &Tx<'u> {
        self.tx
    }
}

impl<'u> DerefMut for AdminTx<'_, 'u> {
    fn deref_mut(&mut self) -> &mut Tx<'u> {
        self.tx
    }
}
