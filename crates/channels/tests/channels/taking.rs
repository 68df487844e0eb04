//! What was told, on its way to the engine: what waits for somebody, and for how long.

use std::time::Duration;

use munshi_channels::incoming::{
    ArrivedMessage, ArrivedSender, ChannelEvent, ChannelHappening, ReceiveFault, rows,
};
use munshi_jobs::JobQueue;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{PlatformTx, Tx, params};
use munshi_test_support::{administer_platform, on_both_engines};
use munshi_types::tier::Channel;
use munshi_types::{Clock, TenantStatus, Timestamp};

use super::engine_stand_in::{BREAKING, build_engine};
use super::link_shop::{LinkShop, open_link_shop};
use super::support::migrations;

const MEERA: &str = "+919812345678";
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

const ACCOUNT: &str = "[sms]\nkind = \"msg91\"\naccount_id = \"SHARMA\"\ntoken = \"vault:msg91.key\"\n\
                       bindings = [\"counter\"]\n";

async fn open(test: munshi_test_support::TestDb) -> LinkShop {
    let shop = open_link_shop(test).await;
    shop.set_secret("msg91.key", "key").await;
    shop.declare(ACCOUNT).await;
    shop
}

/// A text message of Meera's.
async fn say(shop: &LinkShop, id: &str) {
    let message = ArrivedMessage {
        outside_id: id.to_owned(),
        from: ArrivedSender { channel_id: MEERA.to_owned(), ..ArrivedSender::default() },
        text: format!("text {id}"),
        reply_to: MEERA.to_owned(),
        ..ArrivedMessage::default()
    };
    let what = ChannelHappening::Message(Box::new(message));
    let happened_at = Some(Timestamp::from_micros(id.parse::<i64>().unwrap() * 1_000_000));
    let event = ChannelEvent { id: id.to_owned(), lane: MEERA.to_owned(), happened_at, what };
    let (queue, ids, now) = (
        JobQueue::new(shop.test.clock.clone(), shop.test.ids.clone()),
        shop.test.ids.clone(),
        shop.test.clock.now(),
    );
    let unit = move |tx: &mut Tx<'_>| {
        rows::store(tx, (&queue, &ids), (&"sms".parse().unwrap(), Channel::Sms), &[event], now)
    };
    assert_eq!(shop.test.db.write(shop.tenant, unit).await.unwrap().stored, 1);
}

async fn set_status(shop: &LinkShop, status: TenantStatus) {
    let tenant = shop.tenant;
    let change =
        move |tx: &mut PlatformTx<'_>| administer_platform(tx, |tx| tenants::set_status(tx, tenant, status));
    shop.test.db.platform(TENANTS).write(change).await.unwrap();
}

async fn list_states(shop: &LinkShop) -> Vec<String> {
    let read = |tx: &mut Tx<'_>| {
        tx.all("SELECT state FROM channel_arrivals WHERE tenant_id = $1 ORDER BY state", params![], |row| {
            row.get(0)
        })
    };
    shop.test.db.read(shop.tenant, read).await.unwrap()
}

on_both_engines! {
    with all migrations();

    async fn what_is_told_to_a_paused_tenant_waits_until_it_is_resumed(test: TestDb) {
        let shop = open(test).await;
        let (engine, runner) = build_engine(&shop.test, &shop.senders);
        set_status(&shop, TenantStatus::Paused).await;
        say(&shop, "1").await;
        say(&shop, "2").await;
        // More looks than there are tries.
        for _ in 0..40 {
            runner.drain().await.unwrap();
            shop.test.clock.advance(12 * HOUR);
        }
        let states = list_states(&shop).await;
        assert!(engine.texts().is_empty() && !states.contains(&"failed".to_owned()), "{states:?}");
        set_status(&shop, TenantStatus::Active).await;
        // It may be paused again between looking and taking.
        engine.faults.lock().unwrap().push_back(ReceiveFault::Paused("paused".to_owned()));
        runner.drain().await.unwrap();
        assert_eq!(engine.texts(), Vec::<String>::new());
        shop.test.clock.advance(HOUR);
        runner.drain().await.unwrap();
        assert_eq!(engine.texts(), ["text 1", "text 2"]);
        say(&shop, "3").await;
        shop.test.clock.advance(31 * DAY);
        engine.faults.lock().unwrap().push_back(ReceiveFault::Paused("paused".to_owned()));
        runner.drain().await.unwrap();
        assert_eq!(list_states(&shop).await, ["failed", "taken", "taken"], "not for ever");
    }

    async fn what_can_not_be_read_stands_in_nobodys_way(test: TestDb) {
        let shop = open(test).await;
        let (engine, runner) = build_engine(&shop.test, &shop.senders);
        say(&shop, "1").await;
        let spoil = |tx: &mut Tx<'_>| {
            tx.execute("UPDATE channel_arrivals SET body = '{' WHERE tenant_id = $1", params![])
        };
        shop.test.db.write(shop.tenant, spoil).await.unwrap();
        say(&shop, "2").await;
        runner.drain().await.unwrap();
        assert_eq!((engine.texts(), list_states(&shop).await), (vec!["text 2".to_owned()], vec!["failed".to_owned(), "taken".to_owned()]));
    }

    async fn what_breaks_whoever_takes_it_in_is_given_up_in_the_end(test: TestDb) {
        let shop = open(test).await;
        let (engine, runner) = build_engine(&shop.test, &shop.senders);
        say(&shop, BREAKING).await;
        say(&shop, "667").await;
        for _ in 0..40 {
            runner.drain().await.unwrap();
            shop.test.clock.advance(HOUR);
        }
        assert_eq!((engine.texts(), list_states(&shop).await), (vec!["text 667".to_owned()], vec!["failed".to_owned(), "taken".to_owned()]));
    }

    async fn what_waits_survives_that_its_channel_is_declared_anew(test: TestDb) {
        let shop = open(test).await;
        let (engine, runner) = build_engine(&shop.test, &shop.senders);
        shop.declare("").await;
        say(&shop, "1").await;
        for _ in 0..20 {
            runner.drain().await.unwrap();
            shop.test.clock.advance(HOUR);
        }
        assert_eq!(list_states(&shop).await, ["taking"]);
        shop.declare(ACCOUNT).await;
        runner.drain().await.unwrap();
        assert_eq!(engine.texts(), ["text 1"]);
        shop.declare("").await;
        say(&shop, "2").await;
        runner.drain().await.unwrap();
        shop.test.clock.advance(DAY + HOUR);
        runner.drain().await.unwrap();
        assert_eq!(list_states(&shop).await, ["failed", "taken"]);
    }

    async fn a_text_message_is_of_no_proved_phone(test: TestDb) {
        let shop = open(test).await;
        let (engine, runner) = build_engine(&shop.test, &shop.senders);
        let phone = munshi_identity::ContactAddress::phone(MEERA).unwrap();
        let (ids, now, known) = (shop.test.ids.clone(), shop.test.clock.now(), phone.clone());
        let add = move |tx: &mut Tx<'_>| munshi_identity::persons::find_or_add(tx, &ids, &[known], "Meera", now);
        let owner = shop.test.db.write(shop.tenant, add).await.unwrap().person.id;
        let told = "[{\"mobile\":\"919812345678\",\"message\":\"hi\",\"id\":\"1\"}]";
        let link = shop.find_link("sms").await;
        let path_secret = link.open_path_secret().await.unwrap();
        let request = shop.build_request(&[("content-type", "application/json")], told.as_bytes());
        let request = munshi_channels::incoming::ChannelRequest { path_secret, ..request };
        let outcome = shop.take("sms", &request).await;
        assert!(matches!(outcome, munshi_channels::incoming::IntakeOutcome::Stored(_)), "{outcome:?}");
        runner.drain().await.unwrap();
        let taken = engine.taken.lock().unwrap().clone();
        let [inbound] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((inbound.from.phone.as_deref(), inbound.from.channel_id.as_deref()), (None, Some(MEERA)));
        assert_eq!(inbound.reply_to.as_ref().unwrap().address, MEERA, "it is answered, and opted out, there");
        let (ids, now, met) = (shop.test.ids.clone(), shop.test.clock.now(), inbound.clone());
        let meet = move |tx: &mut Tx<'_>| munshi_conversations::meet_sender(tx, &ids, &met, now);
        let writer = shop.test.db.write(shop.tenant, meet).await.unwrap();
        assert_ne!(writer, owner, "whoever makes up a sender is not who has the phone");
    }
}
