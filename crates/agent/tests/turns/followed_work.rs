//! Work that nobody typed, followed: as it goes, from anywhere in it, after its end, from any node.

use std::time::Duration;

use munshi_conversations::{EventId, RunEvent, WorkEvent};
use munshi_safety::approvals::ApprovalDecision;
use munshi_test_app::{TenantFiles, notes};
use munshi_test_support::{PATIENCE, wait_until};
use munshi_types::RunId;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::turns::approvals::answer;
use crate::turns::support::{Plan, Shop};
use crate::turns::work::{begin, find, house, open, pending, runner, steps};

async fn follow(shop: &Shop, run: RunId, after: Option<EventId>) -> Vec<(EventId, RunEvent)> {
    let mut following = shop.engine.follow(shop.tenant, run, after).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = tokio::time::timeout(PATIENCE, following.next()).await.expect("an event") {
        events.push(event);
    }
    events
}

fn names(events: &[(EventId, RunEvent)]) -> Vec<&'static str> {
    events.iter().map(|(_, event)| event.name()).collect()
}

fn whole_input() -> Value {
    json!([
        { "call": "note" }, { "wait": 60 }, { "begin": [steps(&["note"]), json!([{ "no": "such step" }])] }, { "call": "drop" },
        { "call": "count" }
    ])
}

/// What those who follow it hear of it.
const WHOLE: [&str; 12] = [
    "tool_call",
    "tool_result",
    "waiting",
    "runs_begun",
    "child_ended",
    "child_ended",
    "tool_call",
    "approval",
    "tool_result",
    "tool_call",
    "tool_result",
    "ended",
];

on_both! {
    async fn work_is_followed_while_it_goes_on(test: TestDb) {
        let shop = open(&test).await;
        let other = shop.beside(&test, [], Plan { house: house(None), ..Plan::default() }).await;
        let run = begin(&shop, whole_input()).await;
        let mut following = JoinSet::new();
        for engine in [shop.engine.clone(), other.engine.clone()] {
            let (tenant, mut heard) = (shop.tenant, Vec::new());
            following.spawn(async move {
                let mut events = engine.follow(tenant, run, None).await.unwrap();
                while let Some(event) = events.next().await {
                    heard.push(event);
                }
                heard
            });
        }
        let runner = runner(&shop);
        runner.drain().await.unwrap();
        let so_far = {
            let mut events = shop.engine.follow(shop.tenant, run, None).await.unwrap();
            let mut so_far = Vec::new();
            while so_far.len() < 3 {
                so_far.push(events.next().await.unwrap());
            }
            so_far
        };
        assert_eq!(names(&so_far), WHOLE[..3], "{so_far:?}");
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        let [question] = pending(&shop).await[..] else { panic!("one question") };
        answer(&test, &shop, shop.owner, question, ApprovalDecision::Yes).await;
        shop.engine.resume(shop.tenant, run).await.unwrap();
        runner.drain().await.unwrap();
        wait_until(async || find(&shop, run).await.ended_at.is_some()).await;
        let mut heard = Vec::new();
        while let Some(events) = tokio::time::timeout(PATIENCE, following.join_next()).await.expect("they end") {
            heard.push(events.unwrap());
        }
        assert_eq!(names(&heard[0]), WHOLE, "{:?}", heard[0]);
        assert_eq!(heard[0], heard[1], "another node hears the same");
        let whole = &heard[0];
        let RunEvent::Approval { approval, words } = &whole[7].1 else { panic!("{whole:?}") };
        assert!(*approval == question && !words.is_empty(), "{words}");
        let ended: Vec<bool> = whole.iter().filter_map(|(_, event)| match event {
            RunEvent::Work(WorkEvent::ChildEnded { ok, .. }) => Some(*ok),
            _ => None,
        }).collect();
        assert_eq!(ended.iter().filter(|ok| **ok).count(), 1, "one child did it, one could not");
        let RunEvent::Work(WorkEvent::Ended { ok: true, halt: None, result, .. }) = &whole[11].1 else { panic!("{whole:?}") };
        assert_eq!(result.as_array().map(Vec::len), Some(5), "{result}");
        for node in [&shop, &other] {
            assert_eq!(&follow(node, run, None).await, whole, "after its end");
            for (cut, (after, _)) in whole.iter().enumerate() {
                assert_eq!(follow(node, run, Some(*after)).await, whole[cut + 1..], "behind {after}");
            }
        }
    }

    async fn what_was_stopped_or_left_out_says_so(test: TestDb) {
        let shop = open(&test).await;
        let stopped = begin(&shop, json!([{ "wait": 60 }])).await;
        runner(&shop).drain().await.unwrap();
        shop.engine.cancel(shop.tenant, stopped).await.unwrap();
        runner(&shop).drain().await.unwrap();
        let heard = follow(&shop, stopped, None).await;
        assert_eq!(names(&heard), ["waiting", "ended"]);
        let RunEvent::Work(WorkEvent::Ended { ok: false, halt: Some(halt), .. }) = &heard[1].1 else { panic!("{heard:?}") };
        assert_eq!(halt.code(), "cancelled");
        let mut busy = Vec::new();
        for _ in 0..52 {
            busy.push(begin(&shop, json!([{ "optional": "note" }])).await);
        }
        shop.engine.measure_load().await.unwrap();
        runner(&shop).drain().await.unwrap();
        let heard = follow(&shop, busy[0], None).await;
        let RunEvent::Work(WorkEvent::Skipped { step }) = &heard[0].1 else { panic!("{heard:?}") };
        assert_eq!((step.as_str(), heard.len()), ("the extra note", 2));
    }

    async fn anothers_work_is_not_found(test: TestDb) {
        let shop = open(&test).await;
        let run = begin(&shop, steps(&["note"])).await;
        let files = TenantFiles::shop("bakery").with_policy(notes::OPEN_POLICY);
        let other = shop.apply_tenant(&files).await;
        let refused = shop.engine.follow(other, run, None).await.err().map(|error| error.to_string());
        assert_eq!(refused, Some(munshi_conversations::Error::NoRun.to_string()));
    }
}
