//! Messages come in once, whoever and however often they are sent.

use std::sync::Arc;

use munshi_conversations::ingest::{Admission, FixedReply, receive};
use munshi_conversations::messages::MessageStatus;
use munshi_conversations::{Error, HaltReason, IngestStatus, RunState, sessions};
use munshi_safety::budget::BudgetSettings;
use munshi_store::PageRequest;
use munshi_types::tier::Channel;
use munshi_types::{InboundSender, ReplyAddress};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";

tables! {
    async fn a_message_is_stored_with_its_run_and_its_quota(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(MEERA, "w1", "Ramesh ko 500 udhaar").await;
        assert_eq!(first.status, IngestStatus::Begun);
        let begun = first.begun.as_ref().unwrap();
        assert_eq!((begun.lease.epoch, begun.session.messages, begun.session.id), (1, 1, first.session));
        let run = shop.run(first.run).await;
        assert_eq!((run.state, run.conversation().unwrap().number, run.conversation().unwrap().message), (RunState::Created, 1, first.message));
        assert_eq!(run.lease_until, Some(shop.now().plus(munshi_conversations::runs::LEASE)));
        assert_eq!(run.reservation, begun.reservation);
        assert!(run.reservation.is_some());
        let said = shop.messages(first.session).await;
        assert_eq!((said.len(), said[0].text.as_str(), said[0].number), (1, "Ramesh ko 500 udhaar", 1));
        assert_eq!(shop.count("held").await, 1);
    }

    async fn the_same_webhook_ten_times_is_one_run(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(MEERA, "w1", "hello").await;
        for _ in 0..9 {
            let again = shop.say(MEERA, "w1", "hello").await;
            assert_eq!(again.status, IngestStatus::SeenBefore);
            let ids = |of: &munshi_conversations::ingest::IngestOutcome| (of.run, of.session, of.message, of.person);
            assert_eq!(ids(&again), ids(&first));
            assert!(again.begun.is_none());
        }
        assert_eq!((shop.count("messages").await, shop.count("runs").await), (1, 1));
        assert_eq!((shop.count("held").await, shop.count("reservations").await), (1, 1), "nothing more is set aside");
        assert_eq!(shop.messages(first.session).await[0].number, 1);
        let next = shop.say(MEERA, "w2", "and").await;
        assert_eq!(shop.run(next.run).await.conversation().unwrap().number, 2, "a message seen before takes no number");
    }

    async fn ten_at_once_from_several_connections_are_one_run(test: TestDb) {
        let shop = Shop::open(test).await;
        // Strangers without any address too: nobody new is left behind for a twin.
        for (round, sender) in [
            InboundSender { phone: Some(MEERA.to_owned()), ..InboundSender::default() },
            InboundSender::default(),
            InboundSender { channel_id: Some("77".to_owned()), name: Some("Asha".to_owned()), ..InboundSender::default() },
        ].into_iter().enumerate() {
            let mut incoming = shop.incoming(MEERA, &format!("w{round}"), "hello");
            incoming.inbound.from = sender;
            let incoming = Arc::new(incoming);
            let other = shop.test.open_again().await;
            let all = futures_util::future::join_all((0..10).map(|number| {
                let (db, desk) = (if number % 2 == 0 { shop.test.db.clone() } else { other.clone() }, shop.desk.clone());
                let (incoming, tenant) = (incoming.clone(), shop.tenant);
                async move { receive(&db, tenant, &desk, incoming).await.unwrap() }
            })).await;
            let begun = all.iter().filter(|one| one.status == IngestStatus::Begun).count();
            assert_eq!(begun, 1, "round {round}");
            let first = &all[0];
            assert!(all.iter().all(|one| (one.run, one.message, one.session, one.person)
                == (first.run, first.message, first.session, first.person)), "{all:?}");
            let so_far = i64::try_from(round).unwrap() + 1;
            assert_eq!(shop.count("runs").await, so_far);
            assert_eq!(shop.count("messages").await, so_far);
            assert_eq!(shop.count("persons").await, so_far);
            assert_eq!(shop.count("sessions").await, so_far);
            assert_eq!(shop.count("held").await, so_far);
        }
    }

    async fn first_messages_at_once_make_one_session(test: TestDb) {
        let shop = Shop::open(test).await;
        let other = shop.test.open_again().await;
        let all = futures_util::future::join_all((0..12).map(|number| {
            let incoming = Arc::new(shop.incoming(MEERA, &format!("w{number}"), "hello"));
            let (db, desk) = (if number % 2 == 0 { shop.test.db.clone() } else { other.clone() }, shop.desk.clone());
            let tenant = shop.tenant;
            async move { receive(&db, tenant, &desk, incoming).await.unwrap() }
        })).await;
        assert_eq!((shop.count("sessions").await, shop.count("persons").await), (1, 1));
        assert_eq!(all.iter().filter(|one| one.status == IngestStatus::Begun).count(), 1, "one at a time");
        let numbers: Vec<i64> = shop.messages(all[0].session).await.iter().map(|one| one.number).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    }

    async fn the_same_id_means_another_message_elsewhere(test: TestDb) {
        let mut shop = Shop::open(test).await;
        let first = shop.say(MEERA, "w1", "hello").await;
        let mut web = shop.incoming(MEERA, "w1", "hello");
        web.inbound.channel = Channel::Web;
        let on_web = shop.receive(web).await.unwrap();
        assert_ne!(on_web.run, first.run, "channels number for themselves");
        assert_eq!(on_web.session, first.session, "one session across channels");
        shop.binding = shop.test.ids.next();
        let elsewhere = shop.say(MEERA, "w1", "hello").await;
        assert_ne!(elsewhere.session, first.session, "one for each binding");
        assert_eq!(elsewhere.person, first.person);
    }

    async fn nobody_learns_of_anothers_run_by_its_messages_id(test: TestDb) {
        let shop = Shop::open(test).await;
        shop.say(MEERA, "w1", "mine").await;
        shop.say("+919812345679", "w2", "hers").await;
        let stranger = |from: InboundSender| {
            let mut incoming = shop.incoming(MEERA, "w1", "guess");
            incoming.inbound.from = from;
            incoming
        };
        for from in [
            InboundSender { phone: Some("+919812345679".to_owned()), ..InboundSender::default() },
            InboundSender { phone: Some("+919812345670".to_owned()), ..InboundSender::default() },
            InboundSender { channel_id: Some("8".to_owned()), ..InboundSender::default() },
            InboundSender::default(),
        ] {
            let outcome = shop.receive(stranger(from)).await;
            assert!(matches!(outcome, Err(Error::Unfit(_))), "{outcome:?}");
        }
        assert_eq!((shop.count("persons").await, shop.count("held").await), (2, 2));
    }

    async fn what_cannot_be_taken_changes_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        for text in ["", "a\0b", &"x".repeat(70_000)] {
            let refused = shop.receive(shop.incoming(MEERA, "w1", text)).await;
            assert!(matches!(refused, Err(Error::Unfit(_))), "{refused:?}");
        }
        let mut bad = shop.incoming("call me", "w1", "hello");
        assert!(matches!(shop.receive(bad.clone()).await, Err(Error::Unfit(_))));
        bad.inbound.from = InboundSender { person: Some(shop.test.ids.next()), ..InboundSender::default() };
        assert!(matches!(shop.receive(bad).await, Err(Error::Unfit(_))));
        assert_eq!((shop.count("messages").await, shop.count("persons").await), (0, 0));
        assert_eq!(shop.say(MEERA, "w1", "hello").await.status, IngestStatus::Begun, "its id is still free");
    }

    async fn a_reached_limit_is_answered_in_the_same_transaction(test: TestDb) {
        let shop = Shop::with(test, BudgetSettings { person_interactions_day: Some(1), ..BudgetSettings::default() }).await;
        let first = shop.say(MEERA, "w1", "one").await;
        shop.answer(held(&first), "done").await;
        let to = ReplyAddress::new(Channel::Whatsapp, MEERA.to_owned());
        let second = shop.say_from(MEERA, "w2", &to).await;
        assert!(matches!(second.halted, Some(HaltReason::OverBudget(_))));
        assert!(second.begun.is_none());
        let run = shop.run(second.run).await;
        assert_eq!((run.state, run.lease_until, run.reservation), (RunState::Halted, None, None));
        assert_eq!(run.halt, second.halted);
        let said = shop.messages(first.session).await;
        assert_eq!(said.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!((said[2].text.as_str(), said[2].standing), ("hello", MessageStatus::Whole), "kept all the same");
        assert!(said[3].text.starts_with("limit: "));
        assert_eq!((said[3].standing, Some(said[3].id)), (MessageStatus::Degraded, run.reply));
        assert_eq!((shop.count("used").await, shop.count("held").await), (1, 0), "not billed");
        assert_eq!(shop.count("outbox").await, 1);
        assert_eq!(shop.say(MEERA, "w2", "hello").await.run, second.run, "and taken once");
    }

    async fn what_is_refused_at_the_door_is_not_kept(test: TestDb) {
        let shop = Shop::open(test).await;
        let mut incoming = shop.incoming(MEERA, "w1", "2345 6789 0123 is mine");
        let said = FixedReply { text: "please don't send that".to_owned(), ..FixedReply::default() };
        incoming.door = Admission::Shut(HaltReason::RefusedAtDoor("aadhaar".to_owned()), said);
        incoming.decision = Some(Box::default());
        let taken = shop.receive(incoming).await.unwrap();
        let messages = shop.messages(taken.session).await;
        assert_eq!((messages[0].text.as_str(), messages[0].standing), ("", MessageStatus::Refused));
        assert_eq!(messages[1].text, "please don't send that");
        assert_eq!((shop.count("held").await, shop.count("decisions").await), (0, 1));
    }

    async fn sessions_and_messages_are_read_in_pages(test: TestDb) {
        let shop = Shop::open(test).await;
        for number in 0..7 {
            shop.say(MEERA, &format!("m{number}"), &format!("text {number}")).await;
        }
        shop.test.clock.advance(std::time::Duration::from_secs(1));
        let other = shop.say("+919812345679", "o1", "hi").await;
        let listed = shop.read(|tx| sessions::list(tx, sessions::SessionFilter::default(), &PageRequest::new(None, 1))).await;
        assert_eq!(listed.items[0].id, other.session, "the last spoken in first");
        let after = listed.next;
        let rest = shop.read(move |tx| sessions::list(tx, sessions::SessionFilter::default(), &PageRequest::new(after, 5))).await;
        assert_eq!((rest.items.len(), rest.next), (1, None));
        let session = rest.items[0].id;
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let request = PageRequest::new(after, 3);
            let page = shop.read(move |tx| munshi_conversations::messages::list(tx, session, &request)).await;
            seen.extend(page.items.iter().map(|one| one.number));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
        let person = other.person;
        let wanted = sessions::SessionFilter::Person(person);
        let theirs = shop.read(move |tx| sessions::list(tx, wanted, &PageRequest::new(None, 5))).await;
        assert_eq!(theirs.items.len(), 1);
        assert!(!serde_json::to_string(&theirs.items).unwrap().contains("masked"));
    }
}
