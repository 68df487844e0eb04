//! A process that takes files is killed with -9 at random moments: what it acknowledged is there and whole, and the sweep removes the rest.

use std::io::{BufRead, BufReader, Write as _};
use std::sync::Arc;
use std::time::Duration;

use munshi_blobs::storage::DiskStore;
use munshi_blobs::{
    BlobLimits, BlobService, BlobServiceParts, BlobVariant, MediaType, NoTenantQuota, UploadRequest,
};
use munshi_store::{Db, Migrations, StoreOptions, params};
use munshi_test_support::{DatabaseEngine, memory_keyring, on_both_engines, process};
use munshi_types::{
    BlobId, Clock, FakeClock, IdGenerator, PersonId, Random, SeededRandom, SystemClock, SystemRandom,
    TenantId,
};
use serde::{Deserialize, Serialize};

use crate::support::{Shop, picture, text, upload};

const KILLS: u64 = 12;

#[derive(Serialize, Deserialize)]
struct Part {
    url: String,
    folder: std::path::PathBuf,
    tenant: TenantId,
    person: PersonId,
    round: u64,
}

#[test]
fn the_child_takes_files() {
    let Some(role) = process::role() else { return };
    let part: Part = serde_json::from_str(&role).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(take_files(part));
}

async fn take_files(part: Part) {
    let lists = [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];
    let keyring = Some(memory_keyring(IdGenerator::system()));
    let options = StoreOptions { connections: 4, readers: 2, keyring, ..StoreOptions::default() };
    let migrations = Migrations::new(&lists).unwrap();
    let db = Db::open(&part.url.parse().unwrap(), &options, &migrations).await.unwrap();
    let files = BlobService::new(BlobServiceParts {
        db,
        store: Arc::new(DiskStore::new(part.folder.join("blobs"))),
        spool: part.folder.join("blobs/partial"),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        ids: IdGenerator::system(),
        limits: BlobLimits::default(),
        quota: Arc::new(NoTenantQuota),
    });
    for number in 0.. {
        let seed = part.round * 100_000 + number;
        let request =
            UploadRequest { tenant: part.tenant, person: Some(part.person), name: None, declared_size: None };
        let content = if number % 3 == 0 {
            picture(20 + u32::try_from(part.round).unwrap(), 20 + u32::try_from(number).unwrap())
        } else {
            text(200_000, seed)
        };
        let blob = upload(&files, request, &content).await.unwrap();
        println!("took {} {seed}", blob.id);
        std::io::stdout().flush().unwrap();
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_blobs::MIGRATIONS];

    async fn what_was_acknowledged_is_whole_and_the_rest_goes(test: TestDb) {
        let shop = Shop::new(test).await;
        let (random, mut taken) = (SeededRandom::new(7), Vec::<(BlobId, u64)>::new());
        for round in 0..KILLS {
            let part = Part {
                url: url(&shop),
                folder: shop.test.place.folder(),
                tenant: shop.tenant,
                person: shop.ravi,
                round,
            };
            let role = serde_json::to_string(&part).unwrap();
            let life = Duration::from_millis(20 + random.next_below(250));
            taken.extend(tokio::task::spawn_blocking(move || run_and_kill(&role, life)).await.unwrap());
        }
        assert!(taken.len() > 10, "the children did some work: {}", taken.len());
        for (blob, seed) in &taken {
            let content = shop.files.open(shop.tenant, *blob, BlobVariant::Original).await.unwrap();
            if content.blob.media_type == MediaType::Text {
                assert!(content.read_all().await.unwrap() == text(200_000, *seed));
            } else {
                assert!(!content.read_all().await.unwrap().is_empty());
                assert!(!shop.read(*blob, BlobVariant::Preview).await.unwrap().is_empty());
            }
        }
        // The children went by the real clock.
        let later = SystemClock.now().plus(Duration::from_secs(3700));
        let clock: &FakeClock = &shop.test.clock;
        clock.set(later);
        shop.files.remove_leftovers().await.unwrap();
        shop.files.sweep(shop.tenant).await.unwrap();
        assert!(shop.on_their_way().is_empty());
        let rows: Vec<(BlobId, bool)> = shop.test.db.read(shop.tenant, |tx| {
            tx.all("SELECT id, preview_width, state FROM blobs WHERE tenant_id = $1", params![], |row| {
                assert_eq!(row.get::<String>("state")?, "ready");
                Ok((row.get(0)?, row.get::<Option<i64>>(1)?.is_some()))
            })
        }).await.unwrap();
        let expected: usize = rows.iter().map(|(_, has_preview)| 1 + usize::from(*has_preview)).sum();
        assert_eq!(shop.stored().len(), expected, "each file in the folder has its row, and each row its files");
    }
}

fn url(shop: &Shop) -> String {
    match shop.test.engine() {
        DatabaseEngine::Sqlite => format!("sqlite:{}", shop.test.place.folder().join("munshi.db").display()),
        DatabaseEngine::Postgres => shop.test.place.postgres_url("munshi_owner"),
    }
}

/// What the child acknowledged before it was killed, so long after its first word.
fn run_and_kill(role: &str, life: Duration) -> Vec<(BlobId, u64)> {
    let test = concat!(module_path!(), "::the_child_takes_files");
    let mut child = process::build_child_command(test, role).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut taken = Vec::new();
    let mut add = |line: &str| {
        // What was killed in the middle of its word has not said it.
        let mut words = line
            .rsplit("took ")
            .next()
            .filter(|_| line.contains("took "))
            .into_iter()
            .flat_map(str::split_whitespace);
        if let (Some(id), Some(seed)) = (words.next(), words.next())
            && let (Ok(id), Ok(seed)) = (id.parse(), seed.parse())
        {
            taken.push((id, seed));
        }
    };
    for line in lines.by_ref() {
        let line = line.unwrap();
        add(&line);
        if line.contains("took ") {
            break;
        }
    }
    std::thread::sleep(life);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.map_while(Result::ok).for_each(|line| add(&line));
    taken
}
