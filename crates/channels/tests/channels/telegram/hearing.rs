//! Asking what is new: on one node, once, whatever breaks.

use std::time::Duration;

use munshi_channels::listen::{ChannelHearing, ChannelListener, ListenPace, load_hearing};
use munshi_store::Tx;
use munshi_test_support::{on_both_engines, wait_until};
use munshi_types::Clock;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::stand_in::BotFailure;
use super::{BotShop, TOKEN, open_bot_shop, said_at};
use crate::channels::support::migrations;

const QUICK: ListenPace = ListenPace {
    look: Duration::from_millis(30),
    lease: Duration::from_secs(60),
    first_pause: Duration::from_millis(30),
    longest_pause: Duration::from_millis(200),
};

/// A listener as a node has it.
struct Node {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

#[allow(clippy::disallowed_methods, reason = "each test ends its nodes")]
fn start(shop: &BotShop) -> Node {
    let stop = CancellationToken::new();
    let task = tokio::spawn(ChannelListener::new(shop.intake(), QUICK).run(stop.clone()));
    Node { stop, task }
}

impl Node {
    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// As if it were killed: nothing is let go of.
    async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

async fn hearing(shop: &BotShop, name: &str) -> Option<ChannelHearing> {
    let name = name.parse().unwrap();
    shop.test.db.read(shop.tenant, move |tx: &mut Tx<'_>| load_hearing(tx, &name)).await.unwrap()
}

async fn fault(shop: &BotShop) -> Option<String> {
    hearing(shop, "bot").await?.fault.map(|(what, _)| what)
}

on_both_engines! {
    with all migrations();

    async fn two_nodes_share_accounts_and_each_is_asked_by_one(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        let tokens = [("a", "701:A"), ("b", "702:B"), ("c", "703:C")];
        let mut file = String::new();
        for (name, token) in tokens {
            shop.telegram.add_bot(token);
            shop.set_secret(&format!("vault:{name}.token"), token).await;
            file += &shop.account(name, "");
        }
        shop.declare(&file).await;
        let nodes = [start(&shop), start(&shop)];
        for update in 1..=20 {
            for (_, token) in tokens {
                shop.telegram.tell(token, shop.said(update, "milk?"));
            }
        }
        wait_until(async || shop.stored().await == 60).await;
        for (name, token) in tokens {
            assert_eq!(shop.telegram.most_at_once(token), 1, "{name}");
        }
        for node in nodes {
            node.stop().await;
        }
        assert_eq!(shop.stored().await, 60);
    }

    async fn what_a_dead_node_had_heard_is_heard_again_and_once(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        shop.declare(&shop.account("bot", "")).await;
        let node = start(&shop);
        shop.telegram.tell(TOKEN, shop.said(1, "one"));
        wait_until(async || shop.stored().await == 1).await;
        node.kill().await;
        // Heard by somebody who stored nothing of it: the bot is asked once more from where the cursor stands.
        shop.telegram.tell(TOKEN, shop.said(2, "two"));
        let link = shop.accounts.find_link(shop.tenant, &"bot".parse().unwrap()).await.unwrap().unwrap();
        let heard = link.poll(None).await.unwrap();
        assert!(heard.events.iter().any(|event| event.id == "700:2"), "{heard:?}");
        drop(heard);
        let other = start(&shop);
        shop.test.clock.advance(QUICK.lease + Duration::from_secs(1));
        wait_until(async || shop.stored().await == 2).await;
        shop.telegram.tell(TOKEN, shop.said(3, "three"));
        wait_until(async || shop.stored().await == 3).await;
        other.stop().await;
        assert_eq!(shop.stored().await, 3, "nothing twice");
    }

    async fn a_node_that_stops_lets_go_at_once(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        shop.declare(&shop.account("bot", "")).await;
        let node = start(&shop);
        shop.telegram.tell(TOKEN, shop.said(1, "one"));
        wait_until(async || shop.stored().await == 1).await;
        node.stop().await;
        let other = start(&shop);
        shop.telegram.tell(TOKEN, shop.said(2, "two"));
        wait_until(async || shop.stored().await == 2).await;
        other.stop().await;
    }

    async fn what_is_wrong_is_told_and_passes(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        shop.set_secret("vault:bot.token", "709:gone").await;
        shop.declare(&shop.account("bot", "")).await;
        let node = start(&shop);
        wait_until(async || fault(&shop).await.is_some_and(|why| why.contains("token"))).await;
        assert!(!fault(&shop).await.unwrap().contains("709"), "no token is told");
        shop.set_secret("vault:bot.token", TOKEN).await;
        shop.telegram.fail(TOKEN, "getUpdates", BotFailure::Says(502, json!({ "ok": false, "error_code": 502, "description": "Bad Gateway" })));
        shop.telegram.tell(TOKEN, shop.said(1, "one"));
        wait_until(async || shop.stored().await == 1 && fault(&shop).await.is_none()).await;
        node.stop().await;
    }

    async fn accounts_that_come_change_and_go_are_followed(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        let node = start(&shop);
        shop.declare(&shop.account("bot", "")).await;
        shop.telegram.tell(TOKEN, shop.said(1, "one"));
        wait_until(async || shop.stored().await == 1).await;
        shop.declare(&shop.account("bot", "per_minute = 5")).await;
        shop.telegram.tell(TOKEN, shop.said(2, "two"));
        wait_until(async || shop.stored().await == 2).await;
        shop.declare(&shop.account("bot", "receive = \"none\"")).await;
        assert_eq!(hearing(&shop, "bot").await, None);
        node.stop().await;
        let asked = shop.telegram.calls(TOKEN, "getUpdates").len();
        let other = start(&shop);
        shop.telegram.add_bot("704:D");
        shop.set_secret("vault:second.token", "704:D").await;
        shop.declare(&format!("{}{}", shop.account("bot", "receive = \"none\""), shop.account("second", ""))).await;
        shop.telegram.tell("704:D", shop.said(1, "three"));
        wait_until(async || shop.stored().await == 3).await;
        other.stop().await;
        assert_eq!(shop.telegram.calls(TOKEN, "getUpdates").len(), asked, "it is asked no more");
    }

    async fn history_is_not_replayed_and_a_webhook_gives_way(test: TestDb) {
        let shop = open_bot_shop(test, Some("http://munshi.example")).await;
        shop.telegram.set_webhook(TOKEN, "https://old.example/hook");
        let long_ago = shop.test.clock.now().as_micros() / 1_000_000 - 7200;
        for update in 1..=40 {
            shop.telegram.tell(TOKEN, said_at(update, "old", long_ago));
        }
        shop.telegram.tell(TOKEN, shop.said(41, "new"));
        shop.declare(&shop.account("bot", "")).await;
        let node = start(&shop);
        wait_until(async || shop.stored().await == 1).await;
        assert_eq!(shop.telegram.webhook(TOKEN), "");
        shop.telegram.tell(TOKEN, shop.said(42, "newer"));
        wait_until(async || shop.stored().await == 2).await;
        node.stop().await;
    }

    async fn where_telegram_reaches_us_it_is_not_asked(test: TestDb) {
        let shop = open_bot_shop(test, Some("https://munshi.example")).await;
        shop.declare(&shop.account("bot", "")).await;
        let node = start(&shop);
        wait_until(async || hearing(&shop, "bot").await.is_some_and(|hearing| !hearing.listens)).await;
        node.stop().await;
        assert_eq!(shop.telegram.calls(TOKEN, "getUpdates").len(), 0);
        assert_eq!(shop.telegram.webhook(TOKEN), "https://munshi.example/channels/sharma/bot", "set by itself");
    }

    async fn what_can_not_be_read_loses_nothing_beside_it(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        shop.declare(&shop.account("bot", "")).await;
        shop.telegram.tell(TOKEN, json!({ "update_id": 1, "message": "not a message" }));
        shop.telegram.tell(TOKEN, shop.said(2, "two"));
        let node = start(&shop);
        wait_until(async || shop.stored().await == 1).await;
        wait_until(async || {
            shop.telegram.calls(TOKEN, "getUpdates").iter().any(|asked| asked["offset"] == 3)
        }).await;
        node.stop().await;
    }
}
