//! What goes into the vault over the API.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use serde_json::json;

use crate::api::support::Installation;

on_both! {
    async fn a_secret_goes_in_and_is_told_nowhere(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let keeper = house.keeper_key("keeper").await;
        let admin = house.key_with(house.shop.tenant, KeySubject::Role(Role::Admin), Some(&["vault"]), None).await;
        let wrong = house.post("/v1/secrets/pin", &admin, json!({ "value": 481516 })).await;
        assert!(!wrong.refused(422, "invalid").contains("481516"));
        house.post("/v1/secrets/pin", &admin, json!({ "value": "481516" })).await.is(200);
        let listed = house.get("/v1/secrets", &admin).await.is(200);
        assert_eq!((listed["items"].as_array().unwrap().len(), &listed["items"][0]["name"]), (1, &json!("pin")));
        // The installation's own is its keeper's, and a tenant's is not another's.
        let whole = house.get("/v1/secrets", &keeper).await.is(200);
        assert_eq!(whole["items"], json!([]));
        let told = house.get("/v1/audit", &keeper).await.is(200).to_string() + &listed.to_string();
        assert!(!told.contains("481516"));
    }
}
