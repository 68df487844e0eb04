//! One-time links, in time and late, once and twice.

use munshi_identity::links::{self, LinkPurpose};
use munshi_identity::operators::{self, OPERATORS, roles};
use munshi_identity::{Role, SecretToken};
use munshi_store::PlatformTx;
use munshi_test_support::{DatabaseEngine, UnitHold, administer_platform};
use munshi_types::{OperatorId, SystemRandom};

use crate::api::support::{Installation, PASSWORD};

on_both! {
    async fn the_first_operator_comes_by_a_link_once(test: TestDb) {
        let house = Installation::open(&test, []).await;
        house.browser().get("/account/sign-in").await.says(200, "Nobody has an account here yet");
        let (link, other) = (house.link(LinkPurpose::First).await, house.link(LinkPurpose::First).await);
        house.browser().get(&format!("/account/link/{link}")).await.says(410, "not good any more");
        let path = format!("/account/link/{other}");
        for _ in 0..3 {
            house.browser().get(&path).await.says(200, "Make the first account");
        }
        let mut browser = house.browser();
        let good = [("email", "farid@house.example"), ("name", "Farid"), ("password", PASSWORD)];
        for (field, bad, words) in [
            ("password", "short", "at least 10 letters"),
            ("password", "1234567890", "first that are tried"),
            ("email", "farid", "invalid email"),
            ("name", " ", "a name must be 1 to 100"),
        ] {
            let form: Vec<(&str, &str)> = good.iter().map(|(name, value)| (*name, if *name == field { bad } else { value })).collect();
            let text = browser.post(&path, &form).await.says(422, "role=\"alert\"").to_lowercase();
            assert!(text.contains(words), "{words}: {text}");
        }
        browser.post(&path, &good).await.moved("/account");
        browser.get("/account").await.says(200, "keeper of this installation");
        house.browser().post(&path, &good).await.says(410, "not good any more");
        let late = house.link(LinkPurpose::First).await;
        house.browser().get(&format!("/account/link/{late}")).await.says(410, "not good any more");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event IN ('link.used', 'sign_in.began')";
        assert_eq!(house.number(munshi_types::TenantId::PLATFORM, told).await, 2);
    }

    async fn a_link_ends_with_its_time(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let first = house.link(LinkPurpose::First).await;
        let link = house.invitation("asha@shop.example", house.shop.tenant, Role::Staff).await;
        let path = format!("/account/link/{link}");
        house.browser().get(&path).await.says(200, "You are invited");
        test.clock.advance(links::LIFE);
        house.browser().get(&format!("/account/link/{first}")).await.says(410, "not good any more");
        test.clock.advance(links::INVITATION_LIFE - links::LIFE - std::time::Duration::from_secs(1));
        house.browser().get(&path).await.says(200, "You are invited");
        test.clock.advance(std::time::Duration::from_secs(1));
        house.browser().get(&path).await.says(410, "not good any more");
        let form = [("name", "Asha"), ("password", PASSWORD)];
        house.browser().post(&path, &form).await.says(410, "not good any more");
        for made_up in [SecretToken::random(&SystemRandom).reveal(), "x", "%00", "..%2f"] {
            house.browser().get(&format!("/account/link/{made_up}")).await.says(410, "not good any more");
        }
    }

    async fn of_two_uses_at_once_one_comes_in(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let second = house.again(&test, []).await;
        let link = house.link(LinkPurpose::First).await;
        let path = format!("/account/link/{link}");
        let uses = (0..6).map(|number| {
            let (house, path) = (if number % 2 == 0 { &house } else { &second }, path.clone());
            async move {
                let email = format!("a{number}@b.example");
                let form = [("email", email.as_str()), ("name", "A"), ("password", PASSWORD)];
                house.browser().post(&path, &form).await.status
            }
        });
        let mut answers = futures_util::future::join_all(uses).await;
        answers.sort_unstable();
        assert_eq!(answers, [303, 410, 410, 410, 410, 410]);
    }

    async fn an_invitation_never_opens_an_account_that_is_there(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        house.vouch("asha@shop.example").await;
        let link = house.invitation("asha@shop.example", house.other.tenant, Role::Viewer).await;
        let path = format!("/account/link/{link}");
        house.browser().get(&path).await.says(200, "This e-mail has an account");
        let taken = house.browser().post(&path, &[("name", "Evil"), ("password", "evil evil evil")]).await;
        taken.says(422, "This e-mail has an account");
        assert_eq!(house.browser().sign_in("asha@shop.example", "evil evil evil").await.status, 401);
        // Another's browser can't accept it; her own can, once, and gets another token.
        let mut vik = house.operator("vik@shop.example", house.shop.tenant, Role::Staff).await;
        assert_eq!(vik.submit(&format!("{path}/accept"), &[]).await.status, 403);
        asha.get(&path).await.says(200, "Accept");
        let before = asha.cookies["munshi_sign_in"].clone();
        asha.submit(&format!("{path}/accept"), &[]).await.moved("/account");
        assert_ne!(asha.cookies["munshi_sign_in"], before);
        let page = asha.get("/account").await.says(200, "What you look after");
        assert!(page.contains("<strong>other</strong>") && page.contains("<strong>shop</strong>"), "{page}");
        assert_eq!(asha.submit(&format!("{path}/accept"), &[]).await.status, 409);
    }

    async fn an_invitation_waits_for_days_and_is_taken_back_by_who_may(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let mut owner = house.operator("owner@shop.example", shop, Role::Owner).await;
        let mut second = house.operator("second@shop.example", shop, Role::Owner).await;
        let mut admin = house.operator("admin@shop.example", shop, Role::Admin).await;
        let made = second.submit("/account/operators", &[("email", "new@shop.example"), ("role", "owner")]).await;
        let (link, shown) = (made.shown_link(), made.says(201, "new@shop.example"));
        let ends = house.now().plus(links::INVITATION_LIFE).to_jiff().to_zoned(jiff::tz::TimeZone::get("Asia/Kolkata").unwrap());
        assert!(shown.contains(&ends.strftime("%-d %B %Y").to_string()), "in the shop's own time: {shown}");
        let page = admin.get("/account/operators").await.says(200, "new@shop.example");
        assert!(!page.contains("/withdraw"), "to more than an admin has");
        let id = owner.get("/account/operators").await.between("/account/invitations/", "/withdraw");
        let path = format!("/account/invitations/{id}/withdraw");
        admin.submit(&path, &[]).await.says(403, "grants more access than you have");
        house.browser().get(&link).await.says(200, "You are invited");
        // Whoever made it may not invite owners any more: then it is nobody's invitation.
        let page = owner.get("/account/operators").await.text();
        let part = page.split("/account/operators/").find(|part| part.contains("Role: second")).unwrap().to_owned();
        let role = format!("/account/operators/{}/role", part.split('/').next().unwrap());
        owner.submit(&role, &[("role", "admin")]).await.says(200, "second is admin here now");
        house.browser().get(&link).await.says(410, "not good any more");
        let made = owner.submit("/account/operators", &[("email", "new@shop.example"), ("role", "staff")]).await;
        let link = made.shown_link();
        let path = format!("/account/invitations/{}/withdraw", owner.get("/account/operators").await.between("/account/invitations/", "/withdraw"));
        admin.submit(&path, &[]).await.says(200, "good for nothing");
        house.browser().get(&link).await.says(410, "not good any more");
    }

    async fn a_recovery_signs_out_every_other_browser(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let mut owner = house.operator("owner@shop.example", house.shop.tenant, Role::Owner).await;
        let mut asha = house.operator("asha@shop.example", house.shop.tenant, Role::Staff).await;
        let id = owner.get("/account/operators").await.text();
        let id = id.split("/account/operators/").find(|part| part.contains("Role: asha")).unwrap();
        let path = format!("/account/operators/{}/link", id.split('/').next().unwrap());
        let made = owner.submit(&path, &[]).await;
        made.says(201, "asha@shop.example");
        let link = made.shown_link();
        let mut other = house.browser();
        other.get(&link).await.says(200, "Choose another password");
        other.post(&link, &[("password", "asha@shop.example")]).await.says(422, "first that are tried");
        other.post(&link, &[("password", "another good password")]).await.moved("/account");
        assert!(other.is_in().await && !asha.is_in().await);
        assert_eq!(asha.sign_in("asha@shop.example", PASSWORD).await.status, 401);
        asha.sign_in("asha@shop.example", "another good password").await.moved("/account");
        house.browser().get(&link).await.says(410, "not good any more");
    }

    async fn a_recovery_ends_with_its_makers_right_to_make_it(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let mut owner = house.operator("owner@shop.example", shop, Role::Owner).await;
        let mut admin = house.operator("admin@shop.example", shop, Role::Admin).await;
        house.operator("asha@shop.example", shop, Role::Admin).await;
        house.operator("vik@shop.example", shop, Role::Viewer).await;
        let id_of = |page: &str, name: &str| {
            let part = page.split("action=\"/account/operators/").find(|part| part.contains(&format!("Role: {name}\""))).unwrap();
            part.split('/').next().unwrap().to_owned()
        };
        let page = owner.get("/account/operators").await.text();
        let (admins, asha, vik) = (id_of(&page, "admin"), id_of(&page, "asha"), id_of(&page, "vik"));
        let one = admin.submit(&format!("/account/operators/{asha}/link"), &[]).await.shown_link();
        let two = admin.submit(&format!("/account/operators/{vik}/link"), &[]).await.shown_link();
        house.browser().get(&one).await.says(200, "Choose another password");
        // Whom a link is for has become more than its maker could let in.
        house.vouch("vik@shop.example").await;
        let (other, now) = (house.other.tenant, house.now());
        let id: munshi_types::OperatorId = vik.parse().unwrap();
        house.db.platform(OPERATORS).write(move |tx| administer_platform(tx, |tx| roles::grant(tx, id, other, Role::Owner, now))).await.unwrap();
        house.browser().get(&two).await.says(410, "not good any more");
        house.browser().post(&two, &[("password", "another good password")]).await.says(410, "not good any more");
        // Whoever made it is sent away.
        owner.submit(&format!("/account/operators/{admins}/role"), &[("role", "none")]).await.says(200, "no more");
        house.browser().get(&one).await.says(410, "not good any more");
        house.browser().post(&one, &[("password", "another good password")]).await.says(410, "not good any more");
    }

    async fn a_recovery_takes_no_proof_from_who_becomes_keeper_meanwhile(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let house = Installation::open(&test, []).await;
        let shop = house.shop.tenant;
        let mut owner = house.operator("owner@shop.example", shop, Role::Owner).await;
        house.operator("asha@shop.example", shop, Role::Staff).await;
        house.vouch("asha@shop.example").await;
        let page = owner.get("/account/operators").await.text();
        let part = page.split("/account/operators/").find(|part| part.contains("Role: asha")).unwrap();
        let asha: OperatorId = part.split('/').next().unwrap().parse().unwrap();
        let link = owner.submit(&format!("/account/operators/{asha}/link"), &[]).await.shown_link();
        let (hold, door) = (UnitHold::default(), house.db.platform(OPERATORS));
        let held = hold.clone();
        let rising = door.write(move |tx: &mut PlatformTx<'_>| -> Result<(), munshi_identity::Error> {
            operators::make_keeper(tx, asha)?;
            held.wait();
            Ok(())
        });
        let mut other = house.browser();
        let used = hold.run_against(&test, other.post(&link, &[("password", "another good password")]));
        let (risen, used) = tokio::join!(rising, used);
        risen.unwrap();
        used.says(410, "not good any more");
        let account = door.read(move |tx| operators::find(tx, asha)).await.unwrap().unwrap();
        assert!(account.keeper && account.proved_at.is_some(), "{account:?}");
    }
}
