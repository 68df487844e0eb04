//! The one way to a transaction of administration: what it did stands in the chain, or it did not happen.

use std::collections::BTreeMap;

use munshi_store::{AdminTx, AuditNote, Db, PlatformAdminTx, PlatformScope, PlatformTx, Tx};
use munshi_types::{IdGenerator, TenantId, Timestamp};

use super::append::append_all;
use super::entry::{AuditActor, NewAuditEntry};
use crate::error::Error;
use crate::requests::RequestClaim;

/// Who changes something, and when.
#[derive(Clone)]
pub struct AuditStamp {
    pub actor: AuditActor,
    pub ids: IdGenerator,
    pub now: Timestamp,
    /// The key under which it was asked for, if there is one: it is taken with the change, or nothing is changed.
    pub claim: Option<RequestClaim>,
}

impl AuditStamp {
    fn take_claim(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        match &self.claim {
            Some(claim) if !claim.take(tx, self.now)? => Err(Error::UnderWay),
            _ => Ok(()),
        }
    }
}

/// Runs an administrative unit for one tenant and writes what it notes to the chain, in one transaction.
pub async fn administer<T, E, F>(db: &Db, tenant: TenantId, stamp: AuditStamp, unit: F) -> Result<T, E>
where
    F: FnOnce(&mut AdminTx<'_, '_>) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<munshi_store::Error> + From<Error> + Send + 'static,
{
    db.write(tenant, move |tx| administer_in(tx, &stamp, unit)).await
}

/// Runs an administrative unit of the installation and writes what it notes to the chains it names, in one transaction.
/// `tenant` is whose request it is.
pub async fn administer_platform<T, E, F>(
    db: &Db,
    scope: PlatformScope,
    tenant: TenantId,
    stamp: AuditStamp,
    unit: F,
) -> Result<T, E>
where
    F: FnOnce(&mut PlatformAdminTx<'_, '_>) -> Result<T, E> + Send + 'static,
    T: Send + 'static,
    E: From<munshi_store::Error> + From<Error> + Send + 'static,
{
    db.platform(scope).write(move |tx| administer_platform_in(tx, tenant, &stamp, unit)).await
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn administer_in<T, E>(
    tx: &mut Tx<'_>,
    stamp: &AuditStamp,
    unit: impl FnOnce(&mut AdminTx<'_, '_>) -> Result<T, E>,
) -> Result<T, E>
where
    E: From<munshi_store::Error> + From<Error>,
{
    let (answer, notes) = AdminTx::run(tx, unit)?;
    stamp.take_claim(tx)?;
    append_notes(tx, stamp, notes)?;
    Ok(answer)
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn administer_platform_in<T, E>(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    stamp: &AuditStamp,
    unit: impl FnOnce(&mut PlatformAdminTx<'_, '_>) -> Result<T, E>,
) -> Result<T, E>
where
    E: From<munshi_store::Error> + From<Error>,
{
    let (answer, notes) = PlatformAdminTx::run(tx, unit)?;
    append_platform_notes(tx, tenant, stamp, notes)?;
    Ok(answer)
}

fn append_platform_notes(
    tx: &mut PlatformTx<'_>,
    tenant: TenantId,
    stamp: &AuditStamp,
    notes: Vec<(TenantId, AuditNote)>,
) -> Result<(), Error> {
    if stamp.claim.is_some() {
        tx.as_tenant(tenant, |tx| stamp.take_claim(tx))?;
    }
    // Everybody takes the heads of several chains in the same order.
    let mut chains: BTreeMap<TenantId, Vec<AuditNote>> = BTreeMap::new();
    for (chain, note) in notes {
        chains.entry(chain).or_default().push(note);
    }
    for (chain, notes) in chains {
        tx.as_tenant(chain, |tx| append_notes(tx, stamp, notes))?;
    }
    Ok(())
}

fn append_notes(tx: &mut Tx<'_>, stamp: &AuditStamp, notes: Vec<AuditNote>) -> Result<(), Error> {
    let entries: Vec<NewAuditEntry> = notes
        .into_iter()
        .map(|note| {
            let (actor, subject, payload) = (stamp.actor.clone(), note.subject, note.payload);
            Ok(NewAuditEntry { actor, event: note.event.parse()?, subject, payload })
        })
        .collect::<Result<_, Error>>()?;
    append_all(tx, &entries, stamp.now, &stamp.ids)?;
    Ok(())
}
