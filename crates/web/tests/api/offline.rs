//! The model that needs no key, through the API.

use munshi_identity::Role;
use serde_json::json;

use crate::api::support::{Installation, Setup, chat, text_of};

on_both! {
    async fn the_offline_model_answers_on_both_ways(test: TestDb) {
        let house = Installation::open_with(&test, [], Setup { offline: true, ..Setup::default() }).await;
        let key = house.key(Role::Staff).await;
        let say = |text: &str| json!({ "binding": "counter", "text": text, "person": house.shop.staff });
        let body = house.post("/v1/chat", &key, say("namaste, kaise ho?")).await.is(200);
        assert_eq!((&body["state"], &body["usage"]["cost_micros"]), (&json!("done"), &json!(0)), "{body}");
        assert!(!body["text"].as_str().unwrap().is_empty());
        let (_, told) = house.stream(chat(&key, &say("hello, how are you?")), usize::MAX).await;
        assert_eq!(told.last().unwrap().name, "done");
        assert!(!text_of(&told).is_empty());
    }
}
