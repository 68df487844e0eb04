//! What came from other platforms goes: with whom it is of, and in time.

use std::time::Duration;

use munshi_channels::accounts::ChannelAccountName;
use munshi_channels::incoming::heard::load_hearing;
use munshi_channels::incoming::{
    ArrivedMessage, ArrivedSender, ChannelEvent, ChannelHappening, forget_senders, rows, sweep,
};
use munshi_identity::{ContactAddress, persons};
use munshi_jobs::JobQueue;
use munshi_store::{KeyErasure, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::tier::Channel;
use munshi_types::{Clock, DataKeyId, PersonId, TenantId};

use super::support::migrations;

const MEERA: &str = "+919812345678";
const RAVI: &str = "+919812345679";
const DAY: Duration = Duration::from_secs(86_400);

fn account() -> ChannelAccountName {
    "sms".parse().unwrap()
}

fn said(id: &str, lane: &str, number: &str) -> ChannelEvent {
    let from = ArrivedSender { channel_id: number.to_owned(), ..ArrivedSender::default() };
    let message = ArrivedMessage {
        outside_id: id.to_owned(),
        from,
        text: "hello".to_owned(),
        reply_to: number.to_owned(),
        ..ArrivedMessage::default()
    };
    let what = ChannelHappening::Message(Box::new(message));
    ChannelEvent { id: id.to_owned(), lane: lane.to_owned(), happened_at: None, what }
}

/// How many were new.
async fn store(test: &TestDb, tenant: TenantId, events: Vec<ChannelEvent>) -> usize {
    let (queue, ids, now) =
        (JobQueue::new(test.clock.clone(), test.ids.clone()), test.ids.clone(), test.clock.now());
    let unit =
        move |tx: &mut Tx<'_>| rows::store(tx, (&queue, &ids), (&account(), Channel::Sms), &events, now);
    test.db.write(tenant, unit).await.unwrap().stored
}

async fn count(test: &TestDb, tenant: TenantId, sql: &'static str) -> i64 {
    test.db.read(tenant, move |tx: &mut Tx<'_>| tx.one(sql, &[], |row| row.get(0))).await.unwrap()
}

const OPEN: &str = "SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1 AND ended_at IS NULL";
const BODIES: &str = "SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1 AND body IS NOT NULL";
const ALL: &str = "SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1";
const SENDERS: &str = "SELECT COUNT(*) FROM channel_arrivals WHERE tenant_id = $1 AND senders IS NOT NULL";
const JOBS: &str = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1";

async fn fail_all(test: &TestDb, tenant: TenantId) {
    let now = test.clock.now();
    let fail = move |tx: &mut Tx<'_>| {
        tx.execute(
            "UPDATE channel_arrivals SET state = 'failed', ended_at = $2 WHERE tenant_id = $1 AND ended_at IS NULL",
            params![now],
        )
    };
    test.db.write(tenant, fail).await.unwrap();
}

async fn forget(test: &TestDb, tenant: TenantId, address: ContactAddress) -> u64 {
    let (queue, now) = (JobQueue::new(test.clock.clone(), test.ids.clone()), test.clock.now());
    let unit = move |tx: &mut Tx<'_>| {
        let address = persons::hash_address(tx, &address)?;
        forget_senders(tx, &queue, &[address], now)
    };
    test.db.write(tenant, unit).await.unwrap()
}

/// Somebody who is reached so, with a key of theirs.
async fn add_person(test: &TestDb, tenant: TenantId, number: &'static str) -> PersonId {
    let (ids, now) = (test.ids.clone(), test.clock.now());
    let unit = move |tx: &mut Tx<'_>| {
        let address = ContactAddress::phone(number).unwrap();
        persons::find_or_add(tx, &ids, &[address], "Meera", now).map(|found| found.person.id)
    };
    test.db.write(tenant, unit).await.unwrap()
}

/// By which key each body is sealed.
async fn list_body_keys(test: &TestDb, tenant: TenantId) -> Vec<Option<DataKeyId>> {
    let read = |tx: &mut Tx<'_>| {
        let text = "SELECT CAST(body AS TEXT) FROM channel_arrivals WHERE tenant_id = $1 AND body IS NOT NULL ORDER BY id";
        tx.all(text, &[], |row| Ok(munshi_store::find_named_key(row.get::<String>(0)?.trim_matches('"'))))
    };
    test.db.read(tenant, read).await.unwrap()
}

on_both_engines! {
    with all migrations();

    async fn what_waits_of_somebody_forgotten_goes(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        let events = || vec![said("1", "shared", MEERA), said("2", "shared", RAVI), said("3", "own", MEERA)];
        assert_eq!(store(&test, tenant, events()).await, 3);
        let jobs = count(&test, tenant, JOBS).await;
        let other = ContactAddress::channel("telegram", MEERA).unwrap();
        assert_eq!(forget(&test, tenant, other).await, 0, "of another channel");
        assert_eq!(forget(&test, tenant, ContactAddress::channel("sms", MEERA).unwrap()).await, 2);
        assert_eq!(count(&test, tenant, OPEN).await, 1, "Ravi's waits");
        assert_eq!((count(&test, tenant, BODIES).await, count(&test, tenant, SENDERS).await), (1, 1));
        assert_eq!(count(&test, tenant, JOBS).await, jobs + 1, "what waited behind hers is taken in");
        // The provider tells it again.
        assert_eq!(store(&test, tenant, events()).await, 0);
        assert_eq!(forget(&test, tenant, ContactAddress::phone(MEERA).unwrap()).await, 0);
    }

    async fn what_failed_of_somebody_forgotten_goes(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        store(&test, tenant, vec![said("1", "own", MEERA), said("2", "other", RAVI)]).await;
        fail_all(&test, tenant).await;
        assert_eq!(forget(&test, tenant, ContactAddress::phone(MEERA).unwrap()).await, 1);
        assert_eq!((count(&test, tenant, BODIES).await, count(&test, tenant, ALL).await), (1, 2));
    }

    async fn what_somebody_known_says_goes_with_their_key(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        let meera = add_person(&test, tenant, MEERA).await;
        store(&test, tenant, vec![said("1", "own", MEERA), said("2", "other", RAVI)]).await;
        let keys = test.db.read(tenant, move |tx: &mut Tx<'_>| persons::list_keys(tx, meera)).await.unwrap();
        let (hers, others): (Vec<_>, Vec<_>) =
            list_body_keys(&test, tenant).await.into_iter().partition(|key| *key == Some(keys[0]));
        assert_eq!((hers.len(), others.len()), (1, 1), "hers goes in every copy; nobody knows yet whose the other is");
        // As an older copy has it, where her key is gone: nothing of hers opens, and all of it is found.
        let (keyring, id) = (test.db.keyring().unwrap(), test.ids.next());
        let entry = KeyErasure { tenant, id, keys, body: serde_json::json!({}) };
        tokio::task::spawn_blocking(move || keyring.destroy_keys(&entry)).await.unwrap().unwrap();
        let (queue, now) = (JobQueue::new(test.clock.clone(), test.ids.clone()), test.clock.now());
        let forget = move |tx: &mut Tx<'_>| {
            assert!(persons::list_addresses(tx, meera)?.iter().all(|address| address.as_str().is_empty()));
            let hers = persons::list_address_hashes(tx, meera)?;
            forget_senders(tx, &queue, &hers, now)
        };
        assert_eq!(test.db.write(tenant, forget).await.unwrap(), 1);
        assert_eq!(list_body_keys(&test, tenant).await, others);
    }

    async fn what_ended_long_ago_goes(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        store(&test, tenant, vec![said("1", "own", MEERA)]).await;
        fail_all(&test, tenant).await;
        store(&test, tenant, vec![said("2", "own", MEERA)]).await;
        for (days, swept, left) in [(29, 0, (2, 2)), (2, 1, (1, 2)), (60, 1, (1, 1)), (0, 0, (1, 1))] {
            test.clock.advance(DAY * days);
            let now = test.clock.now();
            let unit = move |tx: &mut Tx<'_>| sweep(tx, now);
            assert_eq!(test.db.write(tenant, unit).await.unwrap(), swept, "{days}");
            assert_eq!((count(&test, tenant, BODIES).await, count(&test, tenant, ALL).await), left, "{days}");
        }
    }

    async fn it_is_known_when_an_account_was_heard(test: TestDb) {
        let tenant = test.add_tenant("sharma").await;
        let load = || test.db.read(tenant, |tx: &mut Tx<'_>| load_hearing(tx, &account()));
        assert_eq!(load().await.unwrap().heard_at, None);
        store(&test, tenant, vec![said("1", "own", MEERA)]).await;
        let hearing = load().await.unwrap();
        assert_eq!((hearing.heard_at, hearing.fault), (Some(test.clock.now()), None));
    }
}
