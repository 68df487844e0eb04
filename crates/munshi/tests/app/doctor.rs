//! The doctor, on good days and bad ones.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use munshi_test_support::DatabaseEngine;
use serde_json::Value;

use crate::app::migrate::FUTURE;
use crate::app::support::{Installation, PROGRAM, Ran, TABLES, spoil};

/// Asks for the report and asserts whether all is well.
fn report(installation: &Installation, code: i32) -> Value {
    let ran = installation.run(&["doctor", "--json"]);
    assert_eq!(ran.code, code, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["ok"], code == 0, "{report}");
    report
}

/// The level and detail of one finding.
fn finding(report: &Value, name: &str) -> (String, String) {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name} in {report}"));
    if found["level"] != "ok" {
        assert!(found["hint"].is_string() || found["detail"].as_str().unwrap().contains("unshi"), "{found}");
    }
    (found["level"].as_str().unwrap().to_owned(), found["detail"].as_str().unwrap().to_owned())
}

fn level(report: &Value, name: &str) -> String {
    finding(report, name).0
}

#[test]
fn all_is_well_before_and_after_the_first_run() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let installation = Installation::on(engine);
        let fresh = report(&installation, 0);
        assert_eq!(level(&fresh, "folder"), "ok");
        let server = installation.serve();
        let running = report(&installation, 0);
        for name in ["settings", "folder", "disk", "schema", "engine", "jobs", "connectors", "clock", "port"]
        {
            assert_eq!(level(&running, name), "ok", "{running}");
        }
        if engine == DatabaseEngine::Sqlite {
            assert!(finding(&running, "file").1.contains(&format!("in use by process {}", server.process())));
            assert_eq!(level(&running, "integrity"), "ok");
        } else {
            assert!(finding(&running, "clock").1.contains("the database server"), "{running}");
        }
    }
}

#[test]
fn a_good_report_for_people() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let text = installation.run(&["doctor"]).ok();
    // What differs between machines and versions is left out.
    let name = |line: &str| line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let differs =
        |line: &&str| ["connectors", "disk", "engine", "file", "schema"].contains(&name(line).as_str());
    let words: Vec<&str> = text.lines().filter(|line| !differs(line)).collect();
    insta::assert_snapshot!(installation.masked(&words.join("\n")));
}

#[test]
fn broken_settings_are_all_told() {
    let installation = Installation::sqlite().with("MUNSHI__SERVER__LISTEN", "nonsense");
    std::fs::write(installation.folder().join("munshi.toml"), "[sever]\nlisten = 1\n").unwrap();
    let found = report(&installation, 1);
    let failures = found["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] == "fail");
    assert_eq!(failures.count(), 2, "{found}");
}

#[test]
fn an_address_the_store_can_not_read_is_told() {
    let installation = Installation::sqlite().with("MUNSHI__STORE__URL", "postgres://h:x/d");
    assert_eq!(level(&report(&installation, 1), "database"), "fail");
    let away = Installation::sqlite()
        .with("MUNSHI__STORE__URL", "postgres://me:hunter2@127.0.0.1:1/d?sslmode=disable");
    let found = report(&away, 1);
    assert_eq!(level(&found, "database"), "fail");
    assert!(!found.to_string().contains("hunter2"), "{found}");
}

#[test]
fn damage_is_found_wherever_it_is() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    spoil(&installation.file());
    assert_eq!(level(&report(&installation, 1), "integrity"), "fail");
    std::fs::write(installation.file(), "not a database ".repeat(1000)).unwrap();
    let found = report(&installation, 1);
    assert_eq!((level(&found, "database").as_str(), level(&found, "integrity").as_str()), ("fail", "fail"));
    assert_eq!(level(&found, "port"), "ok", "the rest is looked at all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_does_not_fit_is_told() {
    let older = Installation::sqlite();
    older.migrate_to(&[munshi_store::MIGRATIONS]).await;
    let (level, detail) = finding(&report(&older, 0), "schema");
    assert!(level == "warn" && detail.ends_with("pending"), "{detail}");
    let newer = Installation::sqlite();
    newer.migrate_to(&[TABLES, &[FUTURE]].concat()).await;
    let (level, detail) = finding(&report(&newer, 1), "schema");
    assert!(level == "fail" && detail.contains("newer Munshi"), "{detail}");
}

#[test]
fn a_port_held_by_a_stranger_is_told() {
    for answer in ["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", ""] {
        let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = stranger.local_addr().unwrap().to_string();
        // It goes with the test program.
        std::thread::spawn(move || {
            for mut line in stranger.incoming().flatten() {
                let _heard = std::io::Read::read(&mut line, &mut [0; 1024]);
                let _gone = std::io::Write::write_all(&mut line, answer.as_bytes());
            }
        });
        let installation = Installation::sqlite().with("MUNSHI__SERVER__LISTEN", address);
        assert_eq!(level(&report(&installation, 1), "port"), "fail");
    }
}

#[test]
fn our_own_server_on_the_port_is_no_trouble() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let installation = installation.with("MUNSHI__SERVER__LISTEN", server.address.to_string());
    let (level, detail) = finding(&report(&installation, 0), "port");
    assert!(level == "ok" && detail.contains("Munshi is running"), "{detail}");
}

#[test]
fn rights_that_are_too_wide_are_warned_of() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let widen = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    widen(&installation.data(), 0o755);
    widen(&installation.file(), 0o644);
    let settings = installation.folder().join("munshi.toml");
    std::fs::write(&settings, "[store]\nurl = \"postgres://me:hunter2@127.0.0.1:1/d\"\n").unwrap();
    widen(&settings, 0o644);
    let found = report(&installation, 1);
    assert_eq!(level(&found, "settings"), "warn");
    assert_eq!(level(&found, "folder"), "warn");
    std::fs::remove_file(settings).unwrap();
    let found = report(&installation, 0);
    assert_eq!((level(&found, "folder").as_str(), level(&found, "file").as_str()), ("warn", "warn"));
}

#[test]
fn rights_that_are_missing_are_told() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let open = tempfile::tempdir().unwrap();
    for path in [installation.folder().as_path(), open.path()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::set_permissions(installation.data(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let mut command = installation.command(&["doctor", "--json"]);
    // Nothing is forbidden to root, so it lends its place to nobody, and the program with it.
    if rustix::process::geteuid().is_root() {
        let lent = open.path().join("munshi");
        std::fs::copy(PROGRAM, &lent).unwrap();
        let variables: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = std::process::Command::new(lent);
        command.env_clear().envs(variables).args(["doctor", "--json"]).current_dir(open.path());
        command.uid(65534).gid(65534);
    }
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 1, "{ran:?}");
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(level(&found, "folder"), "fail");
    std::fs::set_permissions(installation.data(), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn accounts_and_keys_from_before_are_listed() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    installation.json(&["tenant", "add", "clinic"]);
    installation.json(&["key", "add", "old", "--role", "staff", "--speaks-as", "person", "--tenant", "shop"]);
    let plain = report(&installation, 0).to_string();
    assert!(!plain.contains("\"accounts\"") && !plain.contains("\"keys\""), "{plain}");
    let raw = rusqlite::Connection::open(installation.file()).unwrap();
    raw.execute_batch(
        "UPDATE api_keys SET speaks_assumed = TRUE;
         INSERT INTO operators (id, email, name, keeper, is_first, made_at)
           VALUES (randomblob(16), 'asha@shop.example', 'Asha', FALSE, FALSE, 0);
         INSERT INTO operator_roles (tenant_id, operator_id, role, given_at)
           SELECT t.id, o.id, 'owner', 0 FROM tenants t, operators o WHERE t.name IN ('shop', 'clinic');",
    )
    .unwrap();
    drop(raw);
    let report = report(&installation, 0);
    let (level, detail) = finding(&report, "accounts");
    assert!(level == "warn" && detail.contains("asha@shop.example"), "{detail}");
    let (level, detail) = finding(&report, "keys");
    assert!(level == "warn" && detail.contains("shop/old"), "{detail}");
}

#[test]
fn members_recognised_by_a_browser_are_listed_until_it_is_forgotten() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    installation.json(&["person", "add", "Asha", "--role", "owner", "--phone", "98123 45678"]);
    installation.json(&["person", "add", "Meena", "--role", "owner"]);
    installation.json(&["person", "add", "Ravi", "--phone", "98123 45679"]);
    installation.json(&["person", "add", "Tara", "--role", "staff"]);
    let raw = rusqlite::Connection::open(installation.file()).unwrap();
    // Meena made the tenant on the start page: the browser is all she is known by. Ravi is a customer.
    raw.execute_batch(
        "INSERT INTO person_addresses (tenant_id, kind, address, person_id)
           SELECT tenant_id, 'channel', 'web:' || name, id FROM persons;",
    )
    .unwrap();
    drop(raw);
    let before = report(&installation, 0);
    let (level, detail) = finding(&before, "members");
    assert_eq!(
        (level.as_str(), detail.contains("2 members"), detail.contains("shop/Asha, shop/Tara")),
        ("warn", true, true),
        "{detail}"
    );
    let set = installation.json(&["person", "set", "Asha", "--forget-browsers"]);
    assert_eq!(set["changed"], serde_json::json!(["browsers"]));
    assert_eq!(set["addresses"].as_array().unwrap().len(), 1, "the phone stays: {set}");
    let again = installation.json(&["person", "set", "Asha", "--forget-browsers"]);
    assert_eq!(again["changed"], serde_json::json!([]));
    installation.json(&["person", "set", "Tara", "--forget-browsers"]);
    let after = report(&installation, 0).to_string();
    assert!(!after.contains("\"members\""), "{after}");
}

#[test]
fn a_proxy_that_is_not_named_is_told() {
    let behind = Installation::sqlite().with("MUNSHI__SERVER__PUBLIC_URL", "https://munshi.example");
    let (level, detail) = finding(&report(&behind, 0), "proxies");
    assert!(level == "warn" && detail.contains("missing from web.proxies"), "{level} {detail}");
    let named = behind.with("MUNSHI__WEB__PROXIES", "127.0.0.1");
    let told = report(&named, 0);
    assert!(!told.to_string().contains("web.proxies"), "{told}");
}

/// Somebody has come through one to the server that runs.
#[test]
fn a_proxy_that_was_seen_is_told() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let own = installation.with("MUNSHI__SERVER__LISTEN", server.address.to_string());
    assert_eq!(finding(&report(&own, 0), "port").0, "ok");
    let mut line = std::net::TcpStream::connect(server.address).unwrap();
    let request =
        "GET /v1/runs HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 203.0.113.1\r\nconnection: close\r\n\r\n";
    std::io::Write::write_all(&mut line, request.as_bytes()).unwrap();
    std::io::Read::read_to_end(&mut line, &mut Vec::new()).unwrap();
    let (level, detail) = finding(&report(&own, 0), "port");
    assert!(level == "warn" && detail.contains("a proxy on this machine is not listed"), "{level} {detail}");
    assert_eq!(server.log().matches("not listed in web.proxies").count(), 1, "{}", server.log());
}
