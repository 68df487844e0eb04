//! Those who write. A message counts once it was acknowledged; until then it is sent again under the same id, as a
//! channel does. Now and then one comes twice anyway.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_test_app::{build_message, parse_target};
use munshi_types::tier::Channel;
use munshi_types::{InboundMessage, PersonId, Random, ReplyAddress, RunId, SeededRandom};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::killed::child::Ack;
use crate::killed::outside::World;
use crate::killed::shop::{Shop, TOOLS};

/// So many of a person's messages may be without an answer before they wait for one.
const IMPATIENCE: usize = 3;
/// So long somebody waits at a door.
const SILENCE: Duration = Duration::from_secs(2);

/// A message that was acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) parcel: String,
    pub(crate) tools: Vec<&'static str>,
    pub(crate) run: RunId,
    /// When it was first sent.
    pub(crate) at: Instant,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// In the order of each person.
    pub(crate) messages: Vec<Message>,
    /// How often one was sent again, for want of an acknowledgement or for none.
    pub(crate) again: usize,
}

pub(crate) struct People {
    door: watch::Sender<Vec<u16>>,
    enough: Arc<AtomicBool>,
    tasks: Mutex<JoinSet<Sent>>,
}

impl People {
    pub(crate) fn gather(shop: &Shop, world: &World, random: &Arc<SeededRandom>) -> Self {
        Self::gather_with(shop, world, random, &TOOLS.map(|(name, _)| name))
    }

    /// Those who ask for these tools alone.
    pub(crate) fn gather_with(
        shop: &Shop,
        world: &World,
        random: &Arc<SeededRandom>,
        tools: &[&'static str],
    ) -> Self {
        let (door, look) = watch::channel(Vec::new());
        let enough = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for (number, person) in shop.staff.iter().enumerate() {
            let writer = Writer {
                number,
                person: *person,
                door: look.clone(),
                world: world.clone(),
                random: random.clone(),
                enough: enough.clone(),
                tools: tools.to_vec(),
            };
            tasks.spawn(writer.write());
        }
        Self { door, enough, tasks: Mutex::new(tasks) }
    }

    /// Where messages go from now on; nowhere while nobody lives there.
    pub(crate) fn door(&self, ports: &[u16]) {
        self.door.send_replace(ports.to_vec());
    }

    /// Nobody begins another message.
    pub(crate) fn enough(&self) {
        self.enough.store(true, Ordering::SeqCst);
    }

    /// Waits until every message that was begun is acknowledged.
    pub(crate) async fn done(&self) -> Sent {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap());
        let mut all = Sent::default();
        for sent in tasks.join_all().await {
            all.messages.extend(sent.messages);
            all.again += sent.again;
        }
        all
    }
}

struct Writer {
    number: usize,
    person: PersonId,
    door: watch::Receiver<Vec<u16>>,
    world: World,
    random: Arc<SeededRandom>,
    enough: Arc<AtomicBool>,
    tools: Vec<&'static str>,
}

impl Writer {
    async fn write(mut self) -> Sent {
        let mut sent = Sent::default();
        while !self.enough.load(Ordering::SeqCst) {
            let parcel = format!("P{}x{}", self.number, sent.messages.len());
            let tools: Vec<&'static str> = self.some_tools();
            let inbound = message((self.number, self.person), &parcel, &tools);
            let at = Instant::now();
            let run = self.until_taken(&inbound, &mut sent.again).await;
            sent.messages.push(Message { parcel, tools, run, at });
            if self.random.next_below(5) == 0 {
                sent.again += 1;
                let again = self.until_taken(&inbound, &mut sent.again).await;
                assert_eq!(again, run, "the same message came to another run");
            }
            self.rest(sent.messages.len()).await;
        }
        sent
    }

    /// None to three, each once.
    fn some_tools(&self) -> Vec<&'static str> {
        let mut left = self.tools.clone();
        let count = self.random.next_below(4);
        (0..count)
            .map(|_| left.swap_remove(usize::try_from(self.random.next_below(left.len() as u64)).unwrap()))
            .collect()
    }

    async fn until_taken(&mut self, inbound: &InboundMessage, again: &mut usize) -> RunId {
        loop {
            let ports = self.door.wait_for(|ports| !ports.is_empty()).await.unwrap().clone();
            let port = ports[usize::try_from(self.random.next_below(ports.len() as u64)).unwrap()];
            // One that stands still says nothing: the next is tried.
            if let Ok(Ok(Some(ack))) = tokio::time::timeout(SILENCE, hand_in(port, inbound)).await {
                return ack.run;
            }
            *again += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Half of the time somebody waits for their answer; they always do when several are out.
    async fn rest(&self, sent: usize) {
        let most = if self.random.next_below(2) == 0 { 0 } else { IMPATIENCE };
        while !self.enough.load(Ordering::SeqCst) && sent > self.answered() + most {
            let mut asked = self.world.asked.clone();
            asked.mark_unchanged();
            let _none_yet = tokio::time::timeout(Duration::from_millis(200), asked.changed()).await;
        }
    }

    fn answered(&self) -> usize {
        let address = format!("asha-{}", self.number);
        let ledger = self.world.ledger.lock().unwrap();
        let mine = ledger.replies.iter().filter(|(_, to, _)| *to == address).map(|(key, _, _)| key);
        mine.collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// What somebody writes about a parcel.
pub(crate) fn message((number, person): (usize, PersonId), parcel: &str, tools: &[&str]) -> InboundMessage {
    let address = format!("asha-{number}");
    InboundMessage {
        channel: Channel::Telegram,
        reply_to: Some(ReplyAddress::new(Channel::Telegram, address)),
        ..build_message(
            parse_target("handle:shop"),
            person,
            parcel,
            &format!("Parcel {parcel} {}", tools.join(" ")),
        )
    }
}

/// None where the line broke before the acknowledgement.
pub(crate) async fn hand_in(port: u16, inbound: &InboundMessage) -> std::io::Result<Option<Ack>> {
    let mut socket = BufReader::new(TcpStream::connect(("127.0.0.1", port)).await?);
    let mut line = serde_json::to_string(inbound)?;
    line.push('\n');
    socket.write_all(line.as_bytes()).await?;
    let mut answer = String::new();
    socket.read_line(&mut answer).await?;
    Ok(serde_json::from_str(&answer).ok())
}
