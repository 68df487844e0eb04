//! A login holds whatever breaks off: whoever waits for it goes away, a newer one comes meanwhile, the process dies.

use std::time::Duration;

use munshi_connectors::login::{ConnectorLoginUser, LoginRevocation};
use munshi_connectors::{ConnectorState, Error};
use munshi_identity::SecretToken;
use munshi_identity::row_sealing::RowsOfBefore;
use munshi_safety::vault::SecretRef;
use munshi_store::{JsonText, RowId, RowMark, SealedColumn, Tx, params};
use munshi_test_support::wait_until;
use serde_json::Value;

use crate::login::{Guarded, allowed, back, browse, by, declared};
use crate::support::MIGRATIONS;

/// Just before its end.
const LATE: Duration = Duration::from_secs(3_595);

impl Guarded {
    /// What the vault has.
    async fn kept(&self) -> Option<Value> {
        let name = SecretRef::from_name("connector/far/login").unwrap();
        let secret = self.shop.vault.open(self.shop.tenant, &name).await.ok()?;
        Some(serde_json::from_str(secret.expose()).unwrap())
    }

    async fn until_held(&self) {
        wait_until(async || self.service.has_held_token()).await;
    }

    async fn link(&self) -> SecretToken {
        let (logins, tenant) = (&self.shop.logins, self.shop.tenant);
        let link = logins.create_link(tenant, "far", "http://munshi.example", (by(), None)).await.unwrap();
        SecretToken::parse(link.rsplit('/').next().unwrap()).unwrap()
    }

    /// The ways to it that are written down.
    async fn ways(&self) -> i64 {
        let count = |tx: &mut Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM connector_logins WHERE tenant_id = $1", params![], |row| row.get(0))
        };
        self.shop.test.db.read(self.shop.tenant, count).await.unwrap()
    }
}

/// Of the logins that have not come back yet.
fn count_sealed(tx: &mut Tx<'_>) -> munshi_store::Result<i64> {
    let sql =
        "SELECT COUNT(*) FROM connector_logins WHERE tenant_id = $1 AND kind = 'state' AND used_at IS NULL
               AND CAST(body AS TEXT) LIKE '%sealed:1:%'";
    tx.one(sql, params![], |row| row.get(0))
}

/// As a version wrote them that sealed no logins.
fn unseal(tx: &mut Tx<'_>) -> munshi_store::Result<()> {
    let sql = "SELECT hash, body FROM connector_logins WHERE tenant_id = $1 AND kind = 'state'";
    let rows: Vec<(Vec<u8>, JsonText)> = tx.all(sql, params![], |row| {
        let hash: Vec<u8> = row.get(0)?;
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let cell = SealedColumn::new("connector_logins", "body").cell(RowId::named(&[&hex]));
        Ok((hash, row.get_sealed(1, cell)?))
    })?;
    for (hash, body) in rows {
        let sql = "UPDATE connector_logins SET body = $3 WHERE tenant_id = $1 AND hash = $2";
        tx.execute(sql, params![hash, body])?;
    }
    Ok(())
}

fn seal_rows_of_before(tx: &mut Tx<'_>) -> munshi_store::Result<()> {
    for rows in munshi_connectors::ROWS_OF_BEFORE {
        if let RowsOfBefore::Own { seal_next, .. } = rows {
            assert_eq!(seal_next(tx, RowMark::START, 50)?, None);
        }
    }
    Ok(())
}

munshi_test_support::on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    /// The connector has a second to start, and the service gives another token and says so later. What was renewed with
    /// is good no more, so what came of it must not be lost.
    async fn a_renewal_goes_on_though_nobody_waits(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        let file = format!("[far]\nurl = \"{}\"\nstart_seconds = 1\n[far.tools.note]\neffect = \"once\"\n", guarded.service.url);
        guarded.shop.declare(&file).await;
        guarded.shop.host.stop().await;
        guarded.shop.test.clock.advance(LATE);
        let before = guarded.kept().await.unwrap();
        guarded.service.hold_next_token();
        let (gone, ()) = tokio::join!(guarded.shop.again(allowed()), guarded.until_held());
        wait_until(async || gone.host.count()["ready"] == 0 && gone.host.count()["starting"] == 0).await;
        assert_eq!(guarded.kept().await.unwrap(), before, "nothing has come yet");
        guarded.service.release_token();
        wait_until(async || guarded.kept().await.unwrap()["refresh"] != before["refresh"]).await;
        gone.host.stop().await;
        guarded.shop.test.clock.advance(Duration::from_secs(60));
        guarded.shop.declare(&declared(&guarded.service)).await;
        let node = guarded.shop.again(allowed()).await;
        assert_eq!(guarded.said_at(&node, "still in").await["ok"], true);
        assert_eq!(guarded.service.count_grants("refresh_token"), 1);
        node.host.stop().await;
    }

    /// The service turned a write away, and a new token can't be had: it was surely not done, and nobody is asked whether.
    async fn what_was_turned_away_was_not_done(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        guarded.service.revoke_all();
        guarded.service.break_connections();
        let said = guarded.said("never").await;
        assert_eq!((&said["ok"], &said["code"]), (&false.into(), &"login_not_renewed".into()), "{said}");
        assert!(guarded.service.recorded_calls().is_empty());
        let unknown = guarded.shop.events().await.into_iter().filter(|(event, _)| event == "act.unknown").count();
        assert_eq!(unknown, 0);
        guarded.shop.host.stop().await;
    }

    /// What is written down of a login on its way shows nobody, and one that stood plain before is finished all the same.
    async fn a_login_on_its_way_is_sealed(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (db, tenant) = (guarded.shop.test.db.clone(), guarded.shop.tenant);
        for is_sealed_later in [false, true] {
            let begun = guarded.begin().await;
            assert_eq!(db.read(tenant, count_sealed).await.unwrap(), 1);
            db.write(tenant, unseal).await.unwrap();
            assert_eq!(db.read(tenant, count_sealed).await.unwrap(), 0);
            if is_sealed_later {
                db.write(tenant, seal_rows_of_before).await.unwrap();
                assert_eq!(db.read(tenant, count_sealed).await.unwrap(), 1);
            }
            guarded.shop.logins.finish(&begun.token, browse(&begun.to), None).await.unwrap();
            guarded.shop.until_state("far", ConnectorState::Ready).await;
        }
        guarded.shop.host.stop().await;
    }

    /// Whoever logs in while an older login is being renewed is not put out by what comes of that.
    async fn a_newer_login_is_not_overwritten(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        guarded.shop.test.clock.advance(LATE);
        guarded.service.hold_next_token();
        let meanwhile = async {
            guarded.until_held().await;
            let begun = guarded.begin().await;
            guarded.shop.logins.finish(&begun.token, browse(&begun.to), None).await.unwrap();
            let newer = guarded.kept().await;
            guarded.service.release_token();
            newer
        };
        let (said, newer) = tokio::join!(guarded.said("with the newer one"), meanwhile);
        assert_eq!(said["ok"], true, "{said}");
        assert_eq!(guarded.service.count_grants("refresh_token"), 1, "the older one was renewed");
        assert_eq!(guarded.kept().await, newer, "and let go");
        guarded.shop.host.stop().await;
    }

    /// The process dies when it has the code and not yet the token: the state is used up, whoever comes back hears so, and
    /// the same link still leads there.
    async fn a_crash_between_code_and_token_costs_another_click(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (logins, link) = (&guarded.shop.logins, guarded.link().await);
        let begun = logins.begin_from_link(logins.find_link(&link).await.unwrap().unwrap(), &back(), ConnectorLoginUser::Here).await.unwrap();
        let (returned, token) = (browse(&begun.to), begun.token.clone());
        let dying = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (node, answer) = (guarded.shop.again(allowed()).await, returned.clone());
        guarded.service.hold_next_token();
        let there = node.logins.clone();
        dying.spawn(async move { there.finish(&token, answer, Some(ConnectorLoginUser::Here)).await });
        guarded.until_held().await;
        dying.shutdown_background();
        guarded.service.release_token();
        let again = logins.finish(&begun.token, returned, Some(ConnectorLoginUser::Here)).await;
        assert!(matches!(&again, Err(Error::NoLogin(words)) if words.contains("start it again")), "{again:?}");
        assert!(guarded.kept().await.is_none());
        let led = logins.find_link(&link).await.unwrap().expect("the link still leads there");
        let begun = logins.begin_from_link(led, &back(), ConnectorLoginUser::Here).await.unwrap();
        logins.finish(&begun.token, browse(&begun.to), Some(ConnectorLoginUser::Here)).await.unwrap();
        assert!(logins.find_link(&link).await.unwrap().is_none(), "whoever is in needs no link");
        guarded.shop.until_state("far", ConnectorState::Ready).await;
        assert_eq!(guarded.said("after").await["ok"], true);
        node.host.stop().await;
        guarded.shop.host.stop().await;
    }

    /// Begun twice with one link, and both come back: one of them has let us in, and the other's is given back.
    async fn a_link_is_good_for_one_login(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (logins, link) = (&guarded.shop.logins, guarded.link().await);
        let begin = async || {
            let led = logins.find_link(&link).await.unwrap().unwrap();
            logins.begin_from_link(led, &back(), ConnectorLoginUser::Here).await.unwrap()
        };
        let (one, two) = (begin().await, begin().await);
        let (first, second) = (browse(&one.to), browse(&two.to));
        let other = Some(ConnectorLoginUser::Person(guarded.shop.test.ids.next()));
        let stolen = logins.finish(&one.token, first.clone(), other).await;
        assert!(matches!(stolen, Err(Error::NoLogin(_))), "somebody else began it: {stolen:?}");
        logins.finish(&one.token, first, Some(ConnectorLoginUser::Here)).await.unwrap();
        let kept = guarded.kept().await;
        let late = logins.finish(&two.token, second, Some(ConnectorLoginUser::Here)).await;
        assert!(matches!(&late, Err(Error::NoLogin(words)) if words.contains("meanwhile")), "{late:?}");
        assert_eq!((guarded.kept().await, guarded.service.count_grants("revoked")), (kept, 1));
        guarded.shop.host.stop().await;
    }

    /// It is taken out of the file: nothing that opens its door is left, here or there.
    async fn a_connector_that_is_taken_away_leaves_nothing(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        guarded.link().await;
        assert!(guarded.kept().await.is_some() && guarded.ways().await > 0);
        let (logins, tenant) = (&guarded.shop.logins, guarded.shop.tenant);
        let last = logins.find_revocable(tenant, &"far".parse().unwrap()).await.unwrap().unwrap();
        guarded.shop.declare("").await;
        assert!(guarded.shop.vault.list(tenant).await.unwrap().is_empty());
        assert_eq!(guarded.ways().await, 0);
        assert_eq!(logins.revoke_login(&last).await, LoginRevocation::Revoked);
        assert_eq!(guarded.service.count_grants("revoked"), 1);
        assert!(logins.find_revocable(tenant, &"far".parse().unwrap()).await.unwrap().is_none());
        guarded.shop.host.stop().await;
    }
}
