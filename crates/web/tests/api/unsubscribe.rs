//! The link of a mail that ends what nobody asked for: for the address it went to, and no other.

use munshi_conversations::outbox::opt_outs::{self, UnsubscribeToken};
use munshi_identity::codes::CodeKey;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{ReplyAddress, TenantId};

use crate::api::support::Installation;

/// An address that is no person's.
fn stranger() -> ReplyAddress {
    ReplyAddress::new(Channel::Email, "stranger@example.org".to_owned())
}

async fn build_token(house: &Installation, tenant: TenantId) -> String {
    let build = move |tx: &mut Tx<'_>| UnsubscribeToken::build(tx, &stranger(), &CodeKey::new(&[7; 32]));
    house.db.read(tenant, build).await.unwrap().to_string()
}

async fn is_out(house: &Installation) -> bool {
    let read = move |tx: &mut Tx<'_>| opt_outs::is_opted_out_at(tx, &stranger());
    house.db.read(house.shop.tenant, read).await.unwrap()
}

on_both! {
    async fn one_press_ends_what_nobody_asked_for(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let path = format!("/unsubscribe/{}", build_token(&house, house.shop.tenant).await);
        let mut browser = house.browser();
        browser.get(&path).await.says(200, "Stop reminders and notices");
        assert!(!is_out(&house).await, "programs follow links before people do");
        // As mail programs send it: from nowhere, and perhaps again.
        for _ in 0..2 {
            let form = [("List-Unsubscribe", "One-Click")];
            browser.send("POST", &path, &[], Some(&form)).await.says(200, "answers to what you write");
            assert!(is_out(&house).await);
        }
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'recipient.opted_out'";
        assert_eq!(house.number(house.shop.tenant, told).await, 1);
    }

    async fn a_link_that_is_not_ours_ends_nothing(test: TestDb) {
        let house = Installation::open(&test, []).await;
        let token = build_token(&house, house.shop.tenant).await;
        let (named, seal) = token.rsplit_once('.').unwrap();
        let (tenant, recipient) = named.split_once('.').unwrap();
        let mut browser = house.browser();
        for wrong in [
            "x".to_owned(),
            named.to_owned(),
            format!("{named}."),
            format!("{named}.{}", "0".repeat(seal.len())),
            format!("{tenant}.{tenant}.{seal}"),
            format!("{recipient}.{recipient}.{seal}"),
        ] {
            for method in ["GET", "POST"] {
                let reply = browser.send(method, &format!("/unsubscribe/{wrong}"), &[], None).await;
                assert_eq!(reply.status, 404, "{method} {wrong}: {}", reply.text());
            }
        }
        assert!(!is_out(&house).await);
    }
}
