//! A thousand names, phones and sentences are put into the older installation; after the upgrade their bytes stand in none of its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use munshi_test_support::DatabaseEngine;
use serde_json::json;

use super::fixture::UpgradedInstallation;
use super::sealed;

/// Of each kind.
const COUNT: usize = 250;
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
        let id = format!("x'{:032x}'", 0x7000_0000_0000_7000_8000_0000_0000_0000_u128 + number as u128);
        plant(
            &database,
            "persons",
            &[
                ("id", id.clone()),
                ("name", format!("'{}'", name(number))),
                ("merged_into", "NULL".to_owned()),
            ],
        );
        let address = [
            ("person_id", id.clone()),
            ("kind", "'phone'".to_owned()),
            ("address", format!("'+91{}'", phone(number))),
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
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => list_files(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

/// What of it stands in which file, in any of the ways text may stand there.
fn find_planted(folder: &Path) -> Vec<String> {
    let planted: Vec<String> = (0..COUNT)
        .flat_map(|number| [sentence(number), archived(number), name(number), phone(number)])
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

#[test]
fn a_thousand_planted_texts_stand_in_no_file_after_the_upgrade() {
    let upgraded = UpgradedInstallation::copy(DatabaseEngine::Sqlite);
    plant_rows(&upgraded.installation.file());
    plant_archive(&upgraded);
    let data = upgraded.installation.data();
    assert!(find_planted(&data).len() >= 4 * COUNT, "they are found where they stand plain");
    upgraded.installation.json(&["migrate"]);
    // Copies from before the upgrade stay as they are.
    for place in ["backups", "key-copies"].map(|name| data.join(name)).iter().filter(|place| place.exists()) {
        std::fs::remove_dir_all(place).unwrap();
    }
    let served = upgraded.serve();
    wait_until_sealed(&served.upgraded, || served.server.log());
    drop(served.server);
    // The next start writes the file anew.
    drop(served.upgraded.installation.serve());
    served.upgraded.installation.json(&["backup"]);
    assert_eq!(find_planted(&data), Vec::<String>::new());
}
