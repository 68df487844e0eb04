//! Somebody is forgotten with the program itself: over its restarts, its backups, and its death on the way.

use std::path::Path;
use std::time::Instant;

use munshi_test_support::DatabaseEngine;
use serde_json::{Value, json};

use crate::app::support::Installation;

const KIRANA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packs/ledger/tenants/kirana");

/// How often the program is killed while it forgets.
const KILLS: usize = 10;

/// Whether a file of SQLite, or its log, holds these bytes.
fn holds(file: &Path, words: &str) -> bool {
    let log = format!("{}-wal", file.display());
    [file.to_path_buf(), log.into()].iter().filter(|file| file.exists()).any(|file| {
        let bytes = std::fs::read(file).unwrap();
        bytes.windows(words.len()).any(|part| part == words.as_bytes())
    })
}

/// A shop in whose books a customer stands.
pub(crate) fn open_shop(installation: &Installation) {
    installation.run(&["apply", KIRANA]).ok();
    installation.run(&["ask", "counter", "Rameshwari ko 500 udhaar diya"]).ok();
    installation.run(&["ask", "counter", "Sunita ko 200 udhaar diya"]).ok();
}

pub(crate) fn count_erasures(installation: &Installation) -> usize {
    installation.json(&["erasure", "list"])["items"].as_array().unwrap().len()
}

#[test]
fn a_customer_of_the_books_is_forgotten_once_nothing_is_open() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let error = installation.run(&["person", "forget", "Rameshwari"]).refused(7);
    assert!(error.contains("add --yes"), "{error}");
    let error = installation.run(&["person", "forget", "Rameshwari", "--yes"]).refused(6);
    assert!(error.contains("owes") && error.contains("--despite-open-matters"), "{error}");
    installation.run(&["person", "forget", "Nobody Here", "--yes"]).refused(5);
    // A name that is only near, and one that a colleague and a contact share, are nobody's for sure.
    let near = installation.run(&["person", "forget", "Rameshwar", "--yes", "--despite-open-matters"]);
    assert!(near.code != 0, "{near:?}");
    installation.json(&["person", "add", "Sunita", "--role", "staff"]);
    installation.json(&["person", "leave", "Sunita"]);
    let shared = installation.run(&["person", "forget", "Sunita", "--yes", "--despite-open-matters"]);
    assert!(
        shared.code != 0 && shared.err.contains("not sure") && shared.err.contains("of ledger"),
        "{shared:?}"
    );
    assert_eq!(count_erasures(&installation), 0, "nothing was begun");

    let receipt = installation.json(&["person", "forget", "Rameshwari", "--yes", "--despite-open-matters"]);
    assert_eq!((&receipt["state"], &receipt["persons"]), (&json!("done"), &json!([])));
    let kept = receipt["kept"].to_string();
    assert!(kept.contains("older backups of the books"), "{kept}");
    let owing = installation.run(&["ask", "counter", "who owes me"]).ok();
    assert!(
        !owing.contains("Rameshwari") && owing.contains("Forgotten") && owing.contains("Sunita"),
        "{owing}"
    );
    installation.run(&["ledger", "check"]).ok();
    installation.run(&["audit", "verify"]).ok();
}

/// A contact's phone leads to a person: both are forgotten. An id means whoever has it, whatever others are called.
#[test]
fn a_contact_takes_along_the_person_who_has_its_phone() {
    const CONTACT: &str = "0190a3b2-6f4e-7c1d-8a2b-3c4d5e6f7081";
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let sheet = installation.folder().join("contacts.csv");
    std::fs::write(&sheet, format!("id,name,phone\n{CONTACT},Meera Devi,9876501234\n")).unwrap();
    installation.run(&["ledger", "import", "--contacts", sheet.to_str().unwrap()]).ok();
    let person = installation.json(&["person", "add", "Meera", "--phone", "9876501234"]);
    let namesake = installation.json(&["person", "add", CONTACT]);
    let receipt = installation.json(&["person", "forget", CONTACT, "--yes"]);
    assert_eq!((&receipt["state"], &receipt["persons"]), (&json!("done"), &json!([person["id"]])));
    assert!(receipt["removed"].to_string().contains("contacts"), "{receipt}");
    let shown = installation.json(&["person", "show", namesake["id"].as_str().unwrap()]);
    assert_eq!(shown["name"], CONTACT);
    installation.run(&["person", "forget", "Meera Devi", "--yes"]).refused(5);
}

/// Husband and wife have one phone between them: neither takes the other along, nor is told of them.
#[test]
fn who_shares_a_phone_is_forgotten_alone() {
    const HUSBAND: &str = "0190a3b2-6f4e-7c1d-8a2b-3c4d5e6f7081";
    const WIFE: &str = "0190a3b2-6f4e-7c1d-8a2b-3c4d5e6f7082";
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let sheet = installation.folder().join("contacts.csv");
    let rows = format!("id,name,phone\n{HUSBAND},Mohan Lal,9876501234\n{WIFE},Meera Devi,9876501234\n");
    std::fs::write(&sheet, rows).unwrap();
    installation.run(&["ledger", "import", "--contacts", sheet.to_str().unwrap()]).ok();
    let person = installation.json(&["person", "add", "Meera", "--phone", "9876501234"]);
    let person = person["id"].as_str().unwrap();
    let file = installation.folder().join("told.json");
    for id in [HUSBAND, WIFE, person] {
        let refused = installation.run(&["person", "forget", id, "--yes"]);
        assert!(
            refused.code != 0 && refused.err.contains("--with") && refused.err.contains(person),
            "{refused:?}"
        );
        let refused = installation.run(&["person", "export", id, "--out", file.to_str().unwrap()]);
        assert!(refused.code != 0 && refused.err.contains("--with"), "{refused:?}");
    }
    // Two contacts are not one, and a name says too little.
    for named in [[HUSBAND, WIFE], [HUSBAND, HUSBAND], [HUSBAND, "Meera"], ["Meera", WIFE]] {
        let refused = installation.run(&["person", "forget", named[0], "--with", named[1], "--yes"]);
        assert!(refused.code != 0, "{named:?}: {refused:?}");
    }
    assert_eq!(count_erasures(&installation), 0, "nothing was begun");

    let receipt = installation.json(&["person", "forget", HUSBAND, "--with", "none", "--yes"]);
    assert_eq!((&receipt["state"], &receipt["persons"]), (&json!("done"), &json!([])));
    assert_eq!(installation.json(&["person", "show", person])["name"], "Meera");
    let named = ["person", "export", WIFE, "--with", person, "--out", file.to_str().unwrap()];
    installation.run(&named).ok();
    let told = std::fs::read_to_string(&file).unwrap();
    assert!(told.contains("Meera Devi") && !told.contains("Mohan"), "{told}");
    // Now the phone is hers alone.
    let receipt = installation.json(&["person", "forget", WIFE, "--yes"]);
    assert_eq!(receipt["persons"], json!([person]));
}

/// What a customer is told before that, as a file for a program and as one to be read.
#[test]
fn a_customer_of_the_books_is_told_what_stands_there() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let (file, page) = (installation.folder().join("told.json"), installation.folder().join("told.html"));
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    installation.run(&["person", "export", "Rameshwari", "--out", &name(&file)]).ok();
    let told: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let kinds: Vec<&str> =
        told.as_array().unwrap().iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"ledger: contacts") && kinds.contains(&"ledger: entries"), "{kinds:?}");
    assert!(!told.to_string().contains("Sunita"));
    let again = installation.run(&["person", "export", "Rameshwari", "--out", &name(&file)]);
    assert!(again.code != 0 && again.err.contains("not there yet"), "{again:?}");
    installation.run(&["person", "export", "Rameshwari", "--html", "--out", &name(&page)]).ok();
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Rameshwari ko 500 udhaar diya") && html.ends_with("</html>\n"), "{html}");
    installation
        .run(&["person", "export", "Nobody Here", "--out", &name(&page.with_extension("x"))])
        .refused(5);
    assert_eq!(
        std::fs::read_dir(installation.folder())
            .unwrap()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.to_string_lossy().contains(".part") || name.to_string_lossy().ends_with(".x")
            })
            .count(),
        0
    );
}

#[test]
fn an_older_backup_is_told_again_before_it_serves() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    installation.json(&["person", "forget", "Rameshwari", "--yes", "--despite-open-matters"]);
    // Put in place by hand, as somebody does who does not know of `munshi restore`.
    std::fs::copy(installation.folder().join(&copy), installation.file()).unwrap();
    assert!(holds(&installation.file(), "Rameshwari"), "the books of the copy name her");
    let server = installation.serve();
    assert_eq!(server.get("/readyz").0, 200);
    drop(server);
    assert_eq!(count_erasures(&installation), 1);
    let owing = installation.run(&["ask", "counter", "who owes me"]).ok();
    assert!(!owing.contains("Rameshwari") && owing.contains("Forgotten"), "{owing}");
    let restored = installation.json(&["restore", &copy, "--yes"]);
    assert_eq!(restored["forgotten_again"], 1);
    assert_eq!(count_erasures(&installation), 1);
}

/// Nor is anything of it read by a command that works without a server.
#[test]
fn an_older_backup_is_told_again_before_a_command_reads_it() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    installation.json(&["person", "forget", "Rameshwari", "--yes", "--despite-open-matters"]);
    std::fs::copy(installation.folder().join(&copy), installation.file()).unwrap();
    let owing = installation.run(&["ask", "counter", "who owes me"]).ok();
    assert!(!owing.contains("Rameshwari") && owing.contains("Forgotten"), "{owing}");
    assert_eq!(count_erasures(&installation), 1);
}

/// The books are plain: without the store of keys nobody can know whether an older database names somebody forgotten.
#[test]
fn nothing_is_read_while_the_store_of_keys_is_away() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    open_shop(&installation);
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    installation.json(&["person", "forget", "Rameshwari", "--yes", "--despite-open-matters"]);
    std::fs::copy(installation.folder().join(&copy), installation.file()).unwrap();
    let (keys, aside) = (installation.data().join("keys.db"), installation.folder().join("aside.db"));
    std::fs::rename(&keys, &aside).unwrap();
    let error = installation.run(&["ledger", "check"]).refused(3);
    assert!(error.contains("keys.db is missing"), "{error}");
    std::fs::rename(&aside, &keys).unwrap();
    let owing = installation.run(&["ask", "counter", "who owes me"]).ok();
    assert!(!owing.contains("Rameshwari") && owing.contains("Forgotten"), "{owing}");
}

/// A person who wrote: their words, their name and their phone are unreadable, also with the keys of today and the copy of yesterday.
#[test]
fn with_todays_keys_a_copy_of_yesterday_shows_everybody_else() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.run(&["apply", KIRANA]).ok();
    for name in ["Rameshwari", "Sunita"] {
        installation.json(&["person", "add", name, "--role", "staff"]);
        installation.run(&["ask", "counter", "zanzibar kitna hai", "--person", name]).ok();
    }
    let copy = installation.json(&["backup"])["file"].as_str().unwrap().to_owned();
    installation.json(&["person", "leave", "Rameshwari"]);
    let everybody = installation.json(&["person", "list", "--all"]);
    let find = |name: &str| -> Value {
        let people = everybody["items"].as_array().unwrap();
        people.iter().find(|person| person["name"] == name).unwrap()["id"].clone()
    };
    let (gone, stays) = (find("Rameshwari"), find("Sunita"));
    let receipt = installation.json(&["person", "forget", gone.as_str().unwrap(), "--yes"]);
    assert_eq!((&receipt["state"], &receipt["keys"]), (&json!("done"), &json!(1)));
    let removed = receipt["removed"].to_string();
    assert!(removed.contains("messages") && removed.contains("persons"), "{removed}");

    installation.json(&["restore", &copy, "--yes"]);
    let people = installation.json(&["person", "list", "--all"]);
    let names: Vec<&Value> =
        people["items"].as_array().unwrap().iter().map(|person| &person["name"]).collect();
    assert!(names.contains(&&json!("Sunita")) && !names.contains(&&json!("Rameshwari")), "{names:?}");
    drop(installation.serve());
    let shown = installation.json(&["person", "show", stays.as_str().unwrap()]);
    assert_eq!(shown["name"], "Sunita");
    assert_eq!(count_erasures(&installation), 1, "and it was forgotten again");
}

/// Killed at some moment of it: the next start ends what was begun, and what was not begun is whole.
#[test]
fn killed_on_the_way_it_is_never_half() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.run(&["apply", KIRANA]).ok();
    let mut people = Vec::new();
    for number in 0..=KILLS {
        let name = format!("Rameshwari {number}");
        let added = installation.json(&["person", "add", &name, "--role", "staff"]);
        installation.run(&["ask", "counter", "zanzibar kitna hai", "--person", &name]).ok();
        installation.json(&["person", "leave", &name]);
        people.push((name, added["id"].as_str().unwrap().to_owned()));
    }
    // How long it takes on this machine, undisturbed.
    let began = Instant::now();
    installation.json(&["person", "forget", &people[0].1, "--yes"]);
    let whole = began.elapsed();
    for (number, (_, id)) in people.iter().enumerate().skip(1) {
        let mut forgetting = installation.command(&["person", "forget", id, "--yes"]).spawn().unwrap();
        std::thread::sleep(whole * u32::try_from(number).unwrap() / u32::try_from(KILLS).unwrap());
        // It may have ended before.
        forgetting.kill().unwrap();
        forgetting.wait().unwrap();
    }
    drop(installation.serve());
    let done = installation.json(&["erasure", "list"]);
    let done = done["items"].as_array().unwrap();
    assert!(!done.is_empty() && done.iter().all(|erasure| erasure["state"] == "done"), "{done:?}");
    for (name, id) in &people {
        let is_forgotten = done.iter().any(|erasure| erasure["persons"].to_string().contains(id));
        let shown = installation.json(&["person", "show", id]);
        assert_eq!(shown["name"] == **name, !is_forgotten, "{shown} is half forgotten");
    }
}
