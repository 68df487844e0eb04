//! How many statements and transactions a plain turn costs, counted on the wire.

use std::sync::Arc;

use munshi_conversations::RunState;
use munshi_conversations::decisions::TurnDecision;
use munshi_conversations::ingest::receive;
use munshi_conversations::steps::NewRunStep;
use munshi_safety::rate_limits::{LimitRefill, LimitSubject, RateLimit};
use munshi_store::Db;
use munshi_test_support::{DatabaseEngine, StatementCounter, TestDb};
use munshi_types::tier::Channel;
use munshi_types::{InboundSender, ReplyAddress};

use crate::rows::support::{Shop, held, respond_on};

/// A turn as most are: somebody known, one model call, one step, one decision. Gives both counts, then those of its end.
async fn turn(
    shop: &Shop,
    db: &Db,
    counter: &StatementCounter,
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
        munshi_conversations::MIGRATIONS,
    ];
    let shop = Shop::open(TestDb::open(DatabaseEngine::Postgres, &lists).await).await;
    let (db, counter) = StatementCounter::open(&shop.test).await;
    let meera = || InboundSender { phone: Some("+919812345678".to_owned()), ..InboundSender::default() };
    let first = turn(&shop, &db, &counter, 0, None, meera()).await;
    let plain = turn(&shop, &db, &counter, 1, None, meera()).await;
    let pushed = ReplyAddress::new(Channel::Whatsapp, "+919812345678".to_owned());
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
