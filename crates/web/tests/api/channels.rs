//! Channels declared, tested and taken away through the API: by whom, and what is told of it.

use munshi_channels::accounts::parse;
use munshi_channels::rows;
use munshi_identity::Role;
use munshi_identity::keys::{KeySpeaker, KeySubject};
use munshi_store::Tx;
use munshi_test_support::environment;
use serde_json::{Value, json};

use crate::api::support::Installation;

fn sms(more: &Value) -> Value {
    let mut new = json!({ "name": "sms", "kind": "twilio", "account_id": "AC0123456789abcdef0123456789abcdef",
                          "number": "+14155550100", "token": "vault:twilio.token" });
    for (key, value) in more.as_object().unwrap() {
        new[key] = value.clone();
    }
    new
}

/// A channel of the shop whose server nobody reaches.
pub(crate) async fn declare_channel(house: &Installation) {
    let now = house.now();
    let file = "[nowhere]\nkind = \"email\"\nhost = \"127.0.0.1\"\nport = 9\nsecurity = \"none\"\nfrom = \"shop@example.com\"\n";
    let declared = parse(file).unwrap();
    let save = move |tx: &mut Tx<'_>| rows::save_accounts(tx, &declared, "asha", "", now);
    house.db.write(house.shop.tenant, save).await.unwrap();
}

async fn add_key(house: &Installation, areas: &[&str]) -> String {
    house.key_with(house.shop.tenant, KeySubject::Role(Role::Admin), Some(areas), None).await
}

fn mail(more: &Value) -> Value {
    let mut new = json!({ "name": "mail", "kind": "email", "host": "smtp.example.com", "from": "Shop <shop@example.com>" });
    for (key, value) in more.as_object().unwrap() {
        new[key] = value.clone();
    }
    new
}

async fn keep_vault(house: &Installation) -> String {
    add_key(house, &["vault"]).await
}

async fn put_secret(house: &Installation, key: &str, name: &str, value: &str) {
    let path = format!("/v1/secrets/{name}");
    house.post(&path, key, json!({ "value": value })).await.is(200);
}

async fn count_files(house: &Installation) -> i64 {
    house.number(house.shop.tenant, "SELECT COUNT(*) FROM channel_files WHERE tenant_id = $1").await
}

on_both! {
    async fn a_channel_is_declared_shown_and_removed(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let admin = add_key(&house, &["channels", "vault"]).await;
        let new = mail(&json!({ "login": "shop", "password": "vault:mail.password", "bindings": ["counter"], "per_minute": 30 }));
        let added = house.post("/v1/channels", &admin, new.clone()).await.is(201);
        assert_eq!(added, json!({ "tenant": "shop", "channel": "mail", "version": 1, "webhook": null, "to_do": [] }));
        let shown = house.get("/v1/channels", &admin).await.is(200);
        let channel = json!({ "name": "mail", "kind": "email", "address": "shop@example.com", "server": "smtp.example.com:587 (starttls)",
                              "login": "shop", "bindings": ["counter"], "per_minute": 30, "receive": "none", "webhook": null,
                              "heard_at": null, "fault": null });
        assert_eq!(shown["items"], json!([channel]));
        house.post("/v1/channels", &admin, new.clone()).await.refused(409, "conflict");
        let replaced = mail(&json!({ "replace": true, "security": "tls" }));
        assert_eq!(house.post("/v1/channels", &admin, replaced).await.is(201)["version"], 2);
        let removed = house.call("POST", "/v1/channels/mail/remove", &admin, None).await.is(200);
        assert_eq!(removed, json!({ "channel": "mail", "version": 3 }));
        house.call("POST", "/v1/channels/mail/remove", &admin, None).await.refused(404, "not_found");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'channels.changed'";
        assert_eq!(house.number(house.shop.tenant, told).await, 3);
    }

    async fn a_declaration_that_can_not_work_changes_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let admin = add_key(&house, &["channels", "vault"]).await;
        for (new, words) in [
            (json!({ "name": "mail", "kind": "email" }), "set host"),
            (mail(&json!({ "security": "none" })), "this machine"),
            (mail(&json!({ "login": "shop" })), "go together"),
            (mail(&json!({ "host": "https://smtp.example.com" })), "not a host"),
            (mail(&json!({ "from": "shop" })), "address"),
            (mail(&json!({ "kind": "fax" })), "fax"),
            (mail(&json!({ "per_minute": 0 })), "at least 1"),
            (mail(&json!({ "name": "My Mail" })), "name"),
        ] {
            let told = house.post("/v1/channels", &admin, new.clone()).await.refused(422, "invalid");
            assert!(told.to_lowercase().contains(words), "{new}: {told}");
        }
        // What was given in place of a name may be the password, so it is not repeated.
        let open = mail(&json!({ "login": "shop", "password": "s3cret-words" }));
        let told = house.post("/v1/channels", &admin, open).await.refused(422, "invalid");
        assert!(told.contains("vault:") && !told.contains("s3cret"), "{told}");
        assert_eq!(count_files(&house).await, 0);
    }

    async fn what_concerns_the_installation_is_its_keepers(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, admin) = (house.keeper_key("keeper").await, add_key(&house, &["channels", "vault"]).await);
        for host in ["127.0.0.1", "localhost", "10.0.0.7", "[::1]"] {
            let words = house.post("/v1/channels", &admin, mail(&json!({ "host": host }))).await.refused(403, "forbidden");
            assert!(words.contains("leads a channel to"), "{words}");
        }
        let log = json!({ "name": "log", "kind": "log" });
        house.post("/v1/channels", &admin, log.clone()).await.refused(403, "forbidden");
        let narrow = add_key(&house, &["channels"]).await;
        let secret = mail(&json!({ "login": "shop", "password": "vault:razorpay.key" }));
        let words = house.post("/v1/channels", &narrow, secret).await.refused(403, "forbidden");
        assert!(words.contains("vault"), "{words}");
        let login = mail(&json!({ "login": "shop", "password": "vault:connector/odd/login" }));
        house.post("/v1/channels", &admin, login).await.refused(403, "forbidden");
        let areas: Option<&[&str]> = Some(&["channels", "vault"]);
        let role = KeySubject::Role(Role::Owner);
        let machine = house.key_speaking(KeySpeaker::Program, house.shop.tenant, role, (areas, None)).await;
        house.post("/v1/channels", &machine, mail(&json!({}))).await.refused(403, "forbidden");
        assert_eq!(count_files(&house).await, 0);
        house.call_in("shop", ("POST", "/v1/channels"), &keeper, Some(log)).await.is(201);
        let inside = mail(&json!({ "host": "127.0.0.1", "security": "none" }));
        house.call_in("shop", ("POST", "/v1/channels"), &keeper, Some(inside)).await.is(201);
        house.call("POST", "/v1/channels/mail/test", &machine, None).await.refused(403, "forbidden");
    }

    async fn a_test_says_at_which_step_it_failed(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, admin) = (house.keeper_key("keeper").await, add_key(&house, &["channels"]).await);
        declare_channel(&house).await;
        let failed = house.call("POST", "/v1/channels/nowhere/test", &admin, None).await.is(200);
        assert_eq!((&failed["passed"], &failed["to"]), (&json!(false), &json!("shop@example.com")), "{failed}");
        let steps = failed["steps"].as_array().unwrap();
        assert_eq!(steps.last().unwrap()["step"], "connect", "{failed}");
        assert!(failed["advice"].as_str().unwrap().contains("port"), "{failed}");
        let server = environment::mail();
        let works = mail(&json!({ "host": "127.0.0.1", "port": server.plain_port, "security": "none" }));
        house.call_in("shop", ("POST", "/v1/channels"), &keeper, Some(works)).await.is(201);
        let address = format!("meera+{}@example.org", house.shop.tenant);
        let sent = house.post("/v1/channels/mail/test", &admin, json!({ "to": address })).await.is(200);
        assert_eq!(sent["passed"], true, "{sent}");
        let mails = server.read_mailbox(&address);
        assert!(mails.len() == 1 && mails[0].contains("Subject: Test of a channel"), "{mails:?}");
        house.post("/v1/channels/mail/test", &admin, json!({ "to": "nobody" })).await.refused(422, "invalid");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'channel.tested'";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);
    }
    async fn a_messenger_is_declared_with_what_is_left_to_do(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let admin = add_key(&house, &["channels", "vault"]).await;
        let added = house.post("/v1/channels", &admin, sms(&json!({}))).await.is(201);
        assert_eq!(added["webhook"], "https://munshi.example/channels/shop/sms", "{added}");
        assert!(!added["to_do"].as_array().unwrap().is_empty(), "{added}");
        let shown = house.get("/v1/channels", &admin).await.is(200);
        let channel = &shown["items"][0];
        assert_eq!((&channel["kind"], &channel["address"]), (&json!("twilio"), &json!("+14155550100")), "{shown}");
        assert_eq!((&channel["receive"], &channel["heard_at"]), (&json!("webhook"), &json!(null)), "{shown}");
        assert!(!shown.to_string().contains("twilio.token"), "{shown}");
        // One that only sends is called by nobody.
        let quiet = sms(&json!({ "receive": "none", "replace": true }));
        assert_eq!(house.post("/v1/channels", &admin, quiet).await.is(201)["webhook"], json!(null));
    }

    async fn the_secret_of_an_address_is_for_those_who_change_channels(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let admin = add_key(&house, &["channels", "vault"]).await;
        put_secret(&house, &keep_vault(&house).await, "msg91.key", "a-long-key-of-msg91").await;
        let new = json!({ "name": "sms", "kind": "msg91", "account_id": "SHARMA", "token": "vault:msg91.key" });
        let added = house.post("/v1/channels", &admin, new).await.is(201);
        let webhook = added["webhook"].as_str().unwrap();
        let (own, secret) = webhook.rsplit_once('/').unwrap();
        assert!(own == "https://munshi.example/channels/shop/sms" && secret.len() >= 32, "{webhook}");
        let reader = add_key(&house, &["channels:read"]).await;
        let seen = |shown: &Value| shown["items"][0]["webhook"].as_str().unwrap().to_owned();
        assert_eq!(seen(&house.get("/v1/channels", &admin).await.is(200)), webhook);
        let hidden = seen(&house.get("/v1/channels", &reader).await.is(200));
        assert_eq!(hidden, "https://munshi.example/channels/shop/sms/…");
    }

    async fn a_messenger_that_can_not_be_is_refused(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, admin) = (house.keeper_key("keeper").await, add_key(&house, &["channels", "vault"]).await);
        for (new, words) in [
            (sms(&json!({ "number": null })), "set number"),
            (sms(&json!({ "number": "12" })), "number must be"),
            (sms(&json!({ "receive": "poll" })), "leave receive out"),
            (sms(&json!({ "host": "smtp.example.com" })), "has no key host"),
            (sms(&json!({ "receive": "pigeon" })), "pigeon"),
        ] {
            let told = house.post("/v1/channels", &admin, new.clone()).await.refused(422, "invalid");
            assert!(told.to_lowercase().contains(words), "{new}: {told}");
        }
        let open = sms(&json!({ "token": "s3cret-words" }));
        let told = house.post("/v1/channels", &admin, open).await.refused(422, "invalid");
        assert!(told.contains("vault:") && !told.contains("s3cret"), "{told}");
        let narrow = add_key(&house, &["channels"]).await;
        house.post("/v1/channels", &narrow, sms(&json!({}))).await.refused(403, "forbidden");
        let login = sms(&json!({ "token": "vault:connector/odd/login" }));
        house.post("/v1/channels", &admin, login).await.refused(403, "forbidden");
        let elsewhere = sms(&json!({ "api_url": "https://sms.elsewhere.example" }));
        let words = house.post("/v1/channels", &admin, elsewhere.clone()).await.refused(403, "forbidden");
        assert!(words.contains("leads a channel to"), "{words}");
        assert_eq!(count_files(&house).await, 0);
        house.call_in("shop", ("POST", "/v1/channels"), &keeper, Some(elsewhere)).await.is(201);
    }

    async fn a_messenger_is_tried_without_a_message(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let (keeper, admin) = (house.keeper_key("keeper").await, add_key(&house, &["channels"]).await);
        put_secret(&house, &keep_vault(&house).await, "twilio.token", "twelve-words").await;
        // Nobody listens there.
        let new = sms(&json!({ "api_url": "http://127.0.0.1:9" }));
        house.call_in("shop", ("POST", "/v1/channels"), &keeper, Some(new)).await.is(201);
        let tried = house.call("POST", "/v1/channels/sms/test", &admin, None).await.is(200);
        assert_eq!((&tried["passed"], &tried["to"]), (&json!(false), &json!(null)), "{tried}");
        assert_eq!(tried["webhook"], "https://munshi.example/channels/shop/sms");
        assert!(!tried.to_string().contains("twelve-words"), "{tried}");
        let steps = tried["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["step"] != "send"), "{tried}");
        let sent = house.post("/v1/channels/sms/test", &admin, json!({ "to": "9812345678" })).await.is(200);
        let last = sent["steps"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["step"], &last["passed"]), (&json!("send"), &json!(false)), "{sent}");
        assert!(!last["detail"].as_str().unwrap().contains("98123"), "{sent}");
        house.post("/v1/channels/sms/test", &admin, json!({ "to": "meera" })).await.refused(422, "invalid");
    }
}
