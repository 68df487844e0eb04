//! The audit from the command line.

use munshi_safety::audit::{self, Actor, ActorKind, Event, NewEntry};
use munshi_test_support::Engine;
use munshi_test_support::database::MORNING;
use munshi_types::{Ids, TenantId};
use serde_json::{Value, json};

use crate::support::Installation;

async fn append(installation: &Installation, tenant: TenantId) {
    let entry = NewEntry {
        actor: Actor::new(ActorKind::Agent, "meera"),
        event: Event::ACT_APPLIED,
        subject: "ledger.add".to_owned(),
        payload: json!({ "amount": 340 }),
    };
    let db = installation.open().await;
    for _ in 0..3 {
        let entry = entry.clone();
        db.write(tenant, move |tx| audit::append(tx, &entry, MORNING, &Ids::system())).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_shown_verified_anchored_and_exported() {
    let installation = Installation::migrated(Engine::Sqlite);
    let shop: TenantId =
        installation.json(&["tenant", "add", "shop"])["id"].as_str().unwrap().parse().unwrap();
    append(&installation, shop).await;
    let tail = installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "2"]);
    assert_eq!((&tail["items"][0]["seq"], &tail["items"][1]["payload"]["amount"]), (&2.into(), &340.into()));
    let export = installation.run(&["audit", "export", "--tenant", "shop"]).ok();
    assert_eq!(export.lines().count(), 3);
    let last: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    assert_eq!(last, tail["items"][1]);

    let verified = installation.json(&["audit", "verify", "--anchor"]);
    assert_eq!((&verified["ok"], &verified["anchored"]), (&true.into(), &1.into()));
    let anchors = std::fs::read_to_string(installation.data().join("audit-anchors.jsonl")).unwrap();
    assert!(anchors.contains(last["hash"].as_str().unwrap()), "{anchors}");
    let words = installation.run(&["audit", "verify"]).ok();
    assert!(words.contains("shop") && words.ends_with("Nothing was changed.\n"), "{words}");

    let raw = rusqlite::Connection::open(installation.file()).unwrap();
    raw.execute_batch(
        "DROP TRIGGER audit_entries_no_update; UPDATE audit_entries SET payload = '{}' WHERE seq = 2 AND event = 'act.applied'",
    )
    .unwrap();
    drop(raw);
    let ran = installation.run(&["audit", "verify"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("entry 2 was changed") && ran.out.contains("Somebody changed"), "{}", ran.out);
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
