//! A transaction of administration: it is opened by the audit alone, and what it changes without a note is refused.

use std::ops::{Deref, DerefMut};

use munshi_types::TenantId;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::session::UnitSession;
use crate::tx::{PlatformTx, Tx};

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
        check_told(notes.is_empty(), has_changed_before, tx.session)?;
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

/// The same for what belongs to the installation: each change stands in the chains of those it concerns.
pub struct PlatformAdminTx<'a, 'u> {
    tx: &'a mut PlatformTx<'u>,
    notes: Vec<(TenantId, AuditNote)>,
}

impl<'u> PlatformAdminTx<'_, 'u> {
    /// As [`AdminTx::run`]; every note comes with the chain it is for.
    pub fn run<T, E: From<Error>>(
        tx: &mut PlatformTx<'u>,
        unit: impl FnOnce(&mut PlatformAdminTx<'_, 'u>) -> Result<T, E>,
    ) -> Result<(T, Vec<(TenantId, AuditNote)>), E> {
        let has_changed_before = tx.session.has_changed_rows();
        let mut admin = PlatformAdminTx { tx, notes: Vec::new() };
        let answer = unit(&mut admin)?;
        let PlatformAdminTx { tx, notes } = admin;
        check_told(notes.is_empty(), has_changed_before, tx.session)?;
        Ok((answer, notes))
    }

    /// Tells the chains of these tenants; [`TenantId::PLATFORM`] is the installation's own.
    pub fn note(
        &mut self,
        chains: impl IntoIterator<Item = TenantId>,
        event: &'static str,
        subject: impl Into<String>,
        payload: Value,
    ) {
        let note = AuditNote { event, subject: subject.into(), payload };
        self.notes.extend(chains.into_iter().map(|chain| (chain, note.clone())));
    }

    /// Administers one tenant within this transaction; what is noted goes to its chain.
    pub fn as_tenant<T, E: From<Error>>(
        &mut self,
        tenant: TenantId,
        act: impl FnOnce(&mut AdminTx<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut notes = Vec::new();
        let answer = self.tx.as_tenant(tenant, |tx| {
            let mut admin = AdminTx { tx, notes: Vec::new() };
            let answer = act(&mut admin)?;
            notes = admin.notes;
            Ok(answer)
        });
        self.notes.extend(notes.into_iter().map(|note| (tenant, note)));
        answer
    }
}

impl<'u> Deref for PlatformAdminTx<'_, 'u> {
    type Target = PlatformTx<'u>;

    fn deref(&self) -> &PlatformTx<'u> {
        self.tx
    }
}

impl<'u> DerefMut for PlatformAdminTx<'_, 'u> {
    fn deref_mut(&mut self) -> &mut PlatformTx<'u> {
        self.tx
    }
}

fn check_told(is_silent: bool, had_changed: bool, session: &UnitSession) -> Result<()> {
    if is_silent && !had_changed && session.has_changed_rows() {
        let what = "an administrative change was made without an audit event";
        return Err(Error::Misuse(what.to_owned()));
    }
    Ok(())
}
