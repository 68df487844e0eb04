//! A database from before keys said for whom they talk and accounts were proved, brought up to now.

use munshi_identity::keys::{self, KEYS};
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::{MIGRATIONS, Role};
use munshi_store::migrate::{self, MigrationRequest};
use munshi_store::{Db, Migrations, PlatformTx, StoreOptions, across_tenants, params};
use munshi_test_support::on_both_engines;
use munshi_types::{Clock, KeyId, OperatorId, PersonId, TenantId};

/// How many lists of tables there were.
const BEFORE: usize = 4;

async fn brought_up(test: &munshi_test_support::TestDb) -> Db {
    let migrations = Migrations::new(&[munshi_store::MIGRATIONS, MIGRATIONS]).unwrap();
    let request = MigrationRequest {
        address: test.address.clone(),
        owner: None,
        options: StoreOptions::default(),
        migrations: migrations.clone(),
        now: test.clock.now(),
        backups: None,
    };
    migrate::run(request).await.unwrap();
    Db::open(&test.address, &test.options, &migrations).await.unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, MIGRATIONS[..BEFORE]];

    async fn keys_of_persons_talk_as_persons_and_rise_no_more(test: TestDb) {
        let shop = test.add_tenant("shop").await;
        let now = test.clock.now();
        let (person, till, own): (PersonId, KeyId, KeyId) = (test.ids.next(), test.ids.next(), test.ids.next());
        test.db.write(shop, move |tx| {
            let sql = "INSERT INTO persons (tenant_id, id, name, role, opened, closed, tags, made_at) VALUES ($1, $2, 'Asha', 'staff', '[]', '[]', '[]', $3)";
            tx.execute(sql, params![person, now])?;
            let sql = "INSERT INTO api_keys (tenant_id, id, name, role, person_id, made_by, made_at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
            tx.execute(sql, params![till, "till", Some("owner"), None::<PersonId>, "operator x", now])?;
            tx.execute(sql, params![own, "asha's", None::<&str>, Some(person), "operator x", now])
        }).await.unwrap();
        let db = brought_up(&test).await;
        let found = db.read(shop, move |tx| Ok::<_, munshi_identity::Error>((keys::find(tx, till)?.unwrap(), keys::find(tx, own)?.unwrap()))).await.unwrap();
        assert_eq!((found.0.speaks_as, found.1.speaks_as), (keys::KeySpeaker::Program, keys::KeySpeaker::Person));
        assert_eq!((found.1.ceiling, found.1.maker.as_str()), (Some(Role::Staff), "operator x"));
        for (speaks_as, name) in [(keys::KeySpeaker::Person, "asha's"), (keys::KeySpeaker::Program, "till")] {
            let assumed = db.platform(KEYS).read(move |tx| keys::list_assumed_speakers(tx, speaks_as, now)).await.unwrap();
            assert_eq!(assumed, [(shop, name.to_owned())]);
        }
    }

    async fn accounts_in_several_tenants_are_told(test: TestDb) {
        let tenants = [test.add_tenant("shop").await, test.add_tenant("clinic").await];
        let now = test.clock.now();
        // The first account, one tied to a service, one tied that has a password too, one of a tenant, one of two.
        let rows = [
            ("first@a.example", Some("hash"), None::<&str>, true, 0),
            ("tied@a.example", None, Some("1"), false, 2),
            ("both@a.example", Some("hash"), Some("2"), false, 2),
            ("one@a.example", Some("hash"), None, false, 1),
            ("two@a.example", Some("hash"), None, false, 2),
        ];
        let ids = test.ids.clone();
        test.db.platform(OPERATORS).write(move |tx: &mut PlatformTx<'_>| {
            for (email, password, subject, first, places) in rows {
                let id: OperatorId = ids.next();
                tx.execute(
                    across_tenants("INSERT INTO operators (id, email, name, password, issuer, subject, keeper, is_first, made_at)
                      VALUES ($1, $2, 'A', $3, $4, $5, $6, $6, $7)"),
                    params![id, email, password, subject.map(|_| "https://id.example"), subject, first, now],
                )?;
                for tenant in tenants.iter().take(places) {
                    let sql = "INSERT INTO operator_roles (tenant_id, operator_id, role, given_at) VALUES ($1, $2, 'owner', $3)";
                    tx.execute(across_tenants(sql), params![*tenant, id, now])?;
                }
            }
            Ok::<_, munshi_store::Error>(())
        }).await.unwrap();
        let db = brought_up(&test).await;
        let all = db.platform(OPERATORS).read(operators::list).await.unwrap();
        let proved = |email: &str| all.iter().find(|one| one.email == email).unwrap().proved_at.is_some();
        assert!(proved("first@a.example") && proved("tied@a.example"));
        assert!(!proved("both@a.example") && !proved("one@a.example") && !proved("two@a.example"));
        let home = |email: &str| -> Option<TenantId> { all.iter().find(|one| one.email == email).unwrap().home };
        assert_eq!((home("one@a.example"), home("two@a.example")), (Some(tenants[0]), None));
        let told = db.platform(OPERATORS).read(operators::list_unverified_in_several).await.unwrap();
        assert_eq!(told.iter().map(|one| one.email.as_str()).collect::<Vec<_>>(), ["both@a.example", "two@a.example"]);
    }
}
