//! A process that dies on the way leaves nothing half done: whoever comes next goes on, and counts everything once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use munshi_erasure::ErasureState;
use munshi_store::{Tx, params};
use munshi_test_support::on_both_engines;

use crate::support::{Shop, find_planted, migrations};

/// So often at most is it looked at before it is done.
const MOST_POLLS: usize = 400;

/// Polls a future so many times and drops it there, as a process that dies does: a unit that is on its way may still be committed. True
/// where it was done before.
async fn run_until(polls: usize, work: impl Future) -> bool {
    let (mut work, mut polled) = (pin!(work), 0);
    poll_fn(move |context| {
        polled += 1;
        match work.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if polled >= polls => Poll::Ready(false),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

on_both_engines! {
    with all migrations();

    async fn stopped_anywhere_it_is_gone_on_with(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        let mut stops = 0;
        for polls in 1..MOST_POLLS {
            if run_until(polls, shop.service().carry_out(shop.tenant, id)).await {
                break;
            }
            stops += 1;
        }
        assert!(stops > 5, "it was stopped on its way: {stops}");
        let done = shop.service().carry_out(shop.tenant, id).await.unwrap().unwrap();
        assert_eq!(done.state(), ErasureState::Done);
        assert_eq!(find_planted(&test, shop.tenant).await, Vec::<String>::new());
        for (kind, rows) in [("messages", 4), ("acts", 2), ("consents", 1), ("conversations", 1), ("persons", 2)] {
            assert_eq!(done.counts[kind], rows, "{kind} of {:?}", done.counts);
        }
        let told = "SELECT count(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'person.erased'";
        assert_eq!(shop.app.read_number(shop.tenant, told).await, 1);
    }

    async fn two_at_once_do_everything_once(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        let (one, other) = (shop.service(), shop.service());
        let (one, other) = tokio::join!(one.carry_out(shop.tenant, id), other.carry_out(shop.tenant, id));
        assert_eq!(one.unwrap().unwrap().state(), ErasureState::Done);
        let done = other.unwrap().unwrap();
        for (kind, rows) in [("messages", 4), ("acts", 2), ("consents", 1), ("conversations", 1), ("persons", 2)] {
            assert_eq!(done.counts[kind], rows, "{kind} of {:?}", done.counts);
        }
    }

    async fn what_was_given_up_is_asked_for_again(test: TestDb) {
        let shop = Shop::open(&test).await;
        let id = shop.begin().await;
        assert_eq!(shop.service().resume_open().await.unwrap(), 0, "it has a job");
        // The last try failed.
        let give_up = |tx: &mut Tx<'_>| {
            tx.execute("UPDATE jobs SET state = 'dead' WHERE tenant_id = $1 AND kind = 'erasure.carry_out'", params![])
        };
        assert_eq!(test.db.write(shop.tenant, give_up).await.unwrap(), 1);
        assert_eq!(shop.service().resume_open().await.unwrap(), 1);
        assert_eq!(shop.service().resume_open().await.unwrap(), 0, "once");
        let ready = "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'erasure.carry_out' AND state = 'ready'";
        assert_eq!(shop.app.read_number(shop.tenant, ready).await, 1);
        // What has ended is left alone.
        shop.service().carry_out(shop.tenant, id).await.unwrap();
        test.db.write(shop.tenant, give_up).await.unwrap();
        assert_eq!(shop.service().resume_open().await.unwrap(), 0);
    }

    async fn whoever_begins_leaves_a_job_for_who_comes_after(test: TestDb) {
        let shop = Shop::open(&test).await;
        shop.begin().await;
        let waiting = "SELECT count(*) FROM jobs WHERE tenant_id = $1 AND kind = 'erasure.carry_out'";
        assert_eq!(shop.app.read_number(shop.tenant, waiting).await, 1);
    }
}
