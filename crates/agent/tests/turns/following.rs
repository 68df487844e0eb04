//! A follower that is cut off anywhere and comes back gets exactly the full reply, from memory and from the store.

use std::time::Duration;

use munshi_agent::MessageReceipt;
use munshi_conversations::{EventId, RunEvent};
use munshi_llm::{ChatEvent as Said, ModelError, StopReason, TokenUsage};
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use serde_json::json;

use crate::turns::support::{Shop, events, text_of};

fn word(text: &str) -> Said {
    Said::Text(text.to_owned())
}

/// Words, a tool, more words, and a model that breaks off in between.
fn script() -> Vec<ScriptedTurn> {
    let end = |stop| Said::Finished { stop, usage: TokenUsage::default() };
    let calling = [
        word("Let me look. "),
        word("One moment."),
        Said::ToolCallStarted { index: 0, id: "c0".to_owned(), name: "count".to_owned() },
        Said::ToolCallArguments { index: 0, fragment: json!({ "nth": 1 }).to_string() },
        end(StopReason::ToolUse),
    ];
    let broken = [word("There are three. "), word("Or perhaps ")];
    let whole = [
        word("There are "),
        word("four. "),
        word("एक और बात है। "),
        word("That is "),
        word("all."),
        end(StopReason::EndTurn),
    ];
    vec![
        ScriptedTurn::events(calling),
        ScriptedTurn::events_then_fault(broken, ModelError::Interrupted),
        ScriptedTurn::events(whole),
    ]
}

/// Without what passes: `thinking` is not kept.
fn kept(events: &[(EventId, RunEvent)]) -> Vec<RunEvent> {
    let kept = events.iter().map(|(_, event)| event.clone());
    kept.filter(|event| {
        !matches!(event, RunEvent::Thinking { .. } | RunEvent::Token { .. } | RunEvent::Reset { .. })
    })
    .collect()
}

async fn every_cut_is_mended(
    whole: &[(EventId, RunEvent)],
    text: &str,
    shop: &Shop,
    received: &MessageReceipt,
) {
    for cut in 0..whole.len() - 1 {
        let (seen, after) = (&whole[..=cut], whole[cut].0);
        let rest = shop.events(received, Some(after)).await;
        let all: Vec<(EventId, RunEvent)> = seen.iter().cloned().chain(rest.clone()).collect();
        assert_eq!(text_of(&all), text, "cut behind {after}: {rest:?}");
        if !rest.iter().any(|(_, event)| matches!(event, RunEvent::Reset { .. })) {
            assert_eq!(kept(&all), kept(whole), "cut behind {after}");
        }
        assert_eq!(rest.last().unwrap().1.name(), "done");
    }
}

/// One event a connection, taking turns between two nodes.
async fn one_at_a_time(nodes: &[&Shop], received: &MessageReceipt) -> Vec<(EventId, RunEvent)> {
    let (mut events, mut after): (Vec<(EventId, RunEvent)>, Option<EventId>) = (Vec::new(), None);
    for turn in 0..500 {
        let node = nodes[turn % nodes.len()];
        let mut following = node.engine.follow(received.tenant, received.run, after).await.unwrap();
        let (id, event) = following.next().await.unwrap();
        after = Some(id);
        let is_last = event.is_last();
        events.push((id, event));
        if is_last {
            return events;
        }
    }
    panic!("it never ends");
}

on_both! {
    async fn a_cut_anywhere_is_mended(test: TestDb) {
        let shop = Shop::open(&test, script()).await;
        let received = shop.say("1", "how many are there").await;
        let whole = shop.events(&received, None).await;
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.text, "Let me look. One moment.\n\nThere are four. एक और बात है। That is all.");
        assert_eq!(text_of(&whole), outcome.text);
        every_cut_is_mended(&whole, &outcome.text, &shop, &received).await;
        let other = shop.again(&test, []).await;
        let stored = other.events(&received, None).await;
        assert_eq!(text_of(&stored), outcome.text);
        every_cut_is_mended(&whole, &outcome.text, &other, &received).await;
        every_cut_is_mended(&stored, &outcome.text, &other, &received).await;
        every_cut_is_mended(&stored, &outcome.text, &shop, &received).await;
        for nodes in [vec![&shop], vec![&other], vec![&shop, &other], vec![&other, &shop]] {
            let events = one_at_a_time(&nodes, &received).await;
            assert_eq!(text_of(&events), outcome.text);
        }
    }

    async fn who_saw_an_earlier_beginning_is_told_that_it_is_void(test: TestDb) {
        let broken = ScriptedTurn::events_then_fault([word("There are three. "), word("Or ")], ModelError::Interrupted);
        let (gate, pause) = (ScriptGate::default(), Duration::from_millis(60));
        let script = [broken.with_pause(pause).with_gate(&gate), ScriptedTurn::text("There are four.").with_pause(pause)];
        let shop = Shop::open(&test, script).await;
        let received = shop.say("1", "how many are there").await;
        let following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
        gate.open();
        let live = events(following).await;
        let names: Vec<&str> = live.iter().map(|(_, event)| event.name()).collect();
        assert!(names.contains(&"reset"), "{names:?}");
        assert_eq!(text_of(&live), "There are four.");
        let first = live.iter().find(|(_, event)| matches!(event, RunEvent::Token { .. })).unwrap().0;
        for node in [&shop, &shop.again(&test, []).await] {
            let rest = node.events(&received, Some(first)).await;
            assert_eq!(rest[0].1.name(), "reset");
            assert_eq!(text_of(&rest), "There are four.");
        }
    }

    async fn many_follow_one_run_on_two_nodes(test: TestDb) {
        let slow = ScriptedTurn::events([word("One. "), word("Two. "), word("Three."), Said::Finished { stop: StopReason::EndTurn, usage: TokenUsage::default() }]);
        let shop = Shop::open(&test, [slow.with_pause(Duration::from_millis(40))]).await;
        let other = shop.again(&test, []).await;
        let received = shop.say("1", "count for me").await;
        let here = (0..5).map(|_| shop.events(&received, None));
        let (here, there) = tokio::join!(futures_util::future::join_all(here), other.events(&received, None));
        for events in here.iter().chain([&there]) {
            assert_eq!(text_of(events), "One. Two. Three.");
            assert_eq!(events.last().unwrap().1.name(), "done");
        }
    }
}
