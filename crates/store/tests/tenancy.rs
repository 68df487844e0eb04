//! Nothing crosses from one tenant to another.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::{NOTES, add, bodies};
use munshi_store::{Error, MIGRATIONS, Result, across_tenants, params, tenants};
use munshi_store::{Page, PageRequest};
use munshi_test_support::{DatabaseEngine, TestDb, administer_platform, on_both_engines};
use munshi_types::{TenantStatus, Zone};

on_both_engines! {
    with [MIGRATIONS, NOTES];

    async fn each_tenant_sees_only_its_own_rows(test: TestDb) {
        let (sharma, verma) = (test.add_tenant("sharma").await, test.add_tenant("verma").await);
        let theirs = test.db.write(sharma, |tx| add(tx, "sharma's")).await.unwrap();
        test.db.write(verma, |tx| add(tx, "verma's")).await.unwrap();
        assert_eq!(test.db.read(sharma, bodies).await.unwrap(), ["sharma's"]);
        assert_eq!(test.db.read(verma, bodies).await.unwrap(), ["verma's"]);
        let touched: u64 = test.db.write(verma, move |tx| {
            let updated = tx.execute("UPDATE notes SET body = 'mine' WHERE tenant_id = $1 AND id = $2", params![theirs])?;
            let deleted = tx.execute("DELETE FROM notes WHERE tenant_id = $1 AND id = $2", params![theirs])?;
            Ok::<_, Error>(updated + deleted)
        }).await.unwrap();
        assert_eq!(touched, 0);
        assert_eq!(test.db.read(sharma, bodies).await.unwrap(), ["sharma's"]);
    }

    async fn acting_for_a_tenant_just_made_is_one_transaction(test: TestDb) {
        let tenant = munshi_types::Tenant {
            id: test.ids.next(),
            name: "fresh".parse().unwrap(),
            zone: Zone::default(),
            status: TenantStatus::Active,
            created_at: munshi_test_support::database::MORNING,
        };
        let id = tenant.id;
        let copy = tenant.clone();
        let refused: Result<()> = test.db.platform(tenants::TENANTS).write(move |tx| {
            tenants::add(tx, &copy)?;
            tx.as_tenant(copy.id, |tx| add(tx, "forbidden"))?;
            Ok(())
        }).await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        test.db.platform(tenants::TENANTS).write(move |tx| {
            tenants::add(tx, &tenant)?;
            tx.as_tenant(tenant.id, |tx| add(tx, "hello"))
        }).await.unwrap();
        assert_eq!(test.db.read(id, bodies).await.unwrap(), ["hello"]);
    }

    async fn tenants_are_added_found_paused_and_listed(test: TestDb) {
        let id = test.add_tenant("sharma").await;
        let platform = test.db.platform(tenants::TENANTS);
        let again = munshi_types::Tenant {
            id: test.ids.next(),
            name: "sharma".parse().unwrap(),
            zone: Zone::default(),
            status: TenantStatus::Active,
            created_at: munshi_test_support::database::MORNING,
        };
        let taken = platform.write(move |tx| tenants::add(tx, &again)).await;
        assert!(matches!(taken, Err(Error::Conflict { .. })), "{taken:?}");
        assert!(platform.write(move |tx| administer_platform(tx, |tx| tenants::set_status(tx, id, TenantStatus::Paused))).await.unwrap());
        let name = "sharma".parse().unwrap();
        let found = platform.read(move |tx| tenants::find_by_name(tx, &name)).await.unwrap().unwrap();
        assert_eq!((found.id, found.status), (id, TenantStatus::Paused));
        let stranger = test.ids.next();
        assert!(!platform.write(move |tx| administer_platform(tx, |tx| tenants::set_status(tx, stranger, TenantStatus::Paused))).await.unwrap());
        assert!(platform.write(move |tx| administer_platform(tx, |tx| tenants::set_status(tx, id, TenantStatus::Archived))).await.unwrap());
        let back = platform.write(move |tx| administer_platform(tx, |tx| tenants::set_status(tx, id, TenantStatus::Active))).await.unwrap();
        assert!(!back, "archived is for good");
    }

    async fn a_list_comes_in_pages_without_gaps_or_repeats(test: TestDb) {
        for number in 0..7 {
            test.add_tenant(&format!("shop-{number}")).await;
        }
        let (mut after, mut names) = (None, Vec::new());
        loop {
            let request = PageRequest::new(after, 3);
            let page: Page<_> =
                test.db.platform(tenants::TENANTS).read(move |tx| tenants::list(tx, &request)).await.unwrap();
            names.extend(page.items.into_iter().map(|tenant| tenant.name.to_string()));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 7);
    }
}

async fn postgres() -> TestDb {
    TestDb::open(DatabaseEngine::Postgres, &[MIGRATIONS, NOTES]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_no_setting_means_no_rows() {
    let test = postgres().await;
    let tenant = test.add_tenant("shop").await;
    test.db.write(tenant, |tx| add(tx, "secret")).await.unwrap();
    let platform = test.db.platform(munshi_store::PlatformScope::new("tenants"));
    let count = across_tenants("SELECT count(*) FROM notes");
    let seen: i64 = platform.read(move |tx| tx.one(count, &[], |row| row.get(0))).await.unwrap();
    assert_eq!(seen, 0, "a door opens only its own tables");
    test.place.run_as_superuser(
        "DO $$ BEGIN IF (SELECT count(*) FROM notes) <> 1 THEN RAISE 'the row is gone'; END IF; END $$",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_a_statement_without_its_filter_still_sees_one_tenant() {
    let test = postgres().await;
    let (sharma, verma) = (test.add_tenant("sharma").await, test.add_tenant("verma").await);
    test.db.write(sharma, |tx| add(tx, "sharma's")).await.unwrap();
    let seen: i64 = test
        .db
        .read(verma, |tx| {
            tx.one("SELECT count(*) FROM notes WHERE $1::uuid IS NOT NULL", &[], |row| row.get(0))
        })
        .await
        .unwrap();
    assert_eq!(seen, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_a_row_for_another_tenant_is_refused() {
    let test = postgres().await;
    let (sharma, verma) = (test.add_tenant("sharma").await, test.add_tenant("verma").await);
    let outcome: Result<u64> = test
        .db
        .write(sharma, move |tx| {
            tx.execute("INSERT INTO notes (tenant_id, id, body) SELECT $2, $1, 'planted'", params![verma])
        })
        .await;
    assert!(
        matches!(&outcome, Err(Error::Refused(what)) if what.contains("row-level security")),
        "{outcome:?}"
    );
}
