//! Nothing is missed, nothing comes twice, and all of it in order.

use std::time::Duration;

use munshi_conversations::linking::merge_threads;
use munshi_conversations::session_changes::{self, SessionNews};
use munshi_conversations::sessions;
use munshi_identity::persons;
use munshi_live::{FollowedRunState, MessageCursor, SessionChange, TenantFollower};
use munshi_store::{Error, Result, Tx};
use munshi_types::{Clock, Id, SessionId};

use crate::live::support::{LONGEST, Shop, next, tables, texts};

const MEERA: &str = "+919812345678";
const RAVI: &str = "+919812345679";

tables! {
    async fn what_is_said_comes_in_order_and_once(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let session = shop.say(MEERA, "one").await.session;
        let mut follower = node.hub.follow_session(shop.tenant, session, Some(MessageCursor::at_number(0)));
        assert_eq!(texts(&mut follower, 1).await, ["one"]);
        for text in ["two", "three", "four"] {
            shop.reply(session, text).await;
        }
        assert_eq!(texts(&mut follower, 3).await, ["two", "three", "four"]);
        // From behind a message: the rest, and nothing of before.
        let mut later = node.hub.follow_session(shop.tenant, session, Some(MessageCursor::at_number(2)));
        assert_eq!(texts(&mut later, 2).await, ["three", "four"]);
        // Without one from now on.
        let mut now = node.hub.follow_session(shop.tenant, session, None);
        assert!(matches!(next(&mut now).await, SessionChange::State(_)));
        shop.reply(session, "five").await;
        assert_eq!(texts(&mut now, 1).await, ["five"]);
    }

    async fn more_than_a_page_comes_whole(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let session = shop.say(MEERA, "0").await.session;
        for number in 1..120 {
            shop.reply(session, &number.to_string()).await;
        }
        let mut follower = node.hub.follow_session(shop.tenant, session, Some(MessageCursor::at_number(0)));
        let expected: Vec<String> = (0..120).map(|number: u32| number.to_string()).collect();
        assert_eq!(texts(&mut follower, 120).await, expected);
    }

    async fn writers_at_once_leave_no_gap(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let session = shop.say(MEERA, "first").await.session;
        let mut follower = node.hub.follow_session(shop.tenant, session, Some(MessageCursor::at_number(0)));
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..40 {
            let (db, tenant) = (shop.test.db.clone(), shop.tenant);
            let unit = shop.reply_unit(session, &number.to_string());
            writers.spawn(async move { db.write(tenant, unit).await.unwrap() });
        }
        let mut numbers = Vec::new();
        while numbers.len() < 41 {
            if let SessionChange::Message { message, .. } = next(&mut follower).await {
                numbers.push(message.number);
            }
        }
        assert_eq!(numbers, (1..=41).collect::<Vec<i64>>());
        writers.join_all().await;
    }

    async fn a_wait_that_is_given_up_loses_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let session = shop.say(MEERA, "one").await.session;
        let mut follower = node.hub.follow_session(shop.tenant, session, None);
        assert!(matches!(next(&mut follower).await, SessionChange::State(_)));
        let mut heard = Vec::new();
        for text in ["two", "three", "four", "five"] {
            shop.reply(session, text).await;
            // Given up at whatever it is doing: waiting, or reading.
            for micros in [0, 50, 200, 800] {
                if let Ok(Some(SessionChange::Message { message, .. })) =
                    tokio::time::timeout(Duration::from_micros(micros), follower.next()).await
                {
                    heard.push(message.text);
                }
            }
        }
        let rest = texts(&mut follower, 4 - heard.len()).await;
        assert_eq!([heard, rest].concat(), ["two", "three", "four", "five"]);
    }

    async fn how_it_stands_is_told_at_first_and_when_it_changes(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let said = shop.say(MEERA, "one").await;
        let mut follower = node.hub.follow_session(shop.tenant, said.session, None);
        let SessionChange::State(state) = next(&mut follower).await else { panic!("no state") };
        assert_eq!(state.runs.iter().map(|run| (run.id, run.state)).collect::<Vec<_>>(), [(said.run, FollowedRunState::Running)]);
        // Somebody types: that is told, and that they stopped.
        let (session, now) = (said.session, shop.test.clock.now());
        let unit = move |tx: &mut Tx<'_>| {
            let person = sessions::find(tx, session)?.unwrap().person;
            munshi_conversations::presence::sign_typing(tx, session, person, now)
        };
        shop.test.db.write(shop.tenant, unit).await.unwrap();
        let SessionChange::State(typing) = next(&mut follower).await else { panic!("no state") };
        assert_eq!(typing.typing.len(), 1);
        shop.test.clock.advance(Duration::from_secs(7));
        let SessionChange::State(silent) = next(&mut follower).await else { panic!("no state") };
        assert_eq!(silent, state, "the sign has lapsed");
    }

    async fn whoever_follows_a_thread_that_became_part_of_another_is_told(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let gone = shop.say(RAVI, "hello").await.session;
        shop.test.clock.advance(Duration::from_secs(1));
        let stays = shop.say(MEERA, "good morning").await.session;
        let mut one = node.hub.follow_session(shop.tenant, gone, None);
        let mut other = node.hub.follow_session(shop.tenant, stays, None);
        assert!(matches!(next(&mut one).await, SessionChange::State(_)));
        assert!(matches!(next(&mut other).await, SessionChange::State(_)));
        merge(&shop, gone, stays).await;
        assert_eq!(next(&mut one).await, SessionChange::Moved { to: stays });
        assert_eq!(next(&mut other).await, SessionChange::Moved { to: stays }, "its numbers are others now");
        assert_eq!((one.next().await, other.next().await), (None, None), "that was the last");
        // A cursor from before is recognised, one of the new numbers goes on.
        let mut before = node.hub.follow_session(shop.tenant, stays, Some("1".parse().unwrap()));
        assert_eq!(next(&mut before).await, SessionChange::Moved { to: stays });
        let mut after = node.hub.follow_session(shop.tenant, stays, Some("1.1".parse().unwrap()));
        assert_eq!(texts(&mut after, 1).await, ["good morning"]);
    }

    async fn nobody_hears_of_what_was_rolled_back_or_of_other_tenants(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let session = shop.say(MEERA, "one").await.session;
        let other = shop.test.add_tenant("other").await;
        let mut foreign = node.hub.follow_session(other, session, Some(MessageCursor::at_number(0)));
        assert_eq!(next(&mut foreign).await, SessionChange::Gone);
        let unit = shop.reply_unit(session, "never");
        let undone: Result<()> = shop.test.db.write(shop.tenant, move |tx| {
            unit(tx)?;
            Err(Error::Misuse("told to".to_owned()))
        }).await;
        assert!(undone.is_err());
        let mut follower = node.hub.follow_session(shop.tenant, session, Some(MessageCursor::at_number(0)));
        assert_eq!(texts(&mut follower, 1).await, ["one"]);
        shop.reply(session, "two").await;
        assert_eq!(texts(&mut follower, 1).await, ["two"]);
    }

    async fn whoever_watches_a_tenant_hears_which_sessions_change(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let since = shop.test.clock.now().minus(Duration::from_secs(1));
        let mut follower = node.hub.follow_tenant(shop.tenant, since);
        let first = shop.say(MEERA, "one").await.session;
        let told = tokio::time::timeout(LONGEST, follower.next()).await.unwrap();
        assert_eq!((told.session, told.pulse.messages), (first, 1));
        let second = shop.say(RAVI, "two").await.session;
        let told = tokio::time::timeout(LONGEST, follower.next()).await.unwrap();
        assert_eq!(told.session, second, "the first is not told again");
        shop.reply(first, "three").await;
        let told = tokio::time::timeout(LONGEST, follower.next()).await.unwrap();
        assert_eq!((told.session, told.pulse.messages), (first, 2));
    }

    async fn a_change_that_is_stored_behind_a_later_one_is_not_left_out(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let late = shop.say(RAVI, "one").await.session;
        shop.test.clock.advance(Duration::from_secs(1));
        // Begun before the other, and stored behind it.
        let unit = shop.reply_unit(late, "two");
        shop.test.clock.advance(Duration::from_secs(1));
        let first = shop.say(MEERA, "three").await.session;
        let mut follower = node.hub.follow_tenant(shop.tenant, shop.test.clock.now());
        told_until(&mut follower, |told| told.session == first).await;
        shop.test.db.write(shop.tenant, unit).await.unwrap();
        told_until(&mut follower, |told| told.session == late && told.pulse.messages == 2).await;
        // As for whoever comes back with the last id.
        let mut back = node.hub.follow_tenant(shop.tenant, shop.test.clock.now());
        told_until(&mut back, |told| told.session == late && told.pulse.messages == 2).await;
    }

    async fn a_clock_that_is_ahead_hides_no_other_change(test: TestDb) {
        let shop = Shop::open(test).await;
        let node = shop.node();
        let first = shop.say(MEERA, "one").await.session;
        let ahead = shop.test.clock.now().plus(Duration::from_secs(60));
        shop.test.db.write(shop.tenant, move |tx| sessions::touch(tx, first, ahead)).await.unwrap();
        let mut follower = node.hub.follow_tenant(shop.tenant, shop.test.clock.now());
        told_until(&mut follower, |told| told.changed_at == ahead).await;
        let second = shop.say(RAVI, "two").await.session;
        told_until(&mut follower, |told| told.session == second).await;
    }

    async fn of_sessions_that_changed_at_one_moment_a_page_leaves_none_out(test: TestDb) {
        let shop = Shop::open(test).await;
        let mut expected = [shop.say(MEERA, "one").await.session, shop.say(RAVI, "two").await.session];
        expected.sort();
        let now = shop.test.clock.now();
        let pages = move |tx: &mut Tx<'_>| {
            let before = (now.minus(Duration::from_secs(1)), expected[0]);
            let first = session_changes::list_news(tx, before, 1)?;
            let second = session_changes::list_news(tx, (now, first[0].session), 1)?;
            let third = session_changes::list_news(tx, (now, second[0].session), 1)?;
            assert!(third.is_empty());
            Ok::<_, Error>([first[0].session, second[0].session])
        };
        assert_eq!(shop.test.db.read(shop.tenant, pages).await.unwrap(), expected);
    }
}

/// The first change of a tenant's session that fits.
async fn told_until(follower: &mut TenantFollower, fits: impl Fn(&SessionNews) -> bool) {
    let told = async { while !fits(&follower.next().await) {} };
    tokio::time::timeout(LONGEST, told).await.expect("the change in time");
}

/// Makes the person of one thread the person of another, as a proved phone does.
async fn merge(shop: &Shop, gone: SessionId, stays: SessionId) {
    let (ids, now) = (shop.test.ids.clone(), shop.test.clock.now());
    let unit = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<()> {
        let from = sessions::find(tx, gone)?.unwrap().person;
        let into = sessions::find(tx, stays)?.unwrap().person;
        let merged = persons::merge(tx, from, into)?;
        assert!(merged.changed && merged.into.id.as_uuid() == into.as_uuid());
        merge_threads(tx, &ids, (from, into), now)
    };
    shop.test.db.write(shop.tenant, unit).await.unwrap();
}
