//! A connector's program connects to no socket of other programs, where the machine can keep it from them; elsewhere that is said.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use munshi_connectors::KernelSupport;
use munshi_test_support::DatabaseEngine;
use serde_json::Value;

use crate::app::support::{Installation, Ran};

/// The system's own: everybody may run it.
const PYTHON: &str = "/usr/bin/python3";
/// Behind this nobody makes a user namespace.
const WITHOUT_NAMESPACES: &[&str] = &[
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
    "sh",
];
/// An ordinary user, as services run.
const AS_NOBODY: &[&str] = &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// An installation, and services that listen beside it: in folders of their own, in one that the program may read, and one that
/// is named for it.
struct Neighbours {
    installation: Installation,
    folder: PathBuf,
    /// Of those that are none of the program's business.
    addresses: Vec<String>,
    /// The socket that it may use.
    granted: PathBuf,
    elsewhere: Vec<tempfile::TempDir>,
    _listeners: Vec<UnixListener>,
}

impl Neighbours {
    fn open() -> Self {
        let installation = Installation::migrated(DatabaseEngine::Sqlite).with("PATH", "/usr/bin:/bin");
        installation.json(&["tenant", "add", "shop"]);
        let folder = installation.folder().canonicalize().unwrap();
        for path in ["share", "docs"] {
            std::fs::create_dir_all(folder.join(path)).unwrap();
        }
        std::fs::write(folder.join("docs/price.txt"), "40").unwrap();
        // Where services have theirs, as far as we may write there. Names of sockets are short.
        let make = |place| tempfile::Builder::new().prefix("munshi-").tempdir_in(place).ok();
        let elsewhere: Vec<_> = ["/tmp", "/run", "/var/tmp"].into_iter().filter_map(make).collect();
        let outside: Vec<PathBuf> = elsewhere.iter().map(|place| place.path().join("s")).collect();
        let granted = elsewhere[0].path().join("granted");
        std::os::unix::fs::symlink(&granted, folder.join("share/in.sock")).unwrap();
        let inner = [granted.clone(), folder.join("docs/in.sock")];
        let mut listeners: Vec<_> =
            outside.iter().chain(&inner).map(|path| UnixListener::bind(path).unwrap()).collect();
        let name = folder.display().to_string();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        listeners.push(UnixListener::bind_addr(&address).unwrap());
        let addresses = outside.iter().map(|path| path.display().to_string()).chain([format!("@{name}")]);
        let addresses = addresses.collect();
        let neighbours = Self { installation, folder, addresses, granted, elsewhere, _listeners: listeners };
        neighbours.declare();
        neighbours
    }

    fn declare(&self) {
        let [docs, share] = ["docs", "share"].map(|name| self.folder.join(name).display().to_string());
        let (spy, arguments) = (spy(), self.list_targets("found.json"));
        let granted = self.granted.display().to_string();
        let paths = ["--may-read", &docs, "--may-write", &share, "--may-write", &granted];
        let named = ["connector", "add", "spy"].into_iter().chain(paths).chain(["--", PYTHON, &spy]);
        let add: Vec<&str> = named.chain(arguments.iter().map(String::as_str)).collect();
        self.installation.run(&add).ok();
    }

    fn list_targets(&self, note: &str) -> Vec<String> {
        let secret = self.folder.join("data/vault.key").display().to_string();
        let granted = ["docs/price.txt", "share"].map(|name| self.folder.join(name).display().to_string());
        let named = [note.to_owned()].into_iter().chain(vec![secret; 4]).chain(granted);
        named.chain(self.addresses.clone()).collect()
    }

    /// Runs our program behind a wrapper.
    fn run(&self, wrapper: &[&str], arguments: &[&str]) -> Ran {
        let bare = self.installation.command(arguments);
        let Some((first, rest)) = wrapper.split_first() else { return self.installation.run(arguments) };
        let mut command = Command::new(first);
        command.args(rest).arg(bare.get_program()).args(bare.get_args()).env_clear();
        command.envs(bare.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(command.current_dir(&self.folder).stdin(Stdio::null()).output().unwrap())
    }

    /// What came of the program's attempts, and how its confinement is told.
    fn try_program(&self, wrapper: &[&str]) -> (Value, String) {
        let homes = || std::fs::read_dir(self.folder.join("data/connectors")).into_iter().flatten().flatten();
        let notes = || homes().map(|tenant| tenant.path().join("spy/found.json")).find(|note| note.is_file());
        if let Some(old) = notes() {
            std::fs::remove_file(old).unwrap();
        }
        let tested = self.run(wrapper, &["connector", "test", "spy", "--json"]);
        let report: Value = serde_json::from_str(&tested.out).unwrap_or_else(|_| panic!("{tested:?}"));
        let logs = || self.installation.run(&["connector", "logs", "spy"]).out;
        let note = notes().unwrap_or_else(|| panic!("{report}\n{}", logs()));
        let mut findings = report["findings"].as_array().unwrap().iter();
        let told = findings.find(|finding| finding["check"] == "confined").unwrap();
        assert_eq!(told["verdict"], "pass", "{report}");
        (read_note(&note), told["detail"].as_str().unwrap().to_owned())
    }
}

fn spy() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../connectors/tests/servers/spy.py");
    path.canonicalize().unwrap().display().to_string()
}

fn read_note(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Whether something can be done on this machine, by other means than ours.
fn works(wrapper: &[&str], program: &[&str]) -> bool {
    let words: Vec<&str> = wrapper.iter().chain(program).copied().collect();
    Command::new(words[0]).args(&words[1..]).output().is_ok_and(|ended| ended.status.success())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Every socket that is none of its business is closed to it, and all that is its business is open.
fn assert_closed(found: &Value) {
    for (attempt, outcome) in found["hostile"].as_object().unwrap() {
        if attempt.starts_with('@') && !KernelSupport::closes_abstract_sockets() {
            continue;
        }
        assert_ne!(outcome, "done", "{attempt}: {found}");
    }
    for (need, outcome) in found["allowed"].as_object().unwrap() {
        assert_eq!(outcome, "done", "{need}: {found}");
    }
}

#[test]
fn a_hostile_program_connects_to_no_socket_of_others() {
    let neighbours = Neighbours::open();
    let has_namespaces = works(&["unshare", "--user", "--mount", "--map-current-user"], &["true"]);
    let (found, told) = neighbours.try_program(&[]);
    let tried = found["hostile"].as_object().unwrap();
    assert!(neighbours.addresses.iter().all(|address| tried.contains_key(address)), "{found}");
    if has_namespaces || KernelSupport::closes_sockets() {
        assert_closed(&found);
    }
    let is_told = told.contains("sockets of services that run as the same user");
    let is_open = tried.iter().any(|(attempt, outcome)| attempt.contains('/') && outcome == "done");
    assert_eq!(is_told, is_open, "{told}: {found}");

    // Every attempt is one that works for a program that nobody confines.
    let note = neighbours.folder.join("unconfined.json");
    let mut bare = Command::new(PYTHON);
    bare.arg(spy()).args(neighbours.list_targets(&note.display().to_string()));
    let ended = bare.env("HOME", &neighbours.folder).stdin(Stdio::null()).status().unwrap();
    assert!(ended.success());
    let unconfined = read_note(&note);
    for (attempt, outcome) in unconfined["hostile"].as_object().unwrap() {
        assert!(outcome == "done" || !attempt.contains("socket"), "{attempt}: {unconfined}");
    }
}

#[test]
fn an_ordinary_users_program_is_isolated_as_roots_is() {
    let neighbours = Neighbours::open();
    let program = env!("CARGO_BIN_EXE_munshi");
    if !is_root() || !works(AS_NOBODY, &["test", "-x", program]) || !works(AS_NOBODY, &["test", "-r", &spy()])
    {
        // The other test runs as such a user, or nobody else reaches what was built here.
        return;
    }
    // Services of the same user.
    let places =
        neighbours.elsewhere.iter().map(tempfile::TempDir::path).chain([neighbours.folder.as_path()]);
    for place in places {
        assert!(works(&["chown", "-R", "65534:65534"], &[&place.display().to_string()]));
    }
    let (found, told) = neighbours.try_program(AS_NOBODY);
    if works(AS_NOBODY, &["unshare", "--user", "--mount", "--map-current-user", "true"]) {
        assert_closed(&found);
        assert!(!told.contains("sockets of services"), "{told}");
    } else {
        assert!(told.contains("sockets"), "{told}");
    }
}

#[test]
fn where_there_are_no_namespaces_the_program_runs_and_the_hole_is_told() {
    if !works(WITHOUT_NAMESPACES, &["true"]) {
        // Then the machine has none itself, which the first test sees.
        return;
    }
    let neighbours = Neighbours::open();
    let (found, told) = neighbours.try_program(WITHOUT_NAMESPACES);
    let doctor = neighbours.run(WITHOUT_NAMESPACES, &["doctor"]);
    let with = neighbours.run(&[], &["doctor"]);
    for (need, outcome) in found["allowed"].as_object().unwrap() {
        assert_eq!(outcome, "done", "{need}: {found}");
    }
    assert_eq!(found["hostile"]["key"], "Permission denied", "{found}");
    if KernelSupport::closes_sockets() {
        assert_closed(&found);
        return;
    }
    assert_eq!(found["hostile"][&neighbours.addresses[0]], "done", "{found}");
    let words = "sockets of services that run as the same user (no user namespace: ";
    assert!(told.contains(words), "{told}");
    assert!(doctor.out.contains(words), "{doctor:?}");
    assert!(!with.out.contains(words), "{with:?}");
}
