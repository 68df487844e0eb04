//! A connector that behaves: its environment, its tools, its end.

use std::time::Duration;

use munshi_connectors::ConnectorState;
use munshi_test_support::{TestDb, on_both_engines, wait_until};
use munshi_tools::ToolAnswer;
use serde_json::json;

use crate::support::{MIGRATIONS, Shop, odd};

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn tools_are_called_with_a_permit_and_their_answers_are_others_words(test: TestDb) {
        let shop = Shop::open(test, &odd("odd", "good", None)).await;
        shop.start().await;
        let standing = shop.until_state("odd", ConnectorState::Ready).await;
        assert_eq!((standing.tools, standing.undeclared, standing.held), (4, 3, false));
        assert_eq!((standing.server.as_str(), standing.version.as_str()), ("odd", "1.2.3"));
        let seen = shop.said("odd_look", json!({ "text": "hello" })).await;
        assert_eq!(seen["result"], json!({ "text": "seen: hello" }));
        assert_eq!(seen["source"], json!({ "untrusted": true, "connector": "odd" }));
        let booked = shop.said("odd_book", json!({ "text": "a room" })).await;
        assert_eq!(booked["result"], json!({ "text": "booked a room as 1" }));
        let refused = shop.call("odd_raw", json!({})).await;
        assert!(matches!(refused, ToolAnswer::Refused(_)), "nobody vouches for it: {refused:?}");
        let bad = shop.said("odd_book", json!({ "words": "a room" })).await;
        assert_eq!(bad["ok"], false, "{bad}");
        let events: Vec<String> = shop.events().await.into_iter().map(|(event, _)| event).collect();
        assert!(events.contains(&"connector.seen".to_owned()), "{events:?}");
        assert!(events.contains(&"act.applied".to_owned()) && events.contains(&"act.refused".to_owned()));
        shop.host.stop().await;
        let states = shop.test.db.read(shop.tenant, move |tx| munshi_connectors::rows::list_states(tx, munshi_types::Timestamp::EPOCH.plus(Duration::from_secs(100)))).await.unwrap();
        assert_eq!(states, [], "a node that has stopped says nothing any more");
    }

    /// A file that a later version wrote, or a hand that was wrong: it is another tenant's, and theirs alone.
    async fn a_file_that_nobody_can_read_stops_no_others(test: TestDb) {
        let odder = odd("odd", "good", None);
        let shop = Shop::open(test, &odder).await;
        let (before, after) = (shop.test.add_tenant("another").await, shop.test.add_tenant("third").await);
        for tenant in [before, after] {
            let spoil = |tx: &mut munshi_store::Tx<'_>| {
                let body = munshi_store::JsonText::of(&json!({ "odd": 7 }))?;
                tx.execute(
                    "INSERT INTO connector_files (tenant_id, version, body, author, note, made_at)
                     VALUES ($1, 1, $2, 'test', '', $3)",
                    munshi_store::params![body, munshi_types::Timestamp::EPOCH],
                )
            };
            shop.test.db.write(tenant, spoil).await.unwrap();
        }
        assert!(shop.host.reconcile().await.is_err(), "it is said all the same");
        wait_until(async || shop.host.statuses(shop.tenant).values().any(|standing| standing.state == ConnectorState::Ready)).await;
        assert_eq!(shop.standing("odd").state, ConnectorState::Ready);
        shop.host.stop().await;
    }

    async fn a_child_gets_what_was_named_and_nothing_else(test: TestDb) {
        let file = format!(
            "{}environment = {{ API_KEY = \"vault:odd.key\", MODE = \"quiet\" }}\n",
            odd("odd", "good", None)
        );
        let shop = Shop::open(test, &file).await;
        shop.secret("odd.key", "hunter2-hunter2").await;
        shop.start().await;
        let seen = shop.said("odd_environment", json!({})).await;
        let result = seen["result"].as_object().unwrap();
        let mut names: Vec<&str> = result.keys().map(String::as_str).filter(|name| *name != "LC_CTYPE").collect();
        names.sort_unstable();
        assert_eq!(names, ["API_KEY", "HOME", "MODE", "PATH", "TMPDIR"], "{seen}");
        assert_eq!(result["MODE"], "quiet");
        assert!(!seen.to_string().contains("hunter2"), "what was opened for it is hidden in what it says");
        shop.host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_takes_along_what_a_child_has_started() {
    let test = sqlite().await;
    let note = test.place.folder().join("pid");
    let shop = Shop::open(test, &odd("odd", "parent", Some(&note))).await;
    shop.start().await;
    shop.until_state("odd", ConnectorState::Ready).await;
    let pid = std::fs::read_to_string(&note).unwrap();
    let is_there = || std::path::Path::new(&format!("/proc/{pid}/cmdline")).exists() && !is_dead(&pid);
    assert!(is_there());
    shop.declare(&odd("other", "good", None)).await;
    shop.host.reconcile().await.unwrap();
    // A grandchild does not outlive its connector.
    wait_until(async || !is_there()).await;
    shop.host.stop().await;
}

/// A zombie has no command line left.
fn is_dead(pid: &str) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).map_or(true, |line| line.is_empty())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_secret_or_program_is_said_and_nothing_is_offered() {
    let file = format!(
        "{}environment = {{ KEY = \"vault:not.there\" }}\n[gone]\ncommand = [\"no-such-program-here\"]\n",
        odd("odd", "good", None)
    );
    let shop = Shop::open(sqlite().await, &file).await;
    shop.start().await;
    let odd = shop.until_state("odd", ConnectorState::Degraded).await;
    assert!(odd.why.contains("munshi vault set not.there"), "{}", odd.why);
    let gone = shop.until_state("gone", ConnectorState::Degraded).await;
    assert!(gone.why.contains("no-such-program-here"), "{}", gone.why);
    assert!(shop.shelf().is_empty());
    shop.host.stop().await;
}

pub(crate) async fn sqlite() -> TestDb {
    TestDb::open(munshi_test_support::DatabaseEngine::Sqlite, &MIGRATIONS).await
}
