//! What was acknowledged is on disk: seen at the disk, and seen after kill -9.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::NOTES;
use munshi_store::{DatabaseAddress, Db, Error, MIGRATIONS, Migrations, Result, StoreOptions, params};
use munshi_test_support::{DatabaseEngine, TestDb, process, shim};
use munshi_types::{Id, TenantId};
use uuid::Uuid;

fn migrations() -> Migrations {
    Migrations::new(&[MIGRATIONS, NOTES]).unwrap()
}

/// Row `number` as two notes of one unit, so that half a unit would show. The marker is what the shim looks for.
async fn write_pair(db: &Db, tenant: TenantId, number: u64) -> Result<()> {
    db.write(tenant, move |tx| {
        for half in [0, 1] {
            let id = Uuid::from_u128(u128::from(number) * 2 + half);
            let body = format!("<<row {number}>> half {half}");
            tx.execute("INSERT INTO notes (tenant_id, id, body) VALUES ($1, $2, $3)", params![id, body])?;
        }
        Ok(())
    })
    .await
}

fn acknowledge(number: u64) {
    let mut out = std::io::stdout().lock();
    // Straight to the file descriptor in one write, as the shim expects.
    out.write_all(format!("<<ack {number}>>\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// The child's part: 16 writers that write and acknowledge until killed, or until `count` rows are written.
fn be_the_writer(part: &str) {
    let (path, tenant, first, count) = {
        let words: Vec<&str> = part.split('|').collect();
        (
            words[0].to_owned(),
            words[1].parse::<TenantId>().unwrap(),
            words[2].parse::<u64>().unwrap(),
            words[3].parse::<u64>().unwrap(),
        )
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db =
            Db::open(&DatabaseAddress::sqlite(path), &StoreOptions::default(), &migrations()).await.unwrap();
        let next = Arc::new(AtomicU64::new(first));
        let mut writers = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let (db, next) = (db.clone(), next.clone());
            writers.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= first + count {
                        return;
                    }
                    match write_pair(&db, tenant, number).await {
                        Ok(()) => acknowledge(number),
                        Err(error) => refuse(number, &error),
                    }
                }
            });
        }
        writers.join_all().await;
    });
}

fn refuse(number: u64, error: &Error) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "<<refused {number}>> {}", matches!(error, Error::Full)).unwrap();
    std::thread::sleep(Duration::from_millis(5));
}

fn child(folder: &Path, tenant: TenantId, first: u64, count: u64) -> Command {
    let part = format!("{}|{tenant}|{first}|{count}", folder.join("munshi.db").display());
    process::build_child_command(concat!(module_path!(), "::the_child_writes"), &part)
}

#[test]
fn the_child_writes() {
    if let Some(part) = process::role() {
        be_the_writer(&part);
    }
}

fn marks(line: &str, word: &str) -> Option<u64> {
    line.split_once(&format!("<<{word} "))?.1.split_once(">>")?.0.parse().ok()
}

/// What the child says, until it ends.
fn listen(child: &mut Child, mut each: impl FnMut(&str, &mut Child)) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(std::result::Result::ok) {
        each(&line, child);
    }
}

async fn fresh() -> (TestDb, TenantId) {
    let test = TestDb::open(DatabaseEngine::Sqlite, &[MIGRATIONS, NOTES]).await;
    let tenant = test.add_tenant("shop").await;
    (test, tenant)
}

/// Acknowledgements that no fsync of the log came before, after the write they answer for.
fn unsynced(trace: &str) -> (usize, Vec<u64>) {
    let mut written: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut last_sync, mut acks, mut early) = (None, 0, Vec::new());
    for (at, line) in trace.lines().enumerate() {
        match line.split_once(' ') {
            None => last_sync = Some(at),
            // The first time counts: a later unit on the same page writes the row again.
            Some(("write", number)) => {
                written.entry(number.parse().unwrap()).or_insert(at);
            }
            Some((_, number)) => {
                acks += 1;
                let number = number.parse().unwrap();
                let wrote = written.get(&number).copied();
                if wrote.is_none() || last_sync.is_none() || last_sync < wrote {
                    early.push(number);
                }
            }
        }
    }
    (acks, early)
}

async fn traced(lie: bool) -> (usize, Vec<u64>) {
    let (test, tenant) = fresh().await;
    let folder = test.place.folder();
    let trace = folder.join("trace");
    let mut command = child(&folder, tenant, 0, 600);
    command.env("LD_PRELOAD", shim::build(&folder)).env("DISK_SHIM_TRACE", &trace);
    if lie {
        command.env("DISK_SHIM_LIE", "1");
    }
    let mut child = command.spawn().unwrap();
    listen(&mut child, |_, _| {});
    assert!(child.wait().unwrap().success());
    unsynced(&std::fs::read_to_string(trace).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledgement_follows_an_fsync_of_what_it_answers_for() {
    let (acks, early) = traced(false).await;
    assert_eq!((acks, early), (600, Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_catches_an_fsync_that_did_not_happen() {
    let (acks, early) = traced(true).await;
    assert_eq!(acks, 600);
    assert!(early.len() > 500, "only {} of 600 were caught", early.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_and_no_half_is_kept_through_fifty_kills() {
    let (test, tenant) = fresh().await;
    let folder = test.place.folder();
    let mut acknowledged = BTreeSet::new();
    let mut first = 0;
    for kill in 0..50_u64 {
        let mut process = child(&folder, tenant, first, 1_000_000).spawn().unwrap();
        let last = 5 + kill * 7 % 90;
        let mut heard = 0;
        listen(&mut process, |line, process| {
            if let Some(number) = marks(line, "ack") {
                acknowledged.insert(number);
                heard += 1;
                if heard == last {
                    process.kill().unwrap();
                }
            }
        });
        process.wait().unwrap();
        assert!(heard >= last, "the child of kill {kill} ended by itself");
        first += 1_000_000;
    }
    let kept: BTreeMap<u64, i64> = test
        .db
        .read(tenant, |tx| {
            let sql = "SELECT body FROM notes WHERE tenant_id = $1";
            let rows = tx.all(sql, &[], |row| row.get::<String>(0))?;
            let mut halves = BTreeMap::new();
            for row in rows {
                *halves.entry(marks(&row, "row").unwrap()).or_insert(0) += 1;
            }
            Ok::<_, Error>(halves)
        })
        .await
        .unwrap();
    let lost: Vec<&u64> = acknowledged.iter().filter(|number| !kept.contains_key(number)).collect();
    assert!(lost.is_empty(), "acknowledged and gone: {lost:?}");
    assert!(kept.values().all(|halves| *halves == 2), "half a unit was kept");
    assert!(acknowledged.len() > 50 * 5, "{}", acknowledged.len());
    munshi_store::maintenance::check_integrity(&test.address).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_said_loses_nothing_and_is_got_over() {
    let (test, tenant) = fresh().await;
    let folder = test.place.folder();
    let full = folder.join("full");
    let mut command = child(&folder, tenant, 0, 900);
    command.env("LD_PRELOAD", shim::build(&folder)).env("DISK_SHIM_FULL", &full);
    let mut process = command.spawn().unwrap();
    let (mut acknowledged, mut refused, mut after) = (BTreeSet::new(), 0, 0);
    listen(&mut process, |line, _| {
        if let Some(number) = marks(line, "ack") {
            acknowledged.insert(number);
            after += usize::from(refused >= 50);
            if acknowledged.len() == 200 {
                std::fs::write(&full, "").unwrap();
            }
        }
        if marks(line, "refused").is_some() {
            assert!(line.ends_with("true"), "not called full: {line}");
            refused += 1;
            if refused == 50 {
                std::fs::remove_file(&full).unwrap();
            }
        }
    });
    assert!(process.wait().unwrap().success());
    assert!(refused >= 50 && after > 0, "{refused} refused, {after} accepted afterwards");
    let kept: i64 = test
        .db
        .read(tenant, |tx| tx.one("SELECT count(*) FROM notes WHERE tenant_id = $1", &[], |row| row.get(0)))
        .await
        .unwrap();
    assert_eq!(kept, 2 * i64::try_from(acknowledged.len()).unwrap());
    assert_ne!(tenant.as_uuid(), Uuid::nil());
}
