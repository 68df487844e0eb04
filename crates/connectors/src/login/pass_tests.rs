//! Which login a connection shows.

use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{MasterKeySource, Vault};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, SystemRandom};

use super::super::ConnectorLoginParts;
use super::super::client::{ClientAuthMethod, OAuthClient};
use super::*;
use munshi_http::AllowedHosts;

const URL: &str = "https://books.example/mcp";

async fn logins(test: &TestDb) -> ConnectorLogins {
    let (random, source) =
        (Arc::new(SystemRandom), MasterKeySource::File(test.place.folder().join("vault.key")));
    let vault = Vault::start(test.db.clone(), source, random.clone(), test.ids.clone(), test.clock.now())
        .await
        .unwrap();
    let parts = ConnectorLoginParts {
        db: test.db.clone(),
        vault,
        allowed: AllowedHosts::default(),
        clock: test.clock.clone(),
        random,
        ids: test.ids.clone(),
        timeout: super::super::LOGIN_TIMEOUT,
    };
    ConnectorLogins::new(parts).unwrap()
}

fn kept(access: &str) -> StoredOAuthLogin {
    let client = OAuthClient {
        issuer: "https://in.example".to_owned(),
        id: "us".to_owned(),
        secret: None,
        method: ClientAuthMethod::None,
        scope: None,
        redirect: None,
        ends_at: None,
    };
    StoredOAuthLogin {
        client,
        token: "https://in.example/token".to_owned(),
        revoke: None,
        resource: URL.to_owned(),
        scope: None,
        access: Zeroizing::new(access.to_owned()),
        refresh: None,
        expires_at: None,
    }
}

on_both_engines! {
    with [
        munshi_store::MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_identity::MIGRATIONS, munshi_safety::MIGRATIONS,
        crate::MIGRATIONS,
    ];

    /// One that is good for half a minute is used for a while before the next is asked for; and whoever could not be asked
    /// keeps no second call waiting.
    async fn a_short_login_is_not_renewed_with_every_call(test: TestDb) {
        let (logins, tenant) = (logins(&test).await, test.add_tenant("shop").await);
        let ends = test.clock.now().plus(Duration::from_secs(30));
        let short = StoredOAuthLogin { refresh: Some(Zeroizing::new("r".to_owned())), expires_at: Some(ends), ..kept("short") };
        let short = StoredOAuthLogin { token: "https://127.0.0.1:9/token".to_owned(), ..short };
        let by = AuditActor::new(AuditActorKind::Operator, "farid");
        assert!(logins.store_login(tenant, "far", &short, (&by, None)).await.unwrap());
        let pass = ConnectorCredential::new(logins.clone(), tenant, "far".to_owned(), URL.parse().unwrap());
        let tried_at = async || pass.held.lock().await.failed.as_ref().map(|(at, _)| *at);
        assert!(pass.find_access_token().await.unwrap().is_some());
        assert_eq!(tried_at().await, None);
        test.clock.advance(Duration::from_secs(16));
        let first = test.clock.now();
        for _ in 0..2 {
            assert!(pass.find_access_token().await.unwrap().is_some(), "it is good to its end");
            assert_eq!(tried_at().await, Some(first));
            test.clock.advance(Duration::from_secs(6));
        }
        assert!(pass.replace_token(Some("short")).await.is_err());
        assert_eq!(tried_at().await, Some(test.clock.now()), "and then once more");
    }

    /// What a service takes no more is lost once, on however many connections, until somebody logs in again.
    async fn a_login_that_is_taken_no_more_is_lost_until_the_next(test: TestDb) {
        let (logins, tenant) = (logins(&test).await, test.add_tenant("shop").await);
        let log_in = async |access: &str| {
            let by = AuditActor::new(AuditActorKind::Operator, "farid");
            assert!(logins.store_login(tenant, "far", &kept(access), (&by, None)).await.unwrap());
        };
        let lost = async || test.db.read(tenant, crate::login::list_losses).await.unwrap();
        let pass = || ConnectorCredential::new(logins.clone(), tenant, "far".to_owned(), URL.parse().unwrap());
        assert!(pass().replace_token(None).await.unwrap().is_none());
        assert_eq!(lost().await.len(), 0, "nobody was ever let in");
        log_in("first").await;
        let (one, other) = (pass(), pass());
        for pass in [&one, &other] {
            assert!(pass.find_access_token().await.unwrap().is_some());
            assert!(pass.replace_token(Some("first")).await.unwrap().is_none());
        }
        let first = lost().await;
        assert_eq!(first.iter().map(|lost| lost.connector.as_str()).collect::<Vec<_>>(), ["far"]);
        test.clock.advance(FRESH);
        log_in("second").await;
        assert_eq!(lost().await.len(), 0, "somebody logged in");
        assert!(one.replace_token(Some("first")).await.unwrap().is_some(), "the new one is there");
        assert_eq!(lost().await.len(), 0);
        assert!(one.replace_token(Some("second")).await.unwrap().is_none());
        assert_ne!(lost().await[0].id, first[0].id, "another loss");
        let gone = |tx: &mut munshi_store::Tx<'_>| crate::login::delete_credentials(tx, "far");
        test.db.write(tenant, gone).await.unwrap();
        assert_eq!(lost().await.len(), 0, "nobody is let in there any more");
    }

    /// Whoever logs in as somebody else is not kept waiting until the first login ends.
    async fn a_newer_login_is_shown_though_the_older_is_still_good(test: TestDb) {
        let (logins, tenant) = (logins(&test).await, test.add_tenant("shop").await);
        let log_in = async |access: &str| {
            let by = AuditActor::new(AuditActorKind::Operator, "farid");
            assert!(logins.store_login(tenant, "far", &kept(access), (&by, None)).await.unwrap());
        };
        let pass = ConnectorCredential::new(logins.clone(), tenant, "far".to_owned(), URL.parse().unwrap());
        let shown = async || pass.find_access_token().await.unwrap().map(|shown| shown.to_string());
        assert_eq!(shown().await, None);
        test.clock.advance(FRESH);
        log_in("first").await;
        assert_eq!(shown().await.as_deref(), Some("first"));
        test.clock.advance(Duration::from_secs(1));
        log_in("second").await;
        test.clock.advance(FRESH);
        assert_eq!(shown().await.as_deref(), Some("second"));
        let gone = |tx: &mut munshi_store::Tx<'_>| crate::login::delete_credentials(tx, "far");
        test.db.write(tenant, gone).await.unwrap();
        test.clock.advance(FRESH);
        assert_eq!(shown().await, None, "what was forgotten is shown to nobody");
    }
}
