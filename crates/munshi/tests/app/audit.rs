//! The audit from the command line.

use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_test_support::DatabaseEngine;
use munshi_test_support::database::MORNING;
use munshi_types::{IdGenerator, TenantId};
use serde_json::{Value, json};

use crate::app::support::Installation;

async fn append(installation: &Installation, tenant: TenantId) {
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Agent, "meera"),
        event: AuditEvent::ACT_APPLIED,
        subject: "ledger.add".to_owned(),
        payload: json!({ "amount": 340 }),
    };
    let db = installation.open().await;
    for _ in 0..3 {
        let entry = entry.clone();
        db.write(tenant, move |tx| audit::append(tx, &entry, MORNING, &IdGenerator::system())).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_shown_verified_anchored_and_exported() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let shop: TenantId =
        installation.json(&["tenant", "add", "shop"])["id"].as_str().unwrap().parse().unwrap();
    append(&installation, shop).await;
    let tail = installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "2"]);
    assert_eq!((&tail["items"][0]["seq"], &tail["items"][1]["payload"]["amount"]), (&3.into(), &340.into()));
    let export = installation.run(&["audit", "export", "--tenant", "shop"]).ok();
    assert_eq!(export.lines().count(), 4, "one says that it was added");
    let last: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    assert_eq!(last, tail["items"][1]);

    let verified = installation.json(&["audit", "verify", "--anchor"]);
    // The shop's, and the installation's own, which heard that it was asked for.
    assert_eq!((&verified["ok"], &verified["anchored"]), (&true.into(), &2.into()));
    let anchors = std::fs::read_to_string(installation.data().join("audit-anchors.jsonl")).unwrap();
    // That it was taken out stands there, too.
    let newest =
        installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "1"])["items"][0].clone();
    assert_eq!(newest["event"], "audit.exported");
    assert!(anchors.contains(newest["hash"].as_str().unwrap()), "{anchors}");
    let words = installation.run(&["audit", "verify"]).ok();
    assert!(words.contains("shop") && words.ends_with("The audit log is intact.\n"), "{words}");

    let raw = rusqlite::Connection::open(installation.file()).unwrap();
    raw.execute_batch(
        "DROP TRIGGER audit_entries_no_update; UPDATE audit_entries SET payload = '{}' WHERE seq = 2 AND event = 'act.applied'",
    )
    .unwrap();
    drop(raw);
    let ran = installation.run(&["audit", "verify"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("entry 2 was changed") && ran.out.contains("was tampered with"), "{}", ran.out);
    let ran = installation.run(&["audit", "verify", "--tenant", "shop", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&found["ok"], &found["chains"][0]["finding"]["fault"]), (&false.into(), &"changed".into()));
    installation.run(&["audit", "tail", "--tenant", "nobody", "--json"]).refused_as(5, "not_found");
}

#[test]
fn a_server_has_the_nightly_job_and_its_key() {
    let installation = Installation::sqlite();
    let mut server = installation.serve();
    let metrics = server.wait_until("/metrics", |text| text.contains("munshi_jobs_ready"));
    assert!(metrics.contains("munshi_jobs_ready"), "{metrics}");
    assert!(installation.data().join("vault.key").exists());
    server.signal(rustix::process::Signal::TERM);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    let raw = rusqlite::Connection::open(installation.file()).unwrap();
    let names: i64 = raw
        .query_row(
            "SELECT count(*) FROM job_schedules WHERE name IN ('audit.verify', 'audit.anchor')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(names, 2);
}

fn told(installation: &Installation, tenant: &str) -> Vec<Value> {
    let tail = installation.json(&["audit", "tail", "--tenant", tenant, "--limit", "100"]);
    tail["items"].as_array().unwrap().clone()
}

#[test]
fn what_opens_power_or_money_is_told() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let installation = Installation::migrated(engine);
        installation.json(&["tenant", "add", "shop", "--as", "ravi"]);
        installation.json(&["tenant", "pause", "shop", "--as", "ravi"]);
        installation.json(&["tenant", "pause", "shop", "--as", "ravi"]);
        installation.json(&["tenant", "resume", "shop", "--as", "ravi"]);
        installation.json(&["usage", "plan", "shop"]);
        installation.json(&["usage", "plan", "shop", "business", "--as", "ravi"]);
        installation.json(&["usage", "limit", "shop", "tenant.month.money", "500", "--as", "ravi"]);
        let humans = installation.folder().join("tenants/shop/humans");
        std::fs::create_dir_all(&humans).unwrap();
        let write = |words: &str| {
            let text = format!("+++\nname = \"Asha\"\nidentity = \"{words}\"\n+++\n");
            std::fs::write(humans.join("asha.md"), text).unwrap();
        };
        write("You.");
        installation.json(&["apply", "tenants", "--author", "ravi"]);
        write("Another one.");
        installation.json(&["apply", "tenants", "--author", "ravi"]);
        installation.json(&["apply", "tenants", "--author", "ravi"]);
        installation.json(&["tier", "rollback", "shop", "human", "asha", "--to", "1", "--author", "ravi"]);
        installation.json(&["tenant", "archive", "shop", "--yes", "--as", "ravi"]);
        let told = told(&installation, "shop");
        let events: Vec<&str> = told.iter().map(|entry| entry["event"].as_str().unwrap()).collect();
        let expected = [
            "tenant.added",
            "tenant.paused",
            "tenant.resumed",
            "budget.changed",
            "budget.changed",
            "tier.changed",
            "tier.changed",
            "tier.changed",
            "tenant.archived",
        ];
        assert_eq!(events, expected, "{engine:?}");
        assert!(told.iter().all(|entry| entry["actor"]["id"] == "ravi"), "{told:?}");
        assert_eq!((&told[3]["subject"], &told[3]["payload"]["to"]), (&"plan".into(), &"business".into()));
        assert_eq!(told[4]["payload"]["to"], 500_000_000);
        assert_eq!((&told[6]["subject"], &told[6]["payload"]["to"]), (&"human asha".into(), &2.into()));
        assert_eq!(told[7]["payload"]["to"], 3);
        assert!(!json!(told).to_string().contains("Another one"), "{told:?}");
    }
}

#[test]
fn a_tenant_that_is_made_by_its_folder_is_told() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let humans = installation.folder().join("tenants/shop/humans");
    std::fs::create_dir_all(&humans).unwrap();
    std::fs::write(humans.join("asha.md"), "+++\nname = \"Asha\"\nidentity = \"You.\"\n+++\n").unwrap();
    installation.json(&["apply", "tenants", "--author", "ravi"]);
    let told = told(&installation, "shop");
    let events: Vec<&str> = told.iter().map(|entry| entry["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["tenant.added", "tier.changed"]);
}

#[test]
fn who_gives_a_phone_is_named_by_its_pseudonym() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    installation.json(&["person", "add", "Asha", "--as", "+919812345678"]);
    installation.json(&["person", "set", "Asha", "--tags", "team", "--as", "098123 45678"]);
    installation.json(&["person", "set", "Asha", "--tags", "all", "--as", "+91 98123 45678"]);
    let told = told(&installation, "shop");
    let actors: Vec<&str> = told[1..].iter().map(|entry| entry["actor"]["id"].as_str().unwrap()).collect();
    assert!(actors.iter().all(|actor| actor.starts_with("phone:") && actor.len() == 38), "{actors:?}");
    assert_eq!(actors[0], actors[2], "one number, one pseudonym");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_anchors_that_was_taken_away_is_found_and_begun_anew_by_name() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let shop: TenantId =
        installation.json(&["tenant", "add", "shop"])["id"].as_str().unwrap().parse().unwrap();
    append(&installation, shop).await;
    installation.json(&["audit", "verify", "--anchor"]);
    std::fs::remove_file(installation.data().join("audit-anchors.jsonl")).unwrap();
    let ran = installation.run(&["audit", "verify", "--anchor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("missing or empty") && ran.out.contains("restart-anchors"), "{}", ran.out);
    assert!(!installation.data().join("audit-anchors.jsonl").exists(), "nothing was anchored");
    installation.run(&["audit", "restart-anchors"]).refused(7);
    installation.json(&["audit", "restart-anchors", "--yes", "--as", "ravi"]);
    assert_eq!(installation.json(&["audit", "verify", "--anchor"])["ok"], true);
    assert_eq!(installation.json(&["audit", "verify"])["ok"], true);
}

#[test]
fn a_limit_for_nobody_known_says_who_is() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["tenant", "add", "shop"]);
    let asha = installation.json(&["person", "add", "Asha", "--role", "owner"]);
    let limit = |limit: &str, only: &str| {
        installation.run(&["usage", "limit", "shop", limit, "5", "--only", only, "--json"])
    };
    let words = limit("person.day.interactions", "nobody").refused_as(5, "not_found");
    assert!(words.to_string().contains("person list"), "{words:?}");
    limit("binding.day.interactions", "nobody").refused_as(5, "not_found");
    limit("tenant.day.interactions", "nobody").refused_as(2, "invalid");
    let given = limit("person.day.interactions", "Asha").ok();
    assert!(given.contains(asha["id"].as_str().unwrap()), "{given}");
}
