//! What is done once though it is tried out first, errors come after the deed, and looks can't be read.

use std::path::PathBuf;
use std::sync::Arc;

use munshi_connectors::ConnectorState;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tools::{NoActJournal, ToolAnswer};
use munshi_types::Autonomy;
use serde_json::json;

use crate::support::{MIGRATIONS, Shop, odd};

/// A connector that behaves so, and the file in which it notes what it did.
async fn open(test: TestDb, mood: &str) -> (Shop, PathBuf) {
    let note = test.place.folder().join("done");
    let shop = Shop::open(test, &odd("odd", mood, Some(&note))).await;
    shop.start().await;
    shop.until_state("odd", ConnectorState::Ready).await;
    (shop, note)
}

fn lines(note: &PathBuf) -> usize {
    std::fs::read_to_string(note).unwrap_or_default().lines().count()
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn what_was_tried_out_before_the_question_is_done_after_the_yes(test: TestDb) {
        let (shop, note) = open(test, "good").await;
        let want = shop.want("odd_book", json!({ "text": "a room" }), Autonomy::Propose);
        let asked = shop.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap();
        let ToolAnswer::Waiting(approval) = asked else { panic!("{asked:?}") };
        assert_eq!(approval.rehearsal, Some(json!({ "text": "would book a room" })));
        assert_eq!(lines(&note), 0);
        let done = shop.approve(*approval).await.render_for_model();
        assert_eq!(done["result"], json!({ "text": "booked a room as 1" }), "{done}");
        assert_eq!(lines(&note), 1);
        shop.host.stop().await;
    }

    async fn an_error_after_the_deed_is_not_taken_for_a_no(test: TestDb) {
        let (shop, note) = open(test, "late").await;
        // Found when it is looked up.
        let ordered = shop.call("odd_order", json!({ "text": "rice" })).await;
        assert!(matches!(ordered, ToolAnswer::Done(_)), "{ordered:?}");
        assert_eq!(lines(&note), 1);
        // Asked again under its key.
        let booked = shop.said("odd_book", json!({ "text": "a room" })).await;
        assert_eq!(booked["result"], json!({ "text": "booked a room as 1" }), "{booked}");
        assert_eq!(lines(&note), 2);
        // Nobody can tell: a person is asked.
        let faxed = shop.call("odd_fax", json!({ "text": "hello" })).await;
        assert!(matches!(faxed, ToolAnswer::Unknown { .. }), "{faxed:?}");
        assert_eq!(lines(&note), 3);
        shop.host.stop().await;
    }

    /// The same where it is said in a result, as others' servers do; unless somebody vouches that it means a no.
    async fn a_failed_result_after_the_deed_is_not_taken_for_a_no(test: TestDb) {
        let (shop, note) = open(test, "failed").await;
        let ordered = shop.call("odd_order", json!({ "text": "rice" })).await;
        assert!(matches!(ordered, ToolAnswer::Done(_)), "{ordered:?}");
        let booked = shop.said("odd_book", json!({ "text": "a room" })).await;
        assert_eq!(booked["result"], json!({ "text": "booked a room as 1" }), "{booked}");
        let faxed = shop.call("odd_fax", json!({ "text": "hello" })).await;
        assert!(matches!(faxed, ToolAnswer::Unknown { .. }), "{faxed:?}");
        assert_eq!(lines(&note), 3);
        let vouched = "[odd.tools.fax]\neffect = \"once\"\nall_or_nothing = true\n";
        shop.declare(&format!("{}{vouched}", odd("odd", "failed", Some(&note)))).await;
        shop.start().await;
        shop.until_state("odd", ConnectorState::Ready).await;
        let faxed = shop.said("odd_fax", json!({ "text": "again" })).await;
        assert_eq!((faxed["ok"].as_bool(), faxed["code"].as_str()), (Some(false), Some("tool_failed")), "{faxed}");
        shop.host.stop().await;
    }

    async fn a_look_that_can_not_be_read_is_no_leave_to_do_it_again(test: TestDb) {
        let (shop, note) = open(test, "wordy").await;
        let ordered = shop.call("odd_order", json!({ "text": "rice" })).await;
        assert!(matches!(ordered, ToolAnswer::Unknown { .. }), "{ordered:?}");
        assert_eq!(lines(&note), 1);
        shop.host.stop().await;
    }

    async fn what_another_connector_of_that_name_said_is_not_told_again(test: TestDb) {
        let file = |mode: &str| format!(
            "{}environment = {{ MODE = \"{mode}\" }}\n[odd.tools.environment]\neffect = \"read\"\ncacheable = true\n",
            odd("odd", "good", None)
        );
        let shop = Shop::open(test, &file("first")).await;
        shop.start().await;
        for _ in 0..2 {
            assert_eq!(shop.said("odd_environment", json!({})).await["result"]["MODE"], "first");
        }
        shop.declare(&file("second")).await;
        shop.start().await;
        shop.until_state("odd", ConnectorState::Ready).await;
        let seen = shop.said("odd_environment", json!({})).await;
        assert_eq!(seen["result"]["MODE"], "second", "{seen}");
        shop.host.stop().await;
    }
}
