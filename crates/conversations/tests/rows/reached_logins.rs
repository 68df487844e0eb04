//! A connector's login is lost: whoever lets us in is sent a link of their own.

use std::sync::{Arc, Mutex};

use munshi_conversations::outbox::SendIdempotency;
use munshi_identity::Role;
use munshi_pack::PackRegistry;
use munshi_store::Tx;
use munshi_tools::{LostLogin, TenantToolSource, TenantTools};
use munshi_types::{PersonId, TenantId};

use crate::rows::outgoing_support::Account;
use crate::rows::reached::{add_member, open_with, tell};
use crate::rows::support::tables;

/// Connectors of which some are lost.
#[derive(Clone, Default)]
struct Logins(Arc<Mutex<Vec<LostLogin>>>);

impl TenantToolSource for Logins {
    fn tenant_tools(&self, _: TenantId) -> Arc<TenantTools> {
        Arc::default()
    }

    fn is_settled(&self, _: TenantId) -> bool {
        true
    }

    fn create_login_link(
        &self,
        _: &mut Tx<'_>,
        connector: &str,
        to: PersonId,
    ) -> munshi_tools::Result<Option<String>> {
        Ok(Some(format!("https://munshi.example/connectors/login/{connector}-{to}")))
    }

    fn list_lost_logins(&self, _: &mut Tx<'_>) -> munshi_tools::Result<Vec<LostLogin>> {
        Ok(self.0.lock().unwrap().clone())
    }
}

tables! {
    async fn whoever_lets_us_in_gets_a_link_once_for_each_loss(test: TestDb) {
        let (account, logins) = (Account::new(SendIdempotency::Once), Logins::default());
        let (shop, teller, directory) = open_with(test, &account, PackRegistry::default(), logins.clone()).await;
        let owner = add_member(&shop, Role::Owner, &["owner@shop.example"]).await;
        let admin = add_member(&shop, Role::Admin, &["admin@shop.example"]).await;
        add_member(&shop, Role::Staff, &["staff@shop.example"]).await;
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "all are let in");
        let lose = || {
            let lost = LostLogin { id: shop.test.ids.next(), connector: "orders".to_owned(), lost_at: shop.now() };
            *logins.0.lock().unwrap() = vec![lost];
        };
        lose();
        assert_eq!(tell(&shop, &teller, &directory).await, 2, "nobody else can let us in");
        for (person, email) in [(owner, "owner@shop.example"), (admin, "admin@shop.example")] {
            let sent = account.sent.lock().unwrap().iter().find(|sent| sent.to.address == email).cloned().unwrap();
            assert!(sent.text.contains("sign in at orders again"), "{}", sent.text);
            assert!(sent.text.ends_with(&format!("/connectors/login/orders-{person}")), "{}", sent.text);
        }
        assert_eq!(tell(&shop, &teller, &directory).await, 0, "once");
        logins.0.lock().unwrap().clear();
        assert_eq!(tell(&shop, &teller, &directory).await, 0);
        lose();
        assert_eq!(tell(&shop, &teller, &directory).await, 2, "another loss is told anew");
    }
}
