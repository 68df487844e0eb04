//! Messages of one session are answered in order, whatever happens meanwhile.

use std::collections::BTreeMap;
use std::time::Duration;

use munshi_conversations::commit::TurnStatus;
use munshi_conversations::runs::{self, LEASE, RunLease};
use munshi_conversations::{IngestStatus, RUNS, RunRecoveryScope, RunSnapshot, RunState};
use munshi_types::{Random, RunId, SeededRandom, SessionId};

use crate::rows::support::{Shop, held, respond_on, tables};

const MEERA: &str = "+919812345678";

/// What a random play has seen so far.
#[derive(Default)]
struct Play {
    /// Whom this process works for, by session.
    working: BTreeMap<SessionId, Vec<RunLease>>,
    waiting: Vec<RunId>,
    /// The number of the last run that began, by session.
    begun: BTreeMap<SessionId, i64>,
    said: u32,
}

impl Play {
    /// A run begins: no other that is under way may be before it.
    async fn begin(&mut self, shop: &Shop, held: RunLease) {
        let run = shop.run(held.run).await;
        let last = self
            .begun
            .insert(run.conversation().unwrap().session, run.conversation().unwrap().number)
            .unwrap_or(0);
        assert!(
            run.conversation().unwrap().number > last,
            "run {} began after {last}",
            run.conversation().unwrap().number
        );
        let working = self.working.entry(run.conversation().unwrap().session).or_default();
        assert!(working.is_empty(), "two runs at once in a session");
        working.push(held);
    }

    async fn say(&mut self, shop: &Shop, phone: &str) {
        self.said += 1;
        let ingested = shop.say(phone, &format!("m{}", self.said), "hello").await;
        match ingested.status {
            IngestStatus::Begun => self.begin(shop, held(&ingested)).await,
            IngestStatus::Queued { behind } => {
                let before = shop.run(behind.unwrap()).await;
                assert!(!before.state.has_ended() && before.state != RunState::WaitingApproval);
                assert!(
                    before.conversation().unwrap().number
                        < shop.run(ingested.run).await.conversation().unwrap().number
                );
            }
            IngestStatus::SeenBefore => panic!("never sent before"),
        }
    }

    /// Ends or pauses one of those under way.
    async fn end(&mut self, shop: &Shop, pick: usize, pauses: bool) {
        let Some(held) = self.working.values().flatten().copied().nth(pick) else { return };
        let mut response = shop.response(held, "answer").await;
        if pauses {
            response.ending = TurnStatus::Waiting(Box::default());
            response.settle = None;
            self.waiting.push(held.run);
        }
        let responded = shop.respond(response).await.unwrap();
        self.working.values_mut().for_each(|all| all.retain(|one| one.run != held.run));
        if let Some(next) = responded.next {
            self.begin(shop, next).await;
        }
    }

    /// The process dies and another takes up what it left.
    async fn crash(&mut self, shop: &Shop) {
        shop.test.clock.advance(LEASE + Duration::from_secs(1));
        let now = shop.now();
        let claim = move |tx: &mut munshi_store::PlatformTx<'_>| {
            runs::claim_due(tx, RunRecoveryScope::Lapsed, now, 100)
        };
        let taken = shop.test.db.platform(RUNS).write(claim).await.unwrap();
        let mut left: Vec<RunId> = self.working.values().flatten().map(|held| held.run).collect();
        let mut found: Vec<RunId> = taken.iter().map(|held| held.run).collect();
        left.sort();
        found.sort();
        assert_eq!(found, left, "what was under way is taken up, and nothing else");
        for held in self.working.values_mut().flatten() {
            *held = *taken.iter().find(|new| new.run == held.run).unwrap();
        }
        let forgotten = shop.test.db.platform(RUNS).read(|tx| runs::list_waiting(tx, 100)).await.unwrap();
        assert_eq!(forgotten, [], "nobody is forgotten");
    }

    /// Somebody has answered an approval: the run goes on beside whatever is under way.
    async fn resume(&mut self, shop: &Shop) {
        let Some(run) = self.waiting.pop() else { return };
        let now = shop.now();
        let taken = shop.write(move |tx| runs::claim(tx, run, now)).await.unwrap();
        let response = shop.response(taken.lease(shop.tenant), "after a yes").await;
        let responded = shop.respond(response).await.unwrap();
        if let Some(next) = responded.next {
            self.begin(shop, next).await;
        }
    }
}

tables! {
    async fn runs_of_a_session_follow_each_other(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(MEERA, "m1", "one").await;
        let second = shop.say(MEERA, "m2", "two").await;
        let third = shop.say(MEERA, "m3", "three").await;
        let elsewhere = shop.say("+919812345679", "m4", "other").await;
        assert_eq!(second.status, IngestStatus::Queued { behind: Some(first.run) });
        assert_eq!(third.status, IngestStatus::Queued { behind: Some(second.run) });
        assert_eq!(elsewhere.status, IngestStatus::Begun, "others wait for nobody");
        let next = shop.answer(held(&first), "1").await.next.unwrap();
        assert_eq!((next.run, next.epoch), (second.run, 1));
        let last = shop.answer(next, "2").await.next.unwrap();
        assert_eq!(last.run, third.run);
        assert_eq!(shop.answer(last, "3").await.next, None);
        let said: Vec<String> = shop.messages(first.session).await.into_iter().map(|one| one.text).collect();
        assert_eq!(said, ["one", "two", "three", "1", "2", "3"]);
    }

    async fn a_run_that_waits_for_a_person_stands_in_nobodys_way(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(MEERA, "m1", "pay him").await;
        let queued = shop.say(MEERA, "m2", "and?").await;
        let mut response = shop.response(held(&first), "shall I?").await;
        response.ending = TurnStatus::Waiting(Box::new(RunSnapshot { calls: 2, ..RunSnapshot::default() }));
        response.settle = None;
        let next = shop.respond(response).await.unwrap().next.unwrap();
        assert_eq!(next.run, queued.run, "who was behind it goes on");
        shop.answer(next, "here I am").await;
        assert_eq!(shop.say(MEERA, "m3", "yes").await.status, IngestStatus::Begun);
        let (run, now) = (first.run, shop.now());
        let waiting = shop.run(run).await;
        assert_eq!((waiting.state, waiting.lease_until, waiting.snapshot.calls), (RunState::WaitingApproval, None, 2));
        assert!(waiting.reservation.is_some(), "not settled yet");
        let ended = shop.write(move |tx| runs::supersede(tx, run, now)).await.unwrap();
        assert_eq!((ended.state, ended.snapshot.calls), (RunState::Done, 2));
        assert!(shop.write(move |tx| runs::supersede(tx, run, now)).await.is_none(), "once");
        assert!(shop.write(move |tx| runs::claim(tx, run, now)).await.is_none());
    }

    async fn order_holds_under_whatever_comes_between(test: TestDb) {
        let shop = Shop::open(test).await;
        for seed in 0..6 {
            let (random, mut play) = (SeededRandom::new(seed), Play { said: u32::try_from(seed).unwrap() * 1000, ..Play::default() });
            let phones = [format!("+9198123{seed:02}001"), format!("+9198123{seed:02}002")];
            for _ in 0..40 {
                match random.next_below(10) {
                    0..=3 => play.say(&shop, &phones[usize::try_from(random.next_below(2)).unwrap()]).await,
                    4..=6 => play.end(&shop, usize::try_from(random.next_below(2)).unwrap(), false).await,
                    7 => play.end(&shop, 0, true).await,
                    8 => play.crash(&shop).await,
                    _ => play.resume(&shop).await,
                }
            }
            while play.working.values().any(|all| !all.is_empty()) {
                play.end(&shop, 0, false).await;
            }
            while !play.waiting.is_empty() {
                play.resume(&shop).await;
            }
            let sql = "SELECT count(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
            let open: i64 = shop.read(move |tx| tx.one(sql, &[], |row| row.get(0))).await;
            assert_eq!(open, 0, "seed {seed}: everybody was answered");
            for session in play.begun.keys() {
                let numbers: Vec<i64> = shop.messages(*session).await.iter().map(|one| one.number).collect();
                assert_eq!(numbers, (1..).take(numbers.len()).collect::<Vec<_>>(), "seed {seed}");
            }
        }
    }

    async fn many_who_write_and_answer_at_once_leave_nobody_out(test: TestDb) {
        let shop = Shop::open(test).await;
        let other = shop.test.open_again().await;
        // Each task writes, and answers whatever it is handed until nothing is left behind it.
        let all = futures_util::future::join_all((0..24).map(|number| {
            let db = if number % 2 == 0 { shop.test.db.clone() } else { other.clone() };
            let shop = &shop;
            async move {
                let incoming = std::sync::Arc::new(shop.incoming(MEERA, &format!("m{number}"), "hello"));
                let ingested = munshi_conversations::ingest::receive(&db, shop.tenant, &shop.desk, incoming).await.unwrap();
                let (mut holding, mut answered) = (ingested.begun.map(|begun| begun.lease), Vec::new());
                while let Some(held) = holding {
                    let response = shop.response(held, "answer").await;
                    answered.push(shop.run(held.run).await.conversation().unwrap().number);
                    holding = respond_on(&db, &shop.desk, response).await.unwrap().next;
                }
                answered
            }
        })).await;
        assert_eq!(all.iter().map(Vec::len).sum::<usize>(), 24);
        assert!(all.iter().all(|numbers| numbers.is_sorted()), "{all:?}");
        assert_eq!((shop.count("used").await, shop.count("held").await, shop.count("reservations").await), (24, 0, 0));
        assert_eq!(shop.count("messages").await, 48);
    }
}
