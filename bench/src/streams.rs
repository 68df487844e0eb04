//! Memory while thousands follow a reply that is slow to come, each on a connection of their own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::gateway::{ENDLESS, Mock};
use crate::report::Table;
use crate::server::{Server, find_binary, run_binary};

const STREAMS: usize = 5_000;
const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../packs/ledger/tenants/kirana");

pub(crate) fn run() -> Result<()> {
    let Some(binary) = find_binary()? else { return Ok(()) };
    let (mock, folder) = (Mock::start()?, tempfile::tempdir()?);
    run_binary(&binary, folder.path(), &[], &["migrate"])?;
    run_binary(&binary, folder.path(), &[], &["apply", SHOP])?;
    let key = run_binary(
        &binary,
        folder.path(),
        &[],
        &["key", "add", "bench", "--role", "staff", "--speaks-as", "person", "--json"],
    )?;
    let key: serde_json::Value = serde_json::from_str(&key)?;
    let key = key["text"].as_str().context("no key")?;
    let server = Server::start(
        &binary,
        folder.path(),
        &[
            ("MUNSHI__MODELS__BENCH__WIRE", "openai"),
            ("MUNSHI__MODELS__BENCH__BASE_URL", &mock.address),
            ("MUNSHI__MODELS__BENCH__MODEL", ENDLESS),
            ("MUNSHI__SERVER__KEY_REQUESTS_PER_MINUTE", "1000000"),
        ],
    )?;
    let (first, run) = start_stream(server.address, key)?;
    let path = format!("/v1/runs/{run}/stream");
    let mut open = vec![first, follow(server.address, key, &path)?];
    let before = server.resident_kilobytes()?;
    while open.len() < STREAMS + 2 {
        open.push(follow(server.address, key, &path)?);
    }
    std::thread::sleep(Duration::from_secs(2));
    let after = server.resident_kilobytes()?;
    let mut table = Table::new(["open streams", "resident MB", "KB each"]);
    table.add_row(["2".to_owned(), format!("{:.1}", before / 1024.0), String::new()]);
    let each = (after - before) / STREAMS as f64;
    table.add_row([open.len().to_string(), format!("{:.1}", after / 1024.0), format!("{each:.1}")]);
    table.print("Idle streams of `munshi serve`, connections included");
    Ok(())
}

/// Says something, and gives back the stream and the run.
fn start_stream(address: SocketAddr, key: &str) -> Result<(TcpStream, String)> {
    let body = r#"{"binding": "counter", "text": "Tell me everything.", "stream": true}"#;
    let head = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    let (stream, answer) = send_request(address, key, "POST /v1/chat", &format!("{head}\r\n{body}"))?;
    let run =
        answer.to_lowercase().lines().find_map(|line| line.strip_prefix("x-run-id: ").map(str::to_owned));
    Ok((stream, run.with_context(|| format!("no run in {answer}"))?.trim().to_owned()))
}

fn follow(address: SocketAddr, key: &str, path: &str) -> Result<TcpStream> {
    Ok(send_request(address, key, &format!("GET {path}"), "\r\n")?.0)
}

/// Sends a request and waits for the beginning of its stream.
fn send_request(address: SocketAddr, key: &str, what: &str, rest: &str) -> Result<(TcpStream, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let head = "host: localhost\r\naccept: text/event-stream\r\n";
    write!(stream, "{what} HTTP/1.1\r\n{head}authorization: Bearer {key}\r\n{rest}")?;
    let (mut answer, mut buffer) = (String::new(), [0; 4096]);
    while !answer.contains("\ndata:") {
        let read = stream.read(&mut buffer)?;
        ensure!(read > 0, "the stream ended: {answer}");
        answer.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    Ok((stream, answer))
}
