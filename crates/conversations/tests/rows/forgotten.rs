//! Somebody is forgotten while others are written for.

use munshi_conversations::background::store::{self, NewBackgroundRow};
use munshi_conversations::ingest::IngestOutcome;
use munshi_conversations::messages::Message;
use munshi_conversations::retention::{read_archived, seal_files_of_before};
use munshi_conversations::runs::{self, NewRun, RunCause, ServicePrincipal};
use munshi_conversations::snapshot::RunSnapshot;
use munshi_identity::persons;
use munshi_pack::RunDelegator;
use munshi_safety::pipeline::CallerAudience;
use munshi_store::{Error, KeyErasure, Tx};
use munshi_types::tier::Channel;
use munshi_types::{Autonomy, InboundSender, PersonId, RunId};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";
const RAJU: &str = "+919812345679";

async fn forget(shop: &Shop, person: PersonId) {
    let now = shop.now();
    let forget = move |tx: &mut Tx<'_>| {
        persons::lock_group(tx, person)?;
        persons::detach(tx, person, now)
    };
    shop.write(forget).await;
}

/// So that nobody can read what they wrote.
async fn destroy_keys(shop: &Shop, person: PersonId) {
    let keys = shop.read(move |tx| persons::list_keys(tx, person)).await;
    let entry =
        KeyErasure { tenant: shop.tenant, id: shop.test.ids.next(), keys, body: serde_json::json!({}) };
    let keyring = shop.test.db.keyring().unwrap();
    tokio::task::spawn_blocking(move || keyring.destroy_keys(&entry)).await.unwrap().unwrap();
}

/// A line of the archive from before these were sealed.
fn write_plain(message: &Message) -> String {
    serde_json::to_string(message).unwrap() + "\n"
}

/// Work in the background on their behalf.
async fn begin_work(shop: &Shop, person: PersonId) -> munshi_conversations::Result<bool> {
    let (id, now) = (shop.test.ids.next::<RunId>(), shop.now());
    let delegator = RunDelegator {
        person,
        door: CallerAudience::Work,
        binding: None,
        session: None,
        key: None,
        ceiling: None,
    };
    let principal = ServicePrincipal {
        pack: "notes".to_owned(),
        scopes: Vec::new(),
        autonomy: Autonomy::Act,
        delegator: Some(delegator),
    };
    let add = move |tx: &mut Tx<'_>| {
        let row = NewBackgroundRow {
            kind: "notes.sweep",
            cause: RunCause::Operation,
            cause_key: None,
            parent: None,
            principal: &principal,
            snapshot: &RunSnapshot::default(),
            reservation: None,
            now,
        };
        store::add(tx, id, &row)
    };
    shop.test.db.write(shop.tenant, add).await
}

/// As one that was put together before they were forgotten.
fn build_run(shop: &Shop, said: &IngestOutcome) -> NewRun<'static> {
    NewRun {
        id: shop.test.ids.next(),
        session: said.session,
        number: 9,
        binding: shop.binding,
        person: said.person,
        message: shop.test.ids.next(),
        kind: runs::MESSAGE,
        key_use: None,
        channel: Channel::Whatsapp,
        outside_id: "w9",
        reply_to: None,
        reservation: None,
        holder: None,
        may_begin: true,
        now: shop.now(),
    }
}

tables! {
    async fn nothing_begins_for_somebody_who_was_forgotten(test: TestDb) {
        let shop = Shop::open(test).await;
        let said = shop.say(MEERA, "w1", "hello").await;
        shop.answer(held(&said), "hi").await;
        assert!(begin_work(&shop, said.person).await.unwrap());
        forget(&shop, said.person).await;

        let late = build_run(&shop, &said);
        let begun = shop.test.db.write(shop.tenant, move |tx| runs::add(tx, &late)).await;
        assert!(matches!(begun, Err(Error::Conflict { .. })), "{begun:?}");
        let begun = begin_work(&shop, said.person).await;
        assert!(matches!(begun, Err(munshi_conversations::Error::Store(Error::Refused(_)))), "{begun:?}");
        let mut by_id = shop.incoming(MEERA, "w2", "it is me");
        by_id.inbound.from = InboundSender { person: Some(said.person), ..InboundSender::default() };
        let refused = shop.receive(by_id).await;
        assert!(matches!(refused, Err(munshi_conversations::Error::Unfit(_))), "{refused:?}");
        assert_eq!(shop.count("runs").await, 2);

        // Whoever writes from there is somebody new.
        let again = shop.say(MEERA, "w3", "hello again").await;
        assert!(again.person != said.person && again.session != said.session);
    }

    async fn older_archive_files_are_sealed_without_who_was_forgotten(test: TestDb) {
        let (shop, folder) = (Shop::open(test).await, tempfile::tempdir().unwrap());
        let (gone, stays) = (shop.say(MEERA, "w1", "zanzibar").await, shop.say(RAJU, "w1r", "marigold").await);
        for said in [&gone, &stays] {
            shop.answer(held(said), "it is noted").await;
        }
        let (theirs, others) = (shop.messages(gone.session).await, shop.messages(stays.session).await);
        let of_tenant = folder.path().join(shop.tenant.to_string());
        std::fs::create_dir_all(&of_tenant).unwrap();
        let (mixed, own) = (of_tenant.join("2026-01-01-mixed.jsonl"), of_tenant.join("2026-01-02-own.jsonl"));
        let lines: Vec<String> = theirs.iter().chain(&others).map(write_plain).collect();
        std::fs::write(&mixed, lines.concat()).unwrap();
        std::fs::write(&own, write_plain(&theirs[0])).unwrap();
        destroy_keys(&shop, gone.person).await;

        assert_eq!(seal_files_of_before(&shop.test.db, folder.path(), shop.tenant).await.unwrap(), 2);
        let text = std::fs::read_to_string(&mixed).unwrap();
        assert!(!text.contains("zanzibar") && !text.contains("marigold"), "{text}");
        let read = move |tx: &mut Tx<'_>| -> munshi_store::Result<Vec<Message>> {
            text.lines().map(|line| read_archived(tx, line)).collect()
        };
        assert_eq!(shop.read(read).await, others);
        assert!(!own.exists(), "nothing was left in it");
        assert_eq!(seal_files_of_before(&shop.test.db, folder.path(), shop.tenant).await.unwrap(), 0, "all is sealed");
    }
}
