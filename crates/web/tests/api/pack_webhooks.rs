//! What others send packs: verified by the pack, stored before the answer, and told to nobody else.

use axum::body::Body;
use axum::http::Request;
use munshi_identity::Role;
use munshi_identity::keys::KeySubject;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::policy;
use munshi_safety::vault::{SecretRef, VaultAuditContext, VaultSecret};
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{JsonText, PlatformTx, SealedColumn, Tx, params};
use munshi_test_support::administer_platform;
use munshi_test_support::database::MORNING;
use munshi_types::{DeliveryId, TenantId, TenantStatus};
use munshi_web::Peer;
use ring::hmac;

use crate::api::support::{HOOK_SECRET, Installation, Reply};

const HOOK: &str = "/hooks/shop/notes/inbox";
const SECRET: &str = "whsec_shop";
const STORED: &str = "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1";
const JOBS: &str = "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND kind = 'pack.delivery'";

fn sign(body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    hmac::sign(&key, body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn set_secret(house: &Installation, tenant: TenantId) {
    let actor = AuditActor::new(AuditActorKind::Operator, "test");
    let by = VaultAuditContext { actor, now: house.now() };
    let (name, value) =
        (SecretRef::from_name(HOOK_SECRET).unwrap(), VaultSecret::new(SECRET.to_owned()).unwrap());
    house.vault.as_ref().unwrap().set(tenant, &name, value, by).await.unwrap();
}

async fn send(house: &Installation, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Reply {
    let method = if headers.iter().any(|(name, _)| *name == "x-get") { "GET" } else { "POST" };
    let mut request = Request::builder().method(method).uri(path).header("host", "munshi.example");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(body.into()).unwrap();
    request.extensions_mut().insert(Peer("198.51.100.9:4000".parse().unwrap()));
    Reply::of(house.send(request).await).await
}

async fn deliver(house: &Installation, id: &str, body: &'static str) -> Reply {
    let signature = sign(body.as_bytes());
    let headers = [("x-notes-signature", signature.as_str()), ("x-notes-id", id), ("x-notes-kind", "letter")];
    send(house, HOOK, &headers, body).await
}

async fn set_status(house: &Installation, status: TenantStatus) {
    let shop = house.shop.tenant;
    let set =
        move |tx: &mut PlatformTx<'_>| administer_platform(tx, |tx| tenants::set_status(tx, shop, status));
    house.db.platform(TENANTS).write(set).await.unwrap();
}

on_both! {
    async fn a_verified_delivery_is_stored_with_its_job_before_the_answer(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        set_secret(&house, shop).await;
        for _ in 0..2 {
            let reply = deliver(&house, "one", "{\"text\": \"eggs\"}").await;
            assert_eq!((reply.status, reply.text().as_str()), (200, "ok"));
            assert!(reply.header("content-type").starts_with("text/plain"));
        }
        assert_eq!((house.number(shop, STORED).await, house.number(shop, JOBS).await), (1, 1));
        let kept = |tx: &mut Tx<'_>| {
            let sql = "SELECT id, shown_sender, headers FROM pack_deliveries WHERE tenant_id = $1 AND state = 'waiting'";
            let column = |name| SealedColumn::new("pack_deliveries", name);
            tx.all(sql, params![], |row| {
                let id: DeliveryId = row.get(0)?;
                let sender: String = row.get_sealed(1, column("shown_sender").cell(id))?;
                let headers: JsonText = row.get_sealed(2, column("headers").cell(id))?;
                Ok((sender, headers.as_str().to_owned()))
            })
        };
        let kept: Vec<(String, String)> = house.db.read(shop, kept).await.unwrap();
        assert_eq!(kept.len(), 1);
        let (sender, headers) = &kept[0];
        assert!(sender == "one" && headers.contains("letter") && !headers.contains("signature"), "{headers}");
        assert_eq!(deliver(&house, "two", "{\"text\": \"eggs\"}").await.status, 200);
        assert_eq!((house.number(shop, STORED).await, house.number(shop, JOBS).await), (2, 2));
    }

    async fn a_header_that_is_there_twice_is_not_kept(test: TestDb) {
        let house = Installation::open(&test, []).await;
        set_secret(&house, house.shop.tenant).await;
        let signature = sign(b"{}");
        let headers = [
            ("x-notes-signature", signature.as_str()), ("x-notes-id", "one"), ("x-notes-kind", "letter"), ("x-notes-kind", "parcel"),
        ];
        assert_eq!(send(&house, HOOK, &headers, "{}").await.status, 200);
        let bare = "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1 AND CAST(headers AS TEXT) = '[]'";
        assert_eq!((house.number(house.shop.tenant, STORED).await, house.number(house.shop.tenant, bare).await), (1, 1));
    }

    async fn nobody_learns_what_is_there_who_can_not_sign(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        set_secret(&house, shop).await;
        let good = sign(b"{}");
        let told = send(&house, HOOK, &[("x-notes-signature", "00")], "{}").await;
        let told = told.refused(401, "unauthenticated");
        for (path, signature) in [
            (HOOK, ""), (HOOK, &good[..10]), ("/hooks/nobody/notes/inbox", &good), ("/hooks/shop/notes/outbox", &good),
            // The other tenant has set no secret.
            ("/hooks/shop/none/inbox", &good), ("/hooks/other/notes/inbox", &good), ("/hooks/%F0%9F%92%A5/notes/inbox", &good),
        ] {
            let reply = send(&house, path, &[("x-notes-signature", signature)], "{}").await;
            assert_eq!(reply.refused(401, "unauthenticated"), told, "{path}");
        }
        // A signature of another body, and two of them.
        assert_eq!(send(&house, HOOK, &[("x-notes-signature", &good)], "{ }").await.status, 401);
        let twice = [("x-notes-signature", good.as_str()), ("x-notes-signature", "00")];
        assert_eq!(send(&house, HOOK, &twice, "{}").await.status, 401);
        for tenant in [shop, house.other.tenant] {
            assert_eq!((house.number(tenant, STORED).await, house.number(tenant, JOBS).await), (0, 0));
        }
        // Whoever goes on trying is told to wait; a sender who can sign is not.
        let mut last = 401;
        for _ in 0..30 {
            last = send(&house, HOOK, &[], "{}").await.status;
        }
        assert_eq!(last, 429);
        assert_eq!(deliver(&house, "one", "{}").await.status, 200);
        // Whoever floods it is not looked at any more, though they sign.
        for _ in 0..600 {
            send(&house, "/hooks/-/notes/inbox", &[], "{}").await;
        }
        deliver(&house, "two", "{}").await.refused(429, "too_many_requests");
        assert_eq!(house.number(shop, STORED).await, 1);
        test.clock.advance(std::time::Duration::from_secs(1));
        assert_eq!(deliver(&house, "two", "{}").await.status, 200);
    }

    async fn a_sender_that_asks_is_answered_and_one_that_sends_too_much_is_not(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        set_secret(&house, shop).await;
        let probe = format!("{HOOK}?token={SECRET}&challenge=%3Cb%3E42");
        let told = send(&house, &probe, &[("x-get", "")], "").await;
        assert_eq!((told.status, told.text().as_str(), told.header("content-type")), (200, "<b>42", "text/plain; charset=utf-8"));
        assert_eq!(send(&house, &format!("{HOOK}?token=x&challenge=42"), &[("x-get", "")], "").await.status, 401);
        assert_eq!(send(&house, HOOK, &[("x-get", "")], "").await.status, 401);
        let asked = deliver(&house, "one", "challenge:are you there").await;
        assert_eq!((asked.status, asked.text().as_str()), (200, "are you there"));
        assert_eq!(house.number(shop, STORED).await, 0);
        let large = vec![b'a'; 1024 * 1024 + 1];
        let signature = sign(&large);
        send(&house, HOOK, &[("x-notes-signature", &signature)], large).await.refused(413, "too_large");
        // The largest that is taken, with bytes that are no text.
        let most = vec![0xff; 1024 * 1024];
        let signature = sign(&most);
        assert_eq!(send(&house, HOOK, &[("x-notes-signature", &signature)], most).await.status, 200);
        assert_eq!(house.number(shop, STORED).await, 1);
    }

    async fn a_paused_tenant_takes_nothing_now_and_an_archived_one_is_not_there(test: TestDb) {
        let house = Installation::open(&test, []).await;
        set_secret(&house, house.shop.tenant).await;
        set_status(&house, TenantStatus::Paused).await;
        deliver(&house, "one", "{}").await.refused(503, "unavailable");
        assert_eq!(send(&house, HOOK, &[], "{}").await.status, 401);
        set_status(&house, TenantStatus::Archived).await;
        deliver(&house, "one", "{}").await.refused(401, "unauthenticated");
        assert_eq!(house.number(house.shop.tenant, STORED).await, 0);
    }

    async fn a_tenant_without_the_pack_has_none_of_its_doors(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        set_secret(&house, shop).await;
        let key = house.key_with(shop, KeySubject::Role(Role::Owner), Some(&["packs"]), None).await;
        let mut owner = house.operator("asha@shop.example", shop, Role::Owner).await;
        let page = owner.get("/pages/shop/notes/write").await;
        let (token, once) = (page.between("name=\"form\" value=\"", "\""), page.between("name=\"once\" value=\"", "\""));
        for is_listed in [true, false] {
            let packs = if is_listed { "packs = [\"notes\"]" } else { "packs = [\"ledger\"]" };
            let rules = policy::parse(packs).unwrap();
            house.db.write(shop, move |tx| policy::apply(tx, &rules, "test", "", MORNING)).await.unwrap();
            let wanted = |open: u16, closed: u16| if is_listed { open } else { closed };
            assert_eq!(owner.get("/pages/shop/notes/list").await.status, wanted(200, 404));
            assert_eq!(house.get("/v1/packs/notes/count", &key).await.status, wanted(200, 404));
            assert_eq!(deliver(&house, packs, "{}").await.status, wanted(200, 401));
        }
        let form = [("form", token.as_str()), ("once", once.as_str()), ("text", "eggs")];
        assert_eq!(owner.post("/pages/shop/notes/write", &form).await.status, 404);
        assert_eq!(house.number(shop, "SELECT COUNT(*) FROM notes WHERE tenant_id = $1").await, 0);
        assert_eq!(house.number(shop, STORED).await, 1);
    }
}
