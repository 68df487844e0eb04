//! A visitor proves a phone; two threads become one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use munshi_conversations::ingest::IngestOutcome;
use munshi_conversations::linking::{AddressLinker, CodeDelivery, CodeSendOutcome, ShownConsent};
use munshi_conversations::messages::Message;
use munshi_conversations::outbox::{self, ChannelSender, SendFault, SendReceipt};
use munshi_conversations::{Error, RunState, sessions};
use munshi_identity::codes::{CodeKey, CodeText, CodeVerification};
use munshi_identity::{ContactAddress, Role, persons};
use munshi_safety::consents;
use munshi_store::PageRequest;
use munshi_test_support::{DatabaseEngine, UnitHold};
use munshi_types::tier::Channel;
use munshi_types::{MessageId, OutboundMessage, Random, SeededRandom, SessionId, Timestamp};

use crate::rows::support::{Shop, held, tables};

const MEERA: &str = "+919812345678";

#[derive(Default)]
struct Phone(Mutex<Vec<OutboundMessage>>);

#[async_trait::async_trait]
impl ChannelSender for Phone {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn idempotency(&self) -> outbox::SendIdempotency {
        outbox::SendIdempotency::Once
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.0.lock().unwrap().push(outbound.clone());
        Ok(SendReceipt::default())
    }
}

/// A channel that does no better than this.
struct Broken(SendFault);

#[async_trait::async_trait]
impl ChannelSender for Broken {
    fn channel(&self) -> Channel {
        Channel::Email
    }

    fn idempotency(&self) -> outbox::SendIdempotency {
        outbox::SendIdempotency::Once
    }

    async fn send(&self, _: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        Err(self.0.clone())
    }
}

fn linking(shop: &Shop) -> AddressLinker {
    AddressLinker {
        db: shop.test.db.clone(),
        key: CodeKey::new(&[7; 32]),
        ids: shop.test.ids.clone(),
        random: Arc::new(SeededRandom::new(3)),
        clock: shop.test.clock.clone(),
    }
}

/// Asks for a code and reads it from the phone.
async fn code(shop: &Shop, session: SessionId, phone: &str) -> String {
    let line = Phone::default();
    let words = |code: &CodeText| format!("your code: {}", code.reveal());
    let way = CodeDelivery { sender: &line, words: &words, language: None };
    let sent = linking(shop)
        .send_code(shop.tenant, session, &ContactAddress::phone(phone).unwrap(), &way)
        .await
        .unwrap();
    assert!(matches!(sent, CodeSendOutcome::Sent { .. }), "{sent:?}");
    let sent = line.0.lock().unwrap().pop().unwrap();
    assert_eq!(sent.to.address, MEERA);
    sent.text.rsplit(' ').next().unwrap().to_owned()
}

async fn visit(shop: &Shop, outside_id: &str, text: &str) -> IngestOutcome {
    let mut incoming = shop.incoming(MEERA, outside_id, text);
    incoming.inbound.channel = Channel::Web;
    incoming.inbound.from =
        munshi_types::InboundSender { channel_id: Some("visitor-1".to_owned()), ..Default::default() };
    shop.receive(incoming).await.unwrap()
}

async fn link(shop: &Shop, session: SessionId) -> munshi_conversations::linking::LinkedPerson {
    let code = code(shop, session, MEERA).await;
    match linking(shop).confirm(shop.tenant, session, &code).await.unwrap() {
        CodeVerification::Right(linked) => linked,
        other => panic!("{other:?}"),
    }
}

/// The order that must come out: each thread in its own, both by the time by which everything before was said.
fn woven(one: &[Message], other: &[Message]) -> Vec<MessageId> {
    let timed = |messages: &[Message]| {
        let mut latest = Timestamp::EPOCH;
        let each = messages.iter().map(|message| {
            latest = latest.max(message.said_at);
            (latest, message.session, message.number, message.id)
        });
        each.collect::<Vec<_>>()
    };
    let mut all = [timed(one), timed(other)].concat();
    all.sort();
    all.into_iter().map(|(.., id)| id).collect()
}

tables! {
    async fn a_phone_nobody_has_becomes_the_visitors(test: TestDb) {
        let shop = Shop::open(test).await;
        let visitor = visit(&shop, "v1", "hello").await;
        shop.answer(held(&visitor), "hi").await;
        let linked = link(&shop, visitor.session).await;
        assert_eq!((linked.person.id, linked.session, linked.merged), (visitor.person, visitor.session, None));
        assert!(!linked.person.visitor, "proved now");
        let said = shop.say(MEERA, "w1", "from my phone").await;
        assert_eq!((said.person, said.session), (visitor.person, visitor.session), "one thread across channels");
    }

    async fn a_wrong_code_links_nobody(test: TestDb) {
        let shop = Shop::open(test).await;
        let (visitor, known) = (visit(&shop, "v1", "hello").await, shop.say(MEERA, "w1", "hello").await);
        let right = code(&shop, visitor.session, MEERA).await;
        let wrong = if right == "111111" { "222222" } else { "111111" };
        let linking = linking(&shop);
        assert_eq!(linking.confirm(shop.tenant, visitor.session, wrong).await.unwrap(), CodeVerification::Wrong { left: 4 });
        let elsewhere = linking.confirm(shop.tenant, known.session, &right).await.unwrap();
        assert_eq!(elsewhere, CodeVerification::NotAsked, "only the conversation that asked can answer");
        shop.test.clock.advance(Duration::from_secs(11 * 60));
        assert_eq!(linking.confirm(shop.tenant, visitor.session, &right).await.unwrap(), CodeVerification::Expired);
        let line = Phone::default();
        let way = CodeDelivery { sender: &line, words: &|_| String::new(), language: None };
        let meera = ContactAddress::phone(MEERA).unwrap();
        let nowhere = linking.send_code(shop.tenant, shop.test.ids.next(), &meera, &way).await;
        assert!(matches!(nowhere, Err(Error::Unfit(_))));
        assert_eq!(shop.run(known.run).await.conversation().unwrap().person, known.person);
        assert_eq!(shop.count("sessions").await, 2);
    }

    async fn whoever_was_shown_so_agrees_by_a_code_to_be_written_to(test: TestDb) {
        let shop = Shop::open(test).await;
        let visitor = visit(&shop, "v1", "hello").await;
        let list = async |person| {
            shop.read(move |tx| Ok(consents::list(tx, person, &PageRequest::new(None, 10)).unwrap().items)).await
        };
        let shown = || Some(ShownConsent { words: "We may write to you here.".to_owned(), language: None });
        let wrong = linking(&shop).confirm_shown(shop.tenant, visitor.session, "111111", shown()).await.unwrap();
        assert!(!matches!(wrong, CodeVerification::Right(_)));
        assert!(list(visitor.person).await.is_empty(), "no code, no consent");
        let code = code(&shop, visitor.session, MEERA).await;
        let linked = linking(&shop).confirm_shown(shop.tenant, visitor.session, &code, shown()).await.unwrap();
        let CodeVerification::Right(linked) = linked else { panic!("{linked:?}") };
        let given = list(linked.person.id).await;
        assert_eq!(given.len(), 1);
        let told = (given[0].purpose.as_str(), given[0].words.as_str(), given[0].given_via.as_str());
        assert_eq!(told, (consents::MESSAGES, "We may write to you here.", "code"));
        assert!(given[0].approval.is_none() && given[0].recipient.is_some() && given[0].withdrawn_at.is_none());
    }

    async fn a_mail_is_proved_as_a_phone_is(test: TestDb) {
        let shop = Shop::open(test).await;
        let visitor = visit(&shop, "v1", "hello").await;
        let mail = ContactAddress::email("Meera@Example.org").unwrap();
        let line = Phone::default();
        let words = |code: &CodeText| format!("your code: {}", code.reveal());
        let way = CodeDelivery { sender: &line, words: &words, language: None };
        let linking = linking(&shop);
        let sent = linking.send_code(shop.tenant, visitor.session, &mail, &way).await.unwrap();
        assert!(matches!(sent, CodeSendOutcome::Sent { .. }), "{sent:?}");
        let sent = line.0.lock().unwrap().pop().unwrap();
        assert_eq!(sent.to.address, "meera@example.org");
        let code = sent.text.rsplit(' ').next().unwrap();
        let linked = linking.confirm(shop.tenant, visitor.session, code).await.unwrap();
        let CodeVerification::Right(linked) = linked else { panic!("{linked:?}") };
        assert_eq!((linked.merged, linked.session), (None, visitor.session));
        let find = move |tx: &mut munshi_store::Tx<'_>| persons::find_by_address(tx, &mail);
        let found = shop.test.db.read(shop.tenant, find).await.unwrap().unwrap();
        assert_eq!(found.id, visitor.person);
    }

    async fn a_code_that_did_not_leave_counts_for_nobody(test: TestDb) {
        let shop = Shop::open(test).await;
        let visitor = visit(&shop, "v1", "hello").await;
        let (mail, linking) = (ContactAddress::email("meera@example.org").unwrap(), linking(&shop));
        let words = |code: &CodeText| code.reveal().to_owned();
        let ask = async |fault: SendFault| {
            let line = Broken(fault);
            let way = CodeDelivery { sender: &line, words: &words, language: None };
            linking.send_code(shop.tenant, visitor.session, &mail, &way).await.unwrap()
        };
        for _ in 0..8 {
            let outcome = ask(SendFault::passing("down")).await;
            assert!(matches!(outcome, CodeSendOutcome::NotSent { refused: false, .. }), "{outcome:?}");
        }
        assert_eq!(shop.count("one_time_codes").await, 0);
        let outcome = ask(SendFault::unknown("no answer")).await;
        assert!(matches!(outcome, CodeSendOutcome::Sent { .. }), "it may come: {outcome:?}");
        assert_eq!(shop.count("one_time_codes").await, 1, "and it works then");
    }

    async fn runs_under_way_in_either_finish_in_the_merged_thread(test: TestDb) {
        let shop = Shop::open(test).await;
        let tick = || shop.test.clock.advance(Duration::from_secs(1));
        let known = shop.say(MEERA, "w1", "phone 1").await;
        tick();
        let visitor = visit(&shop, "v1", "web 1").await;
        tick();
        let queued = visit(&shop, "v2", "web 2").await;
        // What is stored at the end was put together before the merge.
        let (by_phone, by_web) = (shop.response(held(&known), "to phone 1").await, shop.response(held(&visitor), "to web 1").await);
        tick();
        let linked = link(&shop, visitor.session).await;
        assert_eq!((linked.session, linked.merged), (known.session, Some(visitor.person)));
        let answered = shop.respond(by_web).await.unwrap();
        assert_eq!((answered.session, answered.next), (known.session, None), "another is still under way");
        let next = shop.respond(by_phone).await.unwrap().next.unwrap();
        assert_eq!(next.run, queued.run);
        shop.answer(next, "to web 2").await;
        let after = visit(&shop, "v3", "web 3").await;
        assert_eq!((after.session, after.person), (known.session, known.person));
        let said: Vec<(i64, String)> = shop.messages(known.session).await.into_iter().map(|one| (one.number, one.text)).collect();
        let texts = ["phone 1", "web 1", "web 2", "to web 1", "to phone 1", "to web 2", "web 3"];
        assert_eq!(said, (1..).zip(texts.map(str::to_owned)).collect::<Vec<_>>());
        let (old, new) = (visitor.session, known.session);
        let living = shop.read(move |tx| sessions::find_current(tx, old)).await.unwrap();
        assert_eq!((living.id, living.messages), (new, 7));
        assert_eq!(shop.read(move |tx| sessions::list_merged_ids(tx, new)).await, [old]);
        assert_eq!(visit(&shop, "v1", "web 1").await.run, visitor.run, "and what was taken stays taken");
        let listed = shop.read(|tx| sessions::list(tx, sessions::SessionFilter::default(), &munshi_store::PageRequest::new(None, 9))).await;
        assert_eq!(listed.items.len(), 1);
    }

    async fn a_merge_amid_messages_and_answers_loses_nobody(test: TestDb) {
        let shop = Shop::open(test).await;
        let (visitor, known) = (visit(&shop, "v", "web").await, shop.say(MEERA, "w", "phone").await);
        let (from, into, tenant) = (visitor.person, known.person, shop.tenant);
        let other = shop.test.open_again().await;
        let shop = &shop;
        let turns = futures_util::future::join_all((0..30).map(|number| {
            let db = if number % 3 == 0 { other.clone() } else { shop.test.db.clone() };
            async move {
                let mut incoming = shop.incoming(MEERA, &format!("m{number}"), "hello");
                if number % 2 == 0 {
                    incoming.inbound.channel = Channel::Web;
                    incoming.inbound.from = munshi_types::InboundSender { channel_id: Some("visitor-1".to_owned()), ..Default::default() };
                }
                let ingested = munshi_conversations::ingest::receive(&db, shop.tenant, &shop.desk, Arc::new(incoming)).await.unwrap();
                answer_on(shop, &db, ingested.begun.map(|begun| begun.lease)).await;
            }
        }));
        let first = futures_util::future::join(
            answer_on(shop, &shop.test.db, Some(held(&visitor))),
            answer_on(shop, &other, Some(held(&known))),
        );
        let merge = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let (ids, now) = (shop.test.ids.clone(), shop.now());
            shop.test.db.write(tenant, move |tx| -> munshi_conversations::Result<()> {
                persons::merge(tx, from, into)?;
                munshi_conversations::linking::merge_threads(tx, &ids, (from, into), now)
            }).await.unwrap();
        };
        futures_util::future::join3(turns, first, merge).await;
        let sql = "SELECT count(*) FROM runs WHERE tenant_id = $1 AND (ended_at IS NULL OR session_id <> $2 OR person_id <> $3)";
        let (session, person) = (known.session, known.person);
        let left: i64 = shop.read(move |tx| tx.one(sql, munshi_store::params![session, person], |row| row.get(0))).await;
        assert_eq!(left, 0, "all answered, all in one thread");
        let said = shop.messages(known.session).await;
        assert_eq!(said.iter().map(|one| one.number).collect::<Vec<_>>(), (1..=64).collect::<Vec<_>>());
        let living = shop.read(|tx| sessions::list(tx, sessions::SessionFilter::All, &munshi_store::PageRequest::new(None, 9))).await;
        assert_eq!((living.items.len(), living.items[0].messages), (1, 64));
        assert_eq!((shop.count("held").await, shop.count("reservations").await), (0, 0));
    }

    async fn a_session_elsewhere_only_changes_hands(test: TestDb) {
        let mut shop = Shop::open(test).await;
        let known = shop.say(MEERA, "w1", "hello").await;
        shop.binding = shop.test.ids.next();
        let visitor = visit(&shop, "v1", "at another desk").await;
        let linked = link(&shop, visitor.session).await;
        assert_eq!((linked.person.id, linked.session), (known.person, visitor.session));
        assert_eq!(shop.run(visitor.run).await.conversation().unwrap().person, known.person);
        shop.answer(held(&visitor), "still here").await;
        assert_eq!(shop.run(visitor.run).await.state, RunState::Done);
    }

    async fn a_code_makes_no_visitor_somebody_who_works_here(test: TestDb) {
        let shop = Shop::open(test).await;
        let (visitor, known) = (visit(&shop, "v1", "hello").await, shop.say(MEERA, "w1", "hello").await);
        let id = known.person;
        shop.test.db.write(shop.tenant, move |tx| {
            let person = persons::find(tx, id)?.unwrap();
            persons::upsert(tx, &munshi_identity::Person { role: Some(Role::Staff), ..person })
        }).await.unwrap();
        let right = code(&shop, visitor.session, MEERA).await;
        let refused = linking(&shop).confirm(shop.tenant, visitor.session, &right).await;
        assert!(refused.unwrap_err().to_string().contains("members sign in"), "they sign in");
        let visitor = visitor.person;
        let still = shop.test.db.read(shop.tenant, move |tx| persons::find(tx, visitor)).await.unwrap().unwrap();
        assert!(still.visitor && still.merged_into.is_none());
    }

    async fn a_role_given_while_a_code_is_answered_makes_no_visitor_a_member(test: TestDb) {
        // SQLite has one writer: neither meets the other.
        if test.engine() != DatabaseEngine::Postgres {
            return;
        }
        let shop = Shop::open(test).await;
        let (visitor, known) = (visit(&shop, "v1", "hello").await, shop.say(MEERA, "w1", "hello").await);
        rise_while_linking(&shop, visitor.session, known.person).await;
        let (another, member) = (visit_as(&shop, "visitor-2", "hello").await, known.person);
        let demote = move |tx: &mut munshi_store::Tx<'_>| {
            let person = persons::find(tx, member)?.unwrap();
            persons::upsert(tx, &munshi_identity::Person { role: None, ..person })
        };
        shop.write(demote).await;
        rise_while_linking(&shop, another.session, another.person).await;
        let addresses = shop.read(move |tx| persons::list_addresses(tx, member)).await;
        assert_eq!(addresses, [ContactAddress::phone(MEERA).unwrap()]);
        for unmerged in [visitor.person, another.person] {
            assert_eq!(shop.read(move |tx| persons::find(tx, unmerged)).await.unwrap().merged_into, None);
        }
    }

    async fn a_member_is_never_merged_away(test: TestDb) {
        let shop = Shop::open(test).await;
        let (visitor, known) = (visit(&shop, "v1", "web").await, shop.say(MEERA, "w1", "phone").await);
        let member = visitor.person;
        shop.write(move |tx| {
            let mut person = persons::find(tx, member)?.unwrap();
            person.role = Some(Role::Staff);
            persons::upsert(tx, &person)
        }).await;
        let linked = link(&shop, visitor.session).await;
        assert_eq!((linked.person.id, linked.merged), (member, Some(known.person)));
        assert_eq!(linked.session, visitor.session);
        let address = ContactAddress::phone(MEERA).unwrap();
        assert_eq!(shop.read(move |tx| persons::find_by_address(tx, &address)).await.unwrap().id, member);
        assert_eq!(shop.run(known.run).await.conversation().unwrap().session, visitor.session);
    }

    async fn merged_threads_keep_their_order_whatever_the_clocks_said(test: TestDb) {
        let mut shop = Shop::open(test).await;
        for seed in 0..8_u64 {
            let random = SeededRandom::new(seed);
            let phone = format!("+9198765{seed:05}");
            let (mut open, mut count) = (Vec::new(), 0);
            let mut sessions = (None, None);
            for step in 0..24 {
                // Nodes whose clocks differ: time goes back too.
                let base = munshi_test_support::database::MORNING.as_micros();
                shop.test.clock.set(Timestamp::from_micros(base + i64::try_from(random.next_below(40)).unwrap() * 250_000));
                let is_web = random.next_below(2) == 0;
                if step > 1 && random.next_below(3) == 0 && !open.is_empty() {
                    let held = open.remove(0);
                    open.extend(shop.answer(held, "reply").await.next);
                    continue;
                }
                count += 1;
                let (web, said) = (is_web || step == 0, format!("s{seed}m{count}"));
                let ingested = if web && step != 1 { visit_as(&shop, &format!("visitor-{seed}"), &said).await } else { shop.say(&phone, &said, &said).await };
                let place = if web && step != 1 { &mut sessions.0 } else { &mut sessions.1 };
                *place = Some(ingested.session);
                open.extend(ingested.begun.map(|begun| begun.lease));
            }
            let (web, by_phone) = (sessions.0.unwrap(), sessions.1.unwrap());
            let expected = woven(&shop.messages(web).await, &shop.messages(by_phone).await);
            let (from, into) = (shop.read(move |tx| sessions::find(tx, web)).await.unwrap().person, shop.read(move |tx| sessions::find(tx, by_phone)).await.unwrap().person);
            let (ids, now) = (shop.test.ids.clone(), shop.now());
            shop.test.db.write(shop.tenant, move |tx| -> munshi_conversations::Result<()> {
                persons::merge(tx, from, into)?;
                munshi_conversations::linking::merge_threads(tx, &ids, (from, into), now)
            }).await.unwrap();
            let merged = shop.messages(by_phone).await;
            assert_eq!(merged.iter().map(|one| one.id).collect::<Vec<_>>(), expected, "seed {seed}");
            let numbers: Vec<i64> = merged.iter().map(|one| one.number).collect();
            assert_eq!(numbers, (1..).take(numbers.len()).collect::<Vec<_>>(), "seed {seed}");
            for message in merged.iter().filter(|one| one.outside_id.is_some()) {
                assert_eq!(shop.run(message.run).await.conversation().unwrap().number, message.number, "seed {seed}");
            }
            while !open.is_empty() {
                let held = open.remove(0);
                open.extend(shop.answer(held, "late").await.next);
            }
            let sql = "SELECT count(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
            let left: i64 = shop.read(move |tx| tx.one(sql, &[], |row| row.get(0))).await;
            assert_eq!(left, 0, "seed {seed}: everybody is answered");
            shop.binding = shop.test.ids.next();
        }
    }
}

/// Answers, and whatever is handed on, until nothing is left.
async fn answer_on(
    shop: &Shop,
    db: &munshi_store::Db,
    mut holding: Option<munshi_conversations::runs::RunLease>,
) {
    while let Some(held) = holding {
        let response = shop.response(held, "answer").await;
        holding = crate::rows::support::respond_on(db, &shop.desk, response).await.unwrap().next;
    }
}

/// One of the two gets a role on another node while the code that would merge them is answered.
async fn rise_while_linking(shop: &Shop, session: SessionId, rising: munshi_types::PersonId) {
    let right = code(shop, session, MEERA).await;
    let hold = UnitHold::default();
    // A node lets the units of a tenant follow each other.
    let (held, second) = (hold.clone(), shop.test.open_again().await);
    let rise = second.write(shop.tenant, move |tx| {
        let person = persons::find(tx, rising)?.unwrap();
        persons::upsert(tx, &munshi_identity::Person { role: Some(Role::Staff), ..person })?;
        held.wait();
        Ok::<_, munshi_store::Error>(())
    });
    let linker = linking(shop);
    let linked = hold.run_against(&shop.test, linker.confirm(shop.tenant, session, &right));
    let (risen, refused) = tokio::join!(rise, linked);
    risen.unwrap();
    assert!(refused.is_err(), "they sign in");
}

async fn visit_as(shop: &Shop, visitor: &str, said: &str) -> IngestOutcome {
    let mut incoming = shop.incoming(MEERA, said, said);
    incoming.inbound.channel = Channel::Web;
    incoming.inbound.from =
        munshi_types::InboundSender { channel_id: Some(visitor.to_owned()), ..Default::default() };
    shop.receive(incoming).await.unwrap()
}
