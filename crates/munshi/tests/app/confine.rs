//! A connector's program is confined: it reaches what is named for it and nothing of the installation's.

use std::path::{Path, PathBuf};
use std::process::Command;

use munshi_test_support::{DatabaseEngine, environment};
use serde_json::{Value, json};

use crate::app::support::Installation;

#[allow(clippy::disallowed_methods, reason = "a connector's program is found by PATH")]
fn search_path() -> String {
    std::env::var("PATH").unwrap()
}

/// An installation with a tenant, a vault, settings of its own, and what belongs to another connector.
fn installed() -> Installation {
    let installation = Installation::migrated(DatabaseEngine::Sqlite).with("PATH", search_path());
    installation.json(&["tenant", "add", "shop"]);
    let folder = installation.folder();
    for path in ["data/connectors/other", "share", "docs"] {
        std::fs::create_dir_all(folder.join(path)).unwrap();
    }
    for (path, text) in [
        ("data/connectors/other/secret", "theirs"),
        ("munshi.toml", "[log]\nlevel = \"info\"\n"),
        ("docs/price.txt", "40"),
    ] {
        std::fs::write(folder.join(path), text).unwrap();
    }
    installation
}

fn spy() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../connectors/tests/servers/spy.py");
    path.canonicalize().unwrap().display().to_string()
}

/// What the spy is told to try, behind where it notes what came of it.
fn targets(installation: &Installation, note: &str) -> Vec<String> {
    let folder = installation.folder().canonicalize().unwrap();
    let paths = ["data/vault.key", "data/munshi.db", "munshi.toml", "data/connectors/other/secret"];
    let paths = paths.into_iter().chain(["docs/price.txt", "share"]);
    let paths = paths.map(|path| folder.join(path).display().to_string());
    [note.to_owned()].into_iter().chain(paths).collect()
}

fn noted(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// It may not, or there is no such thing for it, nor a place where one could be made.
fn is_refused(outcome: &Value) -> bool {
    let words = ["Permission denied", "No such file or directory", "Read-only file system"];
    words.iter().any(|words| outcome == words)
}

#[test]
fn a_hostile_program_reaches_neither_key_nor_database_nor_environment() {
    let installation = installed();
    let folder = installation.folder().canonicalize().unwrap();
    let (docs, share) =
        (folder.join("docs").display().to_string(), folder.join("share").display().to_string());
    let arguments = targets(&installation, "found.json");
    let spy = spy();
    let named =
        ["connector", "add", "spy", "--may-read", &docs, "--may-write", &share, "--", "python3", &spy];
    let add: Vec<&str> = named.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    installation.run(&add).ok();
    let config = folder.join("munshi.toml").display().to_string();
    let tested = installation.run(&["--config", &config, "connector", "test", "spy", "--json"]);
    let report: Value = serde_json::from_str(&tested.out).unwrap_or_else(|_| panic!("{tested:?}"));
    let check = |name: &str| {
        let findings = report["findings"].as_array().unwrap().iter();
        findings.clone().find(|finding| finding["check"] == name).cloned().unwrap_or_default()
    };
    let logs = || installation.run(&["connector", "logs", "spy"]).out;
    // How long it takes is the machine's affair.
    let greeted = check("initialize")["detail"].as_str().is_some_and(|detail| detail.contains("tool list"));
    assert!(greeted, "{report}\n{}", logs());
    assert_eq!(check("confined")["verdict"], "pass", "{report}");

    let home = std::fs::read_dir(folder.join("data/connectors")).unwrap().flatten();
    let home = home.map(|tenant| tenant.path().join("spy")).find(|home| home.is_dir()).unwrap();
    let confined = noted(&home.join("found.json"));
    let tried = confined["hostile"].as_object().unwrap();
    assert_eq!(tried.len(), 13, "{confined}");
    for (attempt, outcome) in tried {
        assert!(is_refused(outcome), "{attempt}: {confined}");
    }
    for (need, outcome) in confined["allowed"].as_object().unwrap() {
        assert_eq!(outcome, "done", "{need}: {confined}");
    }

    // Every attempt is one that works for a program that nobody confines.
    let note = folder.join("unconfined.json");
    let mut bare = Command::new("python3");
    bare.arg(&spy).args(targets(&installation, &note.display().to_string()));
    let ended = bare.env("HOME", &folder).stdin(std::process::Stdio::null()).status().unwrap();
    assert!(ended.success());
    let unconfined = noted(&note);
    for (attempt, outcome) in unconfined["hostile"].as_object().unwrap() {
        assert_eq!(outcome, "done", "{attempt}: {unconfined}");
    }
}

#[test]
fn names_that_lead_over_links_work_confined() {
    let installation = installed();
    let folder = installation.folder().canonicalize().unwrap();
    // Nothing that the program may read lies here.
    let names = folder.join("names");
    std::fs::create_dir_all(names.join("deep")).unwrap();
    for (link, target) in [
        ("names/deep/docs", folder.join("docs")),
        ("names/docs", PathBuf::from("deep/docs")),
        ("names/share", folder.join("share")),
        ("names/python", PathBuf::from("/usr/bin/python3")),
        ("names/spy.py", PathBuf::from(spy())),
        ("names/key", folder.join("data/vault.key")),
    ] {
        std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
    }
    let name = |link: &str| names.join(link).display().to_string();
    let mut arguments = targets(&installation, "found.json");
    arguments[1] = name("key");
    let last = arguments.len() - 2;
    arguments[last..].clone_from_slice(&[name("docs/price.txt"), name("share")]);
    let [docs, share, python, spy] = ["docs", "share", "python", "deep/../spy.py"].map(name);
    let named = ["connector", "add", "spy", "--may-read", &docs, "--may-write", &share, "--", &python, &spy];
    let add: Vec<&str> = named.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    installation.run(&add).ok();
    let tested = installation.run(&["connector", "test", "spy", "--json"]);
    let homes = std::fs::read_dir(folder.join("data/connectors")).unwrap().flatten();
    let home = homes.map(|tenant| tenant.path().join("spy")).find(|home| home.is_dir()).unwrap();
    assert!(home.join("found.json").is_file(), "{tested:?}");
    let found = noted(&home.join("found.json"));
    assert!(is_refused(&found["hostile"]["key"]), "{found}");
    for (need, outcome) in found["allowed"].as_object().unwrap() {
        assert_eq!(outcome, "done", "{need}: {found}");
    }
}

#[test]
fn a_program_listens_only_where_its_entry_says_so() {
    let installation = installed();
    let (spy, arguments) = (spy(), targets(&installation, "found.json"));
    let named = ["connector", "add", "spy", "--may-listen", "--", "python3", &spy];
    let add: Vec<&str> = named.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    installation.run(&add).ok();
    installation.run(&["connector", "test", "spy", "--json"]);
    let homes = std::fs::read_dir(installation.folder().join("data/connectors")).unwrap().flatten();
    let home = homes.map(|tenant| tenant.path().join("spy")).find(|home| home.is_dir()).unwrap();
    let tried = noted(&home.join("found.json"))["hostile"].clone();
    assert_eq!(tried["a port"], json!("done"), "{tried}");
    assert!(is_refused(&tried["key"]), "{tried}");
}

#[test]
fn what_holds_the_installations_own_files_can_not_be_named() {
    let installation = installed();
    let folder = installation.folder().canonicalize().unwrap();
    std::os::unix::fs::symlink(folder.join("data"), folder.join("link")).unwrap();
    let data = folder.join("data").display().to_string();
    let inner = folder.join("data/connectors/other").display().to_string();
    let link = folder.join("link").display().to_string();
    let whole = folder.display().to_string();
    for path in [data.as_str(), &inner, &link, &whole, "/", "/proc", "/proc/1", "/dev"] {
        for flag in ["--may-read", "--may-write"] {
            let refused = installation.run(&["connector", "add", "x", flag, path, "--json", "--", "true"]);
            let refused = refused.refused_as(2, "invalid");
            assert!(refused.to_string().contains("no connector may access that"), "{path}: {refused}");
        }
    }
    let tenant = folder.join("shop");
    std::fs::create_dir_all(&tenant).unwrap();
    let file = format!(
        "[files]\ncommand = [\"true\", \"{}\"]\nreads = [\"{data}\"]\n",
        folder.join("docs").display()
    );
    std::fs::write(tenant.join("connectors.toml"), &file).unwrap();
    let applied = installation.run(&["apply", &tenant.display().to_string()]);
    assert_ne!(applied.code, 0, "{applied:?}");
    assert!(applied.err.contains("connector files: reads names"), "{applied:?}");
    let unread = file.replace(&format!("reads = [\"{data}\"]\n"), "");
    std::fs::write(tenant.join("connectors.toml"), unread).unwrap();
    let applied = installation.run(&["apply", &tenant.display().to_string()]).ok();
    assert!(applied.contains("may not read it: add reads"), "{applied}");
}

#[test]
fn programs_that_nobody_here_wrote_work_confined() {
    let installation = installed();
    let share = installation.folder().canonicalize().unwrap().join("share");
    std::fs::write(share.join("hello.txt"), "namaste").unwrap();
    let share = share.display().to_string();
    let packages = environment::connectors();
    let bin = packages.join("node/node_modules/.bin");
    let (files, everything) = (bin.join("mcp-server-filesystem"), bin.join("mcp-server-everything"));
    let (files, everything) = (files.display().to_string(), everything.display().to_string());
    let python = packages.join("python").display().to_string();
    let run = "import mcp_server_time; mcp_server_time.main()";
    // They are large, and machines are slow.
    let start = "start_seconds = 120\n";
    let file = format!(
        "[files]\ncommand = [\"{files}\", \"{share}\"]\nwrites = [\"{share}\"]\n{start}\
         [everything]\ncommand = [\"{everything}\"]\n{start}\
         [time]\ncommand = [\"python3\", \"-c\", \"{run}\"]\nenvironment = {{ PYTHONPATH = \"{python}\" }}\n{start}"
    );
    let tenant = installation.folder().join("shop");
    std::fs::create_dir_all(&tenant).unwrap();
    std::fs::write(tenant.join("connectors.toml"), file).unwrap();
    installation.run(&["apply", &tenant.display().to_string()]).ok();
    for name in ["files", "everything", "time"] {
        let tested = installation.run(&["connector", "test", name, "--json"]);
        let report: Value = serde_json::from_str(&tested.out).unwrap_or_else(|_| panic!("{tested:?}"));
        assert!(report["tools"].as_u64().unwrap_or_default() > 0, "{name}: {report}");
        let verdict = |check: &str| {
            let found = report["findings"].as_array().unwrap().iter();
            found.clone().find(|finding| finding["check"] == check).map(|finding| finding["verdict"].clone())
        };
        for check in ["healthcheck", "confined", "steady", "ends"] {
            assert_eq!(verdict(check), Some(json!("pass")), "{check} of {name}: {report}");
        }
    }
}

#[test]
fn the_launcher_starts_nothing_that_it_can_not_confine() {
    let installation = Installation::sqlite();
    for arguments in [
        &["confine"] as &[&str],
        &["confine", "--"],
        &["confine", "--read"],
        &["confine", "--odd", "/", "--", "true"],
    ] {
        let refused = installation.run(arguments);
        assert_eq!(refused.code, 126, "{arguments:?}: {refused:?}");
        assert!(refused.err.contains("program not started"), "{refused:?}");
    }
}
