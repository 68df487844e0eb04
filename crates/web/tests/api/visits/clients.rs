//! One person with two browsers: what one has shown, the other has not.

use munshi_identity::Role;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use super::{Browser, opened};
use crate::api::support::{PASSWORD, text_of};

on_both! {
    async fn a_question_in_one_browser_is_not_answered_by_a_bare_yes_in_another(test: TestDb) {
        let script = [
            ScriptedTurn::call("wipe", &json!({ "text": "all" })),
            ScriptedTurn::text("It is wiped."),
            ScriptedTurn::call("wipe", &json!({ "text": "more" })),
            ScriptedTurn::text("All right."),
        ];
        let house = opened(&test, script).await;
        let asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut elsewhere = house.browser();
        elsewhere.sign_in("asha@shop.example", PASSWORD).await.moved("/account");
        let [one, other] = [&asha, &elsewhere].map(|signed_in| {
            let cookie = format!("munshi_sign_in={}", signed_in.cookies["munshi_sign_in"]);
            Browser::default().with("cookie", cookie).with("sec-fetch-site", "same-origin")
        });
        let counter = "/visit/shop-counter";
        let wiped = || house.world.wiped.lock().unwrap().len();
        one.say_at(&house, counter, "wipe it", "1").await;
        let (_, told) = one.say_at(&house, counter, "yes", "2").await;
        assert_eq!((text_of(&told).as_str(), wiped()), ("It is wiped.", 1), "it was shown there");
        let (_, told) = one.say_at(&house, counter, "wipe more", "3").await;
        assert_eq!(told.last().unwrap().data["state"], "waiting_approval");
        let (_, told) = other.say_at(&house, counter, "yes", "4").await;
        assert!(text_of(&told).starts_with("All right."), "{told:?}");
        assert_eq!(wiped(), 1);
        assert_eq!(other.get(&house, counter).await.1["approvals"][0]["state"], "pending", "the same person all the same");
    }
}
