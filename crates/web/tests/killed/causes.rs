//! One cause of each kind, as it comes to a node: over HTTP, sent again by whoever heard nothing.

use std::time::Duration;

use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_jobs::NewJob;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{SecretRef, VaultAuditContext, VaultSecret};
use munshi_store::{Tx, params};
use munshi_types::ActId;
use ring::hmac;
use serde_json::{Value, json};

use super::living::{Answer, Living, Request};
use crate::api::support::{Installation, encoded};

const SECRET: &str = "whsec_society";
const DAY: Duration = Duration::from_secs(86_400);
const PAGE: &str = "/pages/shop/board/notices/new";

/// Who may bring them, and what there is before.
pub(crate) struct Causes {
    /// Of whoever runs the shop.
    key: String,
    /// Opens what packs have to be administered.
    pack_key: String,
    /// Of a browser that is signed in.
    cookie: String,
    /// The notice that the operation takes down.
    outdated: ActId,
}

impl Causes {
    pub(crate) async fn prepare(house: &Installation) -> Self {
        let shop = house.shop.tenant;
        for name in ["board.hook", "board.feed"] {
            let by = VaultAuditContext {
                actor: AuditActor::new(AuditActorKind::Operator, "test"),
                now: house.now(),
            };
            let (name, value) =
                (SecretRef::from_name(name).unwrap(), VaultSecret::new(SECRET.to_owned()).unwrap());
            house.vault.as_ref().unwrap().set(shop, &name, value, by).await.unwrap();
        }
        let outdated = pin(house, "Outdated", 1).await;
        pin(house, "Stale", 31).await;
        pin(house, "Ancient", 91).await;
        let packs = ["packs"];
        let pack_key = house.key_with(shop, KeySubject::Role(Role::Owner), Some(&packs), None).await;
        let browser = house.operator("asha@shop.example", shop, Role::Owner).await;
        let cookies: Vec<String> =
            browser.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self { key: house.key(Role::Owner).await, pack_key, cookie: cookies.join("; "), outdated }
    }

    /// Everything but what comes by the clock.
    pub(crate) async fn happen(&self, house: &Installation, node: &mut Living) {
        self.say(house, node, "m1", "NOTICE: Water: No water on Monday").await;
        self.deliver(node).await;
        let rent = json!({ "title": "Rent", "text": "It is due" });
        self.say(house, node, "m2", &format!("Call remind_me {rent}")).await;
        let both = json!({ "titles": ["Lift", "Roof"], "text": "Repairs" });
        self.say(house, node, "m3", &format!("Call remind_all {both}")).await;
        let circular = json!({ "title": "Meeting" });
        self.say(house, node, "m4", &format!("Call send_circular {circular}")).await;
        enqueue_digest(house).await;
        self.fill_in_form(node).await;
        self.unpin(node).await;
        // Senders are not sure either.
        self.deliver(node).await;
    }

    async fn say(&self, house: &Installation, node: &mut Living, id: &str, text: &str) {
        let body =
            json!({ "binding": "counter", "text": text, "person": house.shop.owner, "message_id": id });
        let answer = node.ask(&self.post("/v1/chat", &self.key, &body)).await;
        assert_eq!(answer.status, 200, "{text}: {}", answer.body);
    }

    async fn deliver(&self, node: &mut Living) {
        let body = json!({ "id": "sent-1", "title": "Gas", "text": "Turn it off" }).to_string();
        let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), body.as_bytes());
        let signature: String = signature.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let headers = vec![("x-board-signature", signature), ("x-board-id", "sent-1".to_owned())];
        let path = "/hooks/shop/board/notices".to_owned();
        let answer = node.ask(&Request { method: "POST", path, headers, body }).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    async fn fill_in_form(&self, node: &mut Living) {
        let headers = vec![("cookie", self.cookie.clone())];
        let page = Request { method: "GET", path: PAGE.to_owned(), headers, body: String::new() };
        let page = node.ask(&page).await;
        let field = |name: &str| {
            let before = format!("name=\"{name}\" value=\"");
            let (_, rest) = page.body.split_once(&before).unwrap_or_else(|| panic!("no {name} in {page:?}"));
            encoded(rest.split_once('"').unwrap().0)
        };
        let body = format!("form={}&once={}&title=Form&text=Typed", field("form"), field("once"));
        let headers = vec![
            ("cookie", self.cookie.clone()),
            ("origin", "http://munshi.example".to_owned()),
            ("content-type", "application/x-www-form-urlencoded".to_owned()),
        ];
        let sent = node.ask(&Request { method: "POST", path: PAGE.to_owned(), headers, body }).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
    }

    /// Under one key. Who died between the change and its answer has kept none: that is told.
    async fn unpin(&self, node: &mut Living) {
        let path = format!("/v1/packs/board/notices/{}/unpin", self.outdated);
        let mut request = self.post(&path, &self.pack_key, &json!({}));
        request.headers.push(("idempotency-key", "unpin-once".to_owned()));
        let answer = node.ask(&request).await;
        let was_begun = answer.status == 409 && answer.body.contains("was begun before");
        assert!(answer.status == 200 || was_begun, "{answer:?}");
    }

    /// Says yes to whatever is asked.
    pub(crate) async fn say_yes(&self, node: &mut Living) {
        let headers = vec![("authorization", format!("Bearer {}", self.key))];
        let path = "/v1/approvals".to_owned();
        let asked = node.ask(&Request { method: "GET", path, headers, body: String::new() }).await;
        let asked = parse(&asked);
        for approval in asked["items"].as_array().unwrap() {
            let path = format!("/v1/approvals/{}/grant", approval["id"].as_str().unwrap());
            let grant = self.post(&path, &self.key, &json!({ "digest": approval["digest"] }));
            let granted = node.ask(&grant).await;
            assert!(matches!(granted.status, 200 | 409), "{granted:?}");
        }
    }

    fn post(&self, path: &str, key: &str, body: &Value) -> Request {
        let headers =
            vec![("authorization", format!("Bearer {key}")), ("content-type", "application/json".to_owned())];
        Request { method: "POST", path: path.to_owned(), headers, body: body.to_string() }
    }
}

fn parse(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Puts one up, so many days ago.
async fn pin(house: &Installation, title: &'static str, days: u32) -> ActId {
    let (id, at) = (house.ids.next::<ActId>(), house.now().minus(DAY * days));
    let unit = move |tx: &mut Tx<'_>| {
        let sql = "INSERT INTO notices (tenant_id, id, title, text, pinned_at) VALUES ($1, $2, $3, '', $4)";
        tx.execute(sql, params![id, title, at])
    };
    house.db.write(house.shop.tenant, unit).await.unwrap();
    id
}

/// As the pack itself would.
async fn enqueue_digest(house: &Installation) {
    let (queue, job) = (house.queue.clone(), NewJob::new("board.digest", &json!({})).unwrap());
    house.db.write(house.shop.tenant, move |tx| queue.enqueue(tx, &job)).await.unwrap();
}
