//! Answers on their way: once, or it is known that they may have left.

use std::time::Duration;

use munshi_conversations::outbox::{
    DeliveryCertainty, FaultSubject, SendFault, SendRetryability, SenderDirectory, SenderRoute,
};
use munshi_test_support::on_both_engines;
use munshi_types::tier::Channel;
use munshi_types::{OutboundAttachment, OutboundMessage, ReplyAddress};
use serde_json::{Value, json};

use super::stand_in::BotFailure;
use super::{BotShop, TOKEN, open_bot_shop};
use crate::channels::support::migrations;

async fn open(test: munshi_test_support::TestDb) -> BotShop {
    let shop = open_bot_shop(test, None).await;
    shop.declare(&shop.account("bot", "")).await;
    shop
}

fn outbound(shop: &BotShop, to: &str, text: &str) -> OutboundMessage {
    let to = ReplyAddress::new(Channel::Telegram, to.to_owned());
    OutboundMessage::new(shop.test.ids.next(), to, text.to_owned())
}

/// All parts, as the outbox sends them: what the last came to.
async fn send(shop: &BotShop, outbound: &OutboundMessage) -> Result<Option<String>, SendFault> {
    let route = SenderRoute {
        tenant: shop.tenant,
        binding: None,
        channel: Channel::Telegram,
        from: None,
        account: Some("bot".to_owned()),
    };
    let sender = shop.accounts.find(&route).await.unwrap();
    let mut last = None;
    for part in 0..sender.count_parts(outbound) {
        last = sender.send_part(outbound, part).await?.outside_id;
    }
    Ok(last)
}

#[allow(clippy::needless_pass_by_value, reason = "it is made where it is given")]
fn says(code: u16, description: &str, parameters: Value) -> BotFailure {
    let body =
        json!({ "ok": false, "error_code": code, "description": description, "parameters": parameters });
    BotFailure::Says(code, body)
}

on_both_engines! {
    with all migrations();

    async fn an_answer_leaves_with_its_marks_and_buttons(test: TestDb) {
        let shop = open(test).await;
        let message = OutboundMessage {
            suggestions: vec!["Yes".to_owned(), "No".to_owned()],
            ..outbound(&shop, "5", "**Two** crates < three & more")
        };
        assert_eq!(send(&shop, &message).await.unwrap().as_deref(), Some("700:5:1"));
        let [asked] = <[Value; 1]>::try_from(shop.telegram.calls(TOKEN, "sendMessage")).unwrap();
        assert_eq!((asked["chat_id"].as_i64(), asked["parse_mode"].as_str()), (Some(5), Some("HTML")));
        let text = asked["text"].as_str().unwrap();
        assert!(text.contains("<b>Two</b>") && text.contains("&lt; three &amp; more"), "{text}");
        assert_eq!(asked["reply_markup"]["inline_keyboard"][1][0]["text"], "No");
    }

    async fn a_code_for_a_camera_is_a_picture(test: TestDb) {
        let shop = open(test).await;
        let message = OutboundMessage {
            attachments: vec![OutboundAttachment::Qr { text: "upi://pay?pa=a@b".to_owned(), title: "Pay".to_owned() }],
            ..outbound(&shop, "5", "₹500 is due.")
        };
        send(&shop, &message).await.unwrap();
        let pictures = shop.telegram.calls(TOKEN, "sendPhoto");
        let form = pictures[0]["form"].as_str().unwrap();
        assert!(form.contains("name=\"chat_id\"\r\n\r\n5\r\n") && form.contains("PNG"), "{}", &form[..200]);
        assert_eq!((shop.telegram.calls(TOKEN, "sendMessage").len(), pictures.len()), (1, 1));
    }

    async fn what_telegram_refuses_is_told_for_what_it_is(test: TestDb) {
        let shop = open(test).await;
        let message = outbound(&shop, "5", "x");
        let fail = |failure| shop.telegram.fail(TOKEN, "sendMessage", failure);
        fail(says(429, "Too Many Requests: retry after 9", json!({ "retry_after": 9 })));
        assert_eq!(send(&shop, &message).await.unwrap_err().retry_after, Some(Duration::from_secs(9)));
        fail(says(403, "Forbidden: bot was blocked by the user", Value::Null));
        let blocked = send(&shop, &message).await.unwrap_err();
        assert_eq!((blocked.subject, blocked.retryable), (FaultSubject::Recipient, SendRetryability::No));
        fail(says(500, "Internal Server Error", Value::Null));
        assert_eq!(send(&shop, &message).await.unwrap_err().happened, DeliveryCertainty::Maybe);
        fail(BotFailure::Lost);
        let lost = send(&shop, &message).await.unwrap_err();
        assert_eq!(lost.happened, DeliveryCertainty::Maybe);
        assert!(!lost.why.contains("secret_token"), "{lost:?}");
        let nobody = send(&shop, &outbound(&shop, "404", "x")).await.unwrap_err();
        assert_eq!(nobody.subject, FaultSubject::Recipient);
        let sent = shop.telegram.calls(TOKEN, "sendMessage").len();
        assert_eq!(sent, 5, "nothing is tried again here");
        let wrong = send(&shop, &outbound(&shop, "+919812345678/x", "x")).await.unwrap_err();
        assert_eq!(wrong.subject, FaultSubject::Recipient);
        shop.set_secret("vault:bot.token", "no token").await;
        let wrong = send(&shop, &message).await.unwrap_err();
        assert!(wrong.why.contains("BotFather") && !wrong.why.contains("no token"), "{wrong:?}");
    }

    async fn marks_that_are_not_read_and_a_group_that_moved_hold_up_nothing(test: TestDb) {
        let shop = open(test).await;
        shop.telegram.fail(TOKEN, "sendMessage", says(400, "Bad Request: can't parse entities: x", Value::Null));
        send(&shop, &outbound(&shop, "5", "**x**")).await.unwrap();
        let asked = shop.telegram.calls(TOKEN, "sendMessage");
        assert_eq!((asked.len(), asked[1].get("parse_mode")), (2, None));
        let moved = says(400, "Bad Request: group chat was upgraded to a supergroup chat", json!({ "migrate_to_chat_id": -1007 }));
        shop.telegram.fail(TOKEN, "sendMessage", moved);
        let sent = send(&shop, &outbound(&shop, "-7", "x")).await.unwrap();
        assert_eq!(sent.as_deref(), Some("700:-1007:2"));
    }

    async fn an_account_sends_no_more_than_it_may(test: TestDb) {
        let shop = open_bot_shop(test, None).await;
        shop.declare(&shop.account("bot", "per_minute = 1")).await;
        send(&shop, &outbound(&shop, "5", "x")).await.unwrap();
        assert!(send(&shop, &outbound(&shop, "5", "y")).await.unwrap_err().retry_after.is_some());
        assert_eq!(shop.telegram.calls(TOKEN, "sendMessage").len(), 1);
    }
}
