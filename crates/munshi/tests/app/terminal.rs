//! `munshi chat`: as somebody types at a terminal, and line by line.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use munshi_test_support::{DatabaseEngine, environment};

use crate::app::chat::shop_of;
use crate::app::support::{Installation, PROGRAM, Ran, Running, Speaking};

/// Slow enough to be stopped in the middle.
const REPLY: &str = "Ramesh owes you four hundred and fifty rupees. He took two bags of rice. He has paid nothing since \
                     then. You can remind him on Saturday. Shall I write it down for you? That is all there is to say.";

/// A shop with its books.
fn kirana(engine: DatabaseEngine) -> Installation {
    let installation = Installation::migrated(engine);
    installation
        .json(&["apply", &format!("{}/../../packs/ledger/tenants/kirana", env!("CARGO_MANIFEST_DIR"))]);
    installation
}

/// Plays a scene of `clients/terminal.py`.
#[track_caller]
fn play(installation: &Installation, scene: &str) -> String {
    let script = format!("{}/tests/clients/terminal.py", env!("CARGO_MANIFEST_DIR"));
    let like = installation.command(&[]);
    let mut python = Command::new("python3");
    python.env_clear().env("PATH", environment::path());
    for (name, value) in like.get_envs() {
        python.env(name, value.unwrap_or_default());
    }
    let played = python
        .args(["-B", &script, PROGRAM, scene])
        .current_dir(installation.folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&played.stdout).into_owned();
    assert!(played.status.success(), "{told}\n{}", String::from_utf8_lossy(&played.stderr));
    told
}

/// What the person said, the oldest first.
fn said(installation: &Installation) -> Vec<String> {
    let sessions = installation.json(&["sessions", "list"]);
    let session = sessions["items"][0]["id"].as_str().unwrap();
    let messages = installation.json(&["messages", "list", session]);
    let said = messages["items"].as_array().unwrap().iter().rev();
    let said = said.filter(|message| message["speaker"] == "person");
    said.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_empty_folder_offers_what_is_ready() {
    let installation = Installation::sqlite();
    play(&installation, "fresh");
    let history = installation.data().join("chat/kirana/counter.txt");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&history), mode(history.parent().unwrap())), (0o600, 0o700));
    assert!(std::fs::read_to_string(&history).unwrap().contains("Ramesh ko 500"));
    let left = std::fs::read_dir(installation.data()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with("ready-")), "{left:?}");
}

#[test]
fn letters_are_whole_and_lines_are_several() {
    let installation = kirana(DatabaseEngine::Sqlite);
    play(&installation, "edited");
    assert_eq!(said(&installation), ["नस्ते!", "one\ntwo\nthree", "பழைய\nகணக்கு"]);
}

#[test]
fn ctrl_c_stops_the_answer_and_not_the_program() {
    let model = Speaking::start(REPLY, Duration::from_millis(150));
    let (installation, _) = shop_of(DatabaseEngine::Sqlite, &model);
    play(&installation, "stopped");
    let server = Running::start(installation.command(&["serve", "--json"]), &installation.folder());
    play(&installation, "stopped");
    let runs = installation.json(&["runs", "list", "--state", "halted"]);
    let halts = runs["items"].as_array().unwrap().iter().map(|run| &run["halt"]["code"]);
    assert_eq!(
        halts.filter(|code| *code == "cancelled").count(),
        2,
        "both turns were stopped, the server's too\n{}",
        server.log()
    );
}

#[test]
fn keys_that_are_pressed_while_an_answer_comes_are_not_lost() {
    let model = Speaking::start(REPLY, Duration::from_millis(60));
    let (installation, _) = shop_of(DatabaseEngine::Sqlite, &model);
    play(&installation, "left");
    play(&installation, "ahead");
}

#[test]
fn what_is_offered_is_taken_by_its_number() {
    let installation = kirana(DatabaseEngine::Sqlite);
    play(&installation, "offered");
    let said = said(&installation);
    assert!(said.len() == 2 && said[1] != "1" && !said[1].is_empty(), "{said:?}");
}

#[test]
fn there_is_no_colour_where_none_is_wanted() {
    play(&kirana(DatabaseEngine::Sqlite), "plain");
}

fn lines(installation: &Installation, arguments: &[&str], input: &str) -> Ran {
    let mut command = installation.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn line_by_line(engine: DatabaseEngine) {
    let installation = kirana(engine);
    let ran = lines(&installation, &["chat", "counter"], "Ramesh ko 500 udhaar diya\n\n/cost\nwho owes me\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("500") && ran.out.contains("1 answer"), "{ran:?}");
    assert!(ran.err.contains("→ ") && !ran.out.contains('\u{1b}') && !ran.out.contains('›'), "{ran:?}");
    let none = lines(&installation, &["chat", "nobody"], "hi\n");
    assert_eq!(none.code, 5, "{none:?}");
    let json = lines(&installation, &["chat", "counter", "--json"], "hi\n");
    assert!(json.code == 2 && json.err.contains("jsonl"), "{json:?}");
}

#[test]
fn piped_it_answers_line_by_line_on_sqlite() {
    line_by_line(DatabaseEngine::Sqlite);
}

#[test]
fn piped_it_answers_line_by_line_on_postgres() {
    line_by_line(DatabaseEngine::Postgres);
}

#[test]
fn who_is_meant_is_told_where_nobody_can_be_asked() {
    let installation = Installation::sqlite();
    let ran = lines(&installation, &["chat"], "hi\n");
    assert!(ran.code == 5 && ran.err.contains("kirana") && ran.err.contains("rangoli"), "{ran:?}");
    let installation = kirana(DatabaseEngine::Sqlite);
    installation.json(&["apply", &format!("{}/../../tenants/saathi", env!("CARGO_MANIFEST_DIR"))]);
    let ran = lines(&installation, &["chat"], "hi\n");
    assert!(ran.code == 2 && ran.err.contains("counter"), "{ran:?}");
}
