//! The node as the parent has it: started, asked, ended, and started again.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_test_support::{PATIENCE, process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::node::Part;

/// After a death the next process is so much later: leases of runs, acts and jobs have passed by then.
const AFTER_DEATH: u64 = 120;
/// Nobody waits longer for an answer of a process that lives.
const SILENCE: Duration = Duration::from_secs(20);

/// Ends the process that is up at the moment, as if it had been pulled out of the wall.
#[derive(Clone, Default)]
pub(crate) struct Killer(Arc<Mutex<Option<Child>>>);

impl Killer {
    pub(crate) fn kill(&self) {
        if let Some(child) = self.0.lock().unwrap().as_mut() {
            child.kill().unwrap();
        }
    }

    fn has_ended(&self) -> bool {
        self.0.lock().unwrap().as_mut().is_none_or(|child| child.try_wait().unwrap().is_some())
    }
}

pub(crate) struct Living {
    pub(crate) part: Part,
    killer: Killer,
    port: u16,
    time: ChildStdin,
    /// How often it has died.
    pub(crate) deaths: usize,
}

/// What is sent to the node.
#[derive(Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Living {
    pub(crate) async fn start(mut part: Part, killer: Killer) -> Self {
        let mut deaths = 0;
        // It may die before it is ready.
        let (port, time) = loop {
            if let Some(ready) = spawn(&part, &killer).await {
                break ready;
            }
            assert!(part.commits.take().is_some(), "the node does not come up");
            (deaths, part.later) = (1, part.later + AFTER_DEATH);
        };
        Self { part, killer, port, time, deaths }
    }

    /// Starts the next process where the last one has died.
    pub(crate) async fn revive(&mut self) {
        if !self.killer.has_ended() {
            return;
        }
        self.deaths += 1;
        assert!(self.deaths < 2, "the node died by itself");
        self.part.commits = None;
        self.part.later += AFTER_DEATH;
        let (port, time) = spawn(&self.part, &self.killer).await.expect("the node does not come up again");
        (self.port, self.time) = (port, time);
    }

    /// Moves the node's clock on.
    pub(crate) fn move_clock(&mut self, seconds: u64) {
        self.part.later += seconds;
        // Where it has just died, the next process starts at that time.
        let _dead = writeln!(self.time, "{}", self.part.later);
    }

    /// Sends it until it is answered, as those do who heard nothing.
    pub(crate) async fn ask(&mut self, request: &Request) -> Answer {
        let began = tokio::time::Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "no answer to {} {}", request.method, request.path);
            self.revive().await;
            match tokio::time::timeout(SILENCE, send(self.port, request)).await {
                Ok(Some(answer)) if answer.status < 500 && answer.status != 429 => return answer,
                _ => tokio::time::sleep(Duration::from_millis(30)).await,
            }
        }
    }

    pub(crate) fn end(self) {
        self.killer.kill();
        if let Some(mut child) = self.killer.0.lock().unwrap().take() {
            child.wait().unwrap();
        }
    }
}

/// None where it died before it was ready.
async fn spawn(part: &Part, killer: &Killer) -> Option<(u16, ChildStdin)> {
    let (role, killer) = (serde_json::to_string(part).unwrap(), killer.clone());
    let spawned = tokio::task::spawn_blocking(move || {
        let test = concat!(module_path!(), "::the_node_serves");
        let mut command = process::build_child_command(&test.replace("living::", ""), &role);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let time = child.stdin.take().unwrap();
        *killer.0.lock().unwrap() = Some(child);
        loop {
            let mut line = String::new();
            if out.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(port) = line.trim().strip_prefix("<<ready ").and_then(|rest| rest.strip_suffix(">>"))
            {
                let port = port.parse().unwrap();
                // What it says later is read by nobody, and must not stop it.
                std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
                return Some((port, time));
            }
        }
    });
    spawned.await.unwrap()
}

/// None where the line broke before the whole answer.
async fn send(port: u16, request: &Request) -> Option<Answer> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let mut text = format!(
        "{} {} HTTP/1.1\r\nhost: munshi.example\r\nconnection: close\r\ncontent-length: {}\r\n",
        request.method,
        request.path,
        request.body.len()
    );
    request.headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
    text += &format!("\r\n{}", request.body);
    socket.write_all(text.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    if length.is_some_and(|length: usize| body.len() < length) {
        return None;
    }
    let status = head.split_whitespace().nth(1)?.parse().ok()?;
    Some(Answer { status, body: body.to_owned() })
}
