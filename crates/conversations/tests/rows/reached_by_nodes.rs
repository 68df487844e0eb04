//! People of a tenant are told by several nodes at once, and of a question that goes to somebody above.

use std::collections::BTreeSet;
use std::time::Duration;

use munshi_conversations::outbox::SendIdempotency;
use munshi_identity::Role;
use munshi_pack::PackRegistry;
use munshi_safety::approvals::{self, ApprovalExpiryOutcome, ExpiredApproval};
use munshi_store::Tx;

use crate::rows::outgoing_support::{Account, runner};
use crate::rows::reached::{
    add_member, ask, build_act_services, build_teller, find_tenant, open, recipients, tell,
};
use crate::rows::support::tables;

tables! {
    async fn two_nodes_at_once_tell_each_of_a_thing_once(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, here, directory) = open(test, &account).await;
        let other = shop.test.open_again().await;
        let there = build_teller(&shop, other, (directory.clone(), PackRegistry::default()));
        for email in ["asha@shop.example", "raju@shop.example"] {
            add_member(&shop, Role::Owner, &[email]).await;
        }
        let tenant = find_tenant(&shop).await;
        for round in 1..=10 {
            ask(&shop).await;
            let (one, two) = tokio::join!(here.tell(&tenant), there.tell(&tenant));
            assert_eq!(one.unwrap() + two.unwrap(), 2, "round {round}: one mail for each of them");
            runner(&shop, directory.clone()).drain().await.unwrap();
            assert_eq!(account.texts().len(), 2 * round);
        }
        let told: BTreeSet<(String, String)> = recipients(&account).into_iter().zip(account.texts()).collect();
        assert_eq!(told.len(), 20, "no question twice to anybody");
    }

    async fn a_question_that_goes_to_somebody_above_is_told_to_them(test: TestDb) {
        let account = Account::new(SendIdempotency::Once);
        let (shop, teller, directory) = open(test, &account).await;
        add_member(&shop, Role::Owner, &["asha@shop.example"]).await;
        let admin = add_member(&shop, Role::Admin, &["raju@shop.example"]).await;
        let approval = ask(&shop).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(recipients(&account), ["raju@shop.example"], "the lowest role first");
        // Its time is over: it was asked three days ago, and begins anew with who is above.
        shop.test.clock.advance(Duration::from_secs(72 * 3600 + 1));
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "what is over is told to nobody");
        let (services, tenant, now) = (build_act_services(&shop), shop.tenant, shop.now());
        let expire = move |tx: &mut Tx<'_>| {
            let act = approvals::find(tx, approval)?.unwrap().act;
            approvals::expire(tx, &services, ExpiredApproval { tenant, approval, act }, now)
        };
        let (expiry, _) = shop.test.db.write(shop.tenant, expire).await.unwrap().unwrap();
        assert!(matches!(expiry.outcome, ApprovalExpiryOutcome::Escalated(_)) && expiry.asked == [admin], "{expiry:?}");
        assert_eq!(tell(&shop, &teller, &directory).await, 1);
        assert_eq!(recipients(&account), ["raju@shop.example", "asha@shop.example"]);
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "and to nobody else, and once");
    }
}
