//! A model server that answers at once, in a process of its own, so that its work is nobody's figure.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How many pieces a streamed answer has.
pub(crate) const WORDS: usize = 200;
/// The model whose answers do not end.
pub(crate) const ENDLESS: &str = "endless";

/// What is said to it that it takes three seconds to answer.
pub(crate) const SLOW: &str = "Take your time: how much does Ramesh owe me?";
const LONG: Duration = Duration::from_secs(3);

/// Killed when dropped.
pub(crate) struct Mock {
    child: Child,
    /// The base address of its wire.
    pub(crate) address: String,
}

impl Mock {
    pub(crate) fn start() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg("model-server").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().to_owned() })
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        if self.child.kill().is_err() {
            println!("the model server could not be stopped");
        }
        let _status = self.child.wait();
    }
}

/// What the child does: says where it is, and serves until it is killed. A number in the environment fixes its port.
#[allow(clippy::disallowed_methods, reason = "the script that starts a proxy before it chooses the port")]
pub(crate) fn serve() -> Result<()> {
    let port: u16 = std::env::var("MUNSHI_BENCH_PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(0);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        println!("http://{}/v1", listener.local_addr()?);
        std::io::stdout().flush()?;
        let mut tasks = JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tasks.spawn(connection(stream));
        }
    })
}

async fn connection(mut stream: TcpStream) -> Result<()> {
    let (mut buffer, whole, streamed) = (Vec::new(), whole(), render_streamed());
    loop {
        let Some(body) = request(&mut stream, &mut buffer).await? else { return Ok(()) };
        let text = String::from_utf8_lossy(&body);
        if text.contains(ENDLESS) {
            stream.write_all(HEAD.as_bytes()).await?;
            stream.write_all(chunk(&piece("one ")).as_bytes()).await?;
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                stream.write_all(chunk(": still here\n\n").as_bytes()).await?;
            }
        }
        if text.contains(SLOW) {
            tokio::time::sleep(LONG).await;
        }
        let is_streamed = text.contains("\"stream\":true") || text.contains("\"stream\": true");
        stream.write_all(if is_streamed { streamed.as_bytes() } else { whole.as_bytes() }).await?;
    }
}

/// The next request's body; none when the client has gone.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Option<Vec<u8>>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(Ok(0), |length| length.trim().parse())?;
            if buffer.len() >= end + 4 + length {
                let rest = buffer.split_off(end + 4 + length);
                let request = std::mem::replace(buffer, rest);
                return Ok(Some(request[end + 4..].to_vec()));
            }
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const USAGE: &str = "\"usage\":{\"prompt_tokens\":900,\"completion_tokens\":200,\"total_tokens\":1100}";

fn whole() -> String {
    let text = "word ".repeat(WORDS);
    let body = format!(
        "{{\"id\":\"c1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"mock\",\"choices\":[{{\"index\":0,\
         \"message\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}],{USAGE}}}"
    );
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn render_streamed() -> String {
    let pieces: String = (0..WORDS).map(|_| chunk(&piece("word "))).collect();
    let end = chunk(&event("{}", "\"stop\"", &format!(",{USAGE}")));
    format!("{HEAD}{pieces}{end}{}0\r\n\r\n", chunk("data: [DONE]\n\n"))
}

fn piece(text: &str) -> String {
    event(&format!("{{\"content\":\"{text}\"}}"), "null", "")
}

fn event(delta: &str, finish: &str, more: &str) -> String {
    format!(
        "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"mock\",\"choices\":\
         [{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]{more}}}\n\n"
    )
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
