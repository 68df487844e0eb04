//! A server on this machine in a provider's place: it checks what it is asked, remembers it, and fails where it is told to.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Without its query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// How the next message is met.
pub(crate) enum Mood {
    /// It is taken, and the line breaks before the answer.
    Lost,
    Says {
        status: u16,
        body: Value,
        retry_after: Option<u64>,
    },
}

/// What a provider says to a request that is as it should be; else what is wrong with it.
pub(crate) type Check = fn(&Asked, &str) -> Result<Reply, String>;

pub(crate) enum Reply {
    Said(Value),
    Bytes(Vec<u8>),
    /// It says no more than this.
    Status(u16),
    /// A message was taken, under an id of its own. Moods are for these.
    Taken(fn(usize) -> Value),
}

#[derive(Default)]
struct State {
    asked: Vec<Asked>,
    moods: VecDeque<Mood>,
    wrong: Vec<String>,
    taken: usize,
}

/// Listens until it is dropped.
pub(crate) struct StandIn {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    _serving: JoinSet<()>,
}

impl StandIn {
    pub(crate) async fn start(check: Check) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let state = Arc::<Mutex<State>>::default();
        let (shared, own) = (state.clone(), url.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((line, _)) = listener.accept().await {
                lines.spawn(serve(line, shared.clone(), check, own.clone()));
            }
        });
        Self { url, state, _serving: serving }
    }

    pub(crate) fn be(&self, mood: Mood) {
        self.state.lock().unwrap().moods.push_back(mood);
    }

    /// What was asked at a path, in order.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        self.state.lock().unwrap().asked.iter().filter(|asked| asked.path == path).cloned().collect()
    }

    /// What it found wrong with what it was asked.
    pub(crate) fn wrong(&self) -> Vec<String> {
        self.state.lock().unwrap().wrong.clone()
    }
}

async fn serve(mut line: TcpStream, state: Arc<Mutex<State>>, check: Check, own: String) {
    let Some(asked) = read_request(&mut line).await else { return };
    let answer = decide(&asked, &state, check, &own);
    let Some((status, retry_after, body)) = answer else { return };
    let pause = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
    let head =
        format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n{pause}\r\n", body.len());
    let _written = line.write_all(&[head.as_bytes(), body.as_slice()].concat()).await;
    let _closed = line.shutdown().await;
}

/// None where the line breaks.
fn decide(
    asked: &Asked,
    state: &Mutex<State>,
    check: Check,
    own: &str,
) -> Option<(u16, Option<u64>, Vec<u8>)> {
    let mut state = state.lock().unwrap();
    state.asked.push(asked.clone());
    let said = |body: &Value| body.to_string().into_bytes();
    match check(asked, own) {
        Err(why) => {
            let body = json!({ "error": { "code": 100, "message": why }, "status": "error" });
            state.wrong.push(why);
            Some((400, None, said(&body)))
        }
        Ok(Reply::Said(body)) => Some((200, None, said(&body))),
        Ok(Reply::Bytes(body)) => Some((200, None, body)),
        Ok(Reply::Status(status)) => Some((status, None, Vec::new())),
        Ok(Reply::Taken(answer)) => match state.moods.pop_front() {
            Some(Mood::Lost) => {
                state.taken += 1;
                None
            }
            Some(Mood::Says { status, body, retry_after }) => Some((status, retry_after, said(&body))),
            None => {
                state.taken += 1;
                Some((200, None, said(&answer(state.taken))))
            }
        },
    }
}

async fn read_request(line: &mut TcpStream) -> Option<Asked> {
    let mut read = Vec::new();
    let mut piece = [0; 8192];
    let end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        let count = line.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&piece[..count]);
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, address) = (first.next()?.to_owned(), first.next()?.to_owned());
    let (path, query) = address.split_once('?').unwrap_or((address.as_str(), ""));
    let headers: Vec<(String, String)> = lines
        .filter_map(|header| header.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse::<usize>().ok()).unwrap_or_default();
    let mut body = read[end + 4..].to_vec();
    while body.len() < length {
        let count = line.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        body.extend_from_slice(&piece[..count]);
    }
    Some(Asked { method, path: path.to_owned(), query: query.to_owned(), headers, body })
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn field(&self, name: &str) -> String {
        let form: Vec<(String, String)> = serde_urlencoded::from_bytes(&self.body).unwrap_or_default();
        form.into_iter().find(|(known, _)| known == name).map(|(_, value)| value).unwrap_or_default()
    }
}
