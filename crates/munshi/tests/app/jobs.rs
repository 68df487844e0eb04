//! Background work as people see it, and running again what was given up.

use std::sync::Arc;

use munshi_jobs::{JobFailure, JobKind, JobQueue, JobRegistry, JobRunner, JobRunnerOptions, NewJob};
use munshi_store::Db;
use munshi_test_support::DatabaseEngine;
use munshi_types::{IdGenerator, SystemClock, SystemRandom, TenantId};
use serde_json::Value;

use crate::app::support::Installation;

/// Jobs of two kinds that are given up at once, the newest last, and one that nobody here can do.
async fn seed(installation: &Installation, tenant: TenantId, dead: usize) {
    let db = installation.open().await;
    let queue = JobQueue::new(Arc::new(SystemClock), IdGenerator::system());
    for number in 0..dead {
        let kind = if number % 2 == 0 { "bill" } else { "remind" };
        enqueue(&db, &queue, tenant, NewJob::new(kind, &number).unwrap()).await;
    }
    let mut registry = JobRegistry::default();
    for kind in ["bill", "remind"] {
        registry.add(JobKind::new(kind), move |_| async move {
            Err(JobFailure::Lasting(format!("the {kind} printer\nis on fire")))
        });
    }
    let runner =
        JobRunner::new(db.clone(), &queue, Arc::new(SystemRandom), registry, JobRunnerOptions::default());
    assert_eq!(runner.drain().await.unwrap(), dead);
    enqueue(&db, &queue, tenant, NewJob::new("later", &()).unwrap()).await;
}

async fn enqueue(db: &Db, queue: &JobQueue, tenant: TenantId, job: NewJob) {
    let queue = queue.clone();
    db.write(tenant, move |tx| queue.enqueue(tx, &job)).await.unwrap();
}

fn shop(installation: &Installation) -> TenantId {
    installation.json(&["tenant", "add", "sharma"])["id"].as_str().unwrap().parse().unwrap()
}

fn ids(listing: &Value) -> Vec<String> {
    listing["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_empty_queue_is_no_error() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let installation = Installation::migrated(engine);
        let listing = installation.json(&["jobs", "list"]);
        assert_eq!(ids(&listing), Vec::<String>::new());
        assert_eq!(listing["depth"]["dead"], 0);
        assert_eq!(installation.json(&["jobs", "retry", "--all"])["retried"], 0);
        let nobody = "01930000-0000-7000-8000-000000000000";
        installation.run(&["jobs", "retry", nobody, "--json"]).refused_as(5, "not_found");
        installation.run(&["jobs", "list", "--tenant", "nobody", "--json"]).refused_as(5, "not_found");
    }
}

async fn dead_jobs_are_listed_and_run_again(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    let tenant = shop(&installation);
    seed(&installation, tenant, 5).await;

    let first = installation.json(&["jobs", "list", "--limit", "3"]);
    assert_eq!((&first["depth"]["dead"], &first["depth"]["ready"]), (&5.into(), &1.into()));
    assert_eq!(first["items"][0]["tenant_name"], "sharma");
    let mark = first["next"].as_str().unwrap();
    let rest = installation.json(&["jobs", "list", "--after", mark]);
    assert_eq!(rest["next"], Value::Null);
    let all = [ids(&first), ids(&rest)].concat();
    assert_eq!(all.len(), 5);

    let ready = |arguments: &[&str]| {
        ids(&installation.json(&[&["jobs", "list", "--state", "ready"], arguments].concat())).len()
    };
    assert_eq!((ready(&[]), ready(&["--tenant", "sharma"])), (1, 1));
    installation.json(&["tenant", "add", "other"]);
    assert_eq!(ready(&["--tenant", "other"]), 0);

    assert_eq!(installation.json(&["jobs", "retry", &all[0], &all[1]])["retried"], 2);
    let error = installation.run(&["jobs", "retry", &all[0], &all[2]]).refused(5);
    assert!(error.contains(&all[0]) && error.contains("1 job requeued"), "{error}");
    assert_eq!(installation.json(&["jobs", "retry", "--all", "--kind", "nothing"])["retried"], 0);
    assert_eq!(installation.json(&["jobs", "retry", "--all"])["retried"], 2);
    assert_eq!(ready(&[]), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_jobs_are_listed_and_run_again_on_sqlite() {
    dead_jobs_are_listed_and_run_again(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_jobs_are_listed_and_run_again_on_postgres() {
    dead_jobs_are_listed_and_run_again(DatabaseEngine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_for_people() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let tenant = shop(&installation);
    let empty = installation.run(&["jobs", "list"]).ok();
    seed(&installation, tenant, 3).await;
    let list = installation.run(&["jobs", "list", "--limit", "2"]).ok();
    let list = list.lines().filter(|line| !line.starts_with("More rows")).collect::<Vec<_>>().join("\n");
    let retried = installation.run(&["jobs", "retry", "--all", "--kind", "bill"]).ok();
    insta::assert_snapshot!(installation.masked(&format!("{empty}---\n{list}\n---\n{retried}")));
}

#[test]
fn what_can_not_be_meant_is_a_usage_error() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    for arguments in [
        &["jobs", "retry"][..],
        &["jobs", "retry", "not-an-id"],
        &["jobs", "retry", "--kind", "bill"],
        &["jobs", "retry", "--all", "01930000-0000-7000-8000-000000000000"],
        &["jobs", "list", "--state", "asleep"],
        &["jobs", "list", "--after", "nonsense"],
        &["jobs", "list", "--limit", "501"],
    ] {
        let ran = installation.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{ran:?}");
    }
}
