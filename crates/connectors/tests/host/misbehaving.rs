//! Servers that misbehave: the turn ends in time with a clear message, memory stays flat, and others are untouched.

use std::time::{Duration, Instant};

use munshi_connectors::{ConnectorState, ConnectorTimings};
use munshi_test_support::{PATIENCE, administer_platform, wait_until};
use munshi_tools::{TenantToolSource, ToolAnswer};
use munshi_types::{Clock, TenantStatus};
use serde_json::{Value, json};

use crate::behaving::sqlite;
use crate::support::{QUICK, Shop, odd};

/// For an answer: many seconds, where it is not the time that ends it.
const LONG: u32 = 600;

/// The odd one beside a good one.
async fn beside(mood: &str) -> Shop {
    waiting(mood, 2).await
}

/// With so many seconds for an answer.
async fn waiting(mood: &str, seconds: u32) -> Shop {
    let file =
        format!("{}timeout_seconds = {seconds}\n{}", odd("odd", mood, None), odd("good", "good", None));
    let shop = Shop::open(sqlite().await, &file).await;
    shop.start().await;
    shop
}

async fn good_one_works(shop: &Shop) {
    let seen = shop.said("good_look", json!({ "text": "me" })).await;
    assert_eq!(seen["result"]["text"], "seen: me", "{seen}");
}

/// In KiB, as the system counts it.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn timed(shop: &Shop) -> (Value, Duration) {
    let begun = Instant::now();
    let said = shop.said("odd_look", json!({ "text": "x" })).await;
    (said, begun.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_long_is_dropped_and_said_at_once() {
    let shop = waiting("huge", LONG).await;
    let before = memory();
    for _ in 0..3 {
        let (said, took) = timed(&shop).await;
        assert_eq!(said["code"], "too_long", "{said}");
        assert!(said["detail"].as_str().unwrap().contains("Ask for less"));
        assert!(took < PATIENCE, "{took:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 32 * 1024, "three answers of 64 MiB left {grown} KiB behind");
    good_one_works(&shop).await;
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_without_an_end_does_not_fill_the_memory() {
    let shop = waiting("endless", LONG).await;
    let before = memory();
    let (said, took) = timed(&shop).await;
    assert_eq!(said["code"], "too_long", "{said}");
    assert!(took < PATIENCE, "{took:?}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let grown = memory().saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB");
    good_one_works(&shop).await;
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_or_drips_ends_with_its_time() {
    // It is asked sooner than others whether it is still there.
    let pace = ConnectorTimings { answer: Duration::from_secs(5), ..QUICK };
    for mood in ["hang", "drip"] {
        let file = format!("{}timeout_seconds = 2\n{}", odd("odd", mood, None), odd("good", "good", None));
        let shop = Shop::paced(sqlite().await, &file, pace).await;
        shop.start().await;
        let (said, took) = timed(&shop).await;
        assert_eq!(said["code"], "too_slow", "{mood}: {said}");
        assert!(said["detail"].as_str().unwrap().contains("within 2 s"), "{said}");
        assert!(took < PATIENCE, "{mood}: {took:?}");
        good_one_works(&shop).await;
        // It answers no ping either, so it is started again.
        shop.until("odd", |standing| standing.restarts > 0 || standing.state == ConnectorState::Degraded)
            .await;
        shop.host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_starts_is_given_up_and_says_so_everywhere() {
    let file = format!("{}start_seconds = 1\n{}", odd("odd", "never", None), odd("good", "good", None));
    let shop = Shop::open(sqlite().await, &file).await;
    shop.start().await;
    good_one_works(&shop).await;
    let standing = shop.until_state("odd", ConnectorState::Degraded).await;
    assert!(standing.why.contains("within 1 s"), "{}", standing.why);
    assert_eq!(shop.host.count()["degraded"], 1);
    // It is said here first, and in the store a moment later.
    let is_written = async || {
        let now = shop.test.clock.now();
        let states = shop
            .test
            .db
            .read(shop.tenant, move |tx| munshi_connectors::rows::list_states(tx, now))
            .await
            .unwrap();
        let is_there =
            states.iter().any(|(name, standing)| name == "odd" && standing.state == ConnectorState::Degraded);
        is_there && shop.events().await.iter().any(|(event, _)| event == "connector.degraded")
    };
    wait_until(is_written).await;
    shop.host.stop().await;
}

/// What was read of a list is not taken for all of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_never_ends_is_no_list() {
    let shop = beside("pages").await;
    let standing = shop.until_state("odd", ConnectorState::Degraded).await;
    assert!(standing.why.contains("more than 200 pages"), "{}", standing.why);
    assert_eq!(standing.tools, 0);
    good_one_works(&shop).await;
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_ends_at_once_is_restarted_so_often_and_no_more() {
    let file = format!("{}{}", odd("odd", "loop", None), odd("good", "good", None));
    let shop = Shop::open(sqlite().await, &file).await;
    shop.start().await;
    let standing = shop.until_state("odd", ConnectorState::Degraded).await;
    assert_eq!(standing.restarts, 2, "as often as the pace allows");
    assert!(shop.log("odd").contains("I can't find my settings"), "{}", shop.log("odd"));
    good_one_works(&shop).await;
    assert!(shop.host.is_settled(shop.tenant), "nobody waits for one that was given up");
    shop.host.stop().await;
    assert!(!shop.host.is_settled(shop.tenant), "the next process may bring what this one has stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_tried_again_may_still_bring_its_tools() {
    let pause = Duration::from_secs(600);
    let pace = ConnectorTimings { pause, longest_pause: pause, ..QUICK };
    let shop = Shop::paced(sqlite().await, &odd("odd", "loop", None), pace).await;
    shop.start().await;
    shop.until_state("odd", ConnectorState::Restarting).await;
    assert!(!shop.host.is_settled(shop.tenant));
    shop.host.stop().await;
}

/// What could not be read may declare the very connector that a tool is missing of.
#[tokio::test(flavor = "multi_thread")]
async fn a_first_look_that_fails_settles_nothing() {
    let shop = Shop::open(sqlite().await, &odd("good", "good", None)).await;
    let set = |sql: &'static str| shop.test.db.write(shop.tenant, move |tx| tx.execute(sql, &[]));
    set("UPDATE connector_files SET note = body, body = '[1]' WHERE tenant_id = $1").await.unwrap();
    shop.host.reconcile().await.unwrap_err();
    assert!(!shop.host.is_settled(shop.tenant), "nobody knows what is declared");
    set("UPDATE connector_files SET body = note WHERE tenant_id = $1").await.unwrap();
    shop.host.reconcile().await.unwrap();
    shop.until_state("good", ConnectorState::Ready).await;
    assert!(shop.host.is_settled(shop.tenant));
    shop.host.stop().await;
}

/// Nothing runs for a tenant at rest: when it goes on, a missing tool may still come.
#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_that_goes_on_after_a_pause_waits_for_its_connectors() {
    let shop = Shop::open(sqlite().await, &odd("good", "good", None)).await;
    shop.start().await;
    good_one_works(&shop).await;
    let set = |status| {
        let (db, tenant) = (shop.test.db.clone(), shop.tenant);
        async move {
            let platform = db.platform(munshi_store::tenants::TENANTS);
            platform
                .write(move |tx| {
                    administer_platform(tx, |tx| munshi_store::tenants::set_status(tx, tenant, status))
                })
                .await
                .unwrap();
        }
    };
    set(TenantStatus::Paused).await;
    shop.host.reconcile().await.unwrap();
    set(TenantStatus::Active).await;
    assert!(!shop.host.is_settled(shop.tenant), "its connectors are not started yet");
    shop.host.reconcile().await.unwrap();
    shop.until_state("good", ConnectorState::Ready).await;
    assert!(shop.host.is_settled(shop.tenant));
    good_one_works(&shop).await;
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_dies_in_a_call_is_restarted_and_a_write_is_not_said_to_have_failed() {
    let shop = waiting("crash", LONG).await;
    let read = shop.said("odd_look", json!({ "text": "x" })).await;
    assert_eq!(read["ok"], false, "{read}");
    assert!(
        ["connector_lost", "connector_down", "connector_degraded"].contains(&read["code"].as_str().unwrap()),
        "{read}"
    );
    // It dies of every call, so it is called until it is given up.
    for _ in 0..20 {
        if shop.standing("odd").state == ConnectorState::Degraded {
            break;
        }
        shop.said("odd_look", json!({ "text": "x" })).await;
    }
    let standing = shop.until_state("odd", ConnectorState::Degraded).await;
    assert!(standing.restarts >= 2);
    let said = shop.said("odd_look", json!({ "text": "x" })).await;
    assert_eq!(said["code"], "connector_degraded", "its tools stay, and say why they don't work: {said}");
    assert!(said["detail"].as_str().unwrap().contains("munshi connector logs odd"));
    good_one_works(&shop).await;
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_broke_off_is_unknown_and_never_done_again() {
    let file = format!("{}\n[odd.tools.raw]\neffect = \"once\"\n", odd("odd", "crash", None));
    let shop = Shop::open(sqlite().await, &file).await;
    shop.start().await;
    let answer = shop.call("odd_raw", json!({})).await;
    assert!(matches!(answer, ToolAnswer::Unknown { .. }), "{answer:?}");
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lies_gain_nothing() {
    let shop = beside("liar").await;
    assert_eq!(shop.standing("odd").undeclared, 2);
    for tool in ["odd_peek", "odd_wipe"] {
        let answer = shop.call(tool, json!({})).await;
        assert!(matches!(answer, ToolAnswer::Refused(_)), "{tool}: {answer:?}");
    }
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_tools_are_found_by_what_is_said() {
    let shop = beside("many").await;
    assert_eq!(shop.standing("odd").tools, 3000);
    let shelf = shop.shelf();
    let took = (0..5).map(|_| {
        let begun = Instant::now();
        let chosen = shelf.choose(&[("what is the weather 1732", 1.0)], 12, |_| true);
        let took = begun.elapsed();
        assert_eq!(chosen.len(), 12);
        assert_eq!(chosen[0].known.spec.name.as_str(), "odd_thing_1732");
        took
    });
    // Whoever else is busy here is not so all the time.
    let took = took.min().unwrap();
    assert!(took < Duration::from_secs(1), "unoptimised and on a busy machine, and yet {took:?}");
    shop.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_says_beside_is_bounded() {
    let shop = beside("noisy").await;
    shop.until_state("odd", ConnectorState::Ready).await;
    wait_until(async || shop.log("odd").contains("line 39999")).await;
    let log = shop.log("odd");
    assert!(log.contains("line 39999") && !log.contains("line 1 z"));
    assert!(log.len() < 1200 * 1024, "{}", log.len());
    shop.host.stop().await;
}
