//! `munshi import workspace`: seven files to tiers, and what is said about it.

use std::fs;

use munshi_test_support::DatabaseEngine;

use crate::app::support::Installation;

const FILES: [(&str, &str); 7] = [
    (
        "soul.md",
        "I grew up over a bicycle shop.\n\n## Voice\nCalm and dry.\n\n## Never\n- Never promise a day.\n- Never offer discounts.\n\n## Languages\nKannada, English\n",
    ),
    ("IDENTITY.md", "Name: Anand\nRole: The voice of Chakra Cycles\n"),
    (
        "Agents.md",
        "# Agent: Chakra Desk\nScope: answers about repairs\nChannels: whatsapp, web\n\n## Procedure\n1. Ask which cycle.\n",
    ),
    ("TOOLS.md", "- book_slot(date, phone): after the person said yes\n"),
    ("MEMORY.md", "Keep the last 8 turns.\nRamesh likes red.\napi_key = abcdef123456\n"),
    ("USER.md", "Name: Ramesh Kumar\n"),
    ("HEARTBEAT.md", "- Every morning, look at the bookings\n"),
];

fn workspace(installation: &Installation) {
    let folder = installation.folder().join("Chakra Cycles");
    fs::create_dir_all(&folder).unwrap();
    FILES.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
}

fn import<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["import", "workspace", "Chakra Cycles"], more].concat()
}

#[test]
fn what_people_read() {
    let installation = Installation::sqlite();
    workspace(&installation);
    let mut pages = installation.run(&import(&[])).ok();
    for file in [
        "humans/chakra-desk.md",
        "teams/chakra-desk.md",
        "agents/chakra-desk.toml",
        "bindings/chakra-desk.toml",
    ] {
        let path = installation.folder().join("tenants/chakra-cycles").join(file);
        pages += &format!("──── {file}\n{}", fs::read_to_string(path).unwrap());
    }
    assert!(!pages.contains("abcdef123456") && !pages.contains("Ramesh"), "{pages}");
    insta::assert_snapshot!(pages);
}

fn a_workspace_becomes_a_tenant(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    workspace(&installation);
    let outcome = installation.json(&import(&["--tenant", "chakra", "--apply", "--author", "asha"]));
    assert_eq!(outcome["folder"], "tenants/chakra");
    assert_eq!(outcome["written"].as_array().unwrap().len(), 4);
    assert_eq!(outcome["applied"]["changes"].as_array().unwrap().len(), 4);
    assert_eq!(outcome["concerns"], 5);
    let diff = installation.json(&["diff", "tenants/chakra"]);
    assert_eq!(diff["plans"][0]["changes"], serde_json::json!([]), "the files are what was applied");
    let log = installation.json(&["tier", "log", "chakra", "human", "chakra-desk"]);
    assert_eq!(
        (&log["versions"][0]["author"], &log["versions"][0]["note"]),
        (&"asha".into(), &"imported from Chakra Cycles".into())
    );
    let prompt = installation.run(&["prompt", "show", "chakra-desk", "--message", "hello", "--raw"]).ok();
    assert!(prompt.starts_with("I grew up over a bicycle shop.\n"), "{prompt}");
}

#[test]
fn a_workspace_becomes_a_tenant_on_sqlite() {
    a_workspace_becomes_a_tenant(DatabaseEngine::Sqlite);
}

#[test]
fn a_workspace_becomes_a_tenant_on_postgres() {
    a_workspace_becomes_a_tenant(DatabaseEngine::Postgres);
}

#[test]
fn nothing_is_written_over_without_being_asked() {
    let installation = Installation::sqlite();
    workspace(&installation);
    installation.json(&import(&["--out", "out"]));
    let again = installation.json(&import(&["--out", "out"]));
    assert_eq!((again["written"].as_array().unwrap().len(), &again["unchanged"]), (0, &4.into()));
    let file = installation.folder().join("out/humans/chakra-desk.md");
    let mine = fs::read_to_string(&file).unwrap() + "And mine.\n";
    fs::write(&file, &mine).unwrap();
    fs::remove_file(installation.folder().join("out/teams/chakra-desk.md")).unwrap();
    let error = installation.run(&import(&["--out", "out", "--json"])).refused_as(6, "already_there");
    assert!(
        error["error"]["message"].as_str().unwrap().contains("out/humans/chakra-desk.md exists"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), mine);
    assert!(!installation.folder().join("out/teams/chakra-desk.md").exists(), "all of it or nothing");
    let replaced = installation.json(&import(&["--out", "out", "--replace"]));
    assert_eq!(replaced["replaced"], serde_json::json!(["out/humans/chakra-desk.md"]));
    assert_eq!(replaced["written"].as_array().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere() {
    let installation = Installation::sqlite();
    workspace(&installation);
    let (folder, secret) =
        (installation.folder().join("Chakra Cycles"), installation.folder().join("secret"));
    fs::write(&secret, "not yours").unwrap();
    fs::remove_file(folder.join("USER.md")).unwrap();
    std::os::unix::fs::symlink(&secret, folder.join("USER.md")).unwrap();
    let error = installation.run(&import(&[])).refused(9);
    assert!(error.contains("points outside the folder"), "{error}");
    fs::remove_file(folder.join("USER.md")).unwrap();
    fs::create_dir_all(installation.folder().join("out/humans")).unwrap();
    std::os::unix::fs::symlink(&secret, installation.folder().join("out/humans/chakra-desk.md")).unwrap();
    installation.run(&import(&["--out", "out"])).refused(6);
    installation.run(&import(&["--out", "out", "--replace"])).refused(1);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "not yours");
}

#[test]
fn what_is_no_workspace_is_told() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.run(&["import", "workspace", "nowhere", "--json"]).refused_as(9, "files");
    fs::create_dir_all(installation.folder().join("empty")).unwrap();
    let error = installation.run(&["import", "workspace", "empty"]).refused(9);
    assert!(error.contains("a workspace contains SOUL.md or IDENTITY.md"), "{error}");
    workspace(&installation);
    let folder = installation.folder().join("Chakra Cycles");
    fs::write(folder.join("USER.md"), [0xff, 0xfe]).unwrap();
    let error = installation.run(&import(&[])).refused(9);
    assert!(error.contains("USER.md: the file is not UTF-8 text"), "{error}");
    fs::write(folder.join("USER.md"), "").unwrap();
    fs::rename(&folder, installation.folder().join("दुकान")).unwrap();
    let error = installation.run(&["import", "workspace", "दुकान"]).refused(2);
    assert!(error.contains("--tenant"), "{error}");
}

#[test]
fn a_persona_that_is_too_large_is_written_and_not_applied() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    workspace(&installation);
    let soul = "I have told this story before, and I will tell it again. ".repeat(120);
    fs::write(installation.folder().join("Chakra Cycles/soul.md"), soul).unwrap();
    let error = installation.run(&import(&["--apply"])).refused(9);
    assert!(error.contains("tokens, ") && error.contains("over the limit of 800"), "{error}");
    assert!(!installation.folder().join("tenants").exists(), "what is refused leaves no trace");
    assert_eq!(installation.json(&["tenant", "list"])["items"], serde_json::json!([]));
    let page = installation.run(&import(&[])).ok();
    assert!(page.contains("human → ") && page.contains("shorten it"), "{page}");
}
