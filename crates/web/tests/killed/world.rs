//! The world outside, in the parent: a server that remembers what was done to it, and ends the process at a call where it is told to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::living::Killer;

/// When a call of the world ends the process that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallMoment {
    /// Nothing has happened yet.
    Before,
    /// It has happened, and the process never hears of it.
    After,
}

#[derive(Default)]
pub(crate) struct Ledger {
    /// How often each circular was sent, by its key.
    pub(crate) circulars: BTreeMap<String, usize>,
    /// Every call there was, in its order: `POST /circulars`.
    pub(crate) calls: Vec<String>,
}

/// Lives as long as the test.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) port: u16,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    _tasks: Arc<JoinSet<()>>,
}

impl World {
    /// Ends the process at this call, the first being 1.
    pub(crate) async fn start(killer: Killer, ends_at: Option<(usize, CallMoment)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ledger, mut tasks) = (Arc::<Mutex<Ledger>>::default(), JoinSet::new());
        let desk = Desk { ledger: ledger.clone(), killer, ends_at };
        tasks.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let desk = desk.clone();
                lines.spawn(async move { desk.serve(socket).await });
            }
        });
        Self { port, ledger, _tasks: Arc::new(tasks) }
    }
}

#[derive(Clone)]
struct Desk {
    ledger: Arc<Mutex<Ledger>>,
    killer: Killer,
    ends_at: Option<(usize, CallMoment)>,
}

impl Desk {
    /// One request after another, until the other side hangs up.
    async fn serve(&self, mut socket: TcpStream) {
        while let Some((method, path)) = read_request(&mut socket).await {
            let kind = path.split(['/', '?']).nth(1).unwrap_or_default();
            let number = {
                let mut ledger = self.ledger.lock().unwrap();
                ledger.calls.push(format!("{method} /{kind}"));
                ledger.calls.len()
            };
            let dies = |moment| self.ends_at == Some((number, moment));
            if dies(CallMoment::Before) {
                return self.killer.kill();
            }
            let (status, body) = self.answer(&method, &path);
            if dies(CallMoment::After) {
                return self.killer.kill();
            }
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            if socket.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, method: &str, path: &str) -> (&'static str, String) {
        let mut ledger = self.ledger.lock().unwrap();
        let nothing = || ("404 Not Found", "{}".to_owned());
        let done = || ("200 OK", "{}".to_owned());
        match (method, path.strip_prefix("/circulars/")) {
            ("POST", Some(key)) => {
                *ledger.circulars.entry(key.to_owned()).or_default() += 1;
                done()
            }
            ("GET", Some(key)) => {
                if ledger.circulars.contains_key(key) {
                    done()
                } else {
                    nothing()
                }
            }
            ("POST", None) if path == "/model" => done(),
            ("GET", None) if path.starts_with("/notices?after=") => ("200 OK", list_notices(path)),
            _ => nothing(),
        }
    }
}

/// Two notices: one that was also sent, and one that could not be.
fn list_notices(path: &str) -> String {
    let notice = |id: &str, title: &str| json!({ "id": id, "title": title, "text": "From the feed" });
    let notices = match path.ends_with("after=2") {
        true => json!([]),
        false => json!([notice("sent-1", "Gas"), notice("feed-1", "Power")]),
    };
    json!({ "notices": notices, "next": "2", "more": false }).to_string()
}

/// Method and path; none where the line ends before the request does.
async fn read_request(socket: &mut TcpStream) -> Option<(String, String)> {
    let mut text = Vec::new();
    loop {
        let head = text.windows(4).position(|end| end == b"\r\n\r\n");
        if let Some(end) = head {
            let head = String::from_utf8_lossy(&text[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            if text.len() >= end + 4 + length.unwrap_or(0) {
                let mut words = head.split_whitespace().map(str::to_owned);
                return Some((words.next()?, words.next()?));
            }
        }
        let mut part = [0; 4096];
        match socket.read(&mut part).await {
            Ok(size) if size > 0 => text.extend_from_slice(&part[..size]),
            _ => return None,
        }
    }
}

/// The node's side: a model is asked. What it says is the same each time.
pub(crate) async fn ask_model(port: u16) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    socket.write_all(b"POST /model HTTP/1.1\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let mut answer = [0; 512];
    let size = socket.read(&mut answer).await.unwrap();
    assert!(size > 0, "the world hung up on a model's call");
}
