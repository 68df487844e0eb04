//! Killed with -9 at a moment of rotating keys, of forgetting somebody, and of putting an older database back: all is readable afterwards that
//! should be, and the next run comes to the end of it.
//!
//! A moment is right before or right after something becomes lasting (see `shim.c`). A few of them here; all with `make soak`.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use munshi_identity::persons::PersonFilter;
use munshi_identity::{Person, persons};
use munshi_keys::{CachedKeyring, KeyStorePlace, KeyWorker, MasterKeySource, MasterKeys, VaultSecret};
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{SecretRef, Vault, VaultAuditContext};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{DatabaseAddress, Db, Migrations, PageRequest, PlatformTx, StoreOptions, Tx};
use munshi_test_support::database::{MORNING, TestDbStorage};
use munshi_test_support::environment::is_long_run;
use munshi_test_support::{DatabaseEngine, shim};
use munshi_types::{IdGenerator, SystemClock, SystemRandom, TenantId};

use crate::app::forget::{count_erasures, open_shop};
use crate::app::support::{Installation, Ran, TABLES};

/// More than are wrapped anew in one step.
const PERSONS: usize = 130;
const SECRET: &str = "hunter2";

/// The moments at which something is killed, one process each.
pub(crate) fn moments() -> impl Iterator<Item = u32> {
    let next = |at: &u32| Some(if is_long_run() { at + 1 } else { at * 5 / 2 });
    std::iter::successors(Some(if is_long_run() { 1 } else { 2 }), next)
}

/// How a command ended that was to be killed at this moment; none where it was. One that has no such moment comes to its end.
fn run_until(installation: &Installation, library: &Path, at: u32, arguments: &[&str]) -> Option<Ran> {
    let mut command = installation.command(arguments);
    command.env("LD_PRELOAD", library).env("DISK_SHIM_KILL_AT", at.to_string());
    let output = command.output().unwrap();
    match output.status.signal() {
        Some(signal) => {
            assert_eq!(signal, 9, "{output:?}");
            None
        }
        None => Some(Ran::of(output)),
    }
}

/// A tenant with people and a secret, and where its keys are.
struct Shop {
    installation: Installation,
    tenant: TenantId,
    keys: DatabaseAddress,
    library: PathBuf,
    _keys: Option<TestDbStorage>,
}

/// With its tables, and where its keys are: with Postgres, in another database of it.
fn install(engine: DatabaseEngine) -> (Installation, DatabaseAddress, Option<TestDbStorage>) {
    let installation = Installation::on(engine);
    let (installation, keys, place) = match engine {
        DatabaseEngine::Sqlite => {
            let file = installation.data().join("keys.db");
            (installation, DatabaseAddress::sqlite(file), None)
        }
        DatabaseEngine::Postgres => {
            let create = || TestDbStorage::create(DatabaseEngine::Postgres);
            let (address, place) = std::thread::spawn(create).join().unwrap();
            let url = place.postgres_url("munshi_owner");
            (installation.with("MUNSHI__KEYS__URL", url), address, Some(place))
        }
    };
    installation.run(&["migrate"]).ok();
    (installation, keys, place)
}

impl Shop {
    /// With Postgres the store of keys is on Postgres too.
    async fn open(engine: DatabaseEngine) -> Self {
        let (installation, keys, place) = install(engine);
        installation.json(&["tenant", "add", "shop"]);
        let library = shim::build(&installation.folder());
        let mut shop = Self { installation, tenant: TenantId::PLATFORM, keys, library, _keys: place };
        let (db, vault) = shop.connect().await;
        let list = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, 10));
        shop.tenant = db.platform(TENANTS).read(list).await.unwrap().items[0].id;
        let by =
            VaultAuditContext { actor: AuditActor::new(AuditActorKind::Operator, "a test"), now: MORNING };
        let secret = VaultSecret::new(SECRET.to_owned()).unwrap();
        vault.set(shop.tenant, &reference(), secret, by).await.unwrap();
        shop.add_people(&db, "first").await;
        shop
    }

    /// As a process that starts now.
    async fn connect(&self) -> (Db, Vault) {
        let options = StoreOptions { readers: 1, connections: 2, ..StoreOptions::default() };
        let place = KeyStorePlace { address: self.keys.clone(), owner: None, options };
        let masters = MasterKeySource::File(self.installation.data().join("vault.key"));
        let masters = Arc::new(MasterKeys::new(masters));
        let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
        let worker = KeyWorker::new(place, masters.clone(), clock.clone(), random.clone());
        let keyring = CachedKeyring::new(worker.clone(), clock, random.clone(), 1000);
        let options = StoreOptions { keyring: Some(Arc::new(keyring)), ..StoreOptions::default() };
        let migrations = Migrations::new(TABLES).unwrap();
        let db = Db::open(&self.installation.address, &options, &migrations).await.unwrap();
        munshi_keys::bind_store(&db, &worker, MORNING).await.unwrap();
        let vault = Vault::start(db.clone(), masters, random, IdGenerator::system(), MORNING).await.unwrap();
        (db, vault)
    }

    async fn add_people(&self, db: &Db, name: &str) {
        let ids = IdGenerator::system();
        let people: Vec<Person> =
            (0..PERSONS).map(|number| Person::new(&ids, format!("{name} {number}"), MORNING)).collect();
        let add = move |tx: &mut Tx<'_>| people.iter().try_for_each(|person| persons::upsert(tx, person));
        db.write(self.tenant, add).await.unwrap();
    }

    /// Everybody's name and the secret are there, and somebody new can be added.
    async fn is_whole(&self, when: &str) {
        let (db, vault) = self.connect().await;
        let (mut names, mut after) = (Vec::new(), None);
        loop {
            let request = PageRequest::new(after, PageRequest::LARGEST);
            let list = move |tx: &mut Tx<'_>| persons::list(tx, PersonFilter::Everybody, &request);
            let page = db.read(self.tenant, list).await.unwrap();
            names.extend(page.items.into_iter().map(|person| person.name));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        for number in 0..PERSONS {
            assert!(names.contains(&format!("first {number}")), "{when}: {names:?}");
        }
        let opened = vault.open(self.tenant, &reference()).await.unwrap();
        assert!(opened.expose() == SECRET, "{when}");
        let new = Person::new(&IdGenerator::system(), when, MORNING);
        db.write(self.tenant, move |tx| persons::upsert(tx, &new)).await.unwrap();
    }
}

fn reference() -> SecretRef {
    SecretRef::from_name("bank").unwrap()
}

async fn rotating_keys_is_never_half(engine: DatabaseEngine) {
    let shop = Shop::open(engine).await;
    for command in [&["vault", "rotate"][..], &["vault", "rotate-tenant", "shop"]] {
        let mut kills = 0;
        for at in moments() {
            let when = format!("{} killed at its moment {at}", command.join(" "));
            let ended = run_until(&shop.installation, &shop.library, at, command);
            shop.is_whole(&when).await;
            shop.installation.run(command).ok();
            shop.is_whole(&format!("{when} and run again")).await;
            match ended {
                None => kills += 1,
                Some(ran) => {
                    assert_eq!(ran.code, 0, "{when}: {ran:?}");
                    break;
                }
            }
        }
        assert!(kills > 1, "{command:?} has moments");
    }
    let doctor = shop.installation.run(&["doctor"]);
    assert!(!doctor.out.contains("interrupted"), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rotating_keys_is_never_half_on_sqlite() {
    rotating_keys_is_never_half(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rotating_keys_is_never_half_on_postgres() {
    rotating_keys_is_never_half(DatabaseEngine::Postgres).await;
}

/// The books as the next command reads them: of the copy or of today, with nobody in it who was forgotten.
fn nobody_forgotten_is_read(installation: &Installation, when: &str) {
    let owing = installation.run(&["ask", "counter", "who owes me"]).ok();
    assert!(owing.contains("Sunita") && !owing.contains("Rameshwari"), "{when}: {owing}");
    assert_eq!(count_erasures(installation), 1, "{when}");
}

/// Either the database of today is in its place or the copy, whole, and who was forgotten since is forgotten in it before it is read.
#[test]
fn restoring_a_copy_is_never_half() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let library = shim::build(&installation.folder());
    open_shop(&installation);
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    installation.json(&["person", "forget", "Rameshwari", "--yes", "--despite-open-matters"]);
    let mut kills = 0;
    for at in moments() {
        let when = format!("restore killed at its moment {at}");
        let ended = run_until(&installation, &library, at, &["restore", &copy, "--yes"]);
        nobody_forgotten_is_read(&installation, &when);
        match ended {
            None => kills += 1,
            Some(ran) => {
                assert_eq!(ran.code, 0, "{when}: {ran:?}");
                break;
            }
        }
    }
    assert!(kills > 1, "restoring has moments");
    installation.json(&["restore", &copy, "--yes"]);
    nobody_forgotten_is_read(&installation, "in the end");
}

/// An older database that was put in place by hand, or by Postgres' own tools.
fn forgetting_again_is_never_half(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    let library = shim::build(&installation.folder());
    open_shop(&installation);
    let copy = installation.folder().join("older.db");
    match engine {
        DatabaseEngine::Sqlite => drop(installation.json(&["backup", copy.to_str().unwrap()])),
        DatabaseEngine::Postgres => installation.place.copy_postgres(),
    }
    installation.json(&["person", "forget", "Rameshwari", "--yes", "--despite-open-matters"]);
    let mut kills = 0;
    for at in moments() {
        match engine {
            DatabaseEngine::Sqlite => put_copy_back(&copy, &installation.file()),
            DatabaseEngine::Postgres => installation.place.put_copy_back(),
        }
        let when = format!("forgetting again killed at its moment {at}");
        let ended = run_until(&installation, &library, at, &["erasure", "list"]);
        nobody_forgotten_is_read(&installation, &when);
        match ended {
            None => kills += 1,
            Some(ran) => {
                assert_eq!(ran.code, 0, "{when}: {ran:?}");
                break;
            }
        }
    }
    assert!(kills > 1, "forgetting again has moments");
}

fn put_copy_back(copy: &Path, file: &Path) {
    for ending in ["-wal", "-shm", "-journal"] {
        let log = PathBuf::from(format!("{}{ending}", file.display()));
        if log.exists() {
            std::fs::remove_file(log).unwrap();
        }
    }
    std::fs::copy(copy, file).unwrap();
}

#[test]
fn forgetting_again_is_never_half_on_sqlite() {
    forgetting_again_is_never_half(DatabaseEngine::Sqlite);
}

#[test]
fn forgetting_again_is_never_half_on_postgres() {
    forgetting_again_is_never_half(DatabaseEngine::Postgres);
}

/// Somebody who wrote and has left.
fn add_customer(installation: &Installation, name: &str) -> String {
    let added = installation.json(&["person", "add", name, "--role", "staff"]);
    installation.run(&["ask", "counter", "zanzibar kitna hai", "--person", name]).ok();
    installation.json(&["person", "leave", name]);
    added["id"].as_str().unwrap().to_owned()
}

/// What they said, where they are not forgotten.
fn is_readable(installation: &Installation, id: &str, name: &str) -> bool {
    let file = installation.folder().join("told.json");
    let told = installation.run(&["person", "export", id, "--out", file.to_str().unwrap()]);
    let text = if told.code == 0 { std::fs::read_to_string(&file).unwrap() } else { String::new() };
    if file.exists() {
        std::fs::remove_file(&file).unwrap();
    }
    let (named, said) = (text.contains(name), text.contains("zanzibar"));
    assert_eq!(named, said, "half of it is there: {text}");
    said
}

/// Begun or not: once a server has started, somebody is forgotten to the end, counted, or all of theirs is there.
fn forgetting_is_never_half(engine: DatabaseEngine) {
    let (installation, _, _keys) = install(engine);
    let library = shim::build(&installation.folder());
    open_shop(&installation);
    let stays = add_customer(&installation, "Sunita Devi");
    let mut kills = 0;
    for at in moments() {
        let (when, name) = (format!("forgetting killed at its moment {at}"), format!("Rameshwari {at}"));
        let id = add_customer(&installation, &name);
        let forget = ["person", "forget", id.as_str(), "--yes"];
        let ended = run_until(&installation, &library, at, &forget);
        drop(installation.serve());
        let erasures = installation.json(&["erasure", "list"]);
        let erasures = erasures["items"].as_array().unwrap();
        assert!(erasures.iter().all(|erasure| erasure["state"] == "done"), "{when}: {erasures:?}");
        let begun = erasures.iter().find(|erasure| erasure["persons"].to_string().contains(&id));
        assert_eq!(is_readable(&installation, &id, &name), begun.is_none(), "{when}");
        if begun.is_none() {
            installation.json(&forget);
            assert!(!is_readable(&installation, &id, &name), "{when}, and asked for again");
        }
        let erasures = installation.json(&["erasure", "list"]);
        let receipt = erasures["items"].as_array().unwrap();
        let receipt = receipt.iter().find(|erasure| erasure["persons"].to_string().contains(&id)).unwrap();
        assert!(receipt["removed"].to_string().contains("messages"), "{when}: counted once: {receipt}");
        assert!(is_readable(&installation, &stays, "Sunita Devi"), "{when}: everybody else");
        match ended {
            None => kills += 1,
            Some(ran) => {
                assert_eq!(ran.code, 0, "{when}: {ran:?}");
                break;
            }
        }
    }
    assert!(kills > 1, "forgetting has moments");
}

#[test]
fn forgetting_is_never_half_on_sqlite() {
    forgetting_is_never_half(DatabaseEngine::Sqlite);
}

#[test]
fn forgetting_is_never_half_on_postgres() {
    forgetting_is_never_half(DatabaseEngine::Postgres);
}
