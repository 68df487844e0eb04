//! Walking through rows from before they were sealed.

use std::time::Duration;

use munshi_identity::persons::{self, SEALING};
use munshi_identity::row_sealing::{CODES, CONTACTS, SealingStep, find_last_change};
use munshi_identity::{ContactAddress, MIGRATIONS};
use munshi_store::{Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{Clock, PersonId, TenantId, Timestamp};

async fn walk(test: &TestDb, tenant: TenantId) {
    let now = test.clock.now();
    for rows in [CONTACTS, CODES] {
        let seal = move |tx: &mut Tx<'_>| rows.seal_next(tx, now);
        while test.db.write(tenant, seal).await.unwrap() == SealingStep::More {}
    }
}

async fn load_last_change(test: &TestDb) -> Option<Timestamp> {
    test.db.platform(SEALING).read(find_last_change).await.unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, MIGRATIONS];

    async fn a_walk_says_whether_anything_stood_plain(test: TestDb) {
        let (shop, older) = (test.add_tenant("shop").await, test.add_tenant("older").await);
        let (ids, now) = (test.ids.clone(), test.clock.now());
        let add = move |tx: &mut Tx<'_>| {
            let phone = ContactAddress::phone("+919812345678").unwrap();
            persons::find_or_add(tx, &ids, &[phone], "Meera", now).map(drop)
        };
        test.db.write(shop, add).await.unwrap();
        walk(&test, shop).await;
        assert_eq!(load_last_change(&test).await, None, "what this version writes is sealed already");

        let person: PersonId = test.ids.next();
        let plant = move |tx: &mut Tx<'_>| {
            tx.execute(
                "INSERT INTO persons (tenant_id, id, name, opened, closed, tags, made_at) VALUES ($1, $2, 'Asha', '[]', '[]', '[]', $3)",
                params![person, now],
            )
        };
        test.db.write(older, plant).await.unwrap();
        test.clock.advance(Duration::from_secs(60));
        walk(&test, older).await;
        assert_eq!(load_last_change(&test).await, Some(test.clock.now()));
        // Walked once more, nothing is left to change.
        let again = |tx: &mut Tx<'_>| tx.execute("UPDATE sealed_rows SET done_at = NULL WHERE tenant_id = $1", params![]);
        test.db.write(older, again).await.unwrap();
        let changed = load_last_change(&test).await;
        test.clock.advance(Duration::from_secs(60));
        walk(&test, older).await;
        assert_eq!(load_last_change(&test).await, changed);
    }
}
