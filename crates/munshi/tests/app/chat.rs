//! Talking to the program over HTTP: the same message ten times, and a client that is cut off at every event while the
//! server is killed and started again in between.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use munshi_test_support::{DatabaseEngine, PATIENCE};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::app::support::{Installation, Running, Speaking};

/// Replies are shown sentence by sentence, so there are some.
const REPLY: &str = "Ramesh owes you four hundred and fifty rupees since Tuesday. नमस्ते, यह पहली बात है। He took two bags of \
                     rice and one of sugar. He has paid nothing since then. दूसरी बात कल बताऊँगी। You can remind him \
                     on Saturday when he comes. Shall I write it down for you? That is all there is to say.";

const HUMAN: &str = "+++\nname = \"Meera\"\nidentity = \"You keep the books of a shop.\"\n[speech]\n\
                     languages = [\"en\", \"hi\"]\nlock = \"open\"\n+++\n\nKind.\n";
const TEAM: &str =
    "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n+++\n\nServe.\n";
const AGENT: &str = "name = \"Plain\"\n";
const BINDING: &str =
    "human = \"meera\"\nteam = \"counter\"\nagent = \"plain\"\ndoor = \"work\"\nkeys = [\"handle:shop\"]\n";

/// A shop with a model that speaks slowly, and a key.
fn shop(engine: DatabaseEngine, pause: Duration) -> (Installation, Speaking, String) {
    let model = Speaking::start(REPLY, pause);
    let (installation, key) = shop_of(engine, &model);
    (installation, model, key)
}

/// A shop that this model answers for, and a key of its staff.
pub(crate) fn shop_of(engine: DatabaseEngine, model: &Speaking) -> (Installation, String) {
    let installation = Installation::on(engine)
        .with("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp")
        .with("MUNSHI__MODELS__LOCAL__MODEL", "small")
        .with("MUNSHI__MODELS__LOCAL__BASE_URL", format!("http://{}/v1", model.address))
        .with("MUNSHI__ROUTES__DEFAULT", "local");
    installation.run(&["migrate"]).ok();
    for (path, text) in [
        ("shop/humans/meera.md", HUMAN),
        ("shop/teams/counter.md", TEAM),
        ("shop/agents/plain.toml", AGENT),
        ("shop/bindings/counter.toml", BINDING),
    ] {
        let path = installation.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    installation.run(&["apply", "shop"]).ok();
    let key = installation.json(&["key", "add", "till", "--speaks-as", "person", "--role", "staff"])["text"]
        .as_str()
        .unwrap()
        .to_owned();
    (installation, key)
}

struct Answered {
    status: u16,
    body: BufReader<TcpStream>,
    /// What of the body is not read yet, without its chunks.
    rest: Vec<u8>,
}

fn ask(address: SocketAddr, request: &str) -> std::io::Result<Answered> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut body = BufReader::new(stream);
    let mut line = String::new();
    body.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other(format!("no answer: {line:?}")))?;
    while !line.trim().is_empty() {
        line.clear();
        body.read_line(&mut line)?;
    }
    Ok(Answered { status, body, rest: Vec::new() })
}

fn post(address: SocketAddr, key: &str, message: &Value, accept: &str) -> std::io::Result<Answered> {
    let body = message.to_string();
    let head = format!(
        "POST /v1/chat HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\naccept: {accept}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    ask(address, &head)
}

fn follow(address: SocketAddr, key: &str, run: &str, after: Option<&str>) -> std::io::Result<Answered> {
    let after = after.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
    ask(
        address,
        &format!(
            "GET /v1/runs/{run}/stream HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {key}\r\n{after}connection: close\r\n\r\n"
        ),
    )
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    id: String,
    name: String,
    data: Value,
}

impl Answered {
    fn text(mut self) -> String {
        let mut text = String::new();
        self.body.read_to_string(&mut text).unwrap();
        text
    }

    /// The next event; none where the line broke or the stream ended.
    fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.rest.drain(..end + 2).collect();
                let told = told(std::str::from_utf8(&event).unwrap());
                if !told.name.is_empty() {
                    return Some(told);
                }
                continue;
            }
            self.chunk()?;
        }
    }

    fn chunk(&mut self) -> Option<()> {
        let mut size = String::new();
        self.body.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        self.body.read_exact(&mut chunk).ok()?;
        self.rest.extend_from_slice(&chunk[..size]);
        Some(())
    }
}

fn told(text: &str) -> Told {
    let mut told = Told::default();
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => told.id = id.to_owned(),
            Some(("event", name)) => told.name = name.to_owned(),
            Some(("data", data)) => told.data = serde_json::from_str(data).unwrap(),
            _ => {}
        }
    }
    told
}

/// What a client shows after these.
fn shown(events: &[Told]) -> String {
    let mut text = String::new();
    for event in events {
        match event.name.as_str() {
            "token" => text.push_str(event.data["text"].as_str().unwrap()),
            "reset" => text.clear(),
            _ => {}
        }
    }
    text
}

fn ten_at_once(engine: DatabaseEngine) {
    let (installation, model, key) = shop(engine, Duration::from_millis(5));
    let server = installation.serve();
    let message = json!({ "binding": "counter", "text": "How much does Ramesh owe me?",
                          "person": { "handle": "raju" }, "message_id": "webhook-1" });
    let answers: Vec<(u16, Value)> = std::thread::scope(|scope| {
        let send = || {
            let answered = post(server.address, &key, &message, "application/json").unwrap();
            (answered.status, answered.text())
        };
        let sent: Vec<_> = (0..10).map(|_| scope.spawn(send)).collect();
        sent.into_iter()
            .map(|sent| sent.join().unwrap())
            .map(|(status, text)| (status, body(&text)))
            .collect()
    });
    for (status, answer) in &answers {
        assert_eq!(*status, 200, "{answer}");
        assert_eq!((&answer["run"], &answer["text"]), (&answers[0].1["run"], &json!(REPLY)), "{answer}");
    }
    assert_eq!(model.asked(), 1, "one run, one answer");
}

/// The JSON of a body, chunked or not.
fn body(text: &str) -> Value {
    let (from, to) = (text.find('{').unwrap(), text.rfind('}').unwrap());
    serde_json::from_str(&text[from..=to]).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Reads one event a connection, and kills the server behind some of them.
fn one_event_at_a_time(installation: &Installation, key: &str, kills: &[usize]) -> Vec<Told> {
    let mut server = installation.serve();
    let message = json!({ "binding": "counter", "text": "How much does Ramesh owe me?",
                          "person": { "handle": "raju" }, "message_id": "once" });
    let mut answered = post(server.address, key, &message, "text/event-stream").unwrap();
    assert_eq!(answered.status, 200);
    let mut seen = vec![answered.next().unwrap()];
    let run = seen[0].data["run"].as_str().unwrap().to_owned();
    drop(answered);
    for cut in 0.. {
        assert!(cut < 2_000, "it never ends: {:?}", seen.last());
        if kills.contains(&cut) {
            kill(&mut server);
            server = installation.serve();
        }
        let last = seen.iter().rev().map(|event| event.id.as_str()).find(|id| !id.is_empty());
        let mut answered = follow(server.address, key, &run, last).unwrap();
        assert_eq!(answered.status, 200);
        let Some(event) = answered.next() else { continue };
        let is_last = event.name == "done";
        seen.push(event);
        if is_last {
            return seen;
        }
    }
    unreachable!()
}

fn kill(server: &mut Running) {
    server.signal(Signal::KILL);
    assert_eq!(server.wait().code(), None);
}

fn cut_and_killed(engine: DatabaseEngine, kills: &[usize]) {
    let (installation, model, key) = shop(engine, Duration::from_millis(60));
    let seen = one_event_at_a_time(&installation, &key, kills);
    assert_eq!(shown(&seen), REPLY, "{seen:?}");
    assert!(
        seen.iter().any(|event| event.name == "reset"),
        "a killed server begins the reply again: {seen:?}"
    );
    assert!(model.asked() > 1 && model.asked() <= kills.len() + 1, "{}", model.asked());
    // Long over, after another death: every cut of what was seen is mended from the store.
    let mut server = installation.serve();
    kill(&mut server);
    let server = installation.serve();
    let run = seen[0].data["run"].as_str().unwrap();
    for cut in 1..seen.len() {
        let Some(last) = seen[..cut].iter().rev().find(|event| !event.id.is_empty()) else { continue };
        let mut answered = follow(server.address, &key, run, Some(&last.id)).unwrap();
        let rest: Vec<Told> = std::iter::from_fn(|| answered.next()).collect();
        assert_eq!(shown(&[&seen[..cut], &rest].concat()), REPLY, "cut behind {last:?}: {rest:?}");
        assert_eq!(rest.last().unwrap().name, "done");
    }
}

#[test]
fn the_same_message_ten_times_is_one_run_on_sqlite() {
    ten_at_once(DatabaseEngine::Sqlite);
}

#[test]
fn the_same_message_ten_times_is_one_run_on_postgres() {
    ten_at_once(DatabaseEngine::Postgres);
}

#[test]
fn cut_at_every_event_and_killed_in_between_on_sqlite() {
    cut_and_killed(DatabaseEngine::Sqlite, &[1, 4, 9]);
}

/// What a dead process held is taken up when its lease is over, half a minute later: once is enough to wait for.
#[test]
fn cut_at_every_event_and_killed_in_between_on_postgres() {
    cut_and_killed(DatabaseEngine::Postgres, &[3]);
}
