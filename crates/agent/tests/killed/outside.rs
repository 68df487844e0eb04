//! The world outside, in the parent: it remembers what was done to it, and is slow at random.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_types::{Random, SeededRandom};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the child asks of it, a line each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Wish {
    Act { tool: String, key: String, text: String },
    Look { key: String },
    Read,
    Reply { key: String, address: String, text: String },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Of a look: whether it happened.
    pub(crate) found: bool,
}

#[derive(Default)]
pub(crate) struct Ledger {
    /// Every effect, by tool and what it was about: the key of each time it happened.
    pub(crate) effects: BTreeMap<(String, String), Vec<String>>,
    /// When each of them happened.
    pub(crate) happened_at: BTreeMap<(String, String), Vec<Instant>>,
    /// Every reply as it came: key, address and words.
    pub(crate) replies: Vec<(String, String, String)>,
    /// When the first of each words came.
    pub(crate) replied_at: BTreeMap<String, Instant>,
    /// How often something came again under a key it had.
    pub(crate) repeats: usize,
}

/// Lives as long as the test.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) port: u16,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    /// While this is so, nobody is told what came of anything: it happens, and then nothing more is heard.
    pub(crate) is_mute: Arc<AtomicBool>,
    /// How much was asked of it so far.
    pub(crate) asked: watch::Receiver<usize>,
    _tasks: Arc<JoinSet<()>>,
}

impl World {
    pub(crate) async fn start(random: Arc<SeededRandom>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ledger, mut tasks) = (Arc::<Mutex<Ledger>>::default(), JoinSet::new());
        let (count, asked) = watch::channel(0);
        let is_mute = Arc::<AtomicBool>::default();
        let desk = Desk { ledger: ledger.clone(), random, count: Arc::new(count), is_mute: is_mute.clone() };
        tasks.spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let desk = desk.clone();
                lines.spawn(async move { desk.serve(socket).await });
            }
        });
        Self { port, ledger, is_mute, asked, _tasks: Arc::new(tasks) }
    }
}

#[derive(Clone)]
struct Desk {
    ledger: Arc<Mutex<Ledger>>,
    random: Arc<SeededRandom>,
    count: Arc<watch::Sender<usize>>,
    is_mute: Arc<AtomicBool>,
}

impl Desk {
    async fn serve(&self, socket: TcpStream) {
        let mut socket = BufReader::new(socket);
        let mut line = String::new();
        // Whoever was killed while writing has asked for nothing.
        if !matches!(socket.read_line(&mut line).await, Ok(1..)) || !line.ends_with('\n') {
            return;
        }
        let wish: Wish = serde_json::from_str(&line).unwrap();
        self.dawdle().await;
        let told = self.grant(wish);
        while self.is_mute.load(Ordering::SeqCst) {
            self.dawdle().await;
        }
        self.dawdle().await;
        let mut answer = serde_json::to_string(&told).unwrap();
        answer.push('\n');
        let _gone = socket.write_all(answer.as_bytes()).await;
    }

    async fn dawdle(&self) {
        tokio::time::sleep(Duration::from_millis(self.random.next_below(25))).await;
    }

    fn grant(&self, wish: Wish) -> Told {
        let mut ledger = self.ledger.lock().unwrap();
        self.count.send_modify(|count| *count += 1);
        match wish {
            Wish::Read => Told { found: true },
            Wish::Look { key } => Told { found: ledger.effects.values().any(|keys| keys.contains(&key)) },
            Wish::Act { tool, key, text } => {
                let at = ledger.happened_at.entry((tool.clone(), text.clone())).or_default();
                at.push(Instant::now());
                let keys = ledger.effects.entry((tool.clone(), text)).or_default();
                // One side keeps keys and does nothing twice under the same; the others do as they are told.
                let is_repeat = tool == "book" && keys.contains(&key);
                if !is_repeat {
                    keys.push(key);
                }
                ledger.repeats += usize::from(is_repeat);
                Told { found: true }
            }
            Wish::Reply { key, address, text } => {
                ledger.replied_at.entry(text.clone()).or_insert_with(Instant::now);
                ledger.replies.push((key, address, text));
                Told { found: true }
            }
        }
    }
}

/// The child's side: asks, and waits for the answer.
pub(crate) async fn ask(port: u16, wish: &Wish) -> std::io::Result<Told> {
    let mut socket = BufReader::new(TcpStream::connect(("127.0.0.1", port)).await?);
    let mut line = serde_json::to_string(wish)?;
    line.push('\n');
    socket.write_all(line.as_bytes()).await?;
    let mut answer = String::new();
    socket.read_line(&mut answer).await?;
    Ok(serde_json::from_str(&answer)?)
}
