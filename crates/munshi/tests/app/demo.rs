//! `munshi demo`: a shop to try things on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use munshi_test_support::PATIENCE;
use munshi_test_support::guarded_service::Browser;
use rustix::process::Signal;
use serde_json::json;

use crate::app::support::{Installation, Running, Speaking};

/// What a page of this host is answered, with these headers beside.
fn said(address: SocketAddr, host: &str, more: &str, handle: &str) -> String {
    said_of("who owes me", (address, host), more, handle)
}

fn said_of(text: &str, (address, host): (SocketAddr, &str), more: &str, handle: &str) -> String {
    let id = format!("{:0>16}", host.len() * 100 + more.len());
    let body = json!({ "text": text, "message_id": id }).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /visit/{handle}/messages HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\ncontent-type: application/json\r\n{more}\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_demo_is_usable_at_once_and_leaves_nothing() {
    let installation = Installation::sqlite();
    let command = installation.command(&["demo", "--json", "--days", "20", "--no-browser"]);
    let mut demo = Running::start(command, &installation.folder());
    let folder = demo.ready["data_dir"].as_str().unwrap().to_owned();
    assert!(demo.ready["entries"].as_i64().unwrap() > 200, "{}", demo.ready);
    let page = demo.ready["chat_url"].as_str().unwrap().to_owned();
    let handle = page.split_once("/c/").unwrap().1;
    assert_eq!(demo.get(&format!("/c/{handle}")).0, 200);
    let host = demo.address.to_string();
    let alone = said(demo.address, &host, "", handle);
    assert!(!alone.contains("Anil"), "who was not shown the link is nobody, whatever they name: {alone}");
    let mut browser = Browser::default();
    let (at, _) = browser.follow(demo.ready["start_link"].as_str().unwrap(), "never");
    assert_eq!(at, page, "it leads to the chat");
    let cookie = format!("cookie: munshi_local={}\r\n", browser.cookies["munshi_local"]);
    let answer = said(demo.address, &host, &cookie, handle);
    assert!(
        answer.contains("Anil Deshmukh") && answer.contains('₹'),
        "the browser here is the owner's: {answer}"
    );
    let foreign = said(demo.address, "evil.example", &cookie, handle);
    assert!(!foreign.contains("Anil"), "a name that was made to lead here is nobody's: {foreign}");
    let passed = said(demo.address, &host, &format!("{cookie}via: 1.1 proxy\r\n"), handle);
    assert!(!passed.contains("Anil"), "nobody sits behind a proxy: {passed}");
    assert!(!installation.data().exists(), "the installation's own folder is not touched");
    demo.signal(Signal::TERM);
    assert_eq!(demo.wait().code(), Some(0), "{}", demo.log());
    assert!(!std::path::Path::new(&folder).exists(), "{folder} is gone");
}

#[test]
fn a_demo_that_was_kept_goes_on() {
    let installation = Installation::sqlite();
    let place = installation.folder().join("shop");
    let place = place.to_str().unwrap();
    let open = || {
        let command =
            installation.command(&["demo", "--json", "--dir", place, "--days", "5", "--no-browser"]);
        Running::start(command, &installation.folder())
    };
    let mut demo = open();
    let entries = demo.ready["entries"].clone();
    demo.signal(Signal::TERM);
    assert_eq!(demo.wait().code(), Some(0));
    let own = installation.with("MUNSHI__DATA__DIR", place);
    let said = own.json(&["ask", "counter", "aaj 1250 ki bikri hui"]);
    assert!(said["text"].as_str().unwrap().contains("₹1,250"), "{said}");
    let checked = own.json(&["ledger", "check"]);
    assert_eq!(checked["entries"], entries.as_i64().unwrap() + 1, "every figure is in order");
    let command = own.command(&["demo", "--json", "--dir", place, "--no-browser"]);
    let mut again = Running::start(command, &own.folder());
    assert_eq!(again.ready["entries"], json!(entries.as_i64().unwrap() + 1), "nothing is written over");
    again.signal(Signal::TERM);
    again.wait();
}

#[test]
fn a_demo_asks_no_model_of_the_installation() {
    let model = Speaking::start("Once upon a time.", std::time::Duration::ZERO);
    let installation = Installation::sqlite()
        .with("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp")
        .with("MUNSHI__MODELS__LOCAL__MODEL", "m")
        .with("MUNSHI__MODELS__LOCAL__BASE_URL", format!("http://{}/v1", model.address))
        .with("MUNSHI__ROUTES__DEFAULT", "local");
    let command = installation.command(&["demo", "--json", "--days", "2", "--no-browser"]);
    let mut demo = Running::start(command, &installation.folder());
    let page = demo.ready["chat_url"].as_str().unwrap().to_owned();
    let (handle, host) = (page.split_once("/c/").unwrap().1, demo.address.to_string());
    let mut browser = Browser::default();
    browser.follow(demo.ready["start_link"].as_str().unwrap(), "never");
    let cookie = format!("cookie: munshi_local={}\r\n", browser.cookies["munshi_local"]);
    let answer = said_of("tell me a story about the rain", (demo.address, &host), &cookie, handle);
    assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("Once"), "{answer}");
    assert_eq!(model.asked(), 0);
    demo.signal(Signal::TERM);
    demo.wait();
}
