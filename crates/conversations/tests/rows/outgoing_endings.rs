//! How a try ends, and what is known of it: outages, old limits, reminders under way, receipts, alerts.

use std::time::Duration;

use munshi_conversations::outbox::{
    self, DeliveryReceipt, DuplicateConsent, NewNotice, OutboxChange, OutboxHold, OutboxState,
    ReceiptContext, SendFault, SendIdempotency,
};
use munshi_store::{Db, PageRequest, StoreOptions, Tx, params};
use munshi_test_support::{DatabaseEngine, RecordingKeyring, UnitHold};
use munshi_types::{MessageId, OutboundPurpose, PersonId};

use crate::rows::outgoing_support::{
    Account, Directory, MEERA, alerts_of, ask, at, notice, row, runner, runner_on, send, telling, turn,
};
use crate::rows::support::{Shop, tables};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn remind(shop: &Shop, text: &str) -> NewNotice {
    NewNotice { about: Some("ledger/contact/1".to_owned()), ..notice(shop, OutboundPurpose::Reminder, text) }
}

/// The channel says that a message has arrived.
async fn arrive(shop: &Shop, message: MessageId) {
    let (queue, ids, now) = (shop.desk.queue.clone(), shop.test.ids.clone(), shop.now());
    let tell = move |tx: &mut Tx<'_>| {
        let context = ReceiptContext { queue: &queue, ids: &ids, now };
        outbox::record_receipt_of(tx, message, &DeliveryReceipt::Delivered, context)
    };
    shop.test.db.write(shop.tenant, tell).await.unwrap();
}

tables! {
    async fn what_is_given_up_is_told_unless_somebody_hears_of_it_anyway(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::answering(SendIdempotency::Once, (0..6).map(|_| SendFault::refused("no such number")));
        let runner = runner(&shop, Directory::of(&account));
        let mut failed = Vec::new();
        for purpose in OutboundPurpose::ALL {
            let notice = notice(&shop, purpose, "due");
            failed.push((purpose, send(&shop, notice).await));
        }
        runner.drain().await.unwrap();
        let told = alerts_of(&shop).await;
        for (purpose, message) in &failed {
            let is_told = matches!(purpose, OutboundPurpose::Reminder | OutboundPurpose::Notice | OutboundPurpose::Colleague);
            let named = told.iter().filter(|text| text.contains(&message.to_string())).count();
            assert_eq!(named, usize::from(is_told), "{purpose:?}: {told:?}");
        }
        assert!(told.iter().all(|text| !text.contains(MEERA) && text.contains("munshi outbox retry")), "{told:?}");
        // Who looks after them has no alert any more, and what a rule refuses is told as well.
        for (_, message) in &failed {
            ask(&shop, *message, None).await;
        }
        assert_eq!(alerts_of(&shop).await, [""; 0]);
        send(&shop, notice(&shop, OutboundPurpose::Reminder, "first")).await;
        let refused = send(&shop, notice(&shop, OutboundPurpose::Reminder, "second")).await;
        runner.drain().await.unwrap();
        let told = alerts_of(&shop).await;
        assert!(told.len() == 1 && told[0].contains(&refused.to_string()), "{told:?}");
        shop.test.clock.advance(Duration::from_secs(4 * 24 * 3600));
        ask(&shop, refused, Some(DuplicateConsent::NotGiven)).await;
        runner.drain().await.unwrap();
        assert_eq!((alerts_of(&shop).await, account.texts().len()), (vec![], 2));
        // A bounce hours later is no less a failure.
        telling(&shop, format!("wamid.{refused}"), DeliveryReceipt::Returned("mailbox full".to_owned())).await;
        let told = alerts_of(&shop).await;
        assert!(told.len() == 1 && told[0].contains(&refused.to_string()), "{told:?}");
    }

    async fn what_was_sent_stays_sent_though_the_keys_are_away(test: TestDb) {
        let shop = Shop::open(test).await;
        let keyring = RecordingKeyring::new(shop.test.options.keyring.clone().unwrap());
        let options = StoreOptions { keyring: Some(keyring.clone()), ..shop.test.options.clone() };
        let db = Db::open(&shop.test.address, &options, &shop.test.migrations).await.unwrap();
        let account = Account::new(SendIdempotency::Once);
        let runner = runner_on(&shop, Directory::of(&account), db);
        let (first, second) = (turn(&shop, 1).await, turn(&shop, 2).await);
        *account.meanwhile.lock().unwrap() = Some(Box::pin(async move { keyring.fail_next(2) }));
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, first).await.state, row(&shop, second).await.state), (OutboxState::Sent, OutboxState::Sent));
        assert_eq!(account.texts(), ["reply 1", "reply 2"]);
    }

    async fn a_limit_gives_up_no_old_message(test: TestDb) {
        let shop = Shop::open(test).await;
        let limited = SendFault::limited("too many a minute", Duration::from_secs(60));
        let account = Account::answering(SendIdempotency::Once, [limited]);
        let runner = runner(&shop, Directory::of(&account));
        let message = turn(&shop, 1).await;
        shop.test.clock.advance(DAY * 4);
        runner.drain().await.unwrap();
        let tried = row(&shop, message).await;
        assert_eq!((tried.state, tried.waits_for, tried.attempts), (OutboxState::Waiting, None, 1));
        shop.test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["reply 1"]);
    }

    async fn a_limit_puts_off_by_a_day_at_most(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::answering(SendIdempotency::Once, [SendFault::limited("come back next year", DAY * 365)]);
        let runner = runner(&shop, Directory::of(&account));
        let message = turn(&shop, 1).await;
        runner.drain().await.unwrap();
        let held = row(&shop, message).await;
        assert_eq!((held.waits_for, held.not_before), (Some(OutboxHold::Limit), Some(shop.now().plus(DAY))));
    }

    async fn three_days_count_from_when_a_reminder_began_to_be_sent(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-16T06:00:00Z"));
        let account = Account::answering(SendIdempotency::Once, [SendFault::unknown("cut after the last byte")]);
        let runner = runner(&shop, Directory::of(&account));
        let later = NewNotice { not_before: Some(at("2026-11-21T06:00:00Z")), ..remind(&shop, "first") };
        let first = send(&shop, later).await;
        shop.test.clock.set(at("2026-11-21T06:00:01Z"));
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, first).await.state, OutboxState::Unknown);
        shop.test.clock.set(at("2026-11-22T06:00:00Z"));
        let second = send(&shop, remind(&shop, "second")).await;
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, second).await.state, account.texts()), (OutboxState::Failed, vec![]));
    }

    async fn a_reminder_that_may_have_arrived_counts_though_it_was_taken_off_the_list(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-16T06:00:00Z"));
        let faults = [SendFault::unknown("cut after the last byte"), SendFault::refused("no such number")];
        let account = Account::answering(SendIdempotency::Once, faults);
        let runner = runner(&shop, Directory::of(&account));
        let first = send(&shop, remind(&shop, "first")).await;
        runner.drain().await.unwrap();
        assert!(matches!(ask(&shop, first, None).await, OutboxChange::Done(_)));
        let second = send(&shop, remind(&shop, "second")).await;
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, second).await.state, OutboxState::Failed, "they may have been reminded just now");
        shop.test.clock.set(at("2026-11-19T06:00:01Z"));
        // This one surely has not arrived.
        let third = send(&shop, remind(&shop, "third")).await;
        runner.drain().await.unwrap();
        assert!(matches!(ask(&shop, third, None).await, OutboxChange::Done(_)));
        send(&shop, remind(&shop, "fourth")).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["fourth"]);
    }

    async fn what_arrived_after_all_lets_the_next_one_go_at_once(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::answering(SendIdempotency::Once, [SendFault::unknown("cut after the last byte")]);
        let runner = runner(&shop, Directory::of(&account));
        let first = send(&shop, notice(&shop, OutboundPurpose::Reminder, "₹500 is due")).await;
        runner.drain().await.unwrap();
        shop.test.clock.set(at("2026-11-19T17:00:00Z"));
        assert!(matches!(ask(&shop, first, Some(DuplicateConsent::Given)).await, OutboxChange::Done(_)));
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, first).await.waits_for, Some(OutboxHold::Hours));
        send(&shop, notice(&shop, OutboundPurpose::Code, "4711")).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), [""; 0], "behind the one that waits for the morning");
        arrive(&shop, first).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["4711"]);
    }

    async fn two_reminders_of_one_thing_wait_for_each_other(test: TestDb) {
        // SQLite has one writer.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-16T06:00:00Z"));
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let mut elsewhere = remind(&shop, "by another address");
        elsewhere.outbound.to.address = "+919812345670".to_owned();
        elsewhere.not_before = Some(at("2026-11-16T18:00:00Z"));
        let (here, elsewhere) = (send(&shop, remind(&shop, "here")).await, send(&shop, elsewhere).await);
        let hold = UnitHold::default();
        let (held, now) = (hold.clone(), shop.now());
        // As another node does that begins to send the other one at this moment.
        let begin = move |tx: &mut Tx<'_>| {
            let lock = "SELECT COUNT(pg_advisory_xact_lock(uuid_hash_extended(about, 19))) FROM outbox
                        WHERE tenant_id = $1 AND message_id = $2";
            tx.one(lock, params![elsewhere], |_| Ok(()))?;
            let sql = "UPDATE outbox SET state = 'sending', sending_at = $3 WHERE tenant_id = $1 AND message_id = $2";
            tx.execute(sql, params![elsewhere, now])?;
            held.wait();
            Ok::<_, munshi_store::Error>(())
        };
        let second = shop.test.open_again().await;
        let sending = hold.run_against(&shop.test, runner.drain());
        let (begun, sent) = tokio::join!(second.write(shop.tenant, begin), sending);
        begun.unwrap();
        sent.unwrap();
        assert_eq!((row(&shop, here).await.state, account.texts()), (OutboxState::Failed, vec![]));
    }

    async fn a_receipt_may_be_quicker_than_the_answer(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let message = turn(&shop, 1).await;
        let early = telling(&shop, format!("wamid.{message}"), DeliveryReceipt::Read);
        *account.meanwhile.lock().unwrap() = Some(Box::pin(async move {
            assert_eq!(early.await, None, "nobody knows it by that name yet");
        }));
        runner.drain().await.unwrap();
        let read = row(&shop, message).await;
        assert!(read.state == OutboxState::Sent && read.delivered_at.is_some() && read.read_at.is_some(), "{read:?}");
        let left = "SELECT count(*) FROM early_receipts WHERE tenant_id = $1";
        assert_eq!(shop.read(move |tx| tx.one(left, &[], |row| row.get::<i64>(0))).await, 0);
    }

    async fn what_has_arrived_after_all_is_not_sent_again(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::answering(SendIdempotency::Once, [SendFault::unknown("cut after the last byte")]);
        let runner = runner(&shop, Directory::of(&account));
        let first = turn(&shop, 1).await;
        runner.drain().await.unwrap();
        assert!(matches!(ask(&shop, first, Some(DuplicateConsent::Given)).await, OutboxChange::Done(_)));
        turn(&shop, 2).await;
        arrive(&shop, first).await;
        runner.drain().await.unwrap();
        let arrived = row(&shop, first).await;
        assert!(arrived.state == OutboxState::Sent && arrived.delivered_at.is_some(), "{arrived:?}");
        assert_eq!(account.texts(), ["reply 2"], "once is enough, and the next one goes");
    }

    async fn an_alert_goes_though_the_recipient_became_another(test: TestDb) {
        let shop = Shop::open(test).await;
        let (person, message) = unknown_notice(&shop).await;
        assert_eq!(alerts_of(&shop).await.len(), 1);
        shop.write(move |tx| {
            let sql = "UPDATE outbox SET person_id = NULL WHERE tenant_id = $1 AND message_id = $2 AND person_id = $3";
            tx.execute(sql, params![message, person])
        })
        .await;
        assert!(matches!(ask(&shop, message, None).await, OutboxChange::Done(_)));
        assert_eq!(alerts_of(&shop).await, [""; 0]);
    }

    async fn an_alert_goes_with_its_message(test: TestDb) {
        let shop = Shop::open(test).await;
        let (_, message) = unknown_notice(&shop).await;
        let before = shop.now().plus(DAY);
        assert_eq!(shop.write(move |tx| outbox::expire_notices(tx, before, 10)).await, 1);
        assert!(shop.read(move |tx| outbox::find(tx, message)).await.is_none());
        assert_eq!(alerts_of(&shop).await, [""; 0], "nobody can look after it any more");
    }

    async fn what_was_taken_back_is_off_the_list(test: TestDb) {
        let shop = Shop::open(test).await;
        let (waiting, cancelled) = (turn(&shop, 1).await, turn(&shop, 2).await);
        ask(&shop, cancelled, None).await;
        let request = PageRequest::new(None, 10);
        let unsent = shop.read(move |tx| outbox::list_unsent(tx, &request)).await;
        assert_eq!(unsent.items.iter().map(|row| row.message).collect::<Vec<_>>(), [waiting]);
        let request = PageRequest::new(None, 10);
        let taken = shop.read(move |tx| outbox::list_in_state(tx, OutboxState::Cancelled, &request)).await;
        assert_eq!(taken.items.iter().map(|row| row.message).collect::<Vec<_>>(), [cancelled]);
    }

    async fn no_reason_names_the_recipient(test: TestDb) {
        let shop = Shop::open(test).await;
        let why = "550 <meera@mail.example> (+91 98123 45678, 919812345678) is unknown; see https://help.example/550";
        let account = Account::answering(SendIdempotency::Once, [SendFault::refused(why)]);
        let runner = runner(&shop, Directory::of(&account));
        let message = turn(&shop, 1).await;
        runner.drain().await.unwrap();
        let detail = row(&shop, message).await.detail.unwrap();
        assert!(!detail.contains("meera") && !detail.contains("98123"), "{detail}");
        assert!(detail.starts_with("550 <") && detail.contains("is unknown"), "{detail}");
    }
}

/// To somebody known, of which nobody knows whether it has arrived.
async fn unknown_notice(shop: &Shop) -> (PersonId, MessageId) {
    shop.test.clock.set(at("2026-11-19T06:00:00Z"));
    let account = Account::answering(SendIdempotency::Once, [SendFault::unknown("cut after the last byte")]);
    let person = shop.say("+919812345679", "w1", "hello").await.person;
    let to_them = NewNotice { person: Some(person), ..notice(shop, OutboundPurpose::Notice, "come by") };
    let message = send(shop, to_them).await;
    runner(shop, Directory::of(&account)).drain().await.unwrap();
    assert_eq!(row(shop, message).await.state, OutboxState::Unknown);
    (person, message)
}
