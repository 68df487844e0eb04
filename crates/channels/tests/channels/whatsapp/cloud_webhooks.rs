//! What Meta tells the address of an account: taken once, and only from Meta.

use munshi_channels::incoming::{ChannelRequest, ChannelRequestMethod, IntakeOutcome};
use munshi_test_support::on_both_engines;
use ring::hmac;
use serde_json::{Value, json};

use super::meta::{PHONE, account, check};
use super::stand_in::Asked;
use super::{SECRET, WhatsappShop, open_shop};
use crate::channels::sdks::check_update;
use crate::channels::support::migrations;

fn tell(ids: &[&str], phone: &str) -> Vec<u8> {
    let said = |id: &&str| json!({ "from": "919812345678", "id": id, "timestamp": "1739321024", "type": "text", "text": { "body": "milk?" } });
    let messages: Vec<Value> = ids.iter().map(said).collect();
    let value = json!({ "messaging_product": "whatsapp", "messages": messages,
        "metadata": { "display_phone_number": "15550967852", "phone_number_id": phone },
        "contacts": [{ "profile": { "name": "Meera" }, "wa_id": "919812345678", "user_id": "IN.13491208655302741918" }] });
    let body = json!({ "object": "whatsapp_business_account",
        "entry": [{ "id": "102290129340398", "changes": [{ "field": "messages", "value": value }] }] });
    check_update("whatsapp", &body).unwrap();
    body.to_string().into_bytes()
}

pub(super) fn sign(shop: &WhatsappShop, secret: &str, body: &[u8]) -> ChannelRequest {
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body);
    let hex: String = signature.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let headers = vec![("x-hub-signature-256".to_owned(), format!("sha256={hex}").into_bytes())];
    ChannelRequest { headers, ..shop.request(ChannelRequestMethod::Post, body) }
}

on_both_engines! {
    with all migrations();

    async fn what_is_told_again_is_taken_once(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        for (ids, stored, known) in [(&["wamid.A"][..], 1, 0), (&["wamid.A", "wamid.B"][..], 1, 1), (&["wamid.B"][..], 0, 1)] {
            let outcome = shop.take(&sign(&shop, SECRET, &tell(ids, PHONE))).await;
            let IntakeOutcome::Stored(arrivals) = outcome else { panic!("{outcome:?}") };
            assert_eq!((arrivals.stored, arrivals.known), (stored, known), "{ids:?}");
        }
        assert_eq!(shop.stored().await, 2);
        let other = shop.take(&sign(&shop, SECRET, &tell(&["wamid.C"], "another"))).await;
        assert_eq!((other, shop.stored().await), (IntakeOutcome::Ignored, 2));
    }

    async fn what_is_not_metas_is_stored_nowhere(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        let body = tell(&["wamid.A"], PHONE);
        let mut changed = sign(&shop, SECRET, &body);
        changed.body.push(b' ');
        for request in [sign(&shop, "another", &body), changed, shop.request(ChannelRequestMethod::Post, &body)] {
            let outcome = shop.take(&request).await;
            assert!(matches!(outcome, IntakeOutcome::Unverified(_)), "{outcome:?}");
        }
        let unread = shop.take(&sign(&shop, SECRET, b"no JSON")).await;
        assert_eq!((unread, shop.stored().await), (IntakeOutcome::Ignored, 0));
    }

    async fn the_word_that_a_look_gives_meta_is_the_one_it_is_answered_for(test: TestDb) {
        let shop = open_shop(test, check, &account()).await;
        shop.link().await.inspect().await;
        let set: Vec<Value> = shop.provider.asked("/277321005464405").iter().filter(|asked| asked.method == "POST")
            .map(Asked::json).collect();
        let token = set[0]["webhook_configuration"]["verify_token"].as_str().unwrap().to_owned();
        let ask = |token: &str| ChannelRequest {
            query: [("hub.mode", "subscribe"), ("hub.verify_token", token), ("hub.challenge", "1158201444")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            ..shop.request(ChannelRequestMethod::Get, b"")
        };
        let outcome = shop.take(&ask(&token)).await;
        let IntakeOutcome::Answered(answer) = outcome else { panic!("{outcome:?}") };
        assert_eq!(answer.text, "1158201444");
        let refused = shop.take(&ask(&token.replace('a', "b"))).await;
        assert!(matches!(refused, IntakeOutcome::Unverified(_)) || !token.contains('a'), "{refused:?}");
        assert!(matches!(shop.take(&ask("")).await, IntakeOutcome::Unverified(_)));
    }
}
