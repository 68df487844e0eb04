//! Doing it: each step may be done again, so whoever finds it half done goes on.

use std::time::Duration;

use munshi_conversations::erasure::{end_open_runs, forget_presence, has_held_run, remove_outside_ids};
use munshi_conversations::outbox;
use munshi_identity::{PersonalData, keys};
use munshi_pack::alerts;
use munshi_pack::operation::forget_answers;
use munshi_safety::acts;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::{KeyErasure, Tx, in_background};
use munshi_types::{ErasureId, PersonId, TenantId};
use serde_json::json;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::job::{LAST_RETRY, build_cleanup};
use crate::rows::{self, Erasure};
use crate::service::ErasureService;
use crate::steps::list_kinds;

/// So many rows in one transaction.
const BATCH: u32 = 100;
/// What is under way is given so long to end by itself.
const GRACE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(100);

impl ErasureService {
    /// Carries one out to its end. Two at once, or one after another's crash, do everything once.
    pub async fn carry_out(&self, tenant: TenantId, id: ErasureId) -> Result<Option<Erasure>> {
        let Some(erasure) = self.find(tenant, id).await? else { return Ok(None) };
        if erasure.ended_at.is_none() {
            in_background(self.work_on(tenant, &erasure)).await?;
        }
        self.find(tenant, id).await
    }

    async fn work_on(&self, tenant: TenantId, erasure: &Erasure) -> Result<()> {
        if erasure.destroyed_at.is_none() {
            self.wait_for_runs(tenant, &erasure.persons).await?;
            self.end_what_is_open(tenant, erasure).await?;
        }
        self.destroy_keys(tenant, erasure).await?;
        // What was let in before that, or went on for longer, can write nothing more.
        self.end_what_is_open(tenant, erasure).await?;
        self.erase_rows(tenant, erasure).await?;
        self.end(tenant, erasure.id).await
    }

    /// The same for whoever has just begun one: what fails is gone on with by a job.
    pub async fn try_carry_out(&self, tenant: TenantId, id: ErasureId) -> Option<Erasure> {
        match self.carry_out(tenant, id).await {
            Ok(erasure) => erasure,
            Err(error) => {
                tracing::warn!(erasure = %id, %error, "erasure interrupted; a job goes on with it");
                None
            }
        }
    }

    pub(crate) async fn find(&self, tenant: TenantId, id: ErasureId) -> Result<Option<Erasure>> {
        Ok(self.db.read(tenant, move |tx| rows::find(tx, id)).await?)
    }

    /// Their turns were asked to stop; one that is at a tool ends after it.
    async fn wait_for_runs(&self, tenant: TenantId, persons: &[PersonId]) -> Result<()> {
        let until = tokio::time::Instant::now() + GRACE;
        loop {
            let people = persons.to_vec();
            let look = move |tx: &mut Tx<'_>| {
                people.iter().try_fold(false, |any, person| Ok(any || has_held_run(tx, *person)?))
            };
            let is_held: bool = self.db.read(tenant, look).await.map_err(Error::Store)?;
            if !is_held || tokio::time::Instant::now() >= until {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn end_what_is_open(&self, tenant: TenantId, erasure: &Erasure) -> Result<()> {
        let (persons, now) = (erasure.persons.clone(), self.clock.now());
        let end = move |tx: &mut Tx<'_>| {
            // Acts before runs, as whoever ends an act and notes it in its run holds them.
            for person in &persons {
                acts::end_open(tx, *person, now)?;
            }
            for person in persons {
                end_open_runs(tx, person, now)?;
                forget_presence(tx, person)?;
            }
            Ok::<_, Error>(())
        };
        self.db.write(tenant, end).await
    }

    /// From here on nobody can read what they wrote, in any copy of the main database.
    pub(crate) async fn destroy_keys(&self, tenant: TenantId, erasure: &Erasure) -> Result<()> {
        self.destroy_in_store(erasure.to_key_erasure(tenant)).await?;
        let (id, now) = (erasure.id, self.clock.now());
        Ok(self.db.write(tenant, move |tx| rows::mark_destroyed(tx, id, now)).await?)
    }

    async fn destroy_in_store(&self, entry: KeyErasure) -> Result<()> {
        let keyring = self.db.keyring()?;
        let destroying = tokio::task::spawn_blocking(move || keyring.destroy_keys(&entry));
        match destroying.await.map_err(|error| Error::Interrupted(error.to_string()))? {
            Err(munshi_store::Error::ErasureRefused(why)) => Err(Error::Refused(why)),
            destroyed => Ok(destroyed?),
        }
    }

    async fn erase_rows(&self, tenant: TenantId, erasure: &Erasure) -> Result<()> {
        for step in list_kinds() {
            for person in &erasure.persons {
                self.erase_step(tenant, erasure.id, step, *person).await?;
            }
        }
        self.erase_mentions(tenant, erasure).await?;
        self.erase_cached_vectors(tenant).await?;
        self.erase_records(tenant, erasure).await
    }

    async fn erase_step(
        &self,
        tenant: TenantId,
        id: ErasureId,
        step: &'static PersonalData,
        person: PersonId,
    ) -> Result<()> {
        let mut after = Uuid::nil();
        loop {
            let list = move |tx: &mut Tx<'_>| (step.list_next)(tx, person, after, BATCH);
            let found = self.db.read(tenant, list).await?;
            let Some(last) = found.last() else { return Ok(()) };
            after = *last;
            let erase = move |tx: &mut Tx<'_>| {
                // Held first: another who carries it out waits here, and finds nothing of these afterwards.
                let Some(mut erasure) = rows::lock(tx, id)? else { return Ok(()) };
                let count = (step.erase)(tx, &found)?;
                rows::add_count(tx, &mut erasure, step.name, count)
            };
            self.db.write(tenant, erase).await.map_err(Error::Store)?;
        }
    }

    /// What belongs to nobody and names them by an id: answers that were kept for keys of theirs, and alerts about records of them.
    async fn erase_mentions(&self, tenant: TenantId, erasure: &Erasure) -> Result<()> {
        let (persons, records) = (erasure.persons.clone(), erasure.records.clone());
        let erase = move |tx: &mut Tx<'_>| {
            for person in &persons {
                for key in keys::list_of_person(tx, *person)? {
                    forget_answers(tx, key)?;
                }
            }
            for record in records.into_values().flatten() {
                alerts::delete_about(tx, record)?;
                outbox::erase_of_subject(tx, record)?;
            }
            Ok(())
        };
        self.db.write(tenant, erase).await.map_err(Error::Store)
    }

    /// Vectors of texts stand under hashes of these: whose they are, nobody can tell any more, so all of the tenant's are made anew. A
    /// record of a pack stands in texts too.
    async fn erase_cached_vectors(&self, tenant: TenantId) -> Result<()> {
        self.db.write(tenant, munshi_llm::embeddings::clear_cache).await?;
        Ok(())
    }

    async fn erase_records(&self, tenant: TenantId, erasure: &Erasure) -> Result<()> {
        let now = self.clock.now();
        for (pack, records) in &erasure.records {
            let Some(known) = self.packs.subjects.iter().find(|of| of.pack == pack).cloned() else {
                let why = format!("pack {pack} is not installed, and its records are to be forgotten");
                return Err(Error::Interrupted(why));
            };
            for &record in records {
                let (known, id) = (known.clone(), erasure.id);
                let erase = move |tx: &mut Tx<'_>| {
                    let Some(mut erasure) = rows::lock(tx, id)? else { return Ok(()) };
                    let count = known.erase(tx, record, now)?;
                    rows::add_count(tx, &mut erasure, known.name(), count)
                };
                self.db.write(tenant, erase).await.map_err(Error::Store)?;
            }
        }
        Ok(())
    }

    /// That their messages were taken stays until no channel sends one of them again.
    pub async fn remove_message_ids(&self, tenant: TenantId, id: ErasureId) -> Result<()> {
        let Some(erasure) = self.find(tenant, id).await? else { return Ok(()) };
        for person in erasure.persons {
            let remove = move |tx: &mut Tx<'_>| remove_outside_ids(tx, person, BATCH);
            while in_background(self.db.write(tenant, remove)).await.map_err(Error::Store)? > 0 {}
        }
        Ok(())
    }

    async fn end(&self, tenant: TenantId, id: ErasureId) -> Result<()> {
        let (now, ids, queue) = (self.clock.now(), self.ids.clone(), self.queue.clone());
        let end = move |tx: &mut Tx<'_>| {
            let Some(erasure) = rows::lock(tx, id)? else { return Ok(()) };
            if rows::end(tx, id, now)? {
                let entry = NewAuditEntry {
                    actor: AuditActor::new(AuditActorKind::System, "erasure"),
                    event: AuditEvent::PERSON_ERASED,
                    subject: id.to_string(),
                    payload: json!({ "counts": erasure.counts }),
                };
                if !erasure.persons.is_empty() {
                    queue.enqueue(tx, &build_cleanup(id)?.run_at(now.plus(LAST_RETRY)))?;
                }
                audit::append(tx, &entry, now, &ids)?;
            }
            Ok::<_, Error>(())
        };
        self.db.write(tenant, end).await
    }
}
