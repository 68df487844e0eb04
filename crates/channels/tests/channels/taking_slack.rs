//! What Slack tells on its way to the engine: once, in order, and only where it is for us.

use munshi_channels::incoming::IntakeOutcome;
use munshi_test_support::on_both_engines;
use munshi_types::MessageId;
use serde_json::{Value, json};

use super::engine_stand_in::build_engine;
use super::link_shop::{LinkShop, open_link_shop};
use super::slack::{open_slack, sign};
use super::support::migrations;

async fn tell(shop: &LinkShop, kind: &str, text: &str, at: &str, thread: Option<&str>) {
    let body = json!({
        "type": "event_callback", "team_id": "T1", "event_id": format!("Ev{at}"),
        "authorizations": [{ "team_id": "T1", "user_id": "U0BOT", "is_bot": true }],
        "event": { "type": kind, "channel": "C9", "user": "U5", "text": text, "ts": at, "thread_ts": thread },
    });
    let outcome = shop.take("slack", &sign(shop, "application/json", &body.to_string())).await;
    assert!(matches!(outcome, IntakeOutcome::Stored(_)), "{outcome:?}");
}

async fn press(shop: &LinkShop, of: MessageId) {
    let value = json!({ "say": "Yes", "of": of, "for": "U5" }).to_string();
    let payload: Value = json!({
        "type": "block_actions", "user": { "id": "U5" }, "team": { "id": "T1" }, "channel": { "id": "C9" },
        "container": { "type": "message", "message_ts": "1794713405.000100", "thread_ts": "1794713402.000100" },
        "actions": [{ "type": "button", "action_id": "munshi-0", "action_ts": "1794713406.000100", "value": value }],
    });
    let body = serde_urlencoded::to_string([("payload", payload.to_string())]).unwrap();
    let request = sign(shop, "application/x-www-form-urlencoded", &body);
    assert!(matches!(shop.take("slack", &request).await, IntakeOutcome::Stored(_)));
}

on_both_engines! {
    with all migrations();

    async fn a_thread_is_followed_once_it_was_ours(test: TestDb) {
        let shop = open_link_shop(test).await;
        open_slack(&shop, "http://127.0.0.1:9").await;
        let (engine, runner) = build_engine(&shop.test, &shop.senders);
        let thread = Some("1794713402.000100");
        tell(&shop, "message", "lunch at two?", "1794713401.000100", thread).await;
        runner.drain().await.unwrap();
        assert!(engine.taken.lock().unwrap().is_empty(), "nobody spoke to us in that thread");
        // Told twice, by the message and by its mention.
        tell(&shop, "message", "<@U0BOT> what is due?", "1794713403.000100", thread).await;
        tell(&shop, "app_mention", "<@U0BOT> what is due?", "1794713403.000100", thread).await;
        tell(&shop, "message", "and tomorrow?", "1794713404.000100", thread).await;
        let question: MessageId = shop.test.ids.next();
        press(&shop, question).await;
        runner.drain().await.unwrap();
        let taken = engine.taken.lock().unwrap().clone();
        let texts: Vec<&str> = taken.iter().map(|inbound| inbound.text.as_str()).collect();
        assert_eq!(texts, ["what is due?", "and tomorrow?", "Yes"]);
        for inbound in &taken {
            assert_eq!(inbound.from.channel_id.as_deref(), Some("group:T1:C9/1794713402.000100"));
            let reply_to = inbound.reply_to.as_ref().unwrap();
            assert_eq!(reply_to.address, "C9/1794713402.000100/U5");
            assert_eq!(reply_to.account.as_deref(), Some("slack"));
        }
        assert_eq!(taken[2].screen.seen, Some(question), "it answers that question and no newer one");
    }
}
