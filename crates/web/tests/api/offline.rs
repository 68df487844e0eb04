//! The model that needs no key, through the API.

use std::sync::Arc;

use munshi_identity::Role;
use munshi_lang::Phrasebook;
use munshi_llm::ModelTarget;
use munshi_offline::OfflineProvider;
use serde_json::json;

use crate::api::support::{Installation, chat, text_of};

on_both! {
    async fn the_offline_model_answers_on_both_ways(test: TestDb) {
        let offline = Phrasebook::core().and_then(OfflineProvider::new).unwrap();
        let house = Installation::thinking_with(&test, Arc::new(offline), ModelTarget::offline()).await;
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
