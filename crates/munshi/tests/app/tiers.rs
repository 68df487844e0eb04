//! Tiers from the command line: apply, diff, export, log, show, rollback, on both engines.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use munshi_test_support::DatabaseEngine;
use munshi_tiers::{AddressResolution, BindingResolver};
use munshi_types::tier::{RoutingKey, RoutingKeyKind};
use tokio_util::sync::CancellationToken;

use crate::app::support::{Installation, Ran, Running};

const FILES: [(&str, &str); 5] = [
    (
        "humans/meera.md",
        "+++\nname = \"Meera\"\nidentity = \"You keep the counter.\"\n\n[voice]\ntone = \"warm\"\n+++\n\nI count out loud.\n\nI always did.\n",
    ),
    ("teams/counter.md", "+++\nname = \"Counter\"\nrole = \"You take orders.\"\n+++\n\n1. Say it back.\n"),
    ("agents/base.toml", "tools = [\"search_items\"]\nguardrails = [\"no-secrets\"]\n"),
    (
        "agents/own.toml",
        "extends = \"base\"\nguardrails = [\"identity-numbers\"]\n\n[limits]\ntool_calls = 2\n",
    ),
    (
        "bindings/counter.toml",
        "human = \"meera\"\nteam = \"counter\"\nagent = \"own\"\nkeys = [\"host:sharma.example\"]\n",
    ),
];

/// A change is seen within a second, on a machine that has nothing else to do. What nobody hears of is remembered for a
/// minute.
const SOON: Duration = Duration::from_secs(30);

/// A tenant's folder beside the installation's data.
fn shop(installation: &Installation) -> PathBuf {
    write_folder(installation, "tenants/sharma")
}

pub(crate) fn write_folder(installation: &Installation, place: &str) -> PathBuf {
    let folder = installation.folder().join(place);
    for (path, text) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

pub(crate) fn edit(folder: &std::path::Path, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(path)).unwrap();
    assert!(text.contains(from), "{path} has no {from:?}");
    fs::write(folder.join(path), text.replace(from, to)).unwrap();
}

fn a_folder_goes_in_and_comes_out(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    let folder = shop(&installation);
    let dir = "tenants/sharma";
    assert_eq!(installation.json(&["diff", dir])["plans"][0]["is_new"], true);
    assert_eq!(
        installation.json(&["tenant", "list"])["items"],
        serde_json::json!([]),
        "diff changes nothing"
    );
    let applied = installation.json(&["apply", dir, "--author", "asha", "--note", "the first"]);
    assert_eq!(
        (&applied["applied"], applied["plans"][0]["changes"].as_array().unwrap().len()),
        (&true.into(), 5)
    );
    let again = installation.run(&["diff", dir]).ok();
    assert!(again.contains("sharma: no changes\n"), "{again}");
    assert_eq!(installation.json(&["apply", dir])["plans"][0]["changes"], serde_json::json!([]));

    edit(&folder, "humans/meera.md", "warm", "brisk");
    installation.json(&["apply", dir, "--author", "ravi"]);
    let log = installation.json(&["tier", "log", "sharma", "human", "meera"]);
    assert_eq!(
        (&log["versions"][0]["author"], &log["versions"][1]["note"]),
        (&"ravi".into(), &"the first".into())
    );
    assert_eq!(log["versions"][0]["changes"][0]["after"], "brisk");

    let back = installation.json(&["tier", "rollback", "sharma", "human", "meera"]);
    assert_eq!((&back["back_to"], &back["changes"][0]["to"]), (&1.into(), &3.into()));
    let drift = installation.json(&["diff", dir]);
    assert_eq!(
        drift["plans"][0]["changes"][0]["fields"][0]["key"], "voice.tone",
        "the files are ahead again"
    );

    let exported = installation.json(&["export", "sharma", "out/sharma"]);
    assert_eq!(exported["written"].as_array().unwrap().len(), 5);
    assert_eq!(
        installation.json(&["diff", "out/sharma", "--prune"])["plans"][0]["changes"],
        serde_json::json!([])
    );
    let soul = fs::read_to_string(installation.folder().join("out/sharma/humans/meera.md")).unwrap();
    assert_eq!(soul, FILES[0].1);
}

#[test]
fn a_folder_goes_in_and_comes_out_on_sqlite() {
    a_folder_goes_in_and_comes_out(DatabaseEngine::Sqlite);
}

#[test]
fn a_folder_goes_in_and_comes_out_on_postgres() {
    a_folder_goes_in_and_comes_out(DatabaseEngine::Postgres);
}

/// What the command line does is seen by a resolver that was already at work, in another process.
async fn a_change_reaches_another_process(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    let folder = shop(&installation);
    installation.json(&["apply", "tenants/sharma"]);
    let resolver = BindingResolver::new(installation.open().await);
    let (watching, stop) = (resolver.clone(), CancellationToken::new());
    let token = stop.clone();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { watching.watch(token).await });
    let key = RoutingKey::new(RoutingKeyKind::Host, "sharma.example").unwrap();
    let until = async |wanted: &dyn Fn(&AddressResolution) -> bool| {
        let began = Instant::now();
        while !wanted(&resolver.resolve(&key, Some("+919800000001")).await.unwrap()) {
            assert!(began.elapsed() < SOON, "not seen soon");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    until(&|answer| matches!(answer, AddressResolution::Bound(found) if found.human.version == 1)).await;
    edit(&folder, "humans/meera.md", "warm", "brisk");
    installation.json(&["apply", "tenants/sharma"]);
    until(&|answer| matches!(answer, AddressResolution::Bound(found) if found.human.version == 2)).await;
    installation.json(&["tier", "rollback", "sharma", "human", "meera"]);
    until(
        &|answer| matches!(answer, AddressResolution::Bound(found) if found.human.body.voice.tone == "warm"),
    )
    .await;
    installation.json(&["tenant", "pause", "sharma"]);
    until(&|answer| matches!(answer, AddressResolution::TenantPaused(_))).await;
    installation.json(&["tenant", "resume", "sharma"]);
    until(&|answer| matches!(answer, AddressResolution::Bound(_))).await;
    fs::remove_file(folder.join("bindings/counter.toml")).unwrap();
    installation.json(&["apply", "tenants/sharma", "--prune"]);
    until(&|answer| matches!(answer, AddressResolution::BindingArchived { .. })).await;
    stop.cancel();
    tasks.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_reaches_another_process_on_sqlite() {
    a_change_reaches_another_process(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_reaches_another_process_on_postgres() {
    a_change_reaches_another_process(DatabaseEngine::Postgres).await;
}

/// Many processes at once: each does all of its own or nothing.
fn processes_do_not_mix(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    shop(&installation);
    installation.json(&["apply", "tenants/sharma"]);
    let running: Vec<_> = (0..6)
        .map(|number| {
            let folder = installation.folder().join(format!("copy-{number}/sharma"));
            for (path, text) in FILES {
                let text = text.replace("You keep", &format!("{number}: You keep"));
                let path = folder.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text.replace("You take", &format!("{number}: You take"))).unwrap();
            }
            let mut command = installation.command(&["apply", &folder.display().to_string(), "--json"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ran: Vec<Ran> = running.into_iter().map(|child| Ran::of(child.wait_with_output().unwrap())).collect();
    assert!(ran.iter().all(|ran| ran.code == 0 || ran.code == 7), "{ran:?}");
    let done = u64::try_from(ran.iter().filter(|ran| ran.code == 0).count()).unwrap();
    let shown = |kind, name| installation.json(&["tier", "show", "sharma", kind, name]);
    let (human, team) = (shown("human", "meera"), shown("team", "counter"));
    let said = |text: &serde_json::Value| text.as_str().unwrap().split(':').next().unwrap().to_owned();
    assert_eq!(said(&human["values"]["identity"]), said(&team["values"]["role"]));
    assert_eq!((human["latest"].as_u64(), team["latest"].as_u64()), (Some(done + 1), Some(done + 1)));
}

#[test]
fn processes_do_not_mix_on_sqlite() {
    processes_do_not_mix(DatabaseEngine::Sqlite);
}

#[test]
fn processes_do_not_mix_on_postgres() {
    processes_do_not_mix(DatabaseEngine::Postgres);
}

/// The number of the newest change that the server knows.
fn change_of(server: &Running) -> u64 {
    let metrics = server.get("/metrics").1;
    let line = metrics.lines().find_map(|line| line.strip_prefix("munshi_tiers_change "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A running server sees what the command line does, each within a second.
fn a_change_reaches_the_running_server(engine: DatabaseEngine) {
    let installation = Installation::on(engine);
    let server = installation.serve();
    let folder = shop(&installation);
    let mut known = change_of(&server);
    assert_eq!(known, 0, "nothing was applied yet");
    let mut seen_after = |arguments: &[&str]| {
        installation.json(arguments);
        let began = Instant::now();
        while change_of(&server) != known + 1 {
            let late = format!("{arguments:?} not seen soon: {}\n{}", change_of(&server), server.log());
            assert!(began.elapsed() < SOON, "{late}");
            std::thread::sleep(Duration::from_millis(10));
        }
        known += 1;
    };
    seen_after(&["apply", "tenants/sharma"]);
    edit(&folder, "humans/meera.md", "warm", "brisk");
    seen_after(&["apply", "tenants/sharma"]);
    seen_after(&["tier", "rollback", "sharma", "human", "meera"]);
    seen_after(&["tenant", "pause", "sharma"]);
    seen_after(&["tenant", "resume", "sharma"]);
    let ready = server.get("/readyz").1;
    assert!(ready.contains("\"tiers\"") && ready.contains("watching for changes"), "{ready}");
    assert!(!server.get("/metrics").1.contains("sharma"), "a stranger learns no tenant's name");
    // The files were ahead of the rollback.
    seen_after(&["apply", "tenants/sharma"]);
    installation.json(&["apply", "tenants/sharma"]);
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(change_of(&server), known, "applying what is so already is no change");
}

#[test]
fn a_change_reaches_the_running_server_on_sqlite() {
    a_change_reaches_the_running_server(DatabaseEngine::Sqlite);
}

#[test]
fn a_change_reaches_the_running_server_on_postgres() {
    a_change_reaches_the_running_server(DatabaseEngine::Postgres);
}

#[test]
fn what_people_read() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let folder = shop(&installation);
    let mut pages = vec![installation.run(&["apply", "tenants/sharma", "--author", "asha"]).ok()];
    edit(&folder, "humans/meera.md", "I always did.", "I never stopped.");
    edit(&folder, "agents/own.toml", "tool_calls = 2", "tool_calls = 3");
    pages.push(installation.run(&["diff", "tenants/sharma"]).ok());
    pages.push(installation.run(&["apply", "tenants/sharma", "--author", "ravi", "--note", "shorter"]).ok());
    pages.push(installation.run(&["tier", "list", "sharma"]).ok());
    pages.push(installation.run(&["tier", "log", "sharma", "human", "meera"]).ok());
    pages.push(installation.run(&["tier", "show", "sharma", "human", "meera@1"]).ok());
    pages.push(installation.run(&["tier", "show", "sharma", "agent", "own"]).ok());
    pages.push(installation.run(&["tier", "show", "sharma", "agent", "own", "--written"]).ok());
    pages.push(installation.run(&["tier", "rollback", "sharma", "human", "meera", "--author", "asha"]).ok());
    pages.push(installation.run(&["tier", "rollback", "sharma", "human", "meera", "--to", "1"]).ok());
    pages.push(installation.run(&["export", "sharma", "elsewhere"]).ok());
    insta::assert_snapshot!(installation.masked(&pages.join("---\n")));
}

#[test]
fn bad_files_are_refused_with_their_places() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let folder = shop(&installation);
    edit(&folder, "agents/own.toml", "[limits]", "[limts]");
    edit(&folder, "bindings/counter.toml", "team = \"counter\"", "team = \"counte\"");
    let error = installation.run(&["apply", "tenants/sharma"]).refused(9);
    assert!(
        error.contains(
            "tenants/sharma/agents/own.toml:4:2: unknown key `limts`\n  hint: did you mean `limits`?"
        ),
        "{error}"
    );
    let value = installation.run(&["diff", "tenants/sharma", "--json"]).refused_as(9, "files");
    assert_eq!(value["error"]["problems"][0]["line"], 4);
    edit(&folder, "agents/own.toml", "[limts]", "[limits]");
    let error = installation.run(&["apply", "tenants"]).refused(9);
    assert!(
        error.contains(
            "counter.toml:2:8: team: there is no team called counte\n  hint: did you mean `counter`?"
        ),
        "{error}"
    );
    assert_eq!(installation.json(&["tenant", "list"])["items"], serde_json::json!([]));
}

#[test]
fn what_is_not_there_is_told_apart() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    shop(&installation);
    installation.json(&["apply", "tenants/sharma"]);
    installation.run(&["tier", "log", "nobody", "human", "meera", "--json"]).refused_as(5, "not_found");
    installation.run(&["tier", "show", "sharma", "human", "asha", "--json"]).refused_as(5, "not_found");
    installation.run(&["tier", "show", "sharma", "human", "meera@9", "--json"]).refused_as(5, "not_found");
    installation.run(&["tier", "rollback", "sharma", "human", "meera", "--json"]).refused_as(5, "not_found");
    installation.run(&["tier", "show", "sharma", "persona", "meera", "--json"]).refused_as(2, "usage");
    installation.run(&["export", "nobody", "out", "--json"]).refused_as(5, "not_found");
    installation.run(&["apply", "nowhere", "--json"]).refused_as(9, "files");
    installation.json(&["tenant", "archive", "sharma", "--yes"]);
    installation.run(&["apply", "tenants/sharma", "--json"]).refused_as(7, "forbidden");
}

#[test]
fn a_schema_is_printed_for_every_kind() {
    let installation = Installation::sqlite();
    for kind in ["human", "team", "agent", "binding"] {
        let schema = installation.json(&["schema", kind]);
        assert_eq!(schema["additionalProperties"], false);
        let words: serde_json::Value =
            serde_json::from_str(&installation.run(&["schema", kind]).ok()).unwrap();
        assert_eq!(words, schema);
    }
}

#[test]
fn a_tier_is_shown_whole_and_can_not_drive_the_terminal() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let folder = shop(&installation);
    edit(&folder, "humans/meera.md", "I always did.", "I always \u{1b}[2Jdid.");
    edit(&folder, "agents/base.toml", "guardrails", "policy.deny = [\"ledger.erase\"]\nguardrails");
    installation.json(&["apply", "tenants/sharma"]);
    let human = installation.run(&["tier", "show", "sharma", "human", "meera"]).ok();
    assert!(human.contains("I always  [2Jdid.") && !human.contains('\u{1b}'), "{human:?}");
    let agent = installation.run(&["tier", "show", "sharma", "agent", "own"]).ok();
    let line = agent.lines().find(|line| line.starts_with("policy.deny.ledger.erase")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["policy.deny.ledger.erase", "on", "base"]);
}

#[test]
fn what_happened_to_a_tier_is_told_and_edited_files_are_kept() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    let folder = shop(&installation);
    let ravi = "+++\nname = \"Ravi\"\nidentity = \"You.\"\n+++\n";
    fs::write(folder.join("humans/ravi.md"), ravi).unwrap();
    installation.json(&["apply", "tenants/sharma"]);
    fs::remove_file(folder.join("humans/ravi.md")).unwrap();
    installation.json(&["apply", "tenants/sharma", "--prune", "--author", "asha", "--note", "he left"]);
    let back = installation.run(&["tier", "rollback", "sharma", "human", "ravi", "--to", "1"]).ok();
    assert!(back.contains("Restored from the archive unchanged.") && !back.contains("Rolled back"), "{back}");
    let log = installation.run(&["tier", "log", "sharma", "human", "ravi"]).ok();
    let place = |text: &str| log.find(text).unwrap_or_else(|| panic!("no {text}: {log}"));
    assert!(place("restored as version 1") < place("archived at version 1"), "{log}");
    assert!(place("asha\n    he left") < place("version 1 (in force)"), "{log}");
    let first = installation.run(&["tier", "rollback", "sharma", "human", "ravi"]).refused(5);
    assert!(first.contains("is at version 1"), "{first}");

    installation.json(&["export", "sharma", "tenants/sharma"]);
    edit(&folder, "humans/ravi.md", "You.", "Edited.");
    let kept = installation.run(&["export", "sharma", "tenants/sharma", "--json"]);
    kept.refused_as(6, "already_there");
    assert!(fs::read_to_string(folder.join("humans/ravi.md")).unwrap().contains("Edited."));
    installation.json(&["export", "sharma", "tenants/sharma", "--replace"]);
    assert_eq!(fs::read_to_string(folder.join("humans/ravi.md")).unwrap(), ravi);
}
