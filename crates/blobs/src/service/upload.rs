//! Taking a file.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use munshi_keys::SealKey;
use munshi_store::{Error as StoreError, Tx};
use munshi_types::{PersonId, TenantId, Timestamp};

use super::receive::{ReceivedFile, SealedPreview};
use super::{BlobService, UploadSlot};
use crate::chunk_cipher::{BlobObject, BlobVariant};
use crate::error::{Error, Result};
use crate::limits::TenantQuota;
use crate::references::{self, BlobHolder, NewReference, clean_name};
use crate::refusal::UploadRefusal;
use crate::rows::{self, Blob, BlobDraft, ContentId};
use crate::usage::{self, load_usage};

/// A file as it comes in. What goes wrong on its way is a refusal.
pub type UploadStream<'a> = BoxStream<'a, Result<Bytes, UploadRefusal>>;

/// Who gives a file.
#[derive(Clone, Debug)]
pub struct UploadRequest {
    pub tenant: TenantId,
    /// Whose it will be; none for the tenant's own.
    pub person: Option<PersonId>,
    /// What they call it. It decides nothing.
    pub name: Option<String>,
    /// As announced; what comes is counted.
    pub declared_size: Option<u64>,
}

/// A file that is sealed and not stored.
pub(super) struct SealedUpload {
    pub(super) draft: Arc<BlobDraft>,
    pub(super) original: ReceivedFile,
    pub(super) preview: Option<SealedPreview>,
    pub(super) file_key: Arc<SealKey>,
}

/// Where an upload goes.
enum UploadPlan {
    /// This person has it already.
    Existing(Blob),
    Write,
}

impl BlobService {
    /// Takes a file, or says why not. It is kept for as long as an unattached file is; see [`attach`](crate::attach).
    pub async fn upload(&self, request: UploadRequest, content: UploadStream<'_>) -> Result<Blob> {
        let slot = self.acquire_slot(request.tenant, request.person)?;
        self.upload_in_slot(slot, request, content).await
    }

    /// Leave to upload a file, for whoever reads something before it.
    pub fn acquire_slot(&self, tenant: TenantId, person: Option<PersonId>) -> Result<UploadSlot> {
        Ok(self.0.slots.acquire(tenant, person)?)
    }

    pub async fn upload_in_slot(
        &self,
        slot: UploadSlot,
        request: UploadRequest,
        content: UploadStream<'_>,
    ) -> Result<Blob> {
        let slot = Arc::new(slot);
        self.check_announced(&request).await?;
        let upload = self.seal(&slot, &request, content).await?;
        let tenant = request.tenant;
        let now = self.0.clock.now();
        let kept = Arc::new(UploadReference {
            person: request.person,
            name: request.name.as_deref().and_then(clean_name),
            expires_at: now.plus(self.0.limits.unattached),
            now,
        });
        let (begun, begun_key, reference) = (upload.draft.clone(), upload.file_key.clone(), kept.clone());
        let quota = self.quota();
        let plan =
            self.0.db.write(tenant, move |tx| begin(tx, &begun, &begun_key, &quota, &reference)).await?;
        if let UploadPlan::Existing(blob) = plan {
            self.restore_missing(&slot, tenant, &blob, upload).await?;
            return Ok(blob);
        }
        self.write(tenant, upload, kept).await
    }

    /// Stores a file that is begun, and makes it visible.
    async fn write(
        &self,
        tenant: TenantId,
        upload: SealedUpload,
        kept: Arc<UploadReference>,
    ) -> Result<Blob> {
        let SealedUpload { draft, original, preview, .. } = upload;
        let blob = draft.blob.id;
        let stored = self.store(tenant, &draft, original, preview).await;
        let published = match stored {
            Ok(()) => self.publish(tenant, draft, kept).await,
            Err(error) => Err(error),
        };
        match &published {
            Ok(published) if published.id == blob => {}
            // The file may be ready, or its bytes may come yet: the sweep looks when that is known.
            Err(error @ (Error::Database(StoreError::OutcomeUnknown) | Error::StorageTimeout(_))) => {
                tracing::warn!(%error, %tenant, %blob, "an upload of unknown outcome is left for the sweep");
            }
            _ => self.give_up(tenant, blob).await,
        }
        published
    }

    fn quota(&self) -> QuotaRules {
        QuotaRules { most: self.0.limits.tenant_bytes, own: self.0.quota.clone() }
    }

    /// Refuses what can't fit before anything of it is read.
    async fn check_announced(&self, request: &UploadRequest) -> Result<()> {
        let most = self.0.limits.file_bytes;
        let announced = request.declared_size.unwrap_or(1);
        if announced > most {
            return Err(UploadRefusal::TooLarge { most }.into());
        }
        if announced == 0 {
            return Err(UploadRefusal::Empty.into());
        }
        let rules = self.quota();
        let read = move |tx: &mut Tx<'_>| Ok::<_, StoreError>((load_usage(tx)?, rules.load(tx)?));
        let (used, quota) = self.0.db.read(request.tenant, read).await?;
        if used.bytes.saturating_add(announced) > quota {
            return Err(UploadRefusal::QuotaReached { quota }.into());
        }
        Ok(())
    }

    async fn seal(
        &self,
        slot: &Arc<UploadSlot>,
        request: &UploadRequest,
        mut content: UploadStream<'_>,
    ) -> Result<SealedUpload> {
        let (id, file_key) = (self.0.ids.next(), Arc::new(SealKey::random(self.0.random.as_ref())));
        let object = BlobObject { tenant: request.tenant, blob: id, variant: BlobVariant::Original };
        let limit = self.0.limits.upload_time;
        let receiving = self.receive(slot, (object, &file_key), &mut content);
        let received = tokio::time::timeout(limit, receiving).await;
        let original = received.map_err(|_| UploadRefusal::TooSlow { limit })??;
        let preview = self.preview(slot, (object, &file_key), &original).await?;
        let stored_size =
            original.sealed.length + preview.as_ref().map_or(0, |preview| preview.sealed.length);
        let blob = Blob {
            id,
            person: request.person,
            media_type: original.media_type,
            size: original.size,
            preview: preview.as_ref().map(|preview| preview.size),
            created_at: self.0.clock.now(),
        };
        let draft = Arc::new(BlobDraft { blob, digest: original.digest, stored_size });
        Ok(SealedUpload { draft, original, preview, file_key })
    }

    async fn store(
        &self,
        tenant: TenantId,
        draft: &BlobDraft,
        original: ReceivedFile,
        preview: Option<SealedPreview>,
    ) -> Result<()> {
        let object = BlobObject { tenant, blob: draft.blob.id, variant: BlobVariant::Original };
        self.0.store.put(object, original.sealed).await?;
        if let Some(preview) = preview {
            let object = BlobObject { variant: BlobVariant::Preview, ..object };
            self.0.store.put(object, preview.sealed).await?;
        }
        Ok(())
    }

    async fn publish(
        &self,
        tenant: TenantId,
        draft: Arc<BlobDraft>,
        kept: Arc<UploadReference>,
    ) -> Result<Blob> {
        let unit = |draft: Arc<BlobDraft>, kept: Arc<UploadReference>| {
            self.0.db.write(tenant, move |tx| publish(tx, &draft, &kept))
        };
        match unit(draft.clone(), kept.clone()).await {
            // Another node published the same content between our look and our word, or we have ourselves and were not told: now it is
            // seen.
            Err(Error::Database(StoreError::Conflict { .. } | StoreError::OutcomeUnknown)) => {
                unit(draft, kept).await
            }
            published => published,
        }
    }

    /// Removes at once what will not be seen. Where that fails, the sweep does it. A file that is ready keeps its bytes, whatever its writer
    /// was told.
    async fn give_up(&self, tenant: TenantId, blob: munshi_types::BlobId) {
        let retired = self.0.db.write(tenant, move |tx| rows::retire_unpublished(tx, blob)).await;
        let removed = match retired {
            Ok(true) => self.remove(tenant, blob).await,
            Ok(false) => Ok(()),
            Err(error) => Err(Error::Database(error)),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, %tenant, %blob, "an upload that failed is left for the sweep");
        }
    }
}

/// How much a tenant may keep: as the installation says, and as it says itself.
struct QuotaRules {
    most: u64,
    own: Arc<dyn TenantQuota>,
}

impl QuotaRules {
    fn load(&self, tx: &mut Tx<'_>) -> munshi_store::Result<u64> {
        Ok(self.own.load(tx)?.map_or(self.most, |own| own.min(self.most)))
    }
}

/// What keeps a file until a message does.
struct UploadReference {
    person: Option<PersonId>,
    name: Option<String>,
    expires_at: Timestamp,
    now: Timestamp,
}

impl UploadReference {
    /// `blob` may be of somebody who turned out to be this person; the reference goes by whose the file is.
    fn add(&self, tx: &mut Tx<'_>, blob: &Blob) -> munshi_store::Result<()> {
        let reference = NewReference {
            holder: BlobHolder::Upload(blob.person),
            name: self.name.as_deref(),
            expires_at: Some(self.expires_at),
            now: self.now,
        };
        references::add(tx, blob, &reference)
    }
}

fn begin(
    tx: &mut Tx<'_>,
    draft: &BlobDraft,
    file_key: &SealKey,
    quota: &QuotaRules,
    kept: &UploadReference,
) -> Result<UploadPlan> {
    let content = ContentId::of(tx, kept.person, &draft.digest)?;
    if let Some(existing) = rows::find_by_content(tx, &content)? {
        kept.add(tx, &existing)?;
        return Ok(UploadPlan::Existing(existing));
    }
    let quota = quota.load(tx)?;
    usage::reserve(tx, draft.stored_size, quota)?;
    rows::begin(tx, draft, &content, file_key)?;
    Ok(UploadPlan::Write)
}

fn publish(tx: &mut Tx<'_>, draft: &BlobDraft, kept: &UploadReference) -> Result<Blob> {
    let content = ContentId::of(tx, kept.person, &draft.digest)?;
    if let Some(existing) = rows::find_by_content(tx, &content)? {
        kept.add(tx, &existing)?;
        return Ok(existing);
    }
    if !rows::publish(tx, draft.blob.id)? {
        return Err(Error::Storage(
            "the upload took so long that it was given up: send the file again".to_owned(),
        ));
    }
    kept.add(tx, &draft.blob)?;
    Ok(draft.blob.clone())
}
