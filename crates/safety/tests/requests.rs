//! A request under an idempotency key, and what is stored of it.

use munshi_safety::requests::{RequestClaim, RequestStanding};
use munshi_store::{MIGRATIONS, Tx, params};
use munshi_test_support::on_both_engines;
use munshi_types::Clock;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// As anybody computes it who guesses what was asked.
fn guess(input: &Value) -> Vec<u8> {
    Sha256::digest(input.to_string().as_bytes()).to_vec()
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, munshi_safety::MIGRATIONS];

    async fn nobody_confirms_a_guess_and_requests_from_before_are_known(test: TestDb) {
        let (shop, now) = (test.add_tenant("shop").await, test.clock.now());
        let input = json!({ "name": "Ramesh", "owes": 500 });
        let claim = |input: &Value| RequestClaim::new("key 1", "once", "add_person".to_owned(), input).unwrap();
        let (same, other) = (claim(&input), claim(&json!({ "name": "Sita" })));
        let (take, answer) = (same.clone(), json!({ "id": 7 }));
        let kept = answer.clone();
        let taken = move |tx: &mut Tx<'_>| -> munshi_safety::Result<bool> {
            let taken = take.take(tx, now)?;
            take.keep_answer(tx, Some(&kept), now)?;
            Ok(taken && !take.take(tx, now)?)
        };
        assert!(test.db.write(shop, taken).await.unwrap());
        let digest = |tx: &mut Tx<'_>| -> munshi_store::Result<Vec<u8>> {
            tx.one("SELECT digest FROM answered_requests WHERE tenant_id = $1", params![], |row| row.get(0))
        };
        assert_ne!(test.db.read(shop, digest).await.unwrap(), guess(&input));
        // As a version stored it that did not key digests.
        for plain in [None, Some(guess(&input))] {
            if let Some(plain) = plain {
                let sql = "UPDATE answered_requests SET digest = $2 WHERE tenant_id = $1";
                let unkey = move |tx: &mut Tx<'_>| tx.execute(sql, params![plain]);
                let changed: munshi_store::Result<u64> = test.db.write(shop, unkey).await;
                assert_eq!(changed.unwrap(), 1);
            }
            let (same, other) = (same.clone(), other.clone());
            let found = move |tx: &mut Tx<'_>| Ok::<_, munshi_safety::Error>((same.find(tx)?, other.find(tx)?));
            let (same, other) = test.db.read(shop, found).await.unwrap();
            assert_eq!((same, other), (RequestStanding::Answered(Some(answer.clone())), RequestStanding::Different));
        }
    }
}
