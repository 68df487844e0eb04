//! How many statements and transactions a plain turn costs, counted on the wire.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use munshi_agent::RunState;
use munshi_agent::decisions::TurnDecision;
use munshi_agent::ingest::receive;
use munshi_agent::steps::NewRunStep;
use munshi_safety::rate_limits::{LimitRefill, LimitSubject, RateLimit};
use munshi_store::{Db, StoreOptions};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_types::tier::Channel;
use munshi_types::{InboundSender, ReplyAddress};

use crate::rows::support::{Shop, held, respond_on};

/// Stands between the store and Postgres and counts what is asked.
#[derive(Clone, Default)]
struct Counter {
    statements: Arc<AtomicU64>,
    commits: Arc<AtomicU64>,
}

impl Counter {
    fn listen(&self, server: SocketAddr) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, counter) = (listener.local_addr().unwrap(), self.clone());
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let (counter, server) = (counter.clone(), TcpStream::connect(server).unwrap());
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                thread::spawn(move || counter.carry(client, server));
            }
        });
        address
    }

    /// One message after the other, as the protocol frames them; the first has no letter before its length.
    fn carry(&self, mut client: TcpStream, mut server: TcpStream) -> Option<()> {
        let mut is_first = true;
        loop {
            let mut head = vec![0; if is_first { 4 } else { 5 }];
            client.read_exact(&mut head).ok()?;
            let length = u32::from_be_bytes(head[head.len() - 4..].try_into().ok()?);
            let mut body = vec![0; usize::try_from(length).ok()?.checked_sub(4)?];
            client.read_exact(&mut body).ok()?;
            match head[0] {
                b'E' if !is_first => {
                    self.statements.fetch_add(1, Ordering::SeqCst);
                }
                b'Q' if !is_first && body.windows(6).any(|word| word == b"COMMIT") => {
                    self.commits.fetch_add(1, Ordering::SeqCst);
                }
                _ => {}
            }
            is_first = false;
            server.write_all(&head).ok()?;
            server.write_all(&body).ok()?;
        }
    }

    fn take(&self) -> (u64, u64) {
        (self.statements.swap(0, Ordering::SeqCst), self.commits.swap(0, Ordering::SeqCst))
    }
}

/// The shop's database through a line that counts, on one connection.
async fn counted(shop: &Shop) -> (Db, Counter) {
    let url = shop.test.place.postgres_url("munshi_owner");
    let place = url.split_once('@').unwrap().1.split_once('/').unwrap().0;
    let counter = Counter::default();
    let line = counter.listen(place.replace("localhost", "127.0.0.1").parse().unwrap());
    let address = url.replace(place, &line.to_string()).parse().unwrap();
    let options = StoreOptions { connections: 1, ..shop.test.options.clone() };
    (Db::open(&address, &options, &shop.test.migrations).await.unwrap(), counter)
}

/// A turn as most are: somebody known, one model call, one step, one decision. Gives both counts, then those of its end.
async fn turn(
    shop: &Shop,
    db: &Db,
    counter: &Counter,
    number: u32,
    to: Option<ReplyAddress>,
    from: InboundSender,
) -> [(u64, u64); 2] {
    let mut incoming = shop.incoming("+919812345678", &format!("w{number}"), "balance?");
    incoming.inbound.reply_to = to;
    incoming.inbound.from = from;
    counter.take();
    let ingested = receive(db, shop.tenant, &shop.desk, Arc::new(incoming)).await.unwrap();
    let came = counter.take();
    let mut response = shop.response(held(&ingested), "500").await;
    response.steps = vec![NewRunStep {
        state: RunState::Responding,
        body: serde_json::json!({}),
        micros: 1,
        at: shop.now(),
    }];
    response.calls = vec![crate::rows::ending::call(shop, ingested.run)];
    response.decision =
        Some(Box::new(TurnDecision { outcome: "done".to_owned(), ..TurnDecision::default() }));
    counter.take();
    respond_on(db, &shop.desk, response).await.unwrap();
    [came, counter.take()]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_turn_is_two_transactions_and_thirteen_statements() {
    let lists: [&[munshi_store::Migration]; 7] = [
        munshi_store::MIGRATIONS,
        munshi_jobs::MIGRATIONS,
        munshi_llm::calls::MIGRATIONS,
        munshi_tiers::MIGRATIONS,
        munshi_identity::MIGRATIONS,
        munshi_safety::MIGRATIONS,
        munshi_agent::MIGRATIONS,
    ];
    let shop = Shop::open(TestDb::open(DatabaseEngine::Postgres, &lists).await).await;
    let (db, counter) = counted(&shop).await;
    let meera = || InboundSender { phone: Some("+919812345678".to_owned()), ..InboundSender::default() };
    let first = turn(&shop, &db, &counter, 0, None, meera()).await;
    let plain = turn(&shop, &db, &counter, 1, None, meera()).await;
    let pushed = ReplyAddress { channel: Channel::Whatsapp, address: "+919812345678".to_owned() };
    let sent = turn(&shop, &db, &counter, 2, Some(pushed), meera()).await;
    let two = InboundSender { channel_id: Some("77".to_owned()), ..meera() };
    turn(&shop, &db, &counter, 3, None, two.clone()).await;
    let two_addresses = turn(&shop, &db, &counter, 4, None, two).await;
    println!("(statements, transactions) of [ingest, respond]");
    println!("first {first:?}, plain {plain:?}, with delivery {sent:?}, two addresses {two_addresses:?}");
    assert_eq!(plain, [(5, 1), (8, 1)]);
    // However many limits hold for whoever sent it, on all nodes together.
    let minute = std::time::Duration::from_secs(60);
    let limit = |subject| RateLimit::new(subject, "meera", (100, minute), LimitRefill::Steady);
    let mut incoming = shop.incoming("+919812345678", "w5", "balance?");
    incoming.limits =
        [LimitSubject::Tenant, LimitSubject::Person, LimitSubject::AddressDay].map(limit).into();
    counter.take();
    receive(&db, shop.tenant, &shop.desk, Arc::new(incoming)).await.unwrap();
    assert_eq!(counter.take(), (6, 1), "one statement more, in the same transaction");
}
