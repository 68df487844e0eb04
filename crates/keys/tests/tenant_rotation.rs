//! A tenant's key is replaced while everything goes on, wherever the program stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use munshi_keys::{CachedKeyring, KeySource, TenantRotationStep, WantedStore};
use munshi_store::{Error, Keyring, PlatformScope, PlatformTx, SealedBy, across_tenants, params};
use munshi_test_support::on_both_engines;
use munshi_types::{DataKeyId, TenantId};

use crate::store::{Keys, WHERE, erasure, on_thread, tenant};

/// More than two steps wrap anew.
const PERSONS: usize = 230;

/// So many keys each maker makes.
const MOST_MADE: usize = 150;

const KEYS: PlatformScope = PlatformScope::new("keys");

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Seals something by each of so many new persons' keys, and by the tenant's own.
fn seal_some(node: &CachedKeyring, count: usize) -> Vec<Vec<u8>> {
    let persons = (0..count).map(|_| SealedBy::Person(node.take_new_key(tenant(1)).unwrap()));
    let seal = |by| node.seal(tenant(1), by, WHERE, b"hello").unwrap();
    persons.chain([SealedBy::Tenant]).map(seal).collect()
}

fn opens_all(node: &CachedKeyring, sealed: &[Vec<u8>]) -> bool {
    sealed.iter().all(|sealed| node.open(tenant(1), WHERE, sealed).unwrap() == b"hello")
}

/// The numbers of a tenant's keys, and by which of them data keys are wrapped.
async fn numbers(keys: &Keys, of: TenantId) -> (Vec<i64>, Vec<i64>) {
    let db = keys.open_database().await;
    let read = move |tx: &mut PlatformTx<'_>| {
        let own = "SELECT number FROM tenant_keys WHERE tenant_id = $1 ORDER BY number";
        let used = "SELECT DISTINCT wrapped_by FROM data_keys WHERE tenant_id = $1 ORDER BY wrapped_by";
        let own = tx.all(across_tenants(own), params![of], |row| row.get(0))?;
        Ok::<_, Error>((own, tx.all(across_tenants(used), params![of], |row| row.get(0))?))
    };
    db.platform(KEYS).read(read).await.unwrap()
}

/// A tenant's keys as a copy of the store has them: by which of the installation's its own is wrapped, that, and those that seal.
struct CopiedKeys {
    master: String,
    wrapped: Vec<u8>,
    sealing: Vec<(DataKeyId, Vec<u8>)>,
}

impl CopiedKeys {
    async fn read(keys: &Keys) -> Self {
        let read = |tx: &mut PlatformTx<'_>| {
            let own = "SELECT master_id, wrapped FROM tenant_keys WHERE tenant_id = $1";
            let (master, wrapped) =
                tx.one(across_tenants(own), params![tenant(1)], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let sealing = "SELECT id, wrapped FROM data_keys WHERE tenant_id = $1";
            let sealing =
                tx.all(across_tenants(sealing), params![tenant(1)], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok::<_, Error>(Self { master, wrapped, sealing })
        };
        keys.open_database().await.platform(KEYS).read(read).await.unwrap()
    }

    /// All of it is of number 1 again.
    async fn put_back(self, keys: &Keys) {
        let write = move |tx: &mut PlatformTx<'_>| {
            let own = "UPDATE tenant_keys SET number = 1, master_id = $2, wrapped = $3 WHERE tenant_id = $1";
            tx.execute(across_tenants(own), params![tenant(1), self.master, self.wrapped])?;
            for (id, wrapped) in self.sealing {
                let text =
                    "UPDATE data_keys SET wrapped_by = 1, wrapped = $3 WHERE tenant_id = $1 AND id = $2";
                tx.execute(across_tenants(text), params![tenant(1), id, wrapped])?;
            }
            Ok::<_, Error>(())
        };
        keys.open_database().await.platform(KEYS).write(write).await.unwrap();
    }
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_keys::MIGRATIONS];

    async fn a_rotation_cut_short_anywhere_leaves_all_readable_and_goes_on(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let before = Arc::new(keys.node());
        let node = before.clone();
        let mut sealed = on_thread(move || seal_some(&node, PERSONS)).await;
        let hashed = before.clone();
        let hash = on_thread(move || hashed.hash(tenant(1), "phone", b"+91").unwrap()).await;
        let mut number = 1;
        for stop_after in 0..=6 {
            // A process that gets so far and is gone.
            let worker = keys.worker(WantedStore::Any);
            let mut is_finished = false;
            if stop_after > 0 {
                assert_eq!(worker.begin_tenant_rotation(tenant(1)).await.unwrap().unwrap().number, number + 1);
            }
            for _ in 1..stop_after {
                is_finished |= worker.continue_tenant_rotation(tenant(1)).await.unwrap() == TenantRotationStep::Finished;
            }
            let is_cut_short = stop_after > 0 && !is_finished;
            let unfinished = keys.worker(WantedStore::Any).list_unfinished_rotations().await.unwrap();
            assert_eq!(unfinished, vec![tenant(1); usize::from(is_cut_short)], "after {stop_after} steps");
            // One that was there before, and one that starts now.
            for node in [before.clone(), Arc::new(keys.node())] {
                let known = sealed.clone();
                let more = on_thread(move || {
                    assert!(opens_all(&node, &known), "after {stop_after} steps");
                    assert_eq!(node.hash(tenant(1), "phone", b"+91").unwrap(), hash);
                    seal_some(&node, 3)
                });
                sealed.extend(more.await);
            }
            number += i64::from(stop_after > 0);
            let rotated = keys.worker(WantedStore::Any).rotate_tenant(tenant(1)).await.unwrap().unwrap();
            assert_eq!(rotated.resumed, is_cut_short, "{rotated:?}");
            number += i64::from(!is_cut_short);
            assert_eq!((rotated.number, numbers(&keys, tenant(1)).await), (number, (vec![number], vec![number])));
            let (node, known) = (keys.node(), sealed.clone());
            assert!(on_thread(move || opens_all(&node, &known)).await);
        }
        assert!(keys.worker(WantedStore::Any).list_unfinished_rotations().await.unwrap().is_empty());
    }

    async fn keys_are_made_and_used_on_other_nodes_meanwhile(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let first = keys.node();
        on_thread(move || seal_some(&first, 10)).await;
        let stop = Arc::new(AtomicBool::new(false));
        // The makers end with the test, also where it fails.
        let _end = StopOnDrop(stop.clone());
        let mut makers = Vec::new();
        for _ in 0..2 {
            let (node, reader, stop) = (keys.node(), keys.node(), stop.clone());
            makers.push(tokio::task::spawn_blocking(move || {
                let mut sealed = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    // Each rotation takes as long as there are keys: without a bound the test would not end.
                    match sealed.len() < MOST_MADE {
                        true => sealed.extend(seal_some(&node, 5)),
                        false => sealed.rotate_left(1),
                    }
                    assert!(opens_all(&reader, &sealed[..1]) && opens_all(&reader, &sealed[sealed.len() - 1..]));
                }
                sealed
            }));
        }
        // Two who rotate the same at the same time, too.
        let nodes = [keys.worker(WantedStore::Any), keys.worker(WantedStore::Any)];
        for _ in 0..15 {
            let (one, other) = tokio::join!(nodes[0].rotate_tenant(tenant(1)), nodes[1].rotate_tenant(tenant(1)));
            assert!(one.is_ok() || other.is_ok(), "{one:?} {other:?}");
        }
        stop.store(true, Ordering::Relaxed);
        let mut sealed = Vec::new();
        for maker in makers {
            sealed.extend(maker.await.unwrap());
        }
        nodes[0].rotate_tenant(tenant(1)).await.unwrap();
        let (own, used) = numbers(&keys, tenant(1)).await;
        assert_eq!((own.len(), &own), (1, &used), "{} values", sealed.len());
        let fresh = keys.node();
        assert!(on_thread(move || opens_all(&fresh, &sealed)).await);
    }

    async fn a_number_that_is_another_key_now_is_not_taken_for_the_one_before(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (node, running) = (keys.node(), keys.worker(WantedStore::Any));
        let key = on_thread(move || node.take_new_key(tenant(1)).unwrap()).await;
        let copy = CopiedKeys::read(&keys).await;
        keys.worker(WantedStore::Any).rotate_tenant(tenant(1)).await.unwrap().unwrap();
        assert!(running.knows(tenant(1), key).await.unwrap(), "with number 2 in its memory");
        // A copy from before is put back, and another node rotates again.
        copy.put_back(&keys).await;
        let again = keys.worker(WantedStore::Any).rotate_tenant(tenant(1)).await.unwrap().unwrap();
        assert_eq!(again.number, 2);
        assert!(running.knows(tenant(1), key).await.unwrap());
        let made = on_thread(move || running.make_person_keys(tenant(1), 1).unwrap().remove(0).0).await;
        assert!(keys.worker(WantedStore::Any).knows(tenant(1), made).await.unwrap(), "wrapped by the key of today");
    }

    async fn a_rotation_is_of_one_tenant_and_of_none_that_has_no_keys(test: TestDb) {
        let keys = Keys::new(test.engine()).await;
        let (worker, node) = (keys.worker(WantedStore::Any), keys.node());
        assert_eq!(worker.rotate_tenant(tenant(1)).await.unwrap(), None);
        let gone: DataKeyId = on_thread(move || {
            let gone = node.take_new_key(tenant(1)).unwrap();
            node.take_new_key(tenant(2)).unwrap();
            gone
        })
        .await;
        let (destroyer, entry) = (keys.node(), erasure(gone));
        on_thread(move || destroyer.destroy_keys(&entry)).await.unwrap();
        let rotated = worker.rotate_tenant(tenant(1)).await.unwrap().unwrap();
        assert_eq!((rotated.number, rotated.resumed), (2, false));
        assert_eq!(numbers(&keys, tenant(2)).await, (vec![1], vec![1]));
        let fresh = keys.node();
        let forgotten = on_thread(move || fresh.seal(tenant(1), SealedBy::Person(gone), WHERE, b"hello"));
        assert!(matches!(forgotten.await, Err(Error::Forgotten(_))), "what was destroyed stays so");
    }
}
