//! A database or a store of keys that is away at the start, goes away later, and comes back; a disk that is full.

use munshi_test_support::database::{TestDbStorage, server_url};
use munshi_test_support::proxy::Proxy;
use munshi_test_support::{DatabaseEngine, shim};

use crate::app::support::Installation;

#[test]
fn a_database_that_is_away_at_the_start_is_told() {
    let away = "postgres://me:hunter2@127.0.0.1:1/munshi?sslmode=disable";
    let installation = Installation::sqlite().with("MUNSHI__STORE__URL", away);
    let keys = format!("sqlite:{}", installation.folder().join("keys.db").display());
    let installation = installation.with("MUNSHI__KEYS__URL", keys);
    for arguments in [&["serve"][..], &["migrate"], &["tenant", "list"]] {
        let error = installation.run(arguments).refused(4);
        assert!(error.contains("can't be reached") && error.contains("hint: "), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    installation.run(&["serve", "--json"]).refused_as(4, "database");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_outlives_its_database() {
    let (_, rest) = server_url().split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let place = rest.split('/').next().unwrap().to_owned();
    let proxy = Proxy::start(place.parse().unwrap()).await;
    let installation = Installation::on(DatabaseEngine::Postgres);
    let url = installation.place.postgres_url("munshi_owner").replace(&place, &proxy.address.to_string());
    let installation = installation.with("MUNSHI__STORE__URL", url);
    let mut server = installation.serve();
    server.wait_for("/readyz", 200);

    proxy.cut();
    let body = server.wait_for("/readyz", 503);
    assert!(body.contains("the database can't be reached"), "{body}");
    assert!(!body.contains(&proxy.address.to_string()), "a stranger learns no address: {body}");
    assert_eq!(server.get("/healthz").0, 200, "the process is well");

    proxy.restore();
    server.wait_for("/readyz", 200);
    server.signal(rustix::process::Signal::TERM);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

/// Where persons' keys can't be had nobody new can write, and what is not in memory can't be read.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_its_store_of_keys_is_not_ready() {
    let (_, rest) = server_url().split_once('@').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let place = rest.split('/').next().unwrap().to_owned();
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let proxy = Proxy::start(place.parse().unwrap()).await;
        let keys = std::thread::spawn(|| TestDbStorage::create(DatabaseEngine::Postgres).1).join().unwrap();
        let url = keys.postgres_url("munshi_owner").replace(&place, &proxy.address.to_string());
        let installation = Installation::on(engine).with("MUNSHI__KEYS__URL", url);
        let mut server = installation.serve();
        let body = server.wait_for("/readyz", 200);
        assert!(body.contains("the store of keys answers"), "{body}");

        proxy.cut();
        let body = server.wait_for("/readyz", 503);
        assert!(body.contains("the store of keys can't be reached"), "{body}");
        assert!(!body.contains(&proxy.address.to_string()), "a stranger learns no address: {body}");
        assert_eq!(server.get("/healthz").0, 200, "the process is well");

        proxy.restore();
        server.wait_for("/readyz", 200);
        server.signal(rustix::process::Signal::TERM);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    }
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "before"]);
    let (library, full) = (shim::build(&installation.folder()), installation.folder().join("full"));
    std::fs::write(&full, "").unwrap();
    let mut command = installation.command(&["tenant", "add", "during"]);
    let ran = crate::app::support::Ran::of(
        command.env("LD_PRELOAD", library).env("DISK_SHIM_FULL", &full).output().unwrap(),
    );
    let error = ran.refused(4);
    assert!(error.contains("disk") && error.contains("full"), "{error}");
    let items = installation.json(&["tenant", "list"])["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
}
