//! `munshi serve` from its first start to its last signal.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use munshi_test_support::DatabaseEngine;
use rustix::process::Signal;
use serde_json::Value;

use crate::app::support::Installation;

fn a_fresh_server_answers(engine: DatabaseEngine) {
    let installation = Installation::on(engine);
    let mut server = installation.serve();
    let (status, body) = server.get("/readyz");
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let names: Vec<&str> =
        body["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["store", "keys", "jobs", "tiers", "connectors"]);
    // The runner counts its queue at its first round.
    let metrics = server.wait_until("/metrics", |text| text.contains("munshi_jobs_ready 0"));
    assert!(metrics.contains("munshi_store_units_total"), "{metrics}");
    let (status, document) = server.get("/openapi.json");
    assert_eq!(status, 200);
    let document: Value = serde_json::from_str(&document).unwrap();
    assert!(document["paths"]["/readyz"].is_object(), "{document}");
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    let log = server.log();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
}

#[test]
fn a_fresh_server_answers_on_sqlite() {
    a_fresh_server_answers(DatabaseEngine::Sqlite);
}

#[test]
fn a_fresh_server_answers_on_postgres() {
    a_fresh_server_answers(DatabaseEngine::Postgres);
}

#[test]
fn the_data_folder_is_for_nobody_else() {
    let installation = Installation::sqlite();
    let _server = installation.serve();
    let mode = |name: &str| {
        let path = installation.data().join(name);
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    assert_eq!(mode("munshi.db"), 0o600);
}

#[test]
fn what_is_said_when_ready() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let ready = &server.ready;
    assert_eq!(ready["url"], format!("http://{}", server.address));
    assert_eq!(ready["data_dir"], installation.data().display().to_string());
    assert_eq!(ready["database"], format!("sqlite:{}", installation.file().display()));
}

#[test]
fn a_second_server_on_the_same_file_is_refused() {
    let installation = Installation::sqlite();
    let first = installation.serve();
    let error = installation.run(&["serve"]).refused(7);
    assert!(error.contains(&format!("in use by process {}", first.process())), "{error}");
    assert!(error.contains("hint: stop it first"), "{error}");
    assert_eq!(first.get("/readyz").0, 200);
}

#[test]
fn two_nodes_share_one_postgres() {
    let installation = Installation::on(DatabaseEngine::Postgres);
    let (one, other) = (installation.serve(), installation.serve());
    assert_eq!((one.get("/readyz").0, other.get("/readyz").0), (200, 200));
}

#[test]
fn a_taken_port_is_told_and_nothing_is_made() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let installation = Installation::sqlite().with("MUNSHI__SERVER__LISTEN", &address);
    let error = installation.run(&["serve"]).refused(7);
    assert!(
        error.contains(&format!("error: {address} is already in use\nhint: stop the other program")),
        "{error}"
    );
    assert!(!installation.file().exists(), "the database was made before the port was tried");
}

#[test]
fn a_server_killed_outright_starts_again() {
    let installation = Installation::sqlite();
    let mut server = installation.serve();
    installation.json(&["tenant", "add", "sharma"]);
    server.signal(Signal::KILL);
    assert_eq!(server.wait().signal(), Some(9));
    let again = installation.serve();
    again.wait_for("/readyz", 200);
    assert_eq!(installation.json(&["tenant", "list"])["items"][0]["name"], "sharma");
}

#[test]
fn both_signals_end_it_and_interrupting_does_too() {
    for signal in [Signal::TERM, Signal::INT] {
        let installation = Installation::sqlite();
        let mut server = installation.serve();
        server.wait_for("/readyz", 200);
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
        assert!(std::net::TcpStream::connect(server.address).is_err());
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let installation = Installation::sqlite();
    let mut server = installation.serve();
    // A request whose head never ends keeps the server waiting for its whole grace.
    let mut slow = std::net::TcpStream::connect(server.address).unwrap();
    std::io::Write::write_all(&mut slow, b"GET /readyz HTTP/1.1\r\nhost:").unwrap();
    server.wait_for("/readyz", 200);
    server.signal(Signal::TERM);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(server.is_running(), "it did not wait for what is in flight");
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(143), "{}", server.log());
}

#[test]
fn what_is_in_flight_has_its_grace_and_no_more() {
    let installation = Installation::sqlite().with("MUNSHI__SERVER__SHUTDOWN_GRACE_SECONDS", "1");
    let mut server = installation.serve();
    let mut slow = std::net::TcpStream::connect(server.address).unwrap();
    std::io::Write::write_all(&mut slow, b"GET /readyz HTTP/1.1\r\nhost:").unwrap();
    server.wait_for("/readyz", 200);
    let began = std::time::Instant::now();
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    assert!(began.elapsed() >= std::time::Duration::from_millis(900), "{:?}", began.elapsed());
}

#[test]
fn logs_say_where_it_listens_when_nobody_watches() {
    let installation = Installation::sqlite();
    let mut child = installation.command(&["serve"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let ready = lines.find_map(|line| {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        (line["message"] == "ready").then_some(line)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(ready.unwrap()["fields"]["url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
}

#[test]
fn a_folder_that_can_not_be_made_is_told() {
    let installation = Installation::sqlite();
    let file = installation.folder().join("a-file");
    std::fs::write(&file, "").unwrap();
    let installation = installation.with("MUNSHI__DATA__DIR", file.join("data").display().to_string());
    let error = installation.run(&["serve"]).refused(7);
    assert!(
        error.contains("can't create the data folder")
            && error.contains("hint: choose another with data.dir"),
        "{error}"
    );
}
