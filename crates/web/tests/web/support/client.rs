//! HTTP/1.1 by hand: tests need to send what a well-behaved client would not.

use std::collections::HashMap;
use std::net::SocketAddr;

use munshi_test_support::PATIENCE;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// Asserts the one error shape, complete and with the id of the header; gives back its code.
    pub(crate) fn error_code(&self) -> String {
        let body = self.json();
        let error = body["error"].as_object().unwrap_or_else(|| panic!("no error in {body}"));
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        assert_eq!(error.len(), 4, "{body}");
        for key in ["code", "message", "hint", "request_id"] {
            assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{key} in {body}");
        }
        assert_eq!(error["request_id"], self.header("x-request-id"));
        assert_eq!(self.header("content-type"), "application/json");
        error["code"].as_str().unwrap().to_owned()
    }

    fn parse(raw: &[u8]) -> Self {
        let end = raw.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(raw)));
        let head = std::str::from_utf8(&raw[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: HashMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let chunked = headers.get("transfer-encoding").is_some_and(|value| value == "chunked");
        let body = if chunked { unchunk(&raw[end + 4..]) } else { raw[end + 4..].to_vec() };
        Self { status, headers, body }
    }
}

/// Joins chunks; a body that was broken off ends where it ends.
fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        let start = line + 2;
        let end = (start + size).min(rest.len());
        body.extend(&rest[start..end]);
        if size == 0 || end + 2 > rest.len() {
            break;
        }
        rest = &rest[end + 2..];
    }
    body
}

/// A connection on which `bytes` were sent.
pub(crate) async fn open(address: SocketAddr, bytes: impl AsRef<[u8]>) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_ref()).await.unwrap();
    stream
}

/// Sends `bytes` and reads until the server closes.
pub(crate) async fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Reply {
    let mut stream = open(address, bytes).await;
    let mut raw = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut raw)).await.expect("the server closes").unwrap();
    Reply::parse(&raw)
}

/// `GET` with header lines of the caller's, each ending in `\r\n`.
pub(crate) async fn get(address: SocketAddr, path: &str, headers: &str) -> Reply {
    exchange(address, format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n"))
        .await
}
