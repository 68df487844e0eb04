//! A thousand names, phones and sentences, and as many of what else holds words, are put into the older installation; after the upgrade their bytes stand in none of its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use munshi_blobs::UploadRequest;
use munshi_test_support::DatabaseEngine;
use serde_json::{Value, json};

use super::fixture::UpgradedInstallation;
use super::sealed;
use crate::app::blank_machine::{build_blobs, find_tenant};
use crate::app::support::Installation;

/// Of each kind.
const COUNT: usize = 100;
/// In a file that somebody gave.
const FILE: &str = "planted file about zanzibar";
const PATIENCE: Duration = Duration::from_secs(120);

fn sentence(number: usize) -> String {
    format!("planted sentence {number:04} about zanzibar")
}

fn archived(number: usize) -> String {
    format!("archived sentence {number:04} about zanzibar")
}

fn name(number: usize) -> String {
    format!("Plantedname{number:04}")
}

fn phone(number: usize) -> String {
    format!("900001{number:04}")
}

/// What else people's words stand in.
const KINDS: [&str; 8] =
    ["arguments", "result", "question", "step", "snapshot", "letter", "payload", "delivery"];

fn words(kind: &str, number: usize) -> String {
    format!("planted {kind} {number:04} about zanzibar")
}

/// The same as JSON within a statement.
fn json_words(kind: &str, number: usize) -> String {
    format!("'{}'", json!({ "said": words(kind, number) }))
}

fn planted_id(number: usize) -> String {
    format!("x'{:032x}'", 0x7000_0000_0000_7000_8000_0000_0000_0000_u128 + number as u128)
}

/// Copies a row of a table, with other values in some columns.
fn plant(database: &rusqlite::Connection, table: &str, changes: &[(&str, String)]) {
    let changes: BTreeMap<&str, &str> =
        changes.iter().map(|(column, value)| (*column, value.as_str())).collect();
    let mut query =
        database.prepare(&["SELECT name FROM pragma_table_info('", table, "')"].concat()).unwrap();
    let columns: Vec<String> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let values = columns.iter().map(|column| changes.get(column.as_str()).copied().unwrap_or(column));
    let (columns, values) = (columns.join(", "), values.collect::<Vec<_>>().join(", "));
    let sql =
        ["INSERT INTO ", table, " (", &columns, ") SELECT ", &values, " FROM ", table, " LIMIT 1"].concat();
    assert_eq!(database.execute(&sql, []).unwrap(), 1, "{table} is empty");
}

fn plant_rows(file: &Path) {
    let database = rusqlite::Connection::open(file).unwrap();
    database.execute_batch("BEGIN").unwrap();
    for number in 0..COUNT {
        let id = planted_id(number);
        plant(
            &database,
            "persons",
            &[
                ("id", id.clone()),
                ("name", format!("'{}'", name(number))),
                ("name_hash", "NULL".to_owned()),
                ("merged_into", "NULL".to_owned()),
            ],
        );
        let address = [
            ("person_id", id.clone()),
            ("kind", "'phone'".to_owned()),
            ("address", format!("'+91{}'", phone(number))),
            ("shown", "NULL".to_owned()),
        ];
        plant(&database, "person_addresses", &address);
        let said = [
            ("id", id),
            ("number", (100_000 + number).to_string()),
            ("text", format!("'{}'", sentence(number))),
        ];
        plant(&database, "messages", &said);
    }
    database.execute_batch("COMMIT").unwrap();
}

/// Acts with what was asked of them, runs with their steps, letters on their way and jobs, all ended.
fn plant_work(file: &Path) {
    let database = rusqlite::Connection::open(file).unwrap();
    database.execute_batch("BEGIN").unwrap();
    for number in 0..COUNT {
        let (id, quoted) = (planted_id(number), |kind| format!("'{}'", words(kind, number)));
        let act = [
            ("id", id.clone()),
            ("arguments", json_words("arguments", number)),
            ("result", json_words("result", number)),
            ("state", "'applied'".to_owned()),
        ];
        plant(&database, "acts", &act);
        let approval = [
            ("id", id.clone()),
            ("act_id", id.clone()),
            ("words", quoted("question")),
            ("state", "'refused'".to_owned()),
        ];
        plant(&database, "approvals", &approval);
        let run = [
            ("id", id.clone()),
            ("snapshot", json_words("snapshot", number)),
            ("state", "'done'".to_owned()),
            ("outside_id", "NULL".to_owned()),
            ("lease_until", "NULL".to_owned()),
            ("ended_at", "began_at".to_owned()),
        ];
        plant(&database, "runs", &run);
        plant(&database, "run_steps", &[("run_id", id.clone()), ("body", json_words("step", number))]);
        let job = [
            ("id", id.clone()),
            ("payload", json_words("payload", number)),
            ("state", "'done'".to_owned()),
            ("finished_at", "created_at".to_owned()),
        ];
        plant(&database, "jobs", &job);
        let letter = [
            "INSERT INTO outbox (tenant_id, message_id, session_id, channel, address, body, state, attempts, made_at, sent_at)
             SELECT tenant_id, id, session_id, 'sms', '+919000010000', ",
            &quoted("letter"),
            ", 'sent', 1, said_at, said_at FROM messages WHERE id = ",
            &id,
        ];
        assert_eq!(database.execute(&letter.concat(), []).unwrap(), 1);
    }
    database.execute_batch("COMMIT").unwrap();
}

/// What a version in between stored of webhooks.
fn plant_deliveries(file: &Path) {
    let database = rusqlite::Connection::open(file).unwrap();
    for number in 0..COUNT {
        let delivery = [
            "INSERT INTO pack_deliveries (tenant_id, id, pack, source, sender_id, origin, name, received_at, headers, body, state)
             SELECT tenant_id, ",
            &planted_id(number),
            ", 'board', 'notices', '",
            &words("delivery", number),
            "', 'webhook', 'notice', said_at, ",
            &json_words("delivery", number),
            ", CAST(",
            &json_words("delivery", number),
            " AS BLOB), 'handled' FROM messages LIMIT 1",
        ];
        assert_eq!(database.execute(&delivery.concat(), []).unwrap(), 1);
    }
}

/// As an older version wrote its archive: a plain line for each message.
fn plant_archive(upgraded: &UpgradedInstallation) {
    let database = rusqlite::Connection::open(upgraded.installation.file()).unwrap();
    let row: (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) = database
        .query_row("SELECT tenant_id, session_id, run_id, binding_id FROM messages LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap();
    let read = |bytes: Vec<u8>| uuid::Uuid::from_slice(&bytes).unwrap();
    let [tenant, session, run, binding] = [row.0, row.1, row.2, row.3].map(read);
    let lines: String = (0..COUNT)
        .map(|number| {
            let id = uuid::Uuid::from_u128(0x7100_0000_0000_7000_8000_0000_0000_0000 + number as u128);
            let line = json!({
                "id": id, "session": session, "number": number + 1, "run": run, "binding": binding,
                "speaker": "person", "channel": "api", "outside_id": null, "text": archived(number), "attached": [],
                "language": null, "tokens": 4, "standing": "whole", "generation": 0, "marks": {}, "suggestions": [],
                "said_at": "2026-01-01T00:00:00Z",
            });
            format!("{line}\n")
        })
        .collect();
    let folder = upgraded.installation.data().join("archive").join(tenant.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("2026-01-01-planted.jsonl"), lines).unwrap();
}

fn list_files(folder: &Path, found: &mut Vec<PathBuf>) {
    // Nothing was archived yet.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => list_files(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

/// What of it stands in which file, in any of the ways text may stand there.
fn find_planted(folder: &Path) -> Vec<String> {
    let planted: Vec<String> = (0..COUNT)
        .flat_map(|number| {
            let said = KINDS.iter().map(move |kind| words(kind, number));
            said.chain([sentence(number), archived(number), name(number), phone(number), FILE.to_owned()])
        })
        .collect();
    let (mut files, mut found) = (Vec::new(), Vec::new());
    list_files(folder, &mut files);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let standing = planted.iter().filter(|words| text.contains(words.as_str()));
        found.extend(standing.map(|words| format!("{}: {words}", file.display())));
    }
    found
}

fn wait_until_sealed(upgraded: &UpgradedInstallation, log: impl Fn() -> String) {
    let began = Instant::now();
    loop {
        let plain = sealed::read_plain(upgraded);
        let archive = find_planted(&upgraded.installation.data().join("archive"));
        if plain.is_empty() && archive.is_empty() {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "still plain: {plain:?} {}\n{}", archive.len(), log());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A file is sealed from its first byte on.
fn upload_file(installation: &Installation) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db = installation.open().await;
        let tenant = find_tenant(&db).await;
        let request = UploadRequest { tenant, person: None, name: None, declared_size: None };
        let bytes = stream::iter([Ok(Bytes::from(FILE))]).boxed();
        build_blobs(&db, &installation.data()).upload(request, bytes).await.unwrap();
    });
}

#[test]
fn a_thousand_planted_texts_stand_in_no_file_after_the_upgrade() {
    let upgraded = UpgradedInstallation::copy(DatabaseEngine::Sqlite);
    plant_rows(&upgraded.installation.file());
    plant_work(&upgraded.installation.file());
    plant_archive(&upgraded);
    let data = upgraded.installation.data();
    upgraded.installation.json(&["migrate"]);
    plant_deliveries(&upgraded.installation.file());
    let planted = find_planted(&data);
    assert!(
        planted.len() >= (4 + KINDS.len()) * COUNT,
        "they are found where they stand plain: {}",
        planted.len()
    );
    // Copies from before the upgrade stay as they are.
    for place in ["backups", "key-copies"].map(|name| data.join(name)).iter().filter(|place| place.exists()) {
        std::fs::remove_dir_all(place).unwrap();
    }
    let served = upgraded.serve();
    wait_until_sealed(&served.upgraded, || served.server.log());
    drop(served.server);
    upload_file(&served.upgraded.installation);
    // The next start writes the file anew.
    drop(served.upgraded.installation.serve());
    served.upgraded.installation.json(&["backup"]);
    assert_eq!(find_planted(&data), Vec::<String>::new());
}

/// A later version seals another column: what stood there is in no free page after that either, though the file was written anew before.
#[test]
fn a_later_walk_has_the_file_written_anew_too() {
    let upgraded = UpgradedInstallation::copy(DatabaseEngine::Sqlite);
    upgraded.installation.json(&["migrate"]);
    let served = upgraded.serve();
    wait_until_sealed(&served.upgraded, || served.server.log());
    drop(served.server);
    let installation = &served.upgraded.installation;
    drop(installation.serve());
    let finding = |installation: &Installation| {
        let report: Value = serde_json::from_str(&installation.run(&["doctor", "--json"]).out).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["name"] == "sealing").unwrap();
        found["detail"].as_str().unwrap().to_owned()
    };
    assert!(finding(installation).contains("the file has no traces of it"), "{}", finding(installation));
    plant_rows(&installation.file());
    // As a column that is sealed from this version on: its walk begins anew.
    let database = rusqlite::Connection::open(installation.file()).unwrap();
    for table in ["persons", "messages"] {
        assert!(
            database.execute("DELETE FROM sealed_rows WHERE table_name = ?1", [table]).unwrap() > 0,
            "{table}"
        );
    }
    drop(database);
    let server = installation.serve();
    wait_until_sealed(&served.upgraded, || server.log());
    // Each tenant's walk has an end of its own.
    let began = Instant::now();
    while !finding(installation).contains("still has traces of it") {
        assert!(began.elapsed() < PATIENCE, "{}\n{}", finding(installation), server.log());
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(server);
    assert!(finding(installation).contains("still has traces of it"), "{}", finding(installation));
    drop(installation.serve());
    assert!(finding(installation).contains("the file has no traces of it"), "{}", finding(installation));
    for place in ["backups", "key-copies"].map(|name| installation.data().join(name)) {
        if place.exists() {
            std::fs::remove_dir_all(place).unwrap();
        }
    }
    assert_eq!(find_planted(&installation.data()), Vec::<String>::new());
}
