//! A tenant with people, and the service over a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_blobs::storage::{BlobStore, DiskStore};
use munshi_blobs::{
    Blob, BlobLimits, BlobService, BlobServiceParts, BlobVariant, Error, Result, TenantQuota, UploadRefusal,
    UploadRequest,
};
use munshi_identity::{Person, persons};
use munshi_store::Tx;
use munshi_test_support::TestDb;
use munshi_types::{BlobId, Clock, PersonId, SystemRandom, TenantId};

pub(crate) struct Shop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) ravi: PersonId,
    pub(crate) sita: PersonId,
    pub(crate) files: BlobService,
    pub(crate) quota: Arc<ShopQuota>,
}

/// What the shop says itself of how much it keeps; 0 where it says nothing.
#[derive(Debug, Default)]
pub(crate) struct ShopQuota(pub(crate) AtomicU64);

impl TenantQuota for ShopQuota {
    fn load(&self, _: &mut Tx<'_>) -> munshi_store::Result<Option<u64>> {
        Ok(Some(self.0.load(Ordering::SeqCst)).filter(|bytes| *bytes > 0))
    }
}

impl Shop {
    pub(crate) async fn new(test: TestDb) -> Self {
        Self::with_limits(test, BlobLimits::default()).await
    }

    pub(crate) async fn with_limits(test: TestDb, limits: BlobLimits) -> Self {
        let store = Arc::new(DiskStore::new(test.place.folder().join("blobs")));
        Self::with_store(test, limits, store).await
    }

    pub(crate) async fn with_store(test: TestDb, limits: BlobLimits, store: Arc<dyn BlobStore>) -> Self {
        let tenant = test.add_tenant("sharma").await;
        let quota = Arc::new(ShopQuota::default());
        let files = BlobService::new(BlobServiceParts {
            db: test.db.clone(),
            store,
            spool: test.place.folder().join("blobs/partial"),
            clock: test.clock.clone(),
            random: Arc::new(SystemRandom),
            ids: test.ids.clone(),
            limits,
            quota: quota.clone(),
        });
        let (ravi, sita) = (add_person(&test, tenant, "Ravi").await, add_person(&test, tenant, "Sita").await);
        Self { test, tenant, ravi, sita, files, quota }
    }

    pub(crate) fn request(&self, person: PersonId) -> UploadRequest {
        UploadRequest { tenant: self.tenant, person: Some(person), name: None, declared_size: None }
    }

    /// In pieces of some odd length.
    pub(crate) async fn upload(&self, person: PersonId, content: &[u8]) -> Result<Blob> {
        upload(&self.files, self.request(person), content).await
    }

    pub(crate) async fn read(&self, blob: BlobId, variant: BlobVariant) -> Result<Vec<u8>> {
        self.files.open(self.tenant, blob, variant).await?.read_all().await
    }

    /// What lies on disk, without what is on its way.
    pub(crate) fn stored(&self) -> BTreeSet<PathBuf> {
        list_files(&self.test.place.folder().join("blobs").join(self.tenant.to_string()))
    }

    pub(crate) fn on_their_way(&self) -> BTreeSet<PathBuf> {
        list_files(&self.test.place.folder().join("blobs/partial"))
    }
}

pub(crate) async fn upload(files: &BlobService, request: UploadRequest, content: &[u8]) -> Result<Blob> {
    let pieces: Vec<_> = content.chunks(33_333).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    files.upload(request, stream::iter(pieces).boxed()).await
}

pub(crate) async fn add_person(test: &TestDb, tenant: TenantId, name: &str) -> PersonId {
    let person = Person::new(&test.ids, name, test.clock.now());
    let id = person.id;
    test.db.write(tenant, move |tx| persons::upsert(tx, &person)).await.unwrap();
    id
}

pub(crate) fn list_files(folder: &Path) -> BTreeSet<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

pub(crate) fn refusal(outcome: Result<Blob>) -> UploadRefusal {
    match outcome {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// A text of so many bytes, another for each seed.
pub(crate) fn text(length: usize, seed: u64) -> Vec<u8> {
    let letters = (0..length as u64).map(|at| {
        let mixed = (at / 8 + seed * 1_000_003).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (at % 8 * 5);
        b'a' + u8::try_from(mixed % 26).unwrap()
    });
    letters.collect()
}

/// A small picture with a place written into it.
pub(crate) fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.add_text_chunk("Location".to_owned(), "19.0760,72.8777".to_owned()).unwrap();
    let rgb = vec![90; (width * height * 3) as usize];
    encoder.write_header().unwrap().write_image_data(&rgb).unwrap();
    bytes
}
