//! What leaves by rules: hours, limits, STOP, reminders, and what may have arrived.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_conversations::RunState;
use munshi_conversations::ingest::{FixedReply, SubscriptionRequest};
use munshi_conversations::outbox::opt_outs::SubscriptionWord;
use munshi_conversations::outbox::{
    DeliveryReceipt, DuplicateConsent, NewNotice, OutboxChange, OutboxHold, OutboxState, SendFault,
    SendIdempotency, SenderRoute,
};
use munshi_pack::outgoing::{self, PackMessage};
use munshi_safety::consents::{self, WithdrawalRequest};
use munshi_store::{PageRequest, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{Clock, OutboundPurpose, PersonId};

use crate::rows::outgoing_support::{
    Account, Directory, MEERA, address, alerts_of, ask, at, die_while_sending, notice, row, runner, send,
    telling, turn,
};
use crate::rows::support::{Shop, held, tables};

fn withdrawal(person: PersonId) -> WithdrawalRequest<'static> {
    WithdrawalRequest { person, via: "web", message: None, key: None, is_vouched: false }
}

tables! {
    async fn a_reminder_at_night_waits_for_the_morning(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        shop.test.clock.set(at("2026-11-19T17:00:00Z"));
        let message = send(&shop, notice(&shop, OutboundPurpose::Reminder, "₹500 is due")).await;
        runner.drain().await.unwrap();
        let held = row(&shop, message).await;
        assert_eq!((held.state, held.waits_for, held.attempts), (OutboxState::Waiting, Some(OutboxHold::Hours), 0));
        assert_eq!(held.not_before, Some(at("2026-11-20T03:30:00Z")), "nine in the shop's own morning");
        shop.test.clock.set(at("2026-11-20T03:29:00Z"));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), [""; 0]);
        shop.test.clock.set(at("2026-11-20T03:30:01Z"));
        runner.drain().await.unwrap();
        let sent = row(&shop, message).await;
        assert_eq!((sent.state, sent.waits_for, account.texts().len()), (OutboxState::Sent, None, 1));
    }

    async fn who_writes_at_night_is_answered_and_gets_what_waited(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        shop.test.clock.set(at("2026-11-19T15:00:00Z"));
        let ingested = shop.say_from(MEERA, "w1", &address()).await;
        // An answer that took until the night.
        shop.test.clock.set(at("2026-11-19T18:00:00Z"));
        shop.answer(held(&ingested), "late").await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), [""; 0]);
        turn(&shop, 2).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["late", "reply 2"], "in order, and at once");
    }

    async fn a_limit_is_waited_for_and_is_no_attempt(test: TestDb) {
        let shop = Shop::open(test).await;
        let minute = Duration::from_secs(60);
        let limits = (0..30).map(|_| SendFault::limited("too many a minute", minute));
        let account = Account::answering(SendIdempotency::Once, limits);
        let runner = runner(&shop, Directory::of(&account));
        let (first, _) = (turn(&shop, 1).await, turn(&shop, 2).await);
        runner.drain().await.unwrap();
        let held = row(&shop, first).await;
        assert_eq!((held.state, held.waits_for, held.attempts), (OutboxState::Waiting, Some(OutboxHold::Limit), 0));
        assert_eq!(held.detail.as_deref(), Some("too many a minute"));
        for _ in 0..31 {
            shop.test.clock.advance(minute + Duration::from_secs(1));
            runner.drain().await.unwrap();
        }
        assert_eq!(account.texts(), ["reply 1", "reply 2"], "thirty limits give nothing up");
        assert_eq!(row(&shop, first).await.attempts, 1);
    }

    async fn what_has_a_time_waits_alone(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let later = NewNotice {
            not_before: Some(at("2026-11-19T07:00:00Z")),
            ..notice(&shop, OutboundPurpose::Notice, "at half past twelve")
        };
        let later = send(&shop, later).await;
        send(&shop, notice(&shop, OutboundPurpose::Notice, "now")).await;
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, later).await.waits_for, account.texts()), (Some(OutboxHold::Time), vec!["now".to_owned()]));
        shop.test.clock.set(at("2026-11-19T07:00:01Z"));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["now", "at half past twelve"]);
    }

    async fn nobody_is_reminded_twice_in_three_days(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-16T06:00:00Z"));
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let remind = |text: &str, about: Option<&str>, address: &str| {
            let mut notice = notice(&shop, OutboundPurpose::Reminder, text);
            notice.outbound.to.address = address.to_owned();
            NewNotice { about: about.map(str::to_owned), ..notice }
        };
        let (one, other) = (Some("ledger/contact/1"), Some("ledger/contact/2"));
        send(&shop, remind("first", one, MEERA)).await;
        // Other addresses have an order of their own.
        runner.drain().await.unwrap();
        let refused = [
            send(&shop, remind("second", one, MEERA)).await,
            send(&shop, remind("at another address", one, "+919812345679")).await,
            // Two customers who have one telephone, and one of whom nobody said what it is about.
            send(&shop, remind("of another thing", other, MEERA)).await,
            send(&shop, remind("of whatever", None, "+91 98123 45678")).await,
        ];
        send(&shop, remind("somebody else", other, "+919812345670")).await;
        runner.drain().await.unwrap();
        for message in refused {
            let row = row(&shop, message).await;
            assert_eq!((row.state, row.attempts), (OutboxState::Failed, 0));
            assert!(row.detail.unwrap().contains("three days"));
        }
        let mut texts = account.texts();
        texts.sort();
        assert_eq!(texts, ["first", "somebody else"]);
        shop.test.clock.advance(Duration::from_secs(3 * 24 * 3600 + 1));
        let again = ask(&shop, refused[0], Some(DuplicateConsent::NotGiven)).await;
        assert!(matches!(again, OutboxChange::Done(_)), "{again:?}");
        runner.drain().await.unwrap();
        assert_eq!(account.texts()[2..], ["second"]);
    }

    async fn who_writes_stop_gets_answers_alone_until_start(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let say = async |number: u32, word: Option<SubscriptionWord>| {
            let mut incoming = shop.incoming(MEERA, &format!("s{number}"), "STOP");
            incoming.inbound.reply_to = Some(address());
            let confirmation = FixedReply { text: format!("confirmed {number}"), ..FixedReply::default() };
            incoming.subscription = word.map(|word| SubscriptionRequest { word, is_refusal: false, confirmation });
            shop.receive(incoming).await.unwrap()
        };
        let nobody_stopped = say(0, Some(SubscriptionWord::Start)).await;
        assert_eq!(nobody_stopped.halted, None, "an ordinary word");
        shop.answer(held(&nobody_stopped), "started").await;
        let stopped = say(1, Some(SubscriptionWord::Stop)).await;
        assert_eq!(stopped.halted.map(|halt| halt.code()), Some("opted_out"));
        assert_eq!(shop.run(stopped.run).await.state, RunState::Halted);
        say(2, Some(SubscriptionWord::Stop)).await;
        let refused = send(&shop, notice(&shop, OutboundPurpose::Reminder, "₹500 is due")).await;
        turn(&shop, 9).await;
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, refused).await.state, OutboxState::Failed);
        assert_eq!(account.texts(), ["started", "confirmed 1", "reply 9"], "confirmed once, and answered still");
        say(3, Some(SubscriptionWord::Start)).await;
        runner.drain().await.unwrap();
        ask(&shop, refused, Some(DuplicateConsent::NotGiven)).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts()[3..], ["confirmed 3", "₹500 is due"]);
        let audited = "SELECT count(*) FROM audit_entries WHERE tenant_id = $1 AND event LIKE 'recipient.%'";
        assert_eq!(shop.read(move |tx| tx.one(audited, &[], |row| row.get::<i64>(0))).await, 2);
        // START is kept as a consent, with what they were told, and what leaves by it says so.
        let person = stopped.person;
        let list = async || {
            let given = shop.read(move |tx| Ok(consents::list(tx, person, &PageRequest::new(None, 10)).unwrap().items)).await;
            given.into_iter().map(|one| (one.id, one.purpose.to_string(), one.words, one.withdrawn_via)).collect::<Vec<_>>()
        };
        let given = list().await;
        assert_eq!(given.len(), 1, "{given:?}");
        let (consent, purpose, words, withdrawn) = given.into_iter().next().unwrap();
        assert_eq!((purpose.as_str(), words.as_str(), withdrawn), (consents::MESSAGES, "confirmed 3", None));
        assert_eq!(row(&shop, refused).await.consent, Some(consent));
        // Taken back on whatever page it is, nothing leaves that was not asked for; START opens it again.
        let (request, now) = (withdrawal(person), shop.now());
        let take_back = move |tx: &mut Tx<'_>| Ok::<_, munshi_conversations::Error>(consents::withdraw_all(tx, &request, now)?);
        assert_eq!(shop.test.db.write(shop.tenant, take_back).await.unwrap().consents.len(), 1);
        let again = send(&shop, notice(&shop, OutboundPurpose::Notice, "We have moved")).await;
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, again).await.state, OutboxState::Failed);
        shop.test.clock.advance(Duration::from_secs(60));
        say(4, Some(SubscriptionWord::Start)).await;
        // What leaves in a conversation and what leaves outside of one to the same address have no order between them.
        runner.drain().await.unwrap();
        ask(&shop, again, Some(DuplicateConsent::NotGiven)).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts()[5..], ["confirmed 4", "We have moved"]);
        say(5, Some(SubscriptionWord::Stop)).await;
        assert_eq!(list().await.into_iter().filter(|(_, _, _, via)| via.is_none()).count(), 0, "STOP ends it");
    }

    async fn what_may_have_arrived_is_told_and_sent_again_only_by_who_says_so(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::answering(SendIdempotency::Once, [SendFault::unknown("cut after the last byte")]);
        let runner = runner(&shop, Directory::of(&account));
        let (first, second) = (turn(&shop, 1).await, turn(&shop, 2).await);
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, first).await.state, row(&shop, second).await.state), (OutboxState::Unknown, OutboxState::Sent));
        let told = alerts_of(&shop).await;
        assert!(told.len() == 1 && told[0].contains(&first.to_string()) && !told[0].contains(MEERA), "{told:?}");
        assert_eq!(ask(&shop, first, Some(DuplicateConsent::NotGiven)).await, OutboxChange::MayDouble);
        let again = ask(&shop, first, Some(DuplicateConsent::Given)).await;
        assert!(matches!(again, OutboxChange::Done(_)), "{again:?}");
        assert_eq!(alerts_of(&shop).await, [""; 0], "somebody has looked after it");
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["reply 2", "reply 1"]);
        assert_eq!(ask(&shop, first, Some(DuplicateConsent::Given)).await, OutboxChange::NotNow(OutboxState::Sent));
    }

    async fn what_is_taken_back_lets_the_next_one_go(test: TestDb) {
        let shop = Shop::open(test).await;
        let down = (0..2).map(|_| SendFault::passing("the line is down"));
        let account = Account::answering(SendIdempotency::Once, down);
        let runner = runner(&shop, Directory::of(&account));
        let (first, second) = (turn(&shop, 1).await, turn(&shop, 2).await);
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, second).await.state, OutboxState::Waiting);
        let cancelled = ask(&shop, first, None).await;
        assert!(matches!(&cancelled, OutboxChange::Done(row) if row.state == OutboxState::Cancelled), "{cancelled:?}");
        shop.test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        shop.test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["reply 2"]);
        assert_eq!(ask(&shop, first, None).await, OutboxChange::NotNow(OutboxState::Cancelled));
        assert_eq!(ask(&shop, shop.test.ids.next(), None).await, OutboxChange::Missing);
    }

    async fn a_channel_that_can_be_asked_is_asked_after_a_crash(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Asked);
        let runner = runner(&shop, Directory::of(&account));
        let known = turn(&shop, 1).await;
        die_while_sending(&shop, known, None).await;
        account.knows.lock().unwrap().push(known);
        runner.drain().await.unwrap();
        let found = row(&shop, known).await;
        assert_eq!((found.state, found.outside_id.as_deref()), (OutboxState::Sent, Some("found")));
        assert_eq!(account.texts(), [""; 0], "not sent again");
        let unknown = turn(&shop, 2).await;
        die_while_sending(&shop, unknown, None).await;
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, unknown).await.state, account.texts()), (OutboxState::Sent, vec!["reply 2".to_owned()]));
    }

    async fn a_crash_is_not_sent_again_by_another_account(test: TestDb) {
        let shop = Shop::open(test).await;
        let other = Arc::new(Account {
            name: Some("other"),
            kind: Mutex::new(Some(SendIdempotency::Keyed)),
            ..Account::default()
        });
        let directory = Directory::of(&other);
        let runner = runner(&shop, directory.clone());
        let message = turn(&shop, 1).await;
        die_while_sending(&shop, message, Some("first")).await;
        *directory.account.lock().unwrap() = None;
        runner.drain().await.unwrap();
        assert_eq!(row(&shop, message).await.state, OutboxState::Sending, "nobody knows while the account is away");
        *directory.account.lock().unwrap() = Some(other.clone());
        shop.test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        assert_eq!((row(&shop, message).await.state, other.texts()), (OutboxState::Unknown, vec![]));
        let asked = directory.asked.lock().unwrap().clone();
        let route = SenderRoute { tenant: shop.tenant, binding: Some(shop.binding), channel: Channel::Whatsapp, from: None, account: None };
        assert!(!asked.is_empty() && asked.iter().all(|one| *one == route), "{asked:?}");
    }

    async fn a_channel_with_a_window_takes_no_words_of_ours_after_it(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let account = Arc::new(Account {
            kind: Mutex::new(Some(SendIdempotency::Once)),
            window: Some(Duration::from_secs(24 * 3600)),
            ..Account::default()
        });
        let runner = runner(&shop, Directory::of(&account));
        let person = shop.say_from(MEERA, "w1", &address()).await.person;
        let to_person =
            |text: &str| NewNotice { person: Some(person), ..notice(&shop, OutboundPurpose::Notice, text) };
        send(&shop, to_person("today")).await;
        runner.drain().await.unwrap();
        shop.test.clock.advance(Duration::from_secs(25 * 3600));
        let late = send(&shop, to_person("tomorrow")).await;
        runner.drain().await.unwrap();
        assert_eq!(account.texts(), ["today"]);
        assert!(row(&shop, late).await.detail.unwrap().contains("templates"));
    }

    async fn what_a_channel_says_afterwards_is_stored(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let (first, second) = (turn(&shop, 1).await, turn(&shop, 2).await);
        runner.drain().await.unwrap();
        let tell = async |outside_id: String, receipt: DeliveryReceipt| telling(&shop, outside_id, receipt).await;
        assert_eq!(tell(format!("wamid.{first}"), DeliveryReceipt::Read).await, Some(first));
        let read = row(&shop, first).await;
        assert!(read.delivered_at.is_some() && read.read_at.is_some());
        tell(format!("wamid.{second}"), DeliveryReceipt::Returned("no such number".to_owned())).await;
        let returned = row(&shop, second).await;
        assert_eq!((returned.state, returned.detail.as_deref()), (OutboxState::Failed, Some("no such number")));
        assert_eq!(tell("somebody else's".to_owned(), DeliveryReceipt::Delivered).await, None);
    }

    async fn what_a_pack_sends_leaves_through_the_outbox(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        let NewNotice { outbound, .. } = notice(&shop, OutboundPurpose::Reminder, "₹500 is due");
        let message = outbound.id;
        let sent = PackMessage { outbound, person: None, subject: None, binding: Some(shop.binding), about: None };
        let clock: Arc<dyn Clock> = shop.test.clock.clone();
        let ids = shop.test.ids.clone();
        shop.write(move |tx| outgoing::send(tx, &clock, &ids, &sent)).await;
        runner.drain().await.unwrap();
        let row = row(&shop, message).await;
        assert_eq!((row.state, row.purpose, row.binding), (OutboxState::Sent, OutboundPurpose::Reminder, Some(shop.binding)));
        assert_eq!(account.texts(), ["₹500 is due"]);
    }

    async fn a_reply_says_what_it_answers(test: TestDb) {
        let shop = Shop::open(test).await;
        let account = Account::new(SendIdempotency::Once);
        let runner = runner(&shop, Directory::of(&account));
        turn(&shop, 1).await;
        runner.drain().await.unwrap();
        let sent = account.sent.lock().unwrap().pop().unwrap();
        assert_eq!((sent.answers.as_deref(), sent.purpose), (Some("w1"), OutboundPurpose::Reply));
    }

    async fn what_leaves_outside_of_a_conversation_goes_with_the_person(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.test.clock.set(at("2026-11-19T06:00:00Z"));
        let person = shop.say_from(MEERA, "w1", &address()).await.person;
        let message = send(&shop, NewNotice { person: Some(person), ..notice(&shop, OutboundPurpose::Notice, "come by") }).await;
        let kind = munshi_conversations::erasure::PERSONAL_DATA.iter().find(|kind| kind.name == "outgoing messages").unwrap();
        let listed = shop.read(move |tx| (kind.list_next)(tx, person, uuid::Uuid::nil(), 10)).await;
        assert_eq!(listed, [munshi_types::Id::as_uuid(message)]);
        let told = shop.read(move |tx| (kind.show)(tx, listed[0])).await.unwrap();
        assert_eq!((told["text"].as_str(), told["address"].as_str()), (Some("come by"), Some(MEERA)));
        let stored = shop.read(move |tx| {
            let sql = "SELECT body FROM outbox WHERE tenant_id = $1 AND message_id = $2";
            tx.one(sql, params![message], |row| row.get::<munshi_store::JsonText>(0))
        });
        assert!(!stored.await.as_str().contains("come by"), "sealed");
        let listed = [munshi_types::Id::as_uuid(message)];
        assert_eq!(shop.write(move |tx| (kind.erase)(tx, &listed)).await, 1);
        assert_eq!(shop.count("outbox").await, 0);
    }
}
