//! A server on this machine that stands in a provider's place: it answers as it is told, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopbackRequest {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What it is answered.
pub(crate) enum LoopbackAnswer {
    Said {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// It was taken, and the line breaks before the answer.
    Lost,
}

type Handler = dyn Fn(&LoopbackRequest) -> LoopbackAnswer + Send + Sync;

/// Listens until it is dropped.
pub(crate) struct LoopbackServer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<LoopbackRequest>>>,
    _serving: JoinSet<()>,
}

impl LoopbackServer {
    pub(crate) async fn start(
        answer: impl Fn(&LoopbackRequest) -> LoopbackAnswer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (known, answer): (_, Arc<Handler>) = (asked.clone(), Arc::new(answer));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((line, _)) = listener.accept().await {
                lines.spawn(serve(line, known.clone(), answer.clone()));
            }
        });
        Self { url, asked, _serving: serving }
    }

    /// What it was asked under a path, in order.
    pub(crate) fn list_asked(&self, path: &str) -> Vec<LoopbackRequest> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|request| request.path.split('?').next() == Some(path)).cloned().collect()
    }
}

async fn serve(mut line: TcpStream, known: Arc<Mutex<Vec<LoopbackRequest>>>, answer: Arc<Handler>) {
    let Some(request) = read_request(&mut line).await else { return };
    known.lock().unwrap().push(request.clone());
    let LoopbackAnswer::Said { status, headers, body } = answer(&request) else { return };
    let mut head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let _written = line.write_all(&[head.as_bytes(), body.as_slice()].concat()).await;
    let _closed = line.shutdown().await;
}

async fn read_request(line: &mut TcpStream) -> Option<LoopbackRequest> {
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
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
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
    Some(LoopbackRequest { method, path, headers, body })
}

impl LoopbackRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// A field of the form that was sent.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        let form: Vec<(String, String)> = serde_urlencoded::from_bytes(&self.body).unwrap();
        form.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl LoopbackAnswer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", "application/json; charset=utf-8".to_owned())];
        Self::Said { status, headers, body: body.to_string().into_bytes() }
    }

    pub(crate) fn with(self, name: &'static str, value: &str) -> Self {
        match self {
            Self::Said { status, mut headers, body } => {
                headers.push((name, value.to_owned()));
                Self::Said { status, headers, body }
            }
            Self::Lost => Self::Lost,
        }
    }
}
