//! What models were told, read by whoever may read the conversation.

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_safety::policy;
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::database::MORNING;
use munshi_test_support::models::ScriptedTurn;
use serde_json::json;

use crate::api::support::Installation;

const OPENED: &str =
    "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'conversation.opened'";

on_both! {
    async fn prompts_are_opened_as_the_conversation_is(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Yes."), ScriptedTurn::text("In.")]).await;
        let (shop, owner) = (house.shop.tenant, house.key(Role::Owner).await);
        let own = house.key_with(shop, KeySubject::Person(house.shop.staff), None, None).await;
        let ask = async |text: &str| {
            let chat = house.post("/v1/chat", &own, json!({ "binding": "counter", "text": text })).await.is(200);
            format!("/v1/runs/{}/stored-prompts", chat["run"].as_str().unwrap())
        };
        let before = ask("are you open?").await;
        let rules = policy::parse(&format!("{OPEN_POLICY}[retention]\nprompts_days = 3\n")).unwrap();
        house.db.write(shop, move |tx| policy::apply(tx, &rules, "test", "", MORNING)).await.unwrap();
        let path = ask("are marigolds in?").await;
        assert_eq!(house.get(&before, &owner).await.is(200)["items"], json!([]), "nobody wanted it then");
        assert_eq!(house.number(shop, OPENED).await, 1);
        let told = house.get(&path, &owner).await.is(200);
        let prompt = &told["items"][0];
        let roles: Vec<&str> =
            prompt["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert!(roles.starts_with(&["system"]) && roles.ends_with(&["user"]), "{prompt}");
        assert!(prompt["messages"].to_string().contains("are marigolds in?"), "{prompt}");
        assert_eq!((&prompt["cut"], &prompt["withheld"]), (&json!(false), &json!(false)));
        assert_eq!(house.number(shop, OPENED).await, 2, "it was somebody else's");
        house.get(&path, &house.key_of(house.other.tenant, Role::Owner).await).await.refused(404, "not_found");
        let runs = house.key_with(shop, KeySubject::Role(Role::Owner), Some(&["runs"]), None).await;
        house.get(&path, &runs).await.refused(403, "forbidden");
        let customer = house.customer("Raju").await;
        let customer = house.key_with(shop, KeySubject::Person(customer), None, None).await;
        house.get(&path, &customer).await.refused(403, "forbidden");
    }

    async fn who_is_the_customer_reads_no_whisper_in_a_prompt(test: TestDb) {
        let house = Installation::open(&test, [ScriptedTurn::text("Yes."), ScriptedTurn::text("In.")]).await;
        let shop = house.shop.tenant;
        let rules = policy::parse(&format!("{OPEN_POLICY}[retention]\nprompts_days = 3\n")).unwrap();
        house.db.write(shop, move |tx| policy::apply(tx, &rules, "test", "", MORNING)).await.unwrap();
        let staff = house.key_with(shop, KeySubject::Person(house.shop.staff), None, None).await;
        let owner = house.key_with(shop, KeySubject::Person(house.shop.owner), None, None).await;
        let ask = async |text: &str| house.post("/v1/chat", &staff, json!({ "binding": "counter", "text": text })).await.is(200);
        let first = ask("are you open?").await;
        let path = format!("/v1/runs/{}/stored-prompts", first["run"].as_str().unwrap());
        house.get(&path, &staff).await.is(200);
        let whispers = format!("/v1/sessions/{}/whispers", first["session"].as_str().unwrap());
        let told = house.post(&whispers, &owner, json!({ "text": "She pays late: ask for cash at once." })).await;
        assert!(told.status < 300);
        let told = ask("are marigolds in?").await;
        let path = format!("/v1/runs/{}/stored-prompts", told["run"].as_str().unwrap());
        let prompts = house.get(&path, &owner).await.is(200);
        assert!(prompts.to_string().contains("She pays late"), "{prompts}");
        house.get(&path, &staff).await.refused(403, "forbidden");
    }
}
