//! What one process changes, the other's followers hear; and what is dropped on the way wakes everybody.

use std::time::Duration;

use munshi_live::{LiveHub, MessageCursor, SessionChange};
use munshi_types::Clock;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::live::support::{Node, Shop, next, tables, texts};

const MEERA: &str = "+919812345678";
/// As the product promises it.
const SOON: Duration = Duration::from_secs(1);

tables! {
    async fn another_processes_words_come_within_a_second(test: TestDb) {
        let shop = Shop::open(test).await;
        let session = shop.say(MEERA, "one").await.session;
        // A node of Postgres; on SQLite a command beside the server.
        let other = Node::start(shop.test.open_again().await, &shop.test);
        let mut follower = other.hub.follow_session(shop.tenant, session, None);
        assert!(matches!(next(&mut follower).await, SessionChange::State(_)));
        for text in ["two", "three", "four"] {
            shop.reply(session, text).await;
            let heard = tokio::time::timeout(SOON, texts(&mut follower, 1)).await;
            assert_eq!(heard.expect("within a second"), [text]);
        }
        let mut feed = other.hub.follow_tenant(shop.tenant, shop.test.clock.now().minus(SOON));
        assert_eq!(tokio::time::timeout(SOON, feed.next()).await.unwrap().session, session);
        shop.reply(session, "five").await;
        let news = tokio::time::timeout(SOON, feed.next()).await.expect("within a second");
        assert_eq!((news.session, news.pulse.messages), (session, 5));
    }

    async fn what_came_before_the_hub_runs_is_heard_and_too_much_wakes_everybody(test: TestDb) {
        let shop = Shop::open(test).await;
        let session = shop.say(MEERA, "one").await.session;
        let hub = LiveHub::new(shop.test.db.clone(), shop.test.clock.clone());
        let mut follower = hub.follow_session(shop.tenant, session, Some(MessageCursor::at_number(0)));
        assert_eq!(texts(&mut follower, 1).await, ["one"]);
        assert!(matches!(next(&mut follower).await, SessionChange::State(_)));
        shop.reply(session, "two").await;
        // So many that the hub, which does not run yet, loses the one about this session.
        let flood = move |tx: &mut munshi_store::Tx<'_>| -> munshi_store::Result<()> {
            (0..5000).for_each(|number| tx.announce(Uuid::from_u128(number)));
            Ok(())
        };
        shop.test.db.write(shop.tenant, flood).await.unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        let (running, stop) = (hub.clone(), CancellationToken::new());
        let token = stop.clone();
        tasks.spawn(async move { running.run(token).await });
        let heard = tokio::time::timeout(SOON * 5, texts(&mut follower, 1)).await;
        assert_eq!(heard.expect("long before anybody looks by themselves"), ["two"]);
        stop.cancel();
        tasks.join_all().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_looks_at_all_tenants_reads_their_sessions_and_nothing_else() {
    use munshi_store::{PlatformTx, across_tenants, params};
    let migrations = munshi_test_app::list_migrations(&[]);
    let test =
        munshi_test_support::TestDb::open(munshi_test_support::DatabaseEngine::Postgres, &migrations).await;
    let shop = Shop::open(test).await;
    let session = shop.say(MEERA, "one").await.session;
    let door = shop.test.db.platform(munshi_conversations::LIVE);
    let count = |sql: munshi_store::PlatformSql| {
        let door = door.clone();
        async move {
            door.read(move |tx: &mut PlatformTx<'_>| tx.one(sql, &[], |row| row.get::<i64>(0))).await.unwrap()
        }
    };
    assert_eq!(count(across_tenants("SELECT count(*) FROM sessions")).await, 1);
    assert_eq!(
        count(across_tenants("SELECT count(*) FROM messages")).await,
        0,
        "what was said is the tenant's"
    );
    let write = move |tx: &mut PlatformTx<'_>| {
        tx.execute(across_tenants("UPDATE sessions SET messages = 7 WHERE id = $1"), params![session])
    };
    assert_eq!(door.write(write).await.unwrap_or(0), 0, "nor is anything changed through it");
    let other = munshi_conversations::RUNS;
    let other = shop.test.db.platform(other);
    let seen = other.read(|tx: &mut PlatformTx<'_>| {
        tx.one(across_tenants("SELECT count(*) FROM sessions"), &[], |row| row.get::<i64>(0))
    });
    assert_eq!(seen.await.unwrap(), 0, "another door opens other tables");
}
