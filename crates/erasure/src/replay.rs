//! Telling a database what the store of keys remembers, and the other way round. Before anything is served: an older copy that was put
//! back may have people in it who were forgotten since.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use munshi_conversations::erasure::expire_search_key;
use munshi_identity::persons;
use munshi_store::{KeyErasure, PlatformTx, Tx, tenants};
use munshi_types::{DataKeyId, ErasureId, PersonId, TenantId, Timestamp};

use crate::ERASURES;
use crate::addressed::forget_addressed;
use crate::begin::detach_records;
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
    /// First all keys are destroyed, without waiting for anything that is under way: from then on nobody can read what is theirs. Where that
    /// fails, nothing may be served. An erasure whose rows can't be removed is left to a job, with an error in the log. One that can't be
    /// read, or not be written down here, is skipped until the next start.
    ///
    /// An older copy may know somebody by another key than the log, or others who turned out to be them: these are forgotten too, by an
    /// erasure of their own, so that what the log says of the first stays as it is.
    ///
    /// An erasure that names a key of the tenant's own is left open and skipped, with an error in the log: it was never destroyed, so
    /// nobody who was forgotten comes back by that, and a row that somebody planted must not keep the server from starting.
    pub async fn replay(&self) -> Result<usize> {
        let here = self.list_known().await?;
        let ErasureLog { ids: logged, missing, covered } = self.load_log(&here).await?;
        let mut covered = Arc::new(covered);
        for entry in missing {
            let further = self.add_logged(entry, &covered).await?;
            Arc::make_mut(&mut covered).extend(further);
        }
        // A store of keys that was put back from a copy has forgotten that it had forgotten.
        let mut lacking = BTreeSet::new();
        for (tenant, id) in here.iter().filter(|known| !logged.contains(known)) {
            self.destroy_keys_of(*tenant, *id).await?;
            lacking.insert(*tenant);
        }
        // It may also have a key again by which an index hashed their words.
        for tenant in lacking {
            let expired = self.db.write(tenant, expire_search_key).await;
            if let Some(error) = pass_outage(expired)? {
                tracing::error!(%tenant, %error, "a search index keeps keys that an older store of keys brought back");
            }
        }
        for OpenErasure { tenant, id, .. } in self.list_all_open().await? {
            self.destroy_keys_of(tenant, id).await?;
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

    /// Says what it covers beyond the log. One that can't be added is told again at the next start.
    async fn add_logged(
        &self,
        entry: KeyErasure,
        covered: &Arc<CoveredKeys>,
    ) -> Result<Vec<(PersonId, DataKeyId)>> {
        let (tenant, id) = (entry.tenant, entry.id);
        let mut erasure = match Erasure::from_key_erasure(id, &entry.body) {
            Ok(erasure) => erasure,
            Err(error) => {
                skip(id, &error);
                return Ok(Vec::new());
            }
        };
        let (further_id, now, covered) = (self.ids.next(), self.clock.now(), covered.clone());
        let service = self.clone();
        let add = move |tx: &mut Tx<'_>| {
            if tenants::find_status(tx)?.is_none() {
                // This copy is from before the tenant.
                return Ok(Vec::new());
            }
            for (person, key) in erasure.list_owned_keys().collect::<Vec<_>>() {
                persons::restore_key(tx, person, key)?;
                detach_again(tx, &service, (person, &mut erasure.counts), now)?;
            }
            rows::add(tx, &erasure)?;
            let further = list_further_keys(tx, &erasure.persons, &covered)?;
            if further.is_empty() {
                return Ok(further);
            }
            let mut counts = BTreeMap::new();
            for (person, _) in &further {
                detach_again(tx, &service, (*person, &mut counts), now)?;
            }
            let (persons, keys) = further.iter().copied().unzip();
            let records = BTreeMap::new();
            rows::add(
                tx,
                &Erasure { id: further_id, persons, keys, records, asked_at: now, counts, ..erasure },
            )?;
            Ok(further)
        };
        let mut further = Vec::new();
        let added = self.db.write(tenant, add).await.map(|found| further = found);
        if let Some(error) = pass_outage(added)? {
            skip(id, &error);
            return Ok(further);
        }
        if let Err(error) = self.detach_logged_records(tenant, id).await {
            tracing::error!(erasure = %id, %error, "what packs know of somebody forgotten is not hidden yet");
        }
        Ok(further)
    }

    /// As when it was asked for: nobody comes upon what packs know of them, whatever becomes of other rows.
    async fn detach_logged_records(&self, tenant: TenantId, id: ErasureId) -> Result<()> {
        let (service, now) = (self.clone(), self.clock.now());
        let detach = move |tx: &mut Tx<'_>| {
            let Some(mut erasure) = rows::lock(tx, id)? else { return Ok(()) };
            for (name, count) in detach_records(tx, &service, &erasure.records, now)? {
                rows::add_count(tx, &mut erasure, &name, count)?;
            }
            Ok(())
        };
        self.db.write(tenant, detach).await
    }

    async fn destroy_keys_of(&self, tenant: TenantId, id: ErasureId) -> Result<()> {
        let erasure = match self.find(tenant, id).await {
            Ok(Some(erasure)) => erasure,
            Ok(None) => return Ok(()),
            Err(Error::Store(error)) if error.is_unreadable() => {
                skip(id, &error);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        match self.destroy_keys(tenant, &erasure).await {
            Err(Error::Refused(why)) => {
                skip(id, &why);
                Ok(())
            }
            destroyed => destroyed,
        }
    }

    async fn list_all_open(&self) -> Result<Vec<OpenErasure>> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let open = self.db.platform(ERASURES).read(move |tx| rows::list_open(tx, after, PAGE)).await?;
            after = open.last().copied();
            all.extend(open);
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    async fn carry_out_open(&self) -> Result<usize> {
        let mut done = 0;
        for OpenErasure { tenant, id, .. } in self.list_all_open().await? {
            match self.carry_out(tenant, id).await {
                Ok(_) => done += 1,
                Err(Error::Refused(why)) => skip(id, &why),
                Err(error) => self.leave_to_job(tenant, id, &error).await,
            }
        }
        Ok(done)
    }

    /// Where even that fails, the next hourly look makes the job.
    async fn leave_to_job(&self, tenant: TenantId, id: ErasureId, error: &Error) {
        tracing::error!(erasure = %id, %error, "what is left of somebody forgotten is not removed yet; a job goes on with it");
        if let Err(error) = self.enqueue_again(tenant, id).await {
            tracing::warn!(erasure = %id, %error, "no job was made for an erasure; one is within an hour");
        }
    }
}

/// As when it was asked for, in a copy that knows them still: what is known by their addresses goes while these can be found.
fn detach_again(
    tx: &mut Tx<'_>,
    service: &ErasureService,
    (person, counts): (PersonId, &mut BTreeMap<String, u64>),
    now: Timestamp,
) -> munshi_store::Result<()> {
    for (name, count) in forget_addressed(tx, service, person, now).map_err(to_store_error)? {
        *counts.entry(name).or_default() += count;
    }
    persons::detach(tx, person, now)
}

/// What went wrong below, as the store's own: an outage is waited for, and what can't be read is skipped.
fn to_store_error(error: Error) -> munshi_store::Error {
    match error {
        Error::Store(error) | Error::Jobs(munshi_jobs::Error::Store(error)) => error,
        other => munshi_store::Error::Decode(other.to_string()),
    }
}

/// What is wrong with one erasure keeps back no other. A database that is away, or busy for long, is no matter of one.
fn pass_outage(outcome: munshi_store::Result<()>) -> Result<Option<munshi_store::Error>> {
    match outcome {
        Ok(()) => Ok(None),
        Err(error) if error.is_outage() || error.is_retryable() => Err(error.into()),
        Err(error) => Ok(Some(error)),
    }
}

fn skip(id: ErasureId, why: &impl fmt::Display) {
    tracing::error!(erasure = %id, %why, "an erasure was skipped: somebody has to look at it");
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
