//! Telling a database what the store of keys remembers, and the other way round. Before anything is served: an older copy that was put
//! back may have people in it who were forgotten since.

use std::collections::{BTreeMap, HashSet};

use munshi_identity::persons;
use munshi_store::{KeyErasure, PlatformTx, Tx, tenants};
use munshi_types::{DataKeyId, ErasureId, PersonId, TenantId};

use crate::ERASURES;
use crate::error::{Error, Result};
use crate::rows::{self, Erasure, OpenErasure};
use crate::service::ErasureService;

const PAGE: u32 = 500;

/// What the store of keys remembers.
#[derive(Default)]
struct ErasureLog {
    ids: HashSet<(TenantId, ErasureId)>,
    /// What this database does not know of.
    missing: Vec<KeyErasure>,
    /// Whose keys all of it names.
    covered: CoveredKeys,
}

type CoveredKeys = HashSet<(PersonId, DataKeyId)>;

impl ErasureService {
    /// Carries out what is not done in this database. Says how many there were.
    ///
    /// An older copy may know somebody by another key than the log, or others who turned out to be them: these are forgotten too, by an
    /// erasure of their own, so that what the log says of the first stays as it is.
    ///
    /// An erasure that names a key of the tenant's own is left open and skipped, with an error in the log: it was never destroyed, so
    /// nobody who was forgotten comes back by that, and a row that somebody planted must not keep the server from starting.
    pub async fn replay(&self) -> Result<usize> {
        let here = self.list_known().await?;
        let ErasureLog { ids: logged, missing, mut covered } = self.load_log(&here).await?;
        for entry in missing {
            covered = self.add_logged(entry, covered).await?;
        }
        // A store of keys that was put back from a copy has forgotten that it had forgotten.
        for (tenant, id) in here.iter().filter(|known| !logged.contains(known)) {
            self.destroy_again(*tenant, *id).await?;
        }
        self.carry_out_open().await
    }

    async fn load_log(&self, here: &HashSet<(TenantId, ErasureId)>) -> Result<ErasureLog> {
        let (mut log, mut after) = (ErasureLog::default(), None);
        loop {
            let page = self.list_logged(after).await?;
            let Some(last) = page.last() else { return Ok(log) };
            after = Some((last.tenant, last.id));
            for entry in page {
                if let Ok(erasure) = Erasure::from_key_erasure(entry.id, &entry.body) {
                    log.covered.extend(erasure.list_owned_keys());
                }
                log.ids.insert((entry.tenant, entry.id));
                if !here.contains(&(entry.tenant, entry.id)) {
                    log.missing.push(entry);
                }
            }
        }
    }

    async fn list_known(&self) -> Result<HashSet<(TenantId, ErasureId)>> {
        let (mut all, mut after) = (HashSet::new(), None);
        loop {
            let read = move |tx: &mut PlatformTx<'_>| rows::list_ids(tx, after, PAGE);
            let page = self.db.platform(ERASURES).read(read).await?;
            after = page.last().copied();
            all.extend(page);
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    async fn list_logged(&self, after: Option<(TenantId, ErasureId)>) -> Result<Vec<KeyErasure>> {
        let keyring = self.db.keyring()?;
        let listing = tokio::task::spawn_blocking(move || keyring.list_erasures(after, PAGE));
        Ok(listing.await.map_err(|error| Error::Interrupted(error.to_string()))??)
    }

    async fn add_logged(&self, entry: KeyErasure, mut covered: CoveredKeys) -> Result<CoveredKeys> {
        let (tenant, erasure) = (entry.tenant, Erasure::from_key_erasure(entry.id, &entry.body)?);
        let (further_id, now) = (self.ids.next(), self.clock.now());
        let add = move |tx: &mut Tx<'_>| {
            if tenants::find_status(tx)?.is_none() {
                // This copy is from before the tenant.
                return Ok(covered);
            }
            for (person, key) in erasure.list_owned_keys() {
                persons::restore_key(tx, person, key)?;
                persons::detach(tx, person, now)?;
            }
            rows::add(tx, &erasure)?;
            let further = list_further_keys(tx, &erasure.persons, &covered)?;
            if further.is_empty() {
                return Ok(covered);
            }
            for (person, _) in &further {
                persons::detach(tx, *person, now)?;
            }
            let (persons, keys) = further.iter().copied().unzip();
            covered.extend(further);
            let records = BTreeMap::new();
            rows::add(tx, &Erasure { id: further_id, persons, keys, records, asked_at: now, ..erasure })?;
            Ok(covered)
        };
        self.db.write(tenant, add).await.map_err(Error::Store)
    }

    async fn destroy_again(&self, tenant: TenantId, id: ErasureId) -> Result<()> {
        let Some(erasure) = self.db.read(tenant, move |tx| rows::find(tx, id)).await? else { return Ok(()) };
        skip_refused(id, self.destroy_in_store(erasure.to_key_erasure(tenant)).await).map(drop)
    }

    async fn carry_out_open(&self) -> Result<usize> {
        let (mut done, mut after) = (0, None);
        loop {
            let open = self.db.platform(ERASURES).read(move |tx| rows::list_open(tx, after, PAGE)).await?;
            let Some(last) = open.last() else { return Ok(done) };
            after = Some(*last);
            for OpenErasure { tenant, id, .. } in open {
                let carried_out = self.carry_out(tenant, id).await.map(drop);
                done += usize::from(skip_refused(id, carried_out)?);
            }
        }
    }
}

/// False, with an error in the log, where the erasure names a key that is no person's.
fn skip_refused(id: ErasureId, outcome: Result<()>) -> Result<bool> {
    match outcome {
        Err(Error::Refused(why)) => {
            tracing::error!(erasure = %id, why, "an erasure was skipped: somebody has to look at it");
            Ok(false)
        }
        outcome => outcome.map(|()| true),
    }
}

/// What this copy knows of these persons and of everybody who is one with them, beyond what the log names. Who has no key yet is given one,
/// as when somebody is forgotten here.
fn list_further_keys(
    tx: &mut Tx<'_>,
    erased: &[PersonId],
    covered: &CoveredKeys,
) -> munshi_store::Result<Vec<(PersonId, DataKeyId)>> {
    let mut further = Vec::new();
    for person in erased {
        let Some(head) = persons::find_head(tx, *person)? else { continue };
        for one in persons::list_group(tx, head)? {
            let Some(key) = persons::find_or_assign_key(tx, one)? else { continue };
            let owned = (one, key);
            if !covered.contains(&owned) && !further.contains(&owned) {
                further.push(owned);
            }
        }
    }
    Ok(further)
}
