//! The vault on both engines: round trips, swapped rows, wrong keys, a rotation cut short at every step.

use std::path::PathBuf;
use std::sync::Arc;

use munshi_store::MIGRATIONS;
use munshi_test_support::database::MORNING;
use munshi_test_support::{TestDb, on_both_engines};
use munshi_types::{SystemRandom, TenantId};

use super::{MasterKeySource, SecretRef, VAULT, Vault, VaultAuditContext, VaultSecret};
use crate::audit::{self, AuditActor, AuditActorKind, derive_pseudonym};
use crate::error::{Error, Result};

fn key_file(test: &TestDb) -> PathBuf {
    test.place.folder().join("vault.key")
}

async fn start_with(test: &TestDb, source: MasterKeySource) -> Result<Vault> {
    Vault::start(test.db.clone(), source, Arc::new(SystemRandom), test.ids.clone(), MORNING).await
}

async fn start(test: &TestDb) -> Vault {
    start_with(test, MasterKeySource::File(key_file(test))).await.unwrap()
}

fn by() -> VaultAuditContext {
    VaultAuditContext { actor: AuditActor::new(AuditActorKind::Operator, "asha"), now: MORNING }
}

fn name(text: &str) -> SecretRef {
    SecretRef::from_name(text).unwrap()
}

async fn set(vault: &Vault, tenant: TenantId, called: &str, value: &str) -> i64 {
    vault.set(tenant, &name(called), VaultSecret::new(value.to_owned()).unwrap(), by()).await.unwrap()
}

async fn opened(vault: &Vault, tenant: TenantId, called: &str) -> Result<String> {
    vault.open(tenant, &name(called)).await.map(|secret| secret.expose().to_owned())
}

async fn run(test: &TestDb, tenant: TenantId, statement: &'static str) {
    test.db.write(tenant, move |tx| tx.execute(statement, &[])).await.unwrap();
}

on_both_engines! {
    with [MIGRATIONS, munshi_jobs::MIGRATIONS, crate::MIGRATIONS];

    async fn what_is_kept_comes_back(test: TestDb) {
        let (vault, one, other) = (start(&test).await, test.add_tenant("one").await, test.add_tenant("other").await);
        assert_eq!(set(&vault, one, "razorpay.key", "hunter2").await, 1);
        assert_eq!(set(&vault, other, "razorpay.key", "swordfish").await, 1);
        assert_eq!(set(&vault, TenantId::PLATFORM, "razorpay.key", "राज़").await, 1);
        assert_eq!(set(&vault, one, "razorpay.key", "hunter3").await, 2);
        assert_eq!(opened(&vault, one, "razorpay.key").await.unwrap(), "hunter3");
        assert_eq!(opened(&vault, other, "razorpay.key").await.unwrap(), "swordfish");
        assert_eq!(opened(&vault, TenantId::PLATFORM, "razorpay.key").await.unwrap(), "राज़");
        let listed = vault.list(one).await.unwrap();
        assert_eq!((listed.len(), listed[0].version), (1, 2));
        assert_eq!(opened(&start(&test).await, one, "razorpay.key").await.unwrap(), "hunter3", "after a restart");
        let error = opened(&vault, one, "nothing").await.unwrap_err();
        assert!(error.to_string().ends_with("set it with `munshi vault set nothing --tenant NAME`"), "{error}");
        assert!(vault.remove(one, &name("razorpay.key"), by()).await.unwrap());
        assert!(!vault.remove(one, &name("razorpay.key"), by()).await.unwrap());
        assert!(matches!(opened(&vault, one, "razorpay.key").await, Err(Error::NoSecret { .. })));
    }

    /// What was read may be out of date by the time it is changed: a newer one, or none, stays as it is.
    async fn only_the_one_that_is_known_is_replaced(test: TestDb) {
        let (vault, shop) = (start(&test).await, test.add_tenant("shop").await);
        let replace = async |known: &str, value: &str| {
            let secret = |text: &str| VaultSecret::new(text.to_owned()).unwrap();
            vault.replace_if_unchanged(shop, &name("a"), secret(known), secret(value), by()).await.unwrap()
        };
        assert!(!replace("one", "two").await, "there is none");
        assert!(opened(&vault, shop, "a").await.is_err());
        set(&vault, shop, "a", "one").await;
        assert!(replace("one", "two").await);
        assert!(!replace("one", "three").await, "another came before");
        assert_eq!(opened(&vault, shop, "a").await.unwrap(), "two");
        let forgotten = |called: &'static str| test.db.write(shop, move |tx| crate::vault::remove(tx, &name(called)));
        assert!(forgotten("a").await.unwrap() && !forgotten("a").await.unwrap());
        assert!(!replace("two", "three").await, "what was forgotten stays so");
    }

    async fn a_row_opens_only_in_its_own_place(test: TestDb) {
        let (vault, one) = (start(&test).await, test.add_tenant("one").await);
        set(&vault, one, "a", "hunter2").await;
        set(&vault, one, "b", "swordfish").await;
        run(&test, one, "UPDATE vault_secrets SET sealed = (SELECT sealed FROM vault_secrets WHERE tenant_id = $1 AND name = 'a')
                         WHERE tenant_id = $1 AND name = 'b'").await;
        let error = opened(&vault, one, "b").await.unwrap_err();
        assert!(matches!(error, Error::Tampered { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
        run(&test, one, "UPDATE vault_secrets SET version = 7 WHERE tenant_id = $1 AND name = 'a'").await;
        assert!(matches!(opened(&vault, one, "a").await, Err(Error::Tampered { .. })), "another version");
    }

    async fn a_tenants_row_or_key_is_of_no_use_to_another(test: TestDb) {
        let (vault, one, other) = (start(&test).await, test.add_tenant("one").await, test.add_tenant("other").await);
        set(&vault, one, "a", "hunter2").await;
        set(&vault, other, "a", "swordfish").await;
        let swap = move |tx: &mut munshi_store::PlatformTx<'_>| {
            let text = munshi_store::across_tenants(
                "UPDATE vault_secrets SET sealed = (SELECT s.sealed FROM vault_secrets s WHERE s.tenant_id = $1) WHERE tenant_id = $2");
            tx.execute(text, munshi_store::params![one, other])
        };
        test.db.platform(VAULT).write(swap).await.unwrap();
        assert!(matches!(opened(&vault, other, "a").await, Err(Error::Tampered { .. })));
        let swap = move |tx: &mut munshi_store::PlatformTx<'_>| {
            let text = munshi_store::across_tenants(
                "UPDATE vault_keys SET wrapped = (SELECT k.wrapped FROM vault_keys k WHERE k.tenant_id = $1) WHERE tenant_id = $2");
            tx.execute(text, munshi_store::params![one, other])
        };
        test.db.platform(VAULT).write(swap).await.unwrap();
        let error = opened(&vault, other, "a").await.unwrap_err();
        assert!(error.to_string().contains("the key of tenant"), "{error}");
    }

    async fn nothing_of_a_secret_is_stored_or_told(test: TestDb) {
        let (vault, one) = (start(&test).await, test.add_tenant("one").await);
        set(&vault, one, "a", "hunter2hunter2").await;
        vault.rotate(by(), None).await.unwrap();
        vault.remove(one, &name("a"), by()).await.unwrap();
        let mut told = format!("{vault:?} {:?}", vault.open(one, &name("a")).await);
        for tenant in [one, TenantId::PLATFORM] {
            audit::export(&test.db, tenant, |line| {
                told += line;
                Ok(())
            })
            .await
            .unwrap();
        }
        let key = std::fs::read_to_string(key_file(&test)).unwrap();
        assert!(!told.contains("hunter2") && !told.contains(key.trim()), "{told}");
        for event in ["secret.set", "secret.removed", "key.rotated"] {
            assert!(told.contains(event), "{told}");
        }
        set(&vault, one, "a", "hunter2hunter2").await;
        let stored = test.db.read(one, |tx| tx.one("SELECT sealed FROM vault_secrets WHERE tenant_id = $1", &[], |row| row.get::<Vec<u8>>(0)));
        let stored = stored.await.unwrap();
        assert!(!stored.windows(7).any(|part| part == b"hunter2"));
    }

    async fn another_key_is_refused_with_the_place_of_it(test: TestDb) {
        let (vault, one) = (start(&test).await, test.add_tenant("one").await);
        set(&vault, one, "a", "hunter2").await;
        let (path, other) = (key_file(&test), test.place.folder().join("other.key"));
        let given = |text: &str| MasterKeySource::Given { key: VaultSecret::new(text.to_owned()).unwrap(), next: None };
        let wrong = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        let error = start_with(&test, given(wrong)).await.unwrap_err().to_string();
        assert!(error.contains("vault.key (MUNSHI__VAULT__KEY) contains another key") && !error.contains(wrong), "{error}");
        let error = start_with(&test, MasterKeySource::File(other.clone())).await.unwrap_err().to_string();
        assert!(error.contains("other.key is missing") && error.contains("Restore that key"), "{error}");
        assert!(!other.exists(), "no second key is made beside a database that has one");
        let right = std::fs::read_to_string(&path).unwrap();
        let vault = start_with(&test, given(right.trim())).await.unwrap();
        assert_eq!(opened(&vault, one, "a").await.unwrap(), "hunter2");
        let error = start_with(&test, given("not a key")).await.unwrap_err().to_string();
        assert!(error.contains("openssl rand -base64 32") && !error.contains("not a key"), "{error}");
    }

    async fn a_key_that_others_can_read_is_refused(test: TestDb) {
        use std::os::unix::fs::PermissionsExt;
        start(&test).await;
        let path = key_file(&test);
        let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "as it was made");
        for mode in [0o640, 0o604, 0o660, 0o644, 0o610] {
            set_mode(mode);
            let error = start_with(&test, MasterKeySource::File(path.clone())).await.unwrap_err().to_string();
            assert!(error.contains("chmod 600"), "{error}");
        }
        set_mode(0o400);
        start(&test).await;
    }

    async fn what_a_killed_rotation_left_is_removed_and_what_is_being_written_stays(test: TestDb) {
        let vault = start(&test).await;
        let path = key_file(&test);
        let beside = |end: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            std::path::PathBuf::from(name)
        };
        let (left, next) = (beside(".partial-1"), beside(".next.partial-99"));
        let (writing, kept) = (beside(".next.partial-7"), beside(".retired-ab"));
        let held = std::fs::File::create(&writing).unwrap();
        held.lock().unwrap();
        std::fs::write(&kept, "x").unwrap();
        for again in ["start", "rotate"] {
            std::fs::write(&left, "half").unwrap();
            std::fs::write(&next, "half").unwrap();
            match again {
                "start" => drop(start(&test).await),
                _ => drop(vault.rotate(by(), None).await.unwrap()),
            }
            assert!(!left.exists() && !next.exists(), "{again}");
            assert!(writing.exists() && kept.exists() && path.exists(), "{again}");
        }
    }

    async fn a_rotation_cut_short_anywhere_leaves_all_readable_and_goes_on(test: TestDb) {
        let before = start(&test).await;
        let mut tenants = Vec::new();
        for number in 0..3 {
            let tenant = test.add_tenant(&format!("shop-{number}")).await;
            set(&before, tenant, "a", &format!("hunter{number}")).await;
            tenants.push(tenant);
        }
        let old = std::fs::read_to_string(key_file(&test)).unwrap();
        for steps in 0..5 {
            // A process that gets so far and is gone.
            let vault = start(&test).await;
            if steps >= 1 {
                let begun = vault.begin_rotation(&by()).await.unwrap();
                if steps >= 2 {
                    vault.rewrap(&begun).await.unwrap();
                }
                if steps >= 3 {
                    vault.masters.source().promote_next(&begun.from).unwrap();
                }
                if steps >= 4 {
                    vault.end_rotation(&begun, by(), 0).await.unwrap();
                }
            } else {
                vault.masters.source().load_or_create_next(&SystemRandom).unwrap();
            }
            // One that was there before, and one that starts now.
            for vault in [&before, &start(&test).await] {
                for (number, tenant) in tenants.iter().enumerate() {
                    assert_eq!(opened(vault, *tenant, "a").await.unwrap(), format!("hunter{number}"), "after {steps} steps");
                }
                let late = test.add_tenant(&format!("late-{steps}-{}", test.ids.next::<munshi_types::JobId>())).await;
                set(vault, late, "b", "swordfish").await;
                assert_eq!(opened(&start(&test).await, late, "b").await.unwrap(), "swordfish");
            }
            let rotated = start(&test).await.rotate(by(), None).await.unwrap();
            assert_eq!(rotated.resumed, (1..=3).contains(&steps), "{rotated:?}");
            let refused = MasterKeySource::Given { key: VaultSecret::new(old.trim().to_owned()).unwrap(), next: None };
            assert!(matches!(start_with(&test, refused).await, Err(Error::Key(_))), "the old key is of no use");
            for (number, tenant) in tenants.iter().enumerate() {
                assert_eq!(opened(&before, *tenant, "a").await.unwrap(), format!("hunter{number}"));
            }
        }
    }

    async fn a_key_from_the_settings_is_rotated_to_the_next(test: TestDb) {
        let (old, new) = ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
        let secret = |text: &str| VaultSecret::new(text.to_owned()).unwrap();
        let one = test.add_tenant("one").await;
        let vault = start_with(&test, MasterKeySource::Given { key: secret(old), next: None }).await.unwrap();
        set(&vault, one, "a", "hunter2").await;
        let error = vault.rotate(by(), None).await.unwrap_err().to_string();
        assert!(error.contains("MUNSHI__VAULT__NEXT_KEY"), "{error}");
        let both = MasterKeySource::Given { key: secret(old), next: Some(secret(new)) };
        let rotated = start_with(&test, both).await.unwrap().rotate(by(), None).await.unwrap();
        assert!(rotated.advice.contains("remove vault.next_key"), "{rotated:?}");
        let vault = start_with(&test, MasterKeySource::Given { key: secret(new), next: None }).await.unwrap();
        assert_eq!(opened(&vault, one, "a").await.unwrap(), "hunter2");
        assert!(start_with(&test, MasterKeySource::Given { key: secret(old), next: None }).await.is_err());
    }

    async fn a_destroyed_key_takes_secrets_and_pseudonyms_with_it(test: TestDb) {
        let (vault, one, other) = (start(&test).await, test.add_tenant("one").await, test.add_tenant("other").await);
        let alias = async |tenant| derive_pseudonym(&vault.pseudonym_key(tenant, MORNING).await.unwrap(), "+91 98765 43210");
        let before = alias(one).await;
        assert_ne!(alias(other).await, before, "tenants can't compare their customers");
        vault.rotate(by(), None).await.unwrap();
        assert_eq!(alias(one).await, before, "a rotation changes no pseudonym");
        set(&vault, one, "a", "hunter2").await;
        assert!(vault.destroy(one, by()).await.unwrap());
        assert!(!vault.destroy(one, by()).await.unwrap());
        assert!(matches!(opened(&vault, one, "a").await, Err(Error::NoSecret { .. })));
        assert_ne!(alias(one).await, before, "nobody can make the old ones again");
        assert_eq!(audit::verify::verify(&test.db, one, &[]).await.unwrap().finding, None, "the chain stays");
    }
}
