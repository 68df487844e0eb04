//! All that an older backup is, on a blank machine: with the store of keys of today nothing of somebody forgotten opens, and everybody else's
//! does. Nothing is told again there: whoever has the files has them so.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_blobs::storage::DiskStore;
use munshi_blobs::{BlobLimits, BlobService, BlobServiceParts, BlobVariant, NoTenantQuota, UploadRequest};
use munshi_conversations::retention::{ArchiveJob, Retention};
use munshi_erasure::export::{ExportPosition, ExportSubject, load_archived_page, load_page};
use munshi_identity::persons;
use munshi_pack::PackRegistry;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, Error, PageRequest, PlatformTx, SealedBy, Tx, find_named_key, params};
use munshi_test_support::DatabaseEngine;
use munshi_types::{
    BlobId, Clock, DataKeyId, FakeClock, IdGenerator, PersonId, SystemClock, SystemRandom, TenantId,
};
use serde_json::json;

use crate::app::support::Installation;

const KIRANA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs/ledger/tenants/kirana");

/// Somebody with what they said, archived and not, and a file.
struct Customer {
    name: &'static str,
    phone: &'static str,
    archived: &'static str,
    said: &'static str,
    id: PersonId,
    file: BlobId,
}

impl Customer {
    fn add(
        installation: &Installation,
        name: &'static str,
        phone: &'static str,
        said: [&'static str; 2],
    ) -> Self {
        let added = installation.json(&["person", "add", name, "--role", "staff", "--phone", phone]);
        let id = added["id"].as_str().unwrap().parse().unwrap();
        let [archived, said] = said;
        installation.run(&["ask", "counter", archived, "--person", name]).ok();
        Self { name, phone, archived, said, id, file: IdGenerator::system().next() }
    }

    fn words(&self) -> [&'static str; 4] {
        [self.name, self.phone, self.archived, self.said]
    }

    fn file_text(&self) -> String {
        format!("a letter from {} in Zanzibar", self.name)
    }
}

pub(crate) fn build_blobs(db: &Db, data: &Path) -> BlobService {
    BlobService::new(BlobServiceParts {
        db: db.clone(),
        store: Arc::new(DiskStore::new(data.join("blobs"))),
        spool: data.join("blobs/partial"),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        ids: IdGenerator::system(),
        limits: BlobLimits::default(),
        quota: Arc::new(NoTenantQuota),
    })
}

pub(crate) async fn find_tenant(db: &Db) -> TenantId {
    let list = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, 10));
    db.platform(TENANTS).read(list).await.unwrap().items[0].id
}

/// What was said so far goes to the archive, and each gives a file.
async fn archive_and_upload(installation: &Installation, customers: &mut [Customer]) {
    let db = installation.open().await;
    let tenant = find_tenant(&db).await;
    let later = SystemClock.now().plus(Duration::from_secs(100 * 86_400));
    let job = ArchiveJob {
        db: db.clone(),
        clock: Arc::new(FakeClock::new(later)),
        folder: installation.data().join("archive"),
        usual: Retention::DEFAULT,
    };
    assert!(job.archive_batch(tenant).await.unwrap() >= customers.len());
    let blobs = build_blobs(&db, &installation.data());
    for customer in customers {
        let request = UploadRequest { tenant, person: Some(customer.id), name: None, declared_size: None };
        let bytes = Bytes::from(customer.file_text());
        customer.file = blobs.upload(request, stream::iter([Ok(bytes)]).boxed()).await.unwrap().id;
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// What the files tell of somebody: as far as they can be read, and whether that was all.
async fn read_all(db: &Db, data: &Path, tenant: TenantId, person: PersonId) -> (String, bool) {
    let packs = Arc::new(PackRegistry::install_all(&[]).unwrap());
    let (mut text, mut from) = (String::new(), None::<ExportPosition>);
    loop {
        let (packs, folder, at) = (packs.clone(), data.join("archive"), from.clone());
        let load = move |tx: &mut Tx<'_>| {
            let subject = ExportSubject::load(tx, Some(person), std::collections::BTreeMap::new())?;
            match at {
                Some(ExportPosition::Archive(at)) => {
                    load_archived_page(tx, (&folder, tenant), &subject, at.as_ref(), 50)
                }
                at => load_page(tx, &packs, &subject, at.as_ref(), 50),
            }
        };
        match db.read(tenant, load).await {
            Ok(page) => {
                text.extend(page.records.iter().map(|record| format!("{} {}\n", record.kind, record.data)));
                match page.next {
                    Some(next) => from = Some(next),
                    None => return (text, true),
                }
            }
            Err(munshi_erasure::Error::Store(Error::Forgotten(_))) => {
                // On with the archive, of which nothing may open either.
                text += "forgotten\n";
                match from {
                    Some(ExportPosition::Archive(_)) => return (text, false),
                    _ => from = Some(ExportPosition::Archive(None)),
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The keys by which anything in any column of text is sealed, with the column.
async fn list_sealed(db: &Db, tenant: TenantId) -> Vec<(String, DataKeyId)> {
    let read = |tx: &mut Tx<'_>| {
        let columns: Vec<(String, String)> = tx.all(
            "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table' AND c.type = 'TEXT' AND $1 IS NOT NULL
               AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) k WHERE k.name = 'tenant_id')",
            params![],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut sealed = Vec::new();
        for (table, column) in columns {
            // Names come from the catalogue of the database itself.
            let values =
                ["SELECT CAST(", &column, " AS TEXT) FROM ", &table, " WHERE tenant_id = $1"].concat();
            let values: Vec<Option<String>> = tx.all(&*values.leak(), params![], |row| row.get(0))?;
            let keys = values.into_iter().flatten().filter_map(|text| find_named_key(text.trim_matches('"')));
            sealed.extend(keys.map(|key| (format!("{table}.{column}"), key)));
        }
        Ok::<_, Error>(sealed)
    };
    db.read(tenant, read).await.unwrap()
}

async fn is_destroyed(db: &Db, tenant: TenantId, key: DataKeyId) -> bool {
    let keyring = db.keyring().unwrap();
    let seal = move || keyring.seal(tenant, SealedBy::Person(key), b"somewhere", b"hello");
    matches!(tokio::task::spawn_blocking(seal).await.unwrap(), Err(Error::Forgotten(_)))
}

/// The backup of before with its archive and its files, the vault's key, and the store of keys as it is after somebody was forgotten.
fn set_up_blank_machine(installation: &Installation, gone: &Customer) -> Installation {
    let blank = Installation::sqlite();
    let data = blank.data();
    std::fs::create_dir_all(&data).unwrap();
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    std::fs::copy(installation.folder().join(copy), data.join("munshi.db")).unwrap();
    for folder in ["archive", "blobs"] {
        copy_folder(&installation.data().join(folder), &data.join(folder));
    }
    installation.json(&["person", "leave", gone.name]);
    let receipt = installation.json(&["person", "forget", &gone.id.to_string(), "--yes"]);
    assert_eq!(receipt["state"], json!("done"), "{receipt}");
    installation.json(&["backup", "--keys", data.join("keys.db").to_str().unwrap()]);
    std::fs::copy(installation.data().join("vault.key"), data.join("vault.key")).unwrap();
    blank
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_somebody_forgotten_opens_there_and_everybody_elses_does() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.run(&["apply", KIRANA]).ok();
    let mut customers = [
        Customer::add(
            &installation,
            "Rameshwari",
            "9876501234",
            ["zanzibar kitna hai", "marigold kitna hai"],
        ),
        Customer::add(&installation, "Sunita", "9876509876", ["jaipur kitna hai", "gulab kitna hai"]),
    ];
    archive_and_upload(&installation, &mut customers).await;
    for customer in &customers {
        installation.run(&["ask", "counter", customer.said, "--person", customer.name]).ok();
    }
    let [gone, stays] = &customers;
    let blank = set_up_blank_machine(&installation, gone);

    let (db, data) = (blank.open().await, blank.data());
    let tenant = find_tenant(&db).await;
    let (person, kept) = (gone.id, stays.id);
    let keys = move |tx: &mut Tx<'_>| {
        Ok::<_, Error>((persons::list_keys(tx, person)?, persons::list_keys(tx, kept)?))
    };
    let (hers, others) = db.read(tenant, keys).await.unwrap();
    let sealed = list_sealed(&db, tenant).await;
    for column in ["persons.name", "person_addresses.shown", "messages.text", "blobs.content_key"] {
        for key in [hers[0], others[0]] {
            let is_there = sealed.iter().any(|(place, by)| place == column && *by == key);
            assert!(is_there, "{column} of both is in the copy");
        }
    }
    assert!(is_destroyed(&db, tenant, hers[0]).await, "nothing that names it opens");
    assert!(!is_destroyed(&db, tenant, others[0]).await);

    let blobs = build_blobs(&db, &data);
    let (told, _) = read_all(&db, &data, tenant, gone.id).await;
    for words in gone.words() {
        assert!(!told.contains(words), "{words} can be read: {told}");
    }
    assert!(blobs.open(tenant, gone.file, BlobVariant::Original).await.is_err());
    let (told, is_whole) = read_all(&db, &data, tenant, stays.id).await;
    for words in stays.words() {
        assert!(told.contains(words), "{words} is not in {told}");
    }
    assert!(is_whole);
    let file = blobs.open(tenant, stays.file, BlobVariant::Original).await.unwrap();
    assert_eq!(file.read_all().await.unwrap(), stays.file_text().into_bytes());
}
