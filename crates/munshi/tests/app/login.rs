//! `munshi connector login`, as a person has it in their terminal: with a certified authorization server and a browser.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use munshi_test_support::guarded_service::{Browser, DeviceCodeSupport, GuardedService};
use munshi_test_support::{DatabaseEngine, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::de::IoRead;
use serde_json::{StreamDeserializer, Value, json};

use crate::app::support::{Installation, Ran};

const LOGIN: &str = "connector/far/login";
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A shop whose connector asks for a login.
struct House {
    installation: Installation,
    service: GuardedService,
}

/// The command, while it waits for somebody.
struct Waiting {
    child: Child,
    answers: StreamDeserializer<'static, IoRead<BufReader<ChildStdout>>, Value>,
    open: String,
    code: Value,
}

fn house(engine: DatabaseEngine, codes: DeviceCodeSupport) -> House {
    let installation =
        Installation::migrated(engine).with("MUNSHI__CONNECTORS__PRIVATE_HOSTS", "127.0.0.1,localhost");
    installation.json(&["tenant", "add", "shop"]);
    let service = GuardedService::start(&installation.folder(), codes);
    installation.json(&["connector", "add", "far", "--url", &service.url]);
    House { installation, service }
}

impl House {
    /// Asks, and waits until it says where to go.
    fn ask(&self, more: &[&str]) -> Waiting {
        let arguments = [&["connector", "login", "far", "--json", "--as", "farid"], more].concat();
        let mut command = self.installation.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut answers = serde_json::Deserializer::from_reader(out).into_iter::<Value>();
        let Some(Ok(first)) = answers.next() else {
            panic!("{:?}", Ran::of(child.wait_with_output().unwrap()))
        };
        let open = first["open"].as_str().unwrap().to_owned();
        Waiting { child, answers, open, code: first["code"].clone() }
    }

    fn is_kept(&self) -> bool {
        self.installation.json(&["vault", "list", "--tenant", "shop"]).to_string().contains(LOGIN)
    }

    /// That it is kept, by whom, and that the connector itself lets us in with it.
    fn is_in(&self) {
        assert!(self.is_kept());
        let tail =
            self.installation.json(&["audit", "tail", "--tenant", "shop", "--limit", "50"]).to_string();
        assert!(tail.contains("connector.logged_in") && tail.contains("farid"), "{tail}");
        let tested = self.installation.run(&["connector", "test", "far", "--json"]);
        let report: Value = serde_json::from_str(&tested.out).unwrap_or_else(|_| panic!("{tested:?}"));
        assert_eq!(report["server"], "guarded", "{report:#}");
    }
}

impl Waiting {
    fn is_waiting(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// How it ends: what it says last, its exit code, and what it says beside.
    fn end(mut self) -> (Option<Value>, Ran) {
        let begun = Instant::now();
        while self.is_waiting() {
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
        let last = self.answers.next().map(Result::unwrap);
        (last, Ran::of(self.child.wait_with_output().unwrap()))
    }

    #[track_caller]
    fn logged_in(self) {
        let (last, ran) = self.end();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        assert_eq!(last, Some(json!({ "connector": "far", "logged_in": true })));
    }

    #[track_caller]
    fn failed(self, words: &str) {
        let (last, ran) = self.end();
        assert_eq!(last, None, "nothing is said to be done");
        let value = ran.refused_as(1, "failed");
        assert!(value["error"]["message"].as_str().unwrap().contains(words), "{value}");
    }

    /// Where the browser comes back to: the command itself.
    fn place(&self) -> String {
        let place = self.open.split("redirect_uri=").nth(1).unwrap().split('&').next().unwrap();
        place.replace("%3A", ":").replace("%2F", "/")
    }

    fn interrupted(self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.failed("interrupted");
    }
}

fn with_a_code(engine: DatabaseEngine) {
    let house = house(engine, DeviceCodeSupport::Given);
    let mut asked = house.ask(&["--device"]);
    let code = asked.code.as_str().unwrap().to_owned();
    assert!(asked.open.starts_with(&format!("{}/device", house.service.issuer)), "{}", asked.open);
    assert!(asked.is_waiting() && !house.is_kept());
    assert_eq!(Browser::default().enter_code(&asked.open, &code), "let in");
    asked.logged_in();
    assert_eq!(house.service.count_grants(DEVICE), 1);
    house.is_in();
    let removed = house.installation.json(&["connector", "remove", "far"]);
    assert_eq!(
        (&removed["login"], house.service.count_grants("revoked")),
        (&json!("revoked"), 1),
        "{removed}"
    );
    let left = house.installation.json(&["vault", "list", "--tenant", "shop"]);
    assert_eq!(left["items"], json!([]), "nothing that opens its door is left");
}

#[test]
fn somebody_logs_in_with_a_code_on_sqlite() {
    with_a_code(DatabaseEngine::Sqlite);
}

#[test]
fn somebody_logs_in_with_a_code_on_postgres() {
    with_a_code(DatabaseEngine::Postgres);
}

#[test]
fn whoever_asks_through_a_server_hears_that_somebody_logged_in() {
    let house = house(DatabaseEngine::Sqlite, DeviceCodeSupport::Given);
    let key = ["key", "add", "owner", "--role", "owner", "--speaks-as", "person", "--area", "connectors"];
    let key = house.installation.json(&key)["text"].as_str().unwrap().to_owned();
    let server = house.installation.serve();
    let url = format!("http://{}", server.address);
    let mut waits = house.ask(&["--server", &url, "--server-key", &key]);
    assert!(waits.open.contains("/connectors/login/"), "{}", waits.open);
    let asked = house.ask(&["--device"]);
    assert!(waits.is_waiting());
    let code = asked.code.as_str().unwrap().to_owned();
    assert_eq!(Browser::default().enter_code(&asked.open, &code), "let in");
    asked.logged_in();
    waits.logged_in();
    let tail = ["audit", "list", "--tenant", "shop", "--event", "connector.login_requested"];
    let tail = house.installation.json(&tail);
    assert_eq!(tail["items"].as_array().unwrap().len(), 1, "{tail}");
    drop(server);
}

#[test]
fn a_login_is_given_back_and_the_connector_stays() {
    let house = house(DatabaseEngine::Sqlite, DeviceCodeSupport::Given);
    let asked = house.ask(&["--device"]);
    let code = asked.code.as_str().unwrap().to_owned();
    assert_eq!(Browser::default().enter_code(&asked.open, &code), "let in");
    asked.logged_in();
    let since = house.installation.json(&["connector", "show", "far"])["logged_in_at"].clone();
    assert!(since.is_string(), "{since}");
    let out = house.installation.json(&["connector", "logout", "far", "--as", "farid"]);
    assert_eq!((&out["logged_out"], &out["login"]), (&json!(true), &json!("revoked")), "{out}");
    assert_eq!(house.service.count_grants("revoked"), 1);
    assert!(!house.is_kept());
    assert!(house.installation.json(&["connector", "show", "far"])["logged_in_at"].is_null());
    let tail =
        house.installation.json(&["audit", "list", "--tenant", "shop", "--event", "connector.logged_out"]);
    let told = &tail["items"][0];
    assert_eq!(
        (&told["payload"]["login"], &told["actor"]["id"]),
        (&json!("revoked"), &json!("farid")),
        "{tail}"
    );
    let again = house.installation.run(&["connector", "logout", "far"]).ok();
    assert!(again.contains("Nobody was logged in to far."), "{again}");
}

/// Whichever way a connector is taken away, its service hears that nobody uses the login any more.
#[test]
fn an_applied_file_without_the_connector_gives_its_login_back() {
    let house = house(DatabaseEngine::Sqlite, DeviceCodeSupport::Given);
    let folder = house.installation.folder().join("shop");
    std::fs::create_dir(&folder).unwrap();
    let apply = |file: &str, more: &[&str]| {
        std::fs::write(folder.join("connectors.toml"), file).unwrap();
        let ran = house.installation.run(&[&["apply", folder.to_str().unwrap()], more].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
        ran.out
    };
    let log_in = || {
        let asked = house.ask(&["--device"]);
        Browser::default().enter_code(&asked.open, asked.code.as_str().unwrap());
        asked.logged_in();
    };
    log_in();
    let far = format!("[far]\nurl = \"{}\"\n", house.service.url);
    apply(&format!("{far}timeout_seconds = 30\n"), &[]);
    assert!(house.is_kept() && house.service.count_grants("revoked") == 0, "it is still there");
    let said = apply("[other]\ncommand = [\"python3\"]\n", &[]);
    assert!(said.contains("Removed the login of far and revoked it at the service."), "{said}");
    assert!(!house.is_kept());
    assert_eq!(house.service.count_grants("revoked"), 1);

    apply(&far, &[]);
    log_in();
    let said: Value = serde_json::from_str(&apply("", &["--json"])).unwrap();
    let gone = &said["logins"][0];
    assert_eq!((&gone["connector"], &gone["login"]), (&json!("far"), &json!("revoked")), "{said}");
    for (event, count) in [("connector.logout_requested", 2), ("connector.logged_out", 2)] {
        let told = house.installation.json(&["audit", "list", "--tenant", "shop", "--event", event]);
        assert_eq!(told["items"].as_array().unwrap().len(), count, "{told}");
    }
    assert_eq!(house.service.count_grants("revoked"), 2);

    // One of the same name at another place is another.
    apply(&far, &[]);
    log_in();
    apply("[far]\nurl = \"https://elsewhere.example/mcp\"\n", &[]);
    assert!(!house.is_kept() && house.service.count_grants("revoked") == 3);
    apply(&far, &[]);
    log_in();
    let added = house.installation.json(&[
        "connector",
        "add",
        "far",
        "--replace",
        "--url",
        "https://elsewhere.example/mcp",
    ]);
    assert_eq!(added["logins"], json!([{ "connector": "far", "login": "revoked" }]), "{added}");
    assert!(!house.is_kept() && house.service.count_grants("revoked") == 4);
}

/// No server runs, and there are no codes: the browser comes back to the command. Others who come there change nothing.
#[test]
fn somebody_logs_in_in_a_browser_on_this_machine() {
    let house = house(DatabaseEngine::Sqlite, DeviceCodeSupport::None);
    let refused = house.installation.run(&["connector", "login", "far", "--device", "--json"]);
    let refused = refused.refused_as(1, "failed").to_string();
    assert!(refused.contains("does not support device login"), "{refused}");

    let mut asked = house.ask(&[]);
    let place = asked.place();
    assert!(place.starts_with("http://127.0.0.1:") && asked.code.is_null(), "{}", asked.open);
    let address = place.trim_start_matches("http://").trim_end_matches('/').to_owned();
    drop(TcpStream::connect(&address).unwrap());
    TcpStream::connect(&address).unwrap().write_all(b"GET").unwrap();
    let mut browser = Browser::default();
    let lured =
        ["favicon.ico", "", "?code=x", "?state=&code=x", "?state=evil&code=evil", "?state=evil&error=no"];
    for path in lured {
        let seen = browser.get(&format!("{place}{path}"));
        assert_eq!((seen.status, seen.text.as_str()), (404, ""), "{path}");
    }
    assert!(asked.is_waiting(), "whoever else comes ends nothing");
    let (at, seen) = browser.follow(&asked.open, "never");
    assert!(at.starts_with(&place) && seen.status == 200, "{at} {seen:?}");
    assert!(seen.text.contains("You can close this page"), "{seen:?}");
    asked.logged_in();
    assert!(TcpStream::connect(&address).is_err(), "nobody listens there any more");
    assert_eq!(house.service.count_grants("authorization_code"), 1);
    house.is_in();

    house.service.deny_all();
    let asked = house.ask(&[]);
    browser = Browser::default();
    browser.follow(&asked.open, "never");
    asked.failed("refused the login: access_denied");
}

/// A server runs: the browser comes back there, and the command waits until it has.
#[test]
fn somebody_logs_in_at_the_running_server() {
    let house = house(DatabaseEngine::Sqlite, DeviceCodeSupport::Given);
    let running = house.installation.serve();
    let mut asked = house.ask(&[]);
    let link = format!("http://{}/connectors/login/", running.address);
    assert!(asked.is_waiting());
    let mut browser = Browser::default();
    // Nobody has an account: the terminal's link shows that somebody sits here.
    let (opened, _) = browser.follow(&asked.open, &link);
    assert!(opened.starts_with(&link), "{opened} of {}", asked.open);
    let (at, _) = Browser::default().follow(&opened, "never");
    assert!(at.contains("/account/sign-in?next="), "the link alone opens nothing: {at}");
    let to = browser.consent(&opened);
    assert!(asked.is_waiting(), "nobody has signed in yet");
    let back = format!("http://{}/connectors/back", running.address);
    let (at, _) = browser.follow(&to, &format!("{back}?"));
    let (end, seen) = browser.follow(&at, "never");
    assert_eq!(end, back, "nothing that was brought stays in the address");
    assert!(seen.status == 200 && seen.text.contains("Signed in at far"), "{seen:?}");
    let token = opened.strip_prefix(&link).unwrap().to_owned();
    asked.logged_in();
    house.is_in();
    let begun = Instant::now();
    loop {
        let listed = house.installation.json(&["connector", "list"]);
        if listed["items"][0]["nodes"][0]["state"] == "ready" {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{listed}\n{}", running.log());
        std::thread::sleep(Duration::from_millis(200));
    }
    let (log, query) = (running.log(), at.split_once('?').unwrap().1);
    let secret = |part: &str| part.split_once('=').unwrap().1.to_owned();
    let brought = query.split('&').filter(|part| !part.starts_with("iss=")).map(secret);
    for secret in brought.chain([token]) {
        assert!(secret.len() > 20 && !log.contains(&secret), "{secret} is in {log}");
    }
}

/// The server is killed when it has the code and not yet the token: whoever loads the page again hears what to do, and the
/// same link still leads there.
#[test]
fn a_server_that_dies_on_the_way_costs_another_click() {
    let house = house(DatabaseEngine::Sqlite, DeviceCodeSupport::Given);
    let mut running = house.installation.serve();
    let before = running.address.to_string();
    let mut asked = house.ask(&[]);
    let mut browser = Browser::default();
    let (opened, _) = browser.follow(&asked.open, &format!("http://{before}/connectors/login/"));
    let to = browser.consent(&opened);
    let (at, _) = browser.follow(&to, &format!("http://{before}/connectors/back?"));
    house.service.hold_next_token();
    let (mut waiting, page) = (browser.clone(), at.clone());
    let waiting = std::thread::spawn(move || waiting.get(&page));
    let begun = Instant::now();
    while !house.service.has_held_token() {
        assert!(begun.elapsed() < PATIENCE, "{}", running.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal(Signal::KILL);
    running.wait();
    assert!(waiting.join().is_err(), "no page comes");
    house.service.release_token();

    let running = house.installation.serve();
    let here = |address: &str| address.replace(&before, &running.address.to_string());
    let seen = browser.get(&here(&at));
    assert!(seen.status == 403 && seen.text.contains("Open the link again"), "{seen:?}");
    assert!(asked.is_waiting() && !house.is_kept());
    let to = browser.consent(&here(&opened));
    let (_, seen) = browser.follow(&to, "never");
    assert!(seen.status == 200 && seen.text.contains("Signed in at far"), "{seen:?}");
    asked.logged_in();
    house.is_in();
}

#[test]
fn who_presses_ctrl_c_leaves_nothing_behind() {
    for (codes, more) in [(DeviceCodeSupport::Given, &["--device"][..]), (DeviceCodeSupport::None, &[])] {
        let house = house(DatabaseEngine::Sqlite, codes);
        let (asked, later) = (house.ask(more), house.ask(more));
        let place = (codes == DeviceCodeSupport::None).then(|| asked.place());
        asked.interrupted();
        if let Some(place) = place {
            assert!(TcpStream::connect(place.trim_start_matches("http://").trim_end_matches('/')).is_err());
        }
        assert!(!house.is_kept());
        later.interrupted();
    }
}

/// A service that lets everybody in.
fn open_service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 4096];
            let length = stream.read(&mut asked).unwrap();
            let (status, body) = match asked[..length].starts_with(b"POST /mcp") {
                true => ("200 OK", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
                false => ("404 Not Found", ""),
            };
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
            write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    url
}

#[test]
fn where_no_login_is_wanted_it_says_so() {
    let installation =
        Installation::migrated(DatabaseEngine::Sqlite).with("MUNSHI__CONNECTORS__PRIVATE_HOSTS", "127.0.0.1");
    installation.json(&["tenant", "add", "shop"]);
    let url = open_service();
    installation.run(&["connector", "add", "child", "--", "python3"]).ok();
    installation.json(&["connector", "add", "given", "--url", &url, "--token", "vault:given"]);
    installation.json(&["connector", "add", "open", "--url", &url]);
    for (name, words) in [("child", "has no url"), ("given", "uses a token"), ("open", "requires no login")] {
        for more in [&[][..], &["--device"]] {
            let arguments = [&["connector", "login", name, "--json"], more].concat();
            let refused = installation.run(&arguments).refused_as(1, "failed").to_string();
            assert!(refused.contains(words), "{name}: {refused}");
        }
    }
    let _running = installation.serve();
    let refused =
        installation.run(&["connector", "login", "open", "--json"]).refused_as(1, "failed").to_string();
    assert!(refused.contains("requires no login"), "with a server, too: {refused}");
    let missing = installation.run(&["connector", "login", "nobody", "--json"]).refused_as(5, "not_found");
    assert!(missing["error"]["hint"].as_str().unwrap().contains("munshi connector list"), "{missing}");
    installation.run(&["connector", "login", "No Body", "--json"]).refused(2);
    assert_eq!(installation.json(&["vault", "list", "--tenant", "shop"])["items"], json!([]));
}
