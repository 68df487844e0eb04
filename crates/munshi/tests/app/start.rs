//! The first minutes: a fresh folder, the link of the terminal, and who owns what was opened there.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use munshi_test_support::guarded_service::Browser;
use munshi_test_support::{DatabaseEngine, PATIENCE};
use serde_json::{Value, json};

use crate::app::support::Installation;

/// Opens a ready tenant as a page of this server would; gives the whole answer.
fn open_ready(address: SocketAddr, cookie: &str, tenant: &str) -> String {
    let body = json!({ "tenant": tenant }).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "POST /start/open HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\ncookie: {cookie}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The visitor's cookie that an answer sets.
fn given(answer: &str) -> String {
    let line = answer.lines().find(|line| line.starts_with("set-cookie: munshi_visitor="));
    let line = line.unwrap_or_else(|| panic!("no cookie in {answer}"));
    line.strip_prefix("set-cookie: ").unwrap().split(';').next().unwrap().to_owned()
}

fn is_open(address: SocketAddr, cookie: &str, place: &str) -> Value {
    let (name, value) = cookie.split_once('=').unwrap();
    let mut browser = Browser { cookies: [(name.to_owned(), value.to_owned())].into() };
    let seen = browser.get(&format!("http://{address}/visit/{place}"));
    serde_json::from_str::<Value>(&seen.text).unwrap_or_else(|error| panic!("{error}: {seen:?}"))["open"]
        .clone()
}

#[test]
fn what_is_opened_at_the_machine_is_not_owned_by_a_planted_cookie() {
    let installation = Installation::sqlite();
    let server = installation.serve();
    let mut browser = Browser::default();
    let (at, seen) = browser.follow(server.ready["start_link"].as_str().unwrap(), "never");
    assert_eq!((at, seen.status), (format!("http://{}/", server.address), 200));
    let here = format!("munshi_local={}", browser.cookies["munshi_local"]);
    // A page on another port of this machine can plant a cookie whose value it knows.
    let planted = format!("munshi_visitor=mv_{}", "p".repeat(43));
    assert!(open_ready(server.address, &planted, "kirana").starts_with("HTTP/1.1 403"), "nobody sits there");
    let opened = open_ready(server.address, &format!("{planted}; {here}"), "kirana");
    assert!(opened.starts_with("HTTP/1.1 200"), "{opened}");
    let own = given(&opened);
    assert_ne!(own, planted);
    assert_eq!(is_open(server.address, &own, "kirana-counter"), json!(true));
    assert_eq!(is_open(server.address, &planted, "kirana-counter"), json!(false));
    // Who owns one already goes on as who they are.
    let second = open_ready(server.address, &format!("{own}; {here}"), "rangoli");
    assert_eq!(given(&second), own, "{second}");
    assert_eq!(is_open(server.address, &own, "kirana-counter"), json!(true));
}

fn a_fresh_folder_gets_its_tables(engine: DatabaseEngine) {
    let installation = Installation::on(engine);
    let nobody = installation.run(&["ask", "business-work", "what is today's date?"]).refused(5);
    assert!(nobody.contains("there is no tenant yet") && nobody.contains("munshi apply DIR"), "{nobody}");
    let fresh = Installation::on(engine);
    fresh.json(&["apply", &format!("{}/../../tenants/saathi", env!("CARGO_MANIFEST_DIR"))]);
    let told = fresh.json(&["ask", "business-work", "what is today's date?"]);
    assert_eq!((&told["state"], &told["tenant"]), (&json!("done"), &json!("saathi")));
    assert!(fresh.json(&["migrate", "--dry-run"])["pending"].as_array().unwrap().is_empty());
}

#[test]
fn apply_and_ask_make_the_tables_on_sqlite() {
    a_fresh_folder_gets_its_tables(DatabaseEngine::Sqlite);
}

#[test]
fn apply_and_ask_make_the_tables_on_postgres() {
    a_fresh_folder_gets_its_tables(DatabaseEngine::Postgres);
}
