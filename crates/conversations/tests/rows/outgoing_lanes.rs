//! A lane goes on, whatever comes before, between and behind its messages.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::outbox::{
    self, DuplicateConsent, NewNotice, OutboxChange, OutboxHold, OutboxState, SendFault, SendIdempotency,
};
use munshi_pack::outgoing::{self, PackMessage};
use munshi_store::params;
use munshi_types::{Clock, LeaseId, OutboundPurpose};

use crate::rows::outgoing_support::{
    Account, Directory, ask, asking, at, die_while_sending, notice, row, runner, send, turn,
};
use crate::rows::support::{Shop, tables};

/// The first was given up; while the second is being sent, somebody has the first sent again, and its job comes and goes. Then the second fails.
async fn get_ahead_of(shop: &Shop, fault: SendFault) -> Arc<Account> {
    let account = Account::answering(SendIdempotency::Once, [SendFault::refused("no such number")]);
    let directory = Directory::of(&account);
    let (one, other) = (runner(shop, directory.clone()), runner(shop, directory));
    let first = turn(shop, 1).await;
    one.drain().await.unwrap();
    assert_eq!(row(shop, first).await.state, OutboxState::Failed);
    turn(shop, 2).await;
    account.answers.lock().unwrap().push_back(fault);
    let retrying = asking(shop, first, Some(DuplicateConsent::NotGiven));
    *account.meanwhile.lock().unwrap() = Some(Box::pin(async move {
        assert!(matches!(retrying.await, OutboxChange::Done(_)));
        assert_eq!(other.drain().await.unwrap(), 1, "the first one's job finds that another is being sent");
    }));
    one.drain().await.unwrap();
    assert_eq!(account.texts()[..1], ["reply 1"], "it goes as soon as the other is done");
    shop.test.clock.advance(Duration::from_secs(3600));
    one.drain().await.unwrap();
    account
}

tables! {
    async fn what_gets_ahead_of_one_that_fails_goes_first(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = get_ahead_of(&shop, SendFault::passing("the line is down")).await;
        assert_eq!(account.texts(), ["reply 1", "reply 2"]);
    }

    async fn what_gets_ahead_of_one_that_is_put_off_goes_first(test: TestDb) {
        let shop = Shop::open(test).await;
        let limited = SendFault::limited("too many a minute", Duration::from_secs(60));
        let account = get_ahead_of(&shop, limited).await;
        assert_eq!(account.texts(), ["reply 1", "reply 2"]);
    }

    async fn one_whose_process_died_is_gone_on_with_though_another_stands_before_it(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::answering(SendIdempotency::Keyed, [SendFault::refused("no such number")]);
        let runner = runner(&shop, Directory::of(&account));
        let first = turn(&shop, 1).await;
        runner.drain().await.unwrap();
        let second = turn(&shop, 2).await;
        die_while_sending(&shop, second, None).await;
        ask(&shop, first, Some(DuplicateConsent::NotGiven)).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["reply 2", "reply 1"]);
        let states = (row(&shop, first).await.state, row(&shop, second).await.state);
        assert_eq!(states, (OutboxState::Sent, OutboxState::Sent));
    }

    async fn a_job_that_comes_early_comes_again(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let timed = NewNotice {
            not_before: Some(at("2026-11-19T07:00:00Z")),
            ..notice(&shop, OutboundPurpose::Notice, "at half past twelve")
        };
        let message = send(&shop, timed).await;
        // Another node's clock is ahead of ours.
        let early = "UPDATE jobs SET state = 'ready' WHERE tenant_id = $1 AND state = 'scheduled'";
        assert_eq!(shop.write(move |tx| tx.execute(early, &[])).await, 1);
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, message).await.waits_for, Some(OutboxHold::Time));
        shop.test.clock.set(at("2026-11-19T07:00:01Z"));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["at half past twelve"]);
    }

    async fn a_look_takes_no_try_of_one_that_is_tried_again(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::answering(SendIdempotency::Once, [SendFault::passing("the line is down")]);
        let runner = runner(&shop, Directory::of(&account));
        let (first, second) = (turn(&shop, 1).await, turn(&shop, 2).await);
        runner.drain().await.unwrap();
        // Whoever takes one back lets the first of the lane go.
        ask(&shop, second, None).await;
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, first).await.attempts, account.texts().len()), (1, 0));
        // Somebody who asks for it has it tried now.
        ask(&shop, first, Some(DuplicateConsent::NotGiven)).await;
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, first).await.state, account.texts()), (OutboxState::Sent, vec!["reply 1".to_owned()]));
    }

    async fn what_waits_for_the_morning_has_one_job(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        shop.test.clock.set(at("2026-11-19T17:00:00Z"));
        for text in ["first", "second", "third"] {
            send(&shop, notice(&shop, OutboundPurpose::Notice, text)).await;
            runner.drain().await.unwrap();
        }
        let waiting = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND state IN ('scheduled', 'ready')";
        assert_eq!(shop.read(move |tx| tx.one(waiting, &[], |row| row.get::<i64>(0))).await, 1);
        shop.test.clock.set(at("2026-11-20T03:30:01Z"));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["first", "second", "third"]);
    }

    async fn who_has_lost_the_job_decides_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::answering(SendIdempotency::Once, [SendFault::passing("the line is down")]);
        let runner = runner(&shop, Directory::of(&account));
        let message = turn(&shop, 1).await;
        let (db, tenant, other) = (shop.test.db.clone(), shop.tenant, shop.test.ids.next::<LeaseId>());
        *account.meanwhile.lock().unwrap() = Some(Box::pin(async move {
            let sql = "UPDATE jobs SET lease = $2 WHERE tenant_id = $1 AND state = 'running'";
            let lost = db.write(tenant, move |tx| tx.execute(sql, params![other])).await;
            assert_eq!(lost.unwrap(), 1);
        }));
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, message).await.state, OutboxState::Sending, "whoever has it now may be sending it");
    }

    async fn nobody_takes_back_or_sends_again_what_is_being_sent(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let message = turn(&shop, 1).await;
        let (cancelling, retrying) = (asking(&shop, message, None), asking(&shop, message, Some(DuplicateConsent::Given)));
        *account.meanwhile.lock().unwrap() = Some(Box::pin(async move {
            assert_eq!(cancelling.await, OutboxChange::NotNow(OutboxState::Sending));
            assert_eq!(retrying.await, OutboxChange::NotNow(OutboxState::Sending));
        }));
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, message).await.state, account.texts().len()), (OutboxState::Sent, 1));
    }

    async fn what_stood_behind_one_that_is_forgotten_goes_on(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::answering(SendIdempotency::Once, [SendFault::passing("the line is down")]);
        let runner = runner(&shop, Directory::of(&account));
        let subject = uuid::Uuid::from_u128(7);
        let forgotten = NewNotice { subject: Some(subject), ..notice(&shop, OutboundPurpose::Notice, "forgotten") };
        send(&shop, forgotten).await;
        send(&shop, notice(&shop, OutboundPurpose::Notice, "behind it")).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), [""; 0]);
        assert_eq!(shop.write(move |tx| outbox::erase_of_subject(tx, subject)).await, 1);
        shop.test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["behind it"]);
    }

    async fn what_a_pack_had_on_its_way_goes_with_the_record(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let (gone, stays) = (uuid::Uuid::from_u128(7), uuid::Uuid::from_u128(8));
        for (subject, text) in [(gone, "forgotten"), (stays, "kept")] {
            let NewNotice { outbound, .. } = notice(&shop, OutboundPurpose::Reminder, text);
            let sent = PackMessage { outbound, person: None, subject: Some(subject), binding: None, about: None };
            let clock: Arc<dyn Clock> = shop.test.clock.clone();
            let ids = shop.test.ids.clone();
            shop.write(move |tx| outgoing::send(tx, &clock, &ids, &sent)).await;
        }
        assert_eq!(shop.write(move |tx| outbox::erase_of_subject(tx, gone)).await, 1);
        runner.drain().await.unwrap();
        assert_eq!((account.texts(), shop.count("outbox").await), (vec!["kept".to_owned()], 1));
    }

    async fn nothing_is_written_to_who_was_forgotten(test: TestDb) {
        let shop = Shop::open(test).await;
        let person = shop.say("+919812345679", "w1", "hello").await.person;
        let now = shop.now();
        shop.write(move |tx| {
            let sql = "UPDATE persons SET forgotten_at = $3 WHERE tenant_id = $1 AND id = $2";
            tx.execute(sql, params![person, now])
        })
        .await;
        let to_them = NewNotice { person: Some(person), ..notice(&shop, OutboundPurpose::Notice, "come by") };
        let message = send(&shop, to_them).await;
        assert_eq!(shop.count("outbox").await, 0);
        assert!(shop.read(move |tx| outbox::find(tx, message)).await.is_none());
    }
}
