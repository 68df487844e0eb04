//! What Telegram tells us by itself: only what is surely from it, and each once.

use munshi_channels::incoming::{
    ArrivedFile, ChannelIntake, ChannelRequest, ChannelRequestMethod, IntakeOutcome,
};
use munshi_test_support::{on_both_engines, wait_until};
use munshi_types::Clock;
use proptest::prelude::{any, prop};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::stand_in::BotFailure;
use super::{BotShop, TOKEN, open_bot_shop};
use crate::channels::sdks::check_update;
use crate::channels::support::migrations;

const PLACE: Option<&str> = Some("https://munshi.example");
const HEADER: &str = "x-telegram-bot-api-secret-token";

fn request(shop: &BotShop, secret: Option<&str>, body: Vec<u8>) -> ChannelRequest {
    ChannelRequest {
        method: ChannelRequestMethod::Post,
        url: "https://munshi.example/channels/sharma/bot".to_owned(),
        path_secret: None,
        headers: secret.map(|secret| (HEADER.to_owned(), secret.as_bytes().to_vec())).into_iter().collect(),
        query: Vec::new(),
        body,
        now: shop.test.clock.now(),
    }
}

async fn take(shop: &BotShop, intake: &ChannelIntake, secret: &str, update: &Value) -> IntakeOutcome {
    check_update("telegram", update).unwrap();
    let request = request(shop, Some(secret), update.to_string().into_bytes());
    intake.take(shop.tenant, &"bot".parse().unwrap(), &request).await.unwrap()
}

/// A shop whose webhook Telegram knows, with the secret that it sends along.
async fn open(test: munshi_test_support::TestDb) -> (BotShop, String) {
    let shop = open_bot_shop(test, PLACE).await;
    shop.declare(&shop.account("bot", "")).await;
    let link = shop.accounts.find_link(shop.tenant, &"bot".parse().unwrap()).await.unwrap().unwrap();
    let report = link.inspect().await;
    assert!(report.steps.iter().all(|step| step.failed.is_none()), "{report:?}");
    assert!(report.steps[0].found.as_deref().unwrap().contains("@sharma_bot"), "{report:?}");
    assert!(report.to_do[0].contains("https://t.me/sharma_bot"), "{report:?}");
    let secret = shop.telegram.secret(TOKEN);
    (shop, secret)
}

on_both_engines! {
    with all migrations();

    async fn a_bot_is_set_up_and_what_it_is_told_is_taken_once(test: TestDb) {
        let (shop, secret) = open(test).await;
        let url = shop.telegram.webhook(TOKEN);
        assert_eq!(url, "https://munshi.example/channels/sharma/bot");
        assert!(!secret.contains("secret_token") && secret.len() == 64, "nothing of the token leaves");
        let (intake, update) = (shop.intake(), shop.said(1, "milk?"));
        let IntakeOutcome::Stored(first) = take(&shop, &intake, &secret, &update).await else { panic!("not stored") };
        let IntakeOutcome::Stored(again) = take(&shop, &intake, &secret, &update).await else { panic!("not stored") };
        assert_eq!((first.stored, again.stored, again.known, shop.stored().await), (1, 0, 1, 1));
    }

    async fn what_is_not_surely_telegrams_is_stored_nowhere(test: TestDb) {
        let (shop, secret) = open(test).await;
        let (intake, body) = (shop.intake(), shop.said(1, "milk?").to_string().into_bytes());
        let other: String = secret.chars().rev().collect();
        for given in [None, Some(""), Some(other.as_str()), Some("0"), Some(&secret[1..]), Some(TOKEN)] {
            let request = request(&shop, given, body.clone());
            let outcome = intake.take(shop.tenant, &"bot".parse().unwrap(), &request).await.unwrap();
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{given:?}: {outcome:?}");
        }
        let asked = ChannelRequest { method: ChannelRequestMethod::Get, ..request(&shop, Some(&secret), body.clone()) };
        let outcome = intake.take(shop.tenant, &"bot".parse().unwrap(), &asked).await.unwrap();
        assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
        let mut twice = request(&shop, Some(&secret), body);
        twice.headers.push((HEADER.to_owned(), b"x".to_vec()));
        let outcome = intake.take(shop.tenant, &"bot".parse().unwrap(), &twice).await.unwrap();
        assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
        assert_eq!(shop.stored().await, 0);
    }

    async fn any_bytes_at_all_break_nothing(test: TestDb) {
        let (shop, secret) = open(test).await;
        let intake = shop.intake();
        let mut runner = TestRunner::deterministic();
        let bodies = prop::collection::vec(any::<u8>(), 0..200);
        let headers = prop::collection::vec(any::<u8>(), 0..80);
        for _ in 0..60 {
            let body = bodies.new_tree(&mut runner).unwrap().current();
            let given = headers.new_tree(&mut runner).unwrap().current();
            let unverified = ChannelRequest { headers: vec![(HEADER.to_owned(), given)], ..request(&shop, None, body.clone()) };
            let outcome = intake.take(shop.tenant, &"bot".parse().unwrap(), &unverified).await.unwrap();
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
            let verified = request(&shop, Some(&secret), body);
            let outcome = intake.take(shop.tenant, &"bot".parse().unwrap(), &verified).await.unwrap();
            assert_eq!(outcome, IntakeOutcome::Ignored);
        }
        assert_eq!(shop.stored().await, 0);
    }

    async fn a_group_is_stored_only_where_it_speaks_to_the_bot(test: TestDb) {
        let (shop, secret) = open(test).await;
        let intake = shop.intake();
        let said = |update: i64, text: &str, entities: Value| json!({ "update_id": update, "message": {
            "message_id": update, "date": 1_795_000_000, "text": text, "entities": entities,
            "from": { "id": 5, "is_bot": false, "first_name": "Meera" }, "chat": { "id": -7, "type": "group", "title": "Staff" },
        } });
        assert_eq!(take(&shop, &intake, &secret, &said(1, "two crates", json!([]))).await, IntakeOutcome::Ignored);
        let mention = json!([{ "type": "mention", "offset": 0, "length": 11 }]);
        let taken = take(&shop, &intake, &secret, &said(2, "@sharma_bot milk?", mention)).await;
        assert!(matches!(taken, IntakeOutcome::Stored(_)), "{taken:?}");
        assert_eq!(shop.stored().await, 1);
    }

    async fn a_press_stops_turning(test: TestDb) {
        let (shop, secret) = open(test).await;
        let shown = json!({ "message_id": 4, "date": 1, "from": { "id": 700, "is_bot": true, "first_name": "Sharma" }, "chat": { "id": 5, "type": "private" },
            "reply_markup": { "inline_keyboard": [[{ "text": "Yes", "callback_data": "s:0" }]] } });
        let press = json!({ "update_id": 3, "callback_query": { "id": "77", "chat_instance": "1",
            "from": { "id": 5, "is_bot": false, "first_name": "M" }, "message": shown, "data": "s:0" } });
        let taken = take(&shop, &shop.intake(), &secret, &press).await;
        assert!(matches!(taken, IntakeOutcome::Stored(_)), "{taken:?}");
        wait_until(async || shop.telegram.calls(TOKEN, "answerCallbackQuery").len() == 1).await;
        assert_eq!(shop.telegram.calls(TOKEN, "answerCallbackQuery")[0]["callback_query_id"], "77");
    }

    async fn a_file_that_is_gone_is_gone_for_good(test: TestDb) {
        let (shop, _) = open(test).await;
        let link = shop.accounts.find_link(shop.tenant, &"bot".parse().unwrap()).await.unwrap().unwrap();
        let file = ArrivedFile { reference: "f".to_owned(), media_type: String::new(), name: None, size: None };
        let refusal = json!({ "ok": false, "error_code": 400, "description": "Bad Request: file is too big" });
        shop.telegram.fail(TOKEN, "getFile", BotFailure::Says(400, refusal));
        let fault = link.open_file(&file).await.err().unwrap();
        assert!(fault.what.contains("too big"), "{fault:?}");
        let hidden = json!({ "ok": true, "result": { "file_path": "../../etc/passwd" } });
        shop.telegram.fail(TOKEN, "getFile", BotFailure::Says(200, hidden));
        let fault = link.open_file(&file).await.err().unwrap();
        assert!(fault.what.contains("no place"), "{fault:?}");
    }
}
