//! Messages that join the turn before them: all of them or none.

use munshi_conversations::commit::RunProgress;
use munshi_conversations::joining::{self, JoinCheck, JoiningTurn, QueuedMessage};
use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::steps::{self, NewRunStep};
use munshi_conversations::{Error, HaltReason, RunSnapshot, RunState};
use munshi_store::Tx;
use munshi_types::{MessageId, RunId, SessionId};
use serde_json::{Value, json};

use crate::rows::support::{Shop, held, is_lost, tables};

const PHONE: &str = "+919812345678";

async fn queued(shop: &Shop, session: SessionId) -> Vec<QueuedMessage> {
    let list = move |tx: &mut Tx<'_>| joining::list_queued(tx, session, 1, 10);
    shop.test.db.read(shop.tenant, list).await.unwrap()
}

fn runs_of(queued: &[QueuedMessage]) -> Vec<RunId> {
    queued.iter().map(|queued| queued.run.id).collect()
}

async fn join(
    shop: &Shop,
    lease: RunLease,
    joining: Vec<QueuedMessage>,
) -> munshi_conversations::Result<bool> {
    let (desk, now) = (shop.desk.clone(), shop.now());
    let person = joining[0].run.person();
    let joined: Vec<MessageId> = joining.iter().map(|queued| queued.message.id).collect();
    let joined_ids = joined.clone();
    let (with, without) = (RunSnapshot { joined, ..RunSnapshot::default() }, RunSnapshot::default());
    let step = |body| NewRunStep { state: RunState::Thinking, body, micros: 1, at: now };
    let steps = [step(json!({ "told": "before" })), step(json!({ "joined": joined_ids }))];
    let unit = move |tx: &mut Tx<'_>| {
        let (state, snapshot) = (RunState::Preparing, &with);
        let progress = RunProgress { lease, person, state, snapshot, steps: &steps, calls: &[] };
        joining::join(tx, &desk, &JoiningTurn { progress, without: &without, joining: &joining, now })
    };
    shop.test.db.write(shop.tenant, unit).await
}

async fn bodies(shop: &Shop, run: RunId) -> Vec<Value> {
    shop.read(move |tx| steps::list(tx, run)).await.into_iter().map(|step| step.body).collect()
}

tables! {
    async fn messages_join_together_or_not_at_all(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(PHONE, "w1", "how many eggs").await;
        let second = shop.say(PHONE, "w2", "and milk").await;
        let third = shop.say(PHONE, "w3", "and bread").await;
        let lease = held(&first);
        let both = queued(&shop, first.session).await;
        assert_eq!(runs_of(&both), [second.run, third.run]);

        let (stopped, now) = (third.run, shop.now());
        shop.write(move |tx| runs::request_cancel(tx, stopped, now)).await;
        assert!(!join(&shop, lease, both.clone()).await.unwrap(), "one of them no longer waits");
        assert_eq!(shop.run(second.run).await.state, RunState::Created);
        assert_eq!((shop.run(first.run).await.snapshot.joined, shop.count("reservations").await), (vec![], 3));

        assert_eq!(bodies(&shop, first.run).await, [json!({ "told": "before" })], "what did not join is not told as joined");

        let left = queued(&shop, first.session).await;
        assert_eq!(runs_of(&left), [second.run], "what is stopped is in nobody's line");
        assert!(join(&shop, lease, left).await.unwrap());
        let told = bodies(&shop, first.run).await;
        assert_eq!(told.last(), Some(&json!({ "joined": [second.message] })));
        let run = shop.run(second.run).await;
        assert_eq!((run.state, run.halt), (RunState::Halted, Some(HaltReason::Joined(first.run))));
        assert!(run.ended_at.is_some() && run.reservation.is_none());
        assert_eq!((shop.run(first.run).await.snapshot.joined, shop.count("reservations").await), (vec![second.message], 2));
        assert_eq!(shop.answer(lease, "Twelve of each.").await.next.map(|next| next.run), Some(third.run));
        assert_eq!(shop.count("used").await, 1);
    }

    async fn who_has_lost_its_run_takes_in_nothing(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(PHONE, "w1", "how many eggs").await;
        let second = shop.say(PHONE, "w2", "and milk").await;
        let lease = held(&first);
        let waiting = queued(&shop, first.session).await;
        let lost = join(&shop, RunLease { epoch: lease.epoch - 1, ..lease }, waiting).await;
        assert!(is_lost(&lost));
        assert_eq!(shop.run(second.run).await.state, RunState::Created, "all of it is undone");
    }

    async fn no_reply_is_stored_over_a_message_that_nobody_looked_at(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say(PHONE, "w1", "how many eggs").await;
        let second = shop.say(PHONE, "w2", "and milk").await;
        let mut response = shop.response(held(&first), "Twelve.").await;
        let check = |seen| Some(JoinCheck { behind: 1, known_messages: 1, seen });
        response.join_check = check(Vec::new());
        assert!(matches!(shop.respond(response.clone()).await, Err(Error::Followed(run)) if run == first.run));
        assert_eq!(shop.count("messages").await, 2);
        response.join_check = check(vec![second.run]);
        assert_eq!(shop.respond(response).await.unwrap().next.map(|next| next.run), Some(second.run));
    }
}
