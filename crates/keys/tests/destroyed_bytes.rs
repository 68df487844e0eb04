//! A destroyed key leaves none of its bytes in SQLite's files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use munshi_keys::{CachedKeyring, TenantRotationStep, WantedStore};
use munshi_store::{
    Error, KeyErasure, Keyring, PlatformScope, PlatformTx, SealedBy, VacuumLimits, across_tenants, params,
};
use munshi_test_support::{DatabaseEngine, UnitHold, on_both_engines, wait_until};
use munshi_types::{DataKeyId, SystemRandom};
use tokio::task::JoinSet;

use crate::store::{Keys, WHERE, erasure, on_thread, tenant};

const KEYS: PlatformScope = PlatformScope::new("keys");

/// A key as it lies in the store.
async fn load_wrapped(keys: &Keys, key: DataKeyId) -> Vec<u8> {
    let read = move |tx: &mut PlatformTx<'_>| {
        let text = "SELECT wrapped FROM data_keys WHERE tenant_id = $1 AND id = $2";
        tx.one(across_tenants(text), params![tenant(1), key], |row| row.get::<Vec<u8>>(0))
    };
    keys.open_database().await.platform(KEYS).read(read).await.unwrap()
}

/// The files with these bytes in them.
fn find_files(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let holds = |file: &PathBuf| std::fs::read(file).unwrap().windows(bytes.len()).any(|part| part == bytes);
    files.filter(holds).collect()
}

/// Where the log could not be emptied at once, it is at the next look.
async fn wait_until_gone(node: &Arc<CachedKeyring>, folder: &Path, bytes: &[u8]) {
    wait_until(async || {
        let node = node.clone();
        on_thread(move || node.drop_destroyed().unwrap()).await;
        find_files(folder, bytes).is_empty()
    })
    .await;
}

#[tokio::test]
async fn no_file_holds_a_destroyed_key() {
    let keys = Keys::new(DatabaseEngine::Sqlite).await;
    let (node, folder) = (Arc::new(keys.node()), keys.folder());
    let maker = node.clone();
    let key = on_thread(move || maker.take_new_key(tenant(1)).unwrap()).await;
    let wrapped = load_wrapped(&keys, key).await;
    assert!(!find_files(&folder, &wrapped).is_empty());
    let destroyer = node.clone();
    on_thread(move || destroyer.destroy_keys(&erasure(key)).unwrap()).await;
    wait_until_gone(&node, &folder, &wrapped).await;
}

#[tokio::test]
async fn no_file_holds_one_from_before_an_upgrade() {
    let keys = Keys::new(DatabaseEngine::Sqlite).await;
    let folder = keys.folder();
    let maker = keys.node();
    // On more pages than what is made afterwards takes.
    let made = on_thread(move || [(); 400].map(|()| maker.take_new_key(tenant(1)).unwrap())).await;
    let mut wrapped = Vec::new();
    for key in made.iter().step_by(8) {
        wrapped.push(load_wrapped(&keys, *key).await);
    }
    // As an older version left it: the table of keys is copied when it is next opened.
    let database = keys.open_database().await;
    let forget = |tx: &mut PlatformTx<'_>| {
        tx.execute(across_tenants("ALTER TABLE key_store DROP COLUMN rewrapped_at"), &[])?;
        tx.execute(across_tenants("DELETE FROM schema_migrations WHERE number >= 95"), &[])
    };
    assert_eq!(database.platform(KEYS).write(forget).await.unwrap(), 2);
    drop(database);
    let node = Arc::new(keys.node());
    let destroyer = node.clone();
    let entry = KeyErasure { keys: made.to_vec(), ..erasure(made[0]) };
    on_thread(move || destroyer.destroy_keys(&entry).unwrap()).await;
    for bytes in &wrapped {
        wait_until_gone(&node, &folder, bytes).await;
    }
}

#[tokio::test]
async fn a_reader_puts_it_off_and_nothing_fails() {
    let keys = Keys::new(DatabaseEngine::Sqlite).await;
    let (node, folder) = (Arc::new(keys.node()), keys.folder());
    let maker = node.clone();
    let key = on_thread(move || maker.take_new_key(tenant(1)).unwrap()).await;
    let wrapped = load_wrapped(&keys, key).await;
    // As a copy that is being made.
    let (hold, database) = (UnitHold::default(), keys.open_database().await);
    let held = hold.clone();
    let mut reading = JoinSet::new();
    reading.spawn(async move {
        let read = move |tx: &mut PlatformTx<'_>| {
            let count: i64 =
                tx.one(across_tenants("SELECT count(*) FROM data_keys"), &[], |row| row.get(0))?;
            held.wait();
            Ok::<_, Error>(count)
        };
        database.platform(KEYS).read(read).await.unwrap()
    });
    hold.reached().await;
    let destroyer = node.clone();
    on_thread(move || destroyer.destroy_keys(&erasure(key)).unwrap()).await;
    assert!(!find_files(&folder, &wrapped).is_empty(), "what is read is there still");
    hold.release();
    assert!(reading.join_next().await.unwrap().unwrap() > 0);
    wait_until_gone(&node, &folder, &wrapped).await;
}

/// What the installation's key wraps of a tenant, as it lies in the store.
async fn load_wrapped_tenant_key(keys: &Keys) -> Vec<u8> {
    let read = |tx: &mut PlatformTx<'_>| {
        let text = "SELECT wrapped FROM tenant_keys WHERE tenant_id = $1";
        tx.one(across_tenants(text), params![tenant(1)], |row| row.get::<Vec<u8>>(0))
    };
    keys.open_database().await.platform(KEYS).read(read).await.unwrap()
}

#[tokio::test]
async fn no_file_holds_what_a_replaced_key_wrapped() {
    let keys = Keys::new(DatabaseEngine::Sqlite).await;
    let (node, folder) = (Arc::new(keys.node()), keys.folder());
    let maker = node.clone();
    let key = on_thread(move || maker.take_new_key(tenant(1)).unwrap()).await;
    let (data_key, first) = (load_wrapped(&keys, key).await, load_wrapped_tenant_key(&keys).await);
    keys.worker(WantedStore::Any).rotate_tenant(tenant(1)).await.unwrap().unwrap();
    for bytes in [&data_key, &first] {
        wait_until_gone(&node, &folder, bytes).await;
    }
    let second = load_wrapped_tenant_key(&keys).await;
    let next = keys.masters().load_or_create_next(&SystemRandom).unwrap().id.clone();
    assert_eq!(keys.worker(WantedStore::Any).rotate_master(&next).await.unwrap(), 1);
    wait_until_gone(&node, &folder, &second).await;
}

#[tokio::test]
async fn whoever_looks_after_the_store_clears_what_another_process_replaced() {
    let keys = Keys::new(DatabaseEngine::Sqlite).await;
    let (node, folder) = (Arc::new(keys.node()), keys.folder());
    let maker = node.clone();
    let key = on_thread(move || maker.take_new_key(tenant(1)).unwrap()).await;
    let wrapped = load_wrapped(&keys, key).await;
    // A process that dies with the last step done.
    let worker = keys.worker(WantedStore::Any);
    worker.begin_tenant_rotation(tenant(1)).await.unwrap();
    while worker.continue_tenant_rotation(tenant(1)).await.unwrap() != TenantRotationStep::Finished {}
    assert!(!find_files(&folder, &wrapped).is_empty(), "the log has it still");
    wait_until_gone(&node, &folder, &wrapped).await;
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_keys::MIGRATIONS];

    async fn postgres_clears_its_pages_of_what_a_replaced_key_wrapped(test: TestDb) {
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let keys = Keys::new(test.engine()).await;
        let node = keys.node();
        on_thread(move || node.take_new_key(tenant(1)).unwrap()).await;
        keys.worker(WantedStore::Any).rotate_tenant(tenant(1)).await.unwrap().unwrap();
        let db = keys.open_database().await;
        wait_until(async || {
            let count = |tx: &mut PlatformTx<'_>| {
                let text = (
                    "SELECT 1",
                    "SELECT count(*) FROM pg_stat_user_tables WHERE relname IN ('data_keys', 'tenant_keys') AND vacuum_count >= 1",
                );
                tx.one(across_tenants(text), params![], |row| row.get::<i64>(0))
            };
            db.platform(KEYS).read(count).await.unwrap() == 2
        })
        .await;
    }

    async fn postgres_clears_its_pages_of_a_destroyed_key_at_once(test: TestDb) {
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let keys = Keys::new(test.engine()).await;
        let node = keys.node();
        on_thread(move || {
            let key = node.take_new_key(tenant(1)).unwrap();
            node.destroy_keys(&erasure(key)).unwrap();
        })
        .await;
        let db = keys.open_database().await;
        // Whatever statistics tell, they tell a little later.
        wait_until(async || {
            let count = |tx: &mut PlatformTx<'_>| {
                let text = ("SELECT 1", "SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'data_keys'");
                tx.one(across_tenants(text), params![], |row| row.get::<i64>(0))
            };
            db.platform(KEYS).read(count).await.unwrap() == 1
        })
        .await;
    }

    async fn postgres_gives_keys_while_it_can_not_clear_its_pages(test: TestDb) {
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let keys = Keys::new(test.engine()).await;
        let (node, maker) = (Arc::new(keys.node()), keys.node());
        let key = on_thread(move || maker.take_new_key(tenant(1)).unwrap()).await;
        // As another VACUUM, or a migration.
        let lock = ("SELECT 1", "LOCK TABLE data_keys IN SHARE UPDATE EXCLUSIVE MODE");
        let (hold, database) = (UnitHold::default(), keys.open_database().await);
        let held = hold.clone();
        let mut locking = JoinSet::new();
        locking.spawn(async move {
            let write = move |tx: &mut PlatformTx<'_>| {
                tx.execute(across_tenants(lock), params![])?;
                held.wait();
                Ok::<_, Error>(())
            };
            database.platform(KEYS).write(write).await.unwrap();
        });
        hold.reached().await;
        on_thread(move || {
            node.destroy_keys(&erasure(key)).unwrap();
            node.take_new_key(tenant(1)).unwrap();
            node.drop_destroyed().unwrap();
            assert!(matches!(node.seal(tenant(1), SealedBy::Person(key), WHERE, b"hello"), Err(Error::Forgotten(_))));
        })
        .await;
        hold.release();
        locking.join_next().await.unwrap().unwrap();
    }

    async fn postgres_says_that_an_older_transaction_still_sees_a_row(test: TestDb) {
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let keys = Keys::new(test.engine()).await;
        let node = keys.node();
        let (node, key) = on_thread(move || {
            let key = node.take_new_key(tenant(1)).unwrap();
            (node, key)
        })
        .await;
        let limits = VacuumLimits { lock: Duration::from_secs(5), total: Duration::from_secs(10) };
        let (hold, database) = (UnitHold::default(), keys.open_database().await);
        let (held, reader) = (hold.clone(), database.clone());
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let read = move |tx: &mut PlatformTx<'_>| {
                let count: i64 = tx.one(across_tenants("SELECT count(*) FROM data_keys"), &[], |row| row.get(0))?;
                held.wait();
                Ok::<_, Error>(count)
            };
            reader.platform(KEYS).read(read).await.unwrap()
        });
        hold.reached().await;
        on_thread(move || node.destroy_keys(&erasure(key)).unwrap()).await;
        let early = database.vacuum(&keys.address, "data_keys", limits).await;
        assert!(matches!(early, Err(Error::Busy(_))), "{early:?}");
        hold.release();
        assert!(reading.join_next().await.unwrap().unwrap() > 0);
        wait_until(async || database.vacuum(&keys.address, "data_keys", limits).await.is_ok()).await;
    }
}
