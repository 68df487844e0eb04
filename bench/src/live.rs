//! Ten thousand open pages, each with a message a minute: memory, processor, and how soon a stored reply is on its page.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::report::{Goal, Table, render_verdict};
use crate::server::{Server, find_binary, run_binary};
use munshi_types::{Clock, SystemClock, Timestamp};

const PAGES: usize = 10_000;
/// One message of each page in it.
const MINUTE: Duration = Duration::from_secs(60);
const MINUTES: u32 = 2;
/// Pages that are opened at once, and messages that are under way at once.
const AT_ONCE: usize = 64;
const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tenants/rangoli");
const PLACE: &str = "/visit/rangoli";

/// One visitor's page.
struct Page {
    token: String,
    /// As the proxy in front says: everybody has an address of their own.
    address: String,
    /// How long each reply took from the moment that it bears, which is before its commit.
    seen: Arc<Mutex<Vec<Duration>>>,
}

pub(crate) fn run() -> Result<()> {
    let Some(binary) = find_binary()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    run_binary(&binary, folder.path(), &[], &["migrate"])?;
    run_binary(&binary, folder.path(), &[], &["apply", SHOP])?;
    let settings = [
        ("MUNSHI__BUDGET__PLAN", "business"),
        ("MUNSHI__WEB__CHALLENGE_BITS", "0"),
        ("MUNSHI__WEB__PROXIES", r#"["127.0.0.1"]"#),
        ("MUNSHI__LOG__LEVEL", "warn"),
    ];
    let server = Server::start(&binary, folder.path(), &settings)?;
    tokio::runtime::Runtime::new()?.block_on(measure(&server))
}

async fn measure(server: &Server) -> Result<()> {
    let address = server.address;
    let empty = server.resident_kilobytes()?;
    let pages = each_page((0..PAGES).map(|number| come(address, number))).await?;
    let known = server.resident_kilobytes()?;
    let pages: Vec<Arc<Page>> = pages.into_iter().map(Arc::new).collect();
    let streams = each_page(pages.iter().map(|page| open(address, page.clone()))).await?;
    let mut readers = JoinSet::new();
    for (stream, page) in streams.into_iter().zip(&pages) {
        let seen = page.seen.clone();
        readers.spawn(read(stream, seen));
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let idle = server.resident_kilobytes()?;
    let (spent, began) = (server.processor_time()?, Instant::now());
    let mut talks = JoinSet::new();
    for (number, page) in pages.iter().enumerate() {
        talks.spawn(talk(address, page.clone(), number));
    }
    let mut delays = Vec::new();
    while let Some(found) = talks.join_next().await {
        delays.extend(found??);
    }
    let (took, spent) = (began.elapsed(), server.processor_time()? - spent);
    let busy = server.resident_kilobytes()?;
    readers.abort_all();
    delays.sort_unstable();
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    let mut table = Table::new(["pages open", "resident MB", "KB each"]);
    let megabytes = |kilobytes: f64| format!("{:.1}", kilobytes / 1024.0);
    table.add_row(["0, nobody known".to_owned(), megabytes(empty), String::new()]);
    table.add_row(["0, all known".to_owned(), megabytes(known), String::new()]);
    let each = (idle - known) / PAGES as f64;
    table.add_row([format!("{PAGES}, silent"), megabytes(idle), format!("{each:.1}")]);
    table.add_row([format!("{PAGES}, talking"), megabytes(busy), String::new()]);
    table.print("Memory of `munshi serve` with open pages");
    let mut table =
        Table::new(["messages", "a second", "processor", "seen after, median ms", "p99 ms", "worst ms"]);
    table.add_row([
        delays.len().to_string(),
        format!("{:.0}", delays.len() as f64 / took.as_secs_f64()),
        format!("{:.2}", spent.as_secs_f64() / took.as_secs_f64()),
        format!("{:.1}", at(0.5)),
        format!("{:.1} ({})", at(0.99), render_verdict(at(0.99), Goal::AtMost(1000.0), 0)),
        format!("{:.1}", at(1.0)),
    ]);
    table.print("From the moment a reply bears, before its commit, to its sight on an open page; processors in use, turns included");
    Ok(())
}

/// Does the same for all pages, some at once.
async fn each_page<T: Send + 'static>(
    work: impl Iterator<Item = impl Future<Output = Result<T>> + Send + 'static>,
) -> Result<Vec<T>> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for (number, task) in work.enumerate() {
        let places = places.clone();
        tasks.spawn(async move {
            let _place = places.acquire_owned().await?;
            anyhow::Ok((number, task.await?))
        });
    }
    let mut done = Vec::new();
    while let Some(found) = tasks.join_next().await {
        done.push(found??);
    }
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, found)| found).collect())
}

/// Somebody new says something.
async fn come(server: SocketAddr, number: usize) -> Result<Page> {
    let address = format!("10.{}.{}.{}", number >> 16, number >> 8 & 255, number & 255);
    let body =
        format!(r#"{{"text": "hello", "message_id": "first-{number:032}", "secret": "{number:040}"}}"#);
    let answer = post(server, &format!("x-forwarded-for: {address}\r\n"), &body).await?;
    let token = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie")
            .then(|| value.split(';').next().unwrap_or_default().to_owned())
    });
    let token = token.with_context(|| format!("nobody became known: {answer}"))?;
    Ok(Page { token, address, seen: Arc::default() })
}

/// Sends a message and reads its answer to the end.
async fn post(server: SocketAddr, head: &str, body: &str) -> Result<String> {
    let mut stream = TcpStream::connect(server).await?;
    let request = format!(
        "POST {PLACE}/messages HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\ncontent-type: application/json\r\n{head}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    ensure!(answer.starts_with("HTTP/1.1 200") && answer.contains("event: done"), "{answer}");
    Ok(answer)
}

async fn open(server: SocketAddr, page: Arc<Page>) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(server).await?;
    let Page { token, address, .. } = page.as_ref();
    let request = format!(
        "GET {PLACE}/stream HTTP/1.1\r\nhost: {server}\r\naccept: text/event-stream\r\ncookie: {token}\r\nx-forwarded-for: {address}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let (mut answer, mut buffer) = (String::new(), [0; 2048]);
    while !answer.contains("event: thread") {
        let read = stream.read(&mut buffer).await?;
        ensure!(read > 0, "the stream ended: {answer}");
        answer.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    Ok(stream)
}

/// Notes when a reply comes, until the server goes.
async fn read(mut stream: TcpStream, seen: Arc<Mutex<Vec<Duration>>>) {
    let (mut rest, mut buffer) = (String::new(), [0; 2048]);
    while let Ok(read) = stream.read(&mut buffer).await
        && read > 0
    {
        rest.push_str(&String::from_utf8_lossy(&buffer[..read]));
        while let Some(end) = rest.find("\n\n") {
            if let Some(said_at) = find_reply(&rest[..end]) {
                let delay = SystemClock.now().since(said_at);
                seen.lock().unwrap_or_else(PoisonError::into_inner).push(delay);
            }
            rest.drain(..end + 2);
        }
    }
}

/// When the reply was said that an event brings.
fn find_reply(event: &str) -> Option<Timestamp> {
    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
    let thread: serde_json::Value = serde_json::from_str(data).ok()?;
    let messages = thread["messages"].as_array()?;
    let reply = messages.iter().rfind(|message| message["speaker"] == "persona")?;
    reply["said_at"].as_str()?.parse().ok()
}

/// One message a minute, each page at a moment of its own; how long each reply took from its end to the page.
async fn talk(server: SocketAddr, page: Arc<Page>, number: usize) -> Result<Vec<Duration>> {
    tokio::time::sleep(MINUTE.mul_f64(number as f64 / PAGES as f64)).await;
    let head = format!("cookie: {}\r\nx-forwarded-for: {}\r\n", page.token, page.address);
    let count = || page.seen.lock().unwrap_or_else(PoisonError::into_inner).len();
    let mut delays = Vec::new();
    for minute in 0..MINUTES {
        let (began, before) = (Instant::now(), count());
        let body = format!(r#"{{"text": "hello again", "message_id": "minute-{minute:03}-{number:032}"}}"#);
        post(server, &head, &body).await?;
        let stored = Instant::now();
        while count() == before {
            ensure!(stored.elapsed() < MINUTE, "a reply did not come to its page");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        delays.push(page.seen.lock().unwrap_or_else(PoisonError::into_inner)[before]);
        tokio::time::sleep(MINUTE.saturating_sub(began.elapsed())).await;
    }
    Ok(delays)
}
