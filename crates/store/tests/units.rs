//! What a unit of work promises, on both engines.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{NOTES, Refusal, add, bodies, send};
use munshi_store::{Announcement, Error, JsonText, MIGRATIONS, Result, Vector, params};
use munshi_test_support::on_both_engines;
use munshi_types::{Money, Timestamp};
use uuid::Uuid;

on_both_engines! {
    with [MIGRATIONS, NOTES];

    async fn what_is_written_is_read(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| add(tx, "नमस्ते")).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["नमस्ते"]);
    }

    async fn a_unit_that_fails_leaves_nothing_and_answers_in_its_own_words(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome: Result<(), Refusal> = test.db.write(tenant, |tx| { add(tx, "half")?; Err(Refusal::Mine) }).await;
        assert_eq!(outcome, Err(Refusal::Mine));
        assert!(test.db.read(tenant, bodies).await.unwrap().is_empty());
    }

    async fn what_is_sent_is_there_for_the_next_statement_and_after_the_unit(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let seen = test.db.write(tenant, |tx| {
            (0..60).try_for_each(|number| send(tx, &format!("{number:02}")))?;
            bodies(tx)
        }).await.unwrap();
        let all: Vec<String> = (0..60).map(|number| format!("{number:02}")).collect();
        assert_eq!(seen, all);
        test.db.write(tenant, |tx| send(tx, "last")).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap().last().unwrap(), "last");
    }

    async fn what_is_sent_and_fails_ends_its_unit_with_its_own_error(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let at_the_end: Result<()> = test.db.write(tenant, |tx| {
            send(tx, "before")?;
            let _told_later = send(tx, "forbidden");
            Ok(())
        }).await;
        assert!(matches!(at_the_end, Err(Error::Refused(_))), "{at_the_end:?}");
        let on_the_way: Result<Vec<String>> = test.db.write(tenant, |tx| {
            send(tx, "before")?;
            send(tx, "forbidden")?;
            send(tx, "after")?;
            bodies(tx)
        }).await;
        assert!(matches!(on_the_way, Err(Error::Refused(_))), "{on_the_way:?}");
        assert!(test.db.read(tenant, bodies).await.unwrap().is_empty());
        test.db.write(tenant, |tx| send(tx, "next")).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["next"]);
    }

    async fn what_is_sent_inside_an_attempt_fails_inside_it(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| {
            send(tx, "one")?;
            let tried: Result<()> = tx.attempt(|tx| { send(tx, "lost")?; send(tx, "forbidden") });
            assert!(matches!(tried, Err(Error::Refused(_))), "{tried:?}");
            send(tx, "two")
        }).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["one", "two"]);
    }

    async fn what_is_sent_before_a_statement_that_is_none_goes_with_its_attempt(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| {
            send(tx, "one")?;
            let tried: Result<u64> = tx.attempt(|tx| {
                send(tx, "lost")?;
                tx.execute("INSERT INTO nothing_such (tenant_id) VALUES ($1)", params![])
            });
            assert!(matches!(tried, Err(Error::Misuse(_))), "{tried:?}");
            send(tx, "two")
        }).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["one", "two"]);
    }

    async fn what_does_not_fit_is_refused_where_it_is_sent_and_nothing_of_its_unit_stays(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome: Result<()> = test.db.write(tenant, |tx| {
            send(tx, "before")?;
            let unfit = tx.send("UPDATE notes SET body = $2 WHERE tenant_id = $1 AND id = $3", params!["x", 7_i64]);
            assert!(unfit.is_err() || tx.engine() == "sqlite", "{unfit:?}");
            send(tx, "after")
        }).await;
        let kept = test.db.read(tenant, bodies).await.unwrap();
        match outcome {
            // SQLite compares anything with anything.
            Ok(()) => assert_eq!(kept.len(), 2),
            Err(error) => assert_eq!((kept, matches!(error, Error::Misuse(_))), (Vec::new(), true), "{error}"),
        }
    }

    async fn a_unit_that_only_reads_sends_nothing(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome: Result<()> = test.db.read(tenant, |tx| send(tx, "x")).await;
        assert!(matches!(outcome, Err(Error::Misuse(_))), "{outcome:?}");
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), [""; 0]);
    }

    async fn what_is_sent_by_a_unit_that_gives_up_is_never_there(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome: Result<(), Refusal> = test.db.write(tenant, |tx| { send(tx, "half")?; Err(Refusal::Mine) }).await;
        assert_eq!(outcome, Err(Refusal::Mine));
        test.db.write(tenant, |tx| send(tx, "whole")).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["whole"]);
    }

    async fn a_unit_that_panics_is_undone_alone(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..60 {
            let db = test.db.clone();
            tasks.spawn(async move {
                let body = format!("{number:02}");
                db.write(tenant, move |tx| -> Result<()> {
                    add(tx, &body)?;
                    match number % 3 {
                        0 => Ok(()),
                        1 => panic!("unit {number} breaks"),
                        _ => Err(Error::Misuse("told to".to_owned())),
                    }
                }).await.map_err(|error| (number, error))
            });
        }
        for outcome in tasks.join_all().await {
            match outcome {
                Ok(()) => {}
                Err((number, Error::Panicked(what))) => assert!(number % 3 == 1 && what.contains("breaks"), "{what}"),
                Err((number, error)) => assert!(number % 3 == 2 && matches!(error, Error::Misuse(_)), "{error}"),
            }
        }
        let kept: Vec<String> = (0..60).step_by(3).map(|number| format!("{number:02}")).collect();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), kept);
    }

    async fn a_unit_inside_a_unit_is_refused(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let (db, handle) = (test.db.clone(), tokio::runtime::Handle::current());
        let outcome: Result<()> = test.db.write(tenant, move |tx| {
            add(tx, "outer")?;
            handle.block_on(db.write(tenant, |tx| add(tx, "inner"))).map(|_| ())
        }).await;
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("a unit of work can't start another"), "{error}");
        assert!(test.db.read(tenant, bodies).await.unwrap().is_empty());
    }

    async fn a_failed_statement_ends_its_unit(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome: Result<()> = test.db.write(tenant, |tx| {
            add(tx, "before")?;
            let _ignored = add(tx, "forbidden");
            Ok(())
        }).await;
        assert!(matches!(outcome, Err(Error::Refused(_))), "{outcome:?}");
        let outcome: Result<Uuid> = test.db.write(tenant, |tx| {
            let _ignored = add(tx, "forbidden");
            add(tx, "after")
        }).await;
        assert!(matches!(&outcome, Err(Error::Misuse(what)) if what.contains("use `attempt`")), "{outcome:?}");
        assert!(test.db.read(tenant, bodies).await.unwrap().is_empty());
    }

    async fn an_attempt_may_fail_and_the_unit_goes_on(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| {
            add(tx, "one")?;
            let tried = tx.attempt(|tx| { add(tx, "lost")?; add(tx, "forbidden") });
            assert!(matches!(tried, Err(Error::Refused(_))), "{tried:?}");
            tx.attempt(|tx| add(tx, "two"))?;
            let swallowed: Result<()> = tx.attempt(|tx| { let _ignored = add(tx, "forbidden"); Ok(()) });
            assert!(matches!(swallowed, Err(Error::Refused(_))), "{swallowed:?}");
            add(tx, "three")
        }).await.unwrap();
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["one", "three", "two"]);
    }

    async fn a_taken_key_is_a_conflict_and_a_missing_parent_is_refused(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let id = test.db.write(tenant, |tx| add(tx, "first")).await.unwrap();
        let again: Result<u64> = test.db.write(tenant, move |tx| {
            tx.execute("INSERT INTO notes (tenant_id, id, body) VALUES ($1, $2, 'again')", params![id])
        }).await;
        assert!(matches!(again, Err(Error::Conflict { .. })), "{again:?}");
        let stranger = test.ids.next();
        let orphan = test.db.write(stranger, |tx| add(tx, "orphan")).await;
        assert!(matches!(orphan, Err(Error::Refused(_))), "{orphan:?}");
    }

    async fn every_kind_of_value_survives(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let at = Timestamp::from_micros(1_794_709_800_123_456);
        let doc = JsonText::of(&serde_json::json!({"₹": [1, 2.5, null], "x": "y"})).unwrap();
        let key = Uuid::from_u128(42);
        let copy = doc.clone();
        test.db.write(tenant, move |tx| {
            let mark = Vector(vec![0.5, -1.25, 3.0]);
            let money = Money::from_paise(i64::MAX);
            tx.execute(
                "INSERT INTO samples (tenant_id, id, flag, whole, fraction, words, raw, key, at, doc, mark)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                params![1_i64, true, money, 0.1_f64, "it's $1 ☕", vec![0_u8, 255], key, at, copy, mark],
            )?;
            tx.execute("INSERT INTO samples (tenant_id, id, words) VALUES ($1, $2, $3)", params![2_i64, None::<String>])
        }).await.unwrap();
        test.db.read(tenant, move |tx| {
            let sql = "SELECT * FROM samples WHERE tenant_id = $1 AND id = $2";
            tx.one(sql, params![1_i64], |row| {
                assert!(row.get::<bool>("flag")?);
                assert_eq!(row.get::<Money>("whole")?, Money::from_paise(i64::MAX));
                assert_eq!(row.get::<f64>("fraction")?, 0.1);
                assert_eq!(row.get::<String>("words")?, "it's $1 ☕");
                assert_eq!(row.get::<Vec<u8>>("raw")?, [0, 255]);
                assert_eq!(row.get::<Uuid>("key")?, key);
                assert_eq!(row.get::<Timestamp>("at")?, at);
                assert_eq!(row.get::<JsonText>("doc")?.read::<serde_json::Value>()?, doc.read::<serde_json::Value>()?);
                assert_eq!(row.get::<Vector>("mark")?, Vector(vec![0.5, -1.25, 3.0]));
                let wrong = row.get::<i64>("words").unwrap_err().to_string();
                assert!(wrong.contains("column `words`: expected an integer, found text"), "{wrong}");
                assert!(row.get::<i64>("nothing").unwrap_err().to_string().contains("no column `nothing`"));
                Ok(())
            })?;
            tx.one(sql, params![2_i64], |row| { assert_eq!(row.get::<Option<String>>("words")?, None); Ok(()) })
        }).await.unwrap();
    }

    async fn parameters_mean_the_same_in_any_order(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let pair: (String, String) = test.db.write(tenant, |tx| {
            tx.one(
                "INSERT INTO samples (id, words, tenant_id, raw) VALUES ($3, $2, $1, NULL) RETURNING words, $2 || '!'",
                params!["two", 3_i64],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
        }).await.unwrap();
        assert_eq!(pair, ("two".to_owned(), "two!".to_owned()));
    }

    async fn a_wrong_number_of_parameters_is_refused(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        for count in [0, 2] {
            let outcome: Result<u64> = test.db.write(tenant, move |tx| {
                let params = vec![munshi_store::Param::Integer(1); count];
                tx.execute("DELETE FROM samples WHERE tenant_id = $1 AND id = $2", &params)
            }).await;
            assert!(matches!(&outcome, Err(Error::Misuse(what)) if what.contains("2 wanted")), "{outcome:?}");
        }
    }

    async fn text_with_a_nul_is_refused_by_both(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome = test.db.write(tenant, |tx| add(tx, "a\0b")).await;
        assert!(matches!(outcome, Err(Error::Refused(_))), "{outcome:?}");
    }

    async fn a_hook_runs_after_the_commit_and_not_after_a_failure(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let count = Arc::new(AtomicUsize::new(0));
        for fail in [false, true] {
            let count = count.clone();
            let _outcome: Result<()> = test.db.write(tenant, move |tx| {
                let inner = count.clone();
                tx.after_commit(move || { inner.fetch_add(1, Ordering::SeqCst); });
                let lost: Result<()> = tx.attempt(|tx| {
                    tx.after_commit(move || { count.fetch_add(100, Ordering::SeqCst); });
                    Err(Error::Misuse("undone".to_owned()))
                });
                assert!(lost.is_err());
                if fail { Err(Error::Misuse("told to".to_owned())) } else { Ok(()) }
            }).await;
        }
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    async fn a_unit_announces_what_it_did_once_and_only_after_its_commit(test: TestDb) {
        let (tenant, mut heard) = (test.add_tenant("shop").await, test.db.announcements());
        let [changed, lost, never] = [1, 2, 3].map(Uuid::from_u128);
        for fail in [true, false] {
            let _outcome: Result<()> = test.db.write(tenant, move |tx| {
                if fail {
                    tx.announce(never);
                    return Err(Error::Misuse("told to".to_owned()));
                }
                tx.announce(changed);
                let undone: Result<()> = tx.attempt(|tx| {
                    tx.announce(lost);
                    Err(Error::Misuse("undone".to_owned()))
                });
                assert!(undone.is_err());
                tx.announce(changed);
                add(tx, "done").map(drop)
            }).await;
        }
        assert_eq!(heard.try_recv().unwrap(), Announcement { tenant, subject: changed });
        assert!(heard.try_recv().is_err(), "once, and nothing of what was rolled back");
        assert_eq!(test.db.read(tenant, bodies).await.unwrap(), ["done"]);
    }

    async fn a_reader_can_not_write(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        let outcome = test.db.read(tenant, |tx| add(tx, "sneaky")).await;
        assert!(outcome.is_err());
        assert!(test.db.read(tenant, bodies).await.unwrap().is_empty());
    }

    async fn a_read_sees_one_moment(test: TestDb) {
        let tenant = test.add_tenant("shop").await;
        test.db.write(tenant, |tx| add(tx, "one")).await.unwrap();
        let (db, handle) = (test.db.clone(), tokio::runtime::Handle::current());
        let seen: Vec<usize> = test.db.read(tenant, move |tx| {
            let before = bodies(tx)?.len();
            let writer = std::thread::spawn(move || handle.block_on(db.write(tenant, |tx| add(tx, "two"))));
            writer.join().unwrap()?;
            Ok::<_, Error>(vec![before, bodies(tx)?.len()])
        }).await.unwrap();
        assert_eq!(seen, [1, 1]);
        assert_eq!(test.db.read(tenant, bodies).await.unwrap().len(), 2);
    }
}
