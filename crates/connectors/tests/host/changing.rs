//! A list of tools that changes: it is told, held until a person has looked, and taken up again.

use munshi_connectors::{ConnectorState, rows};
use munshi_safety::audit::{AuditActor, AuditActorKind, AuditStamp, administer};
use munshi_test_support::on_both_engines;
use munshi_tools::ToolAnswer;
use munshi_types::Clock;
use serde_json::json;

use crate::support::{MIGRATIONS, Shop, odd};

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn tools_that_change_in_flight_only_look_until_somebody_accepts_them(test: TestDb) {
        let note = test.place.folder().join("changed");
        let shop = Shop::open(test, &odd("odd", "changing", Some(&note))).await;
        shop.start().await;
        let first = shop.until_state("odd", ConnectorState::Ready).await;
        let booked = shop.call("odd_book", json!({ "text": "a" })).await;
        assert!(matches!(booked, ToolAnswer::Done(_)), "{booked:?}");
        // With that call it changed the words of another tool, and said that its list changed.
        let held = shop.until("odd", |standing| standing.held).await;
        assert_ne!(held.manifest, first.manifest);
        let refused = shop.call("odd_book", json!({ "text": "b" })).await;
        assert!(matches!(refused, ToolAnswer::Refused(_)), "{refused:?}");
        let seen = shop.call("odd_look", json!({ "text": "b" })).await;
        assert!(matches!(seen, ToolAnswer::Done(_)), "looking goes on: {seen:?}");
        let changed: Vec<_> = shop.events().await.into_iter().filter(|(event, _)| event == "connector.changed").collect();
        assert_eq!(changed.len(), 1, "told once, however often it is seen");
        assert_eq!(changed[0].1["changed"], json!(["~ look"]));
        let (now, ids) = (shop.test.clock.now(), shop.test.ids.clone());
        let actor = AuditActor::new(AuditActorKind::Operator, "asha");
        let stamp = AuditStamp { actor, ids, now, claim: None };
        let accept = move |tx: &mut munshi_store::AdminTx<'_, '_>| rows::accept_manifest(tx, "odd", "asha", now);
        let accepted = administer(&shop.test.db, shop.tenant, stamp, accept).await.unwrap();
        assert_eq!(accepted, Some(true));
        shop.until("odd", |standing| !standing.held).await;
        let booked = shop.call("odd_book", json!({ "text": "b" })).await;
        assert!(matches!(booked, ToolAnswer::Done(_)), "{booked:?}");
        assert!(shop.events().await.iter().any(|(event, _)| event == "connector.accepted"));
        shop.host.stop().await;
    }

    async fn a_changed_file_stops_what_it_no_longer_names_and_starts_what_is_new(test: TestDb) {
        let shop = Shop::open(test, &odd("one", "good", None)).await;
        shop.start().await;
        assert!(shop.shelf().get("one_look").is_some());
        shop.declare(&odd("two", "good", None)).await;
        shop.start().await;
        assert!(shop.shelf().get("one_look").is_none() && shop.shelf().get("two_look").is_some());
        let gone = shop.call("one_look", json!({})).await;
        assert!(matches!(gone, ToolAnswer::Refused(_)), "{gone:?}");
        shop.host.stop().await;
    }
}
