//! The store of keys: where it has to be named, and what happens without it.

use munshi_test_support::DatabaseEngine;

use crate::app::support::Installation;

#[test]
fn a_postgres_database_names_its_store_of_keys() {
    let installation = Installation::on(DatabaseEngine::Postgres);
    let unnamed = Installation::on(DatabaseEngine::Postgres).with("MUNSHI__KEYS__URL", "");
    let error = unnamed.run(&["serve"]).refused(3);
    assert!(error.contains("keys.url is not set") && error.contains("sqlite:FILE"), "{error}");
    assert!(!unnamed.data().join("keys.db").exists(), "no keys on a disk that nobody named");
    installation.run(&["migrate"]).ok();
    installation.json(&["tenant", "add", "shop"]);
    assert!(installation.data().join("keys.db").exists());
}

#[test]
fn without_its_store_of_keys_nothing_starts_and_nothing_is_made_in_its_place() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    let keys = installation.data().join("keys.db");
    let aside = installation.folder().join("aside.db");
    installation.json(&["backup", "--keys", aside.to_str().unwrap()]);
    for ending in ["", "-wal", "-shm"] {
        let file = installation.data().join(format!("keys.db{ending}"));
        if file.exists() {
            std::fs::remove_file(file).unwrap();
        }
    }
    let error = installation.run(&["serve"]).refused(3);
    assert!(error.contains("keys.db is missing") && error.contains("put it back from your copy"), "{error}");
    assert!(!keys.exists());
    let doctor = installation.run(&["doctor"]);
    assert!(doctor.code != 0 && doctor.out.contains("encryption"), "{doctor:?}");
    std::fs::copy(aside, keys).unwrap();
    installation.run(&["doctor"]).ok();
}

#[test]
fn what_must_be_kept_is_told_before_the_first_message() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let keep = &server.ready["keep"];
    for (part, file) in [("database", "munshi.db"), ("vault_key", "vault.key"), ("keys", "keys.db")] {
        assert!(keep[part].as_str().unwrap().ends_with(file), "{part}: {keep}");
    }
    drop(server);
    let added = installation.run(&["tenant", "add", "shop"]).ok();
    assert!(added.contains("If the store of keys is lost, nobody can read what people wrote"), "{added}");
    assert!(installation.serve().ready["keep"].is_null(), "told once");
    let saathi = format!("{}/../../tenants/saathi", env!("CARGO_MANIFEST_DIR"));
    assert!(installation.run(&["apply", &saathi]).ok().contains("store of keys is lost"));
    assert!(!installation.run(&["apply", &saathi]).ok().contains("store of keys is lost"));
}

#[test]
fn the_store_of_keys_is_another_database_than_the_main_one() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let installation = Installation::migrated(engine);
        let main = match engine {
            DatabaseEngine::Sqlite => format!("sqlite:{}", installation.file().display()),
            DatabaseEngine::Postgres => installation.place.postgres_url("munshi_owner"),
        };
        let wrong = installation.with("MUNSHI__KEYS__URL", main);
        for command in [&["serve"][..], &["migrate"], &["tenant", "list"]] {
            let error = wrong.run(command).refused(3);
            assert!(error.contains("keys.url names the main database"), "{command:?}: {error}");
            assert!(error.contains("of its own"), "{command:?}: {error}");
        }
    }
}
