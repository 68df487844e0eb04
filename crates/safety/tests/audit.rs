//! Adding to a chain and reading it: one unbroken chain a tenant, whoever writes and whatever fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support;
use crate::support::{append, chain, entries, entry};
use munshi_safety::audit::verify::verify;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, ChainHash, NewAuditEntry};
use munshi_safety::{Error, Result};
use munshi_store::{DatabaseAddress, Error as StoreError, MIGRATIONS};
use munshi_test_support::on_both_engines;
use munshi_types::TenantId;
use serde_json::{Value, json};

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn entries_follow_each_other_from_the_first(test: TestDb) {
        let tenant = chain(&test, "shop", 3).await;
        let found = entries(&test, tenant).await;
        assert_eq!(found.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(found[0].prev, ChainHash::START);
        assert!(found.windows(2).all(|pair| pair[1].prev == pair[0].hash));
        assert!(found.iter().all(|entry| entry.computed_hash() == entry.hash));
        let tail = test.db.read(tenant, |tx| audit::tail(tx, 2)).await.unwrap();
        assert_eq!(tail, found[1..]);
        let sound = verify(&test.db, tenant, &[]).await.unwrap();
        assert_eq!((sound.entries, sound.finding), (3, None));
    }

    async fn tenants_and_the_installation_have_chains_of_their_own(test: TestDb) {
        let (one, other) = (chain(&test, "one", 2).await, chain(&test, "other", 3).await);
        append(&test, TenantId::PLATFORM, 1).await.unwrap();
        for (tenant, count) in [(one, 2), (other, 3), (TenantId::PLATFORM, 1)] {
            let found = verify(&test.db, tenant, &[]).await.unwrap();
            assert_eq!((found.entries, found.finding), (count, None));
            assert!(entries(&test, tenant).await.iter().all(|entry| entry.tenant == tenant));
        }
        let heads = audit::list_heads(&test.db).await.unwrap();
        assert_eq!(heads.len(), 3);
    }

    async fn what_rolls_back_was_never_there(test: TestDb) {
        let tenant = chain(&test, "shop", 1).await;
        let (ids, now) = (test.ids.clone(), munshi_test_support::database::MORNING);
        let undone: Result<()> = test
            .db
            .write(tenant, move |tx| {
                audit::append(tx, &entry(2), now, &ids)?;
                audit::append(tx, &entry(3), now, &ids)?;
                Err(Error::Invalid("no".to_owned()))
            })
            .await;
        assert!(undone.is_err());
        append(&test, tenant, 2).await.unwrap();
        let found = verify(&test.db, tenant, &[]).await.unwrap();
        assert_eq!((found.entries, found.finding), (2, None));
    }

    async fn many_at_once_make_one_chain(test: TestDb) {
        let tenants = [test.add_tenant("one").await, test.add_tenant("two").await, TenantId::PLATFORM];
        let test = support::shared(test);
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..24 {
            let test = test.clone();
            tasks.spawn(async move {
                let tenant = tenants[number % 3];
                for step in 0..10_i64 {
                    // Every third fails after it was added.
                    let (ids, now) = (test.ids.clone(), munshi_test_support::database::MORNING);
                    let outcome: Result<()> = test
                        .db
                        .write(tenant, move |tx| {
                            audit::append(tx, &entry(step), now, &ids)?;
                            audit::append(tx, &entry(step), now, &ids)?;
                            if step % 3 == 2 { Err(Error::Invalid("no".to_owned())) } else { Ok(()) }
                        })
                        .await;
                    assert_eq!(outcome.is_err(), step % 3 == 2, "{outcome:?}");
                }
            });
        }
        while let Some(task) = tasks.join_next().await {
            task.unwrap();
        }
        for tenant in tenants {
            let found = verify(&test.db, tenant, &[]).await.unwrap();
            assert_eq!((found.entries, found.finding), (8 * 7 * 2, None));
        }
    }

    async fn nobody_who_works_here_can_change_or_remove(test: TestDb) {
        let tenant = chain(&test, "shop", 2).await;
        for statement in [
            "UPDATE audit_entries SET subject = 'x' WHERE tenant_id = $1",
            "DELETE FROM audit_entries WHERE tenant_id = $1",
            "INSERT INTO audit_entries SELECT * FROM audit_entries WHERE tenant_id = $1
             ON CONFLICT (tenant_id, seq) DO UPDATE SET subject = 'x'",
        ] {
            let refused = test.db.write(tenant, move |tx| tx.execute(statement, &[])).await.unwrap_err();
            assert!(matches!(refused, StoreError::Refused(_)), "{statement}: {refused:?}");
        }
        if test.db.engine() == "sqlite" {
            let replace = "INSERT OR REPLACE INTO audit_entries SELECT * FROM audit_entries WHERE tenant_id = $1";
            let refused = test.db.write(tenant, move |tx| tx.execute(replace, &[])).await.unwrap_err();
            assert!(refused.to_string().contains("append-only"), "{refused}");
        }
        let found = verify(&test.db, tenant, &[]).await.unwrap();
        assert_eq!((found.entries, found.finding), (2, None));
    }

    async fn no_connection_to_a_sqlite_file_can_replace_or_move_a_head(test: TestDb) {
        let DatabaseAddress::Sqlite(path) = &test.address else { return };
        let tenant = chain(&test, "shop", 3).await;
        let raw = rusqlite::Connection::open(path).unwrap();
        raw.execute_batch("PRAGMA recursive_triggers = OFF; PRAGMA foreign_keys = OFF").unwrap();
        for statement in [
            "INSERT OR REPLACE INTO audit_entries SELECT tenant_id, seq, id, made_at, actor_kind, actor_id, event, 'x',
             payload, prev_hash, hash FROM audit_entries WHERE seq = 3",
            "INSERT INTO audit_entries SELECT tenant_id, seq + 2, id, made_at, actor_kind, actor_id, event, subject,
             payload, hash, hash FROM audit_entries WHERE seq = 3",
            "INSERT INTO audit_entries SELECT tenant_id, seq + 1, id, made_at, actor_kind, actor_id, event, subject,
             payload, prev_hash, hash FROM audit_entries WHERE seq = 3",
            "UPDATE audit_heads SET seq = 2",
            "UPDATE audit_heads SET hash = zeroblob(32)",
            "UPDATE OR REPLACE audit_heads SET seq = seq + 1",
            "DELETE FROM audit_heads",
            "INSERT OR REPLACE INTO audit_heads SELECT tenant_id, 0, zeroblob(32) FROM audit_heads",
            "INSERT INTO audit_heads VALUES (zeroblob(16), 7, zeroblob(32))",
        ] {
            let refused = raw.execute_batch(statement).unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{statement}: {refused}");
        }
        append(&test, tenant, 4).await.unwrap();
        let found = verify(&test.db, tenant, &[]).await.unwrap();
        assert_eq!((found.entries, found.finding), (4, None));
    }

    async fn no_phone_and_no_secret_stands_in_an_entry(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let (ids, now) = (test.ids.clone(), munshi_test_support::database::MORNING);
        let telling = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::Operator, "+919812345678"),
            event: AuditEvent::ACT_REFUSED,
            subject: "call 98123 45678".to_owned(),
            payload: json!({ "tool": "pay_9812345678", "why": ["sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"], "amount": 5 }),
        };
        test.db.write(tenant, move |tx| audit::append(tx, &telling, now, &ids)).await.unwrap();
        let line = entries(&test, tenant).await.remove(0).to_line();
        for bad in ["98123", "45678", "AAAAAAAA"] {
            assert!(!line.contains(bad), "{line}");
        }
        assert!(line.contains("[phone hidden]") && line.contains("\"amount\":5"), "{line}");
        assert_eq!(verify(&test.db, tenant, &[]).await.unwrap().finding, None);
    }

    async fn strange_words_are_kept_as_they_can_be(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let (ids, now) = (test.ids.clone(), munshi_test_support::database::MORNING);
        let strange = NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::Person, "a\u{0}b\u{1b}[2J"),
            event: AuditEvent::ACT_REFUSED,
            subject: "x".repeat(5000),
            payload: json!({ "nul": "\u{0}", "big": u64::MAX, "float": 1e300, "\u{1f600}": "\u{202e}", "q": "';--" }),
        };
        test.db.write(tenant, move |tx| audit::append(tx, &strange, now, &ids)).await.unwrap();
        let found = entries(&test, tenant).await.remove(0);
        assert_eq!((found.actor_id.as_str(), found.subject.len()), ("a\u{fffd}b\u{fffd}[2J", 200));
        let payload: Value = serde_json::from_str(&found.payload).unwrap();
        assert_eq!((&payload["nul"], &payload["big"]), (&json!("\u{0}"), &json!("18446744073709551615")));
        assert_eq!(verify(&test.db, tenant, &[]).await.unwrap().finding, None);
    }

    async fn an_export_is_every_line_and_anybody_can_check_it(test: TestDb) {
        let tenant = chain(&test, "shop", 5).await;
        let mut lines = Vec::new();
        let count = audit::export(&test.db, tenant, |line| {
            lines.push(line.to_owned());
            Ok(())
        });
        assert_eq!(count.await.unwrap(), 5);
        let stored = entries(&test, tenant).await;
        for (line, entry) in lines.iter().zip(&stored) {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["hash"], entry.hash.to_string());
            assert_eq!(value["payload"]["to"], "राजन");
            assert_eq!(audit::to_canonical_json(&value), *line);
        }
    }
}
