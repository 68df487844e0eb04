//! What packs do when a turn has ended.

use std::sync::{Arc, Mutex};

use munshi_conversations::RunState;
use munshi_pack::{FinishedTurn, FromPack, PackJobQueue, PackRegistry, TurnHook};
use munshi_store::{Tx, params};
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::Id;

use crate::turns::support::{Plan, Shop, arguments};

/// Writes a note of each turn, and then fails where it is told to.
struct Diary {
    heard: Arc<Mutex<Vec<FinishedTurn>>>,
    fails: bool,
}

impl TurnHook for Diary {
    fn after_turn(&self, tx: &mut Tx<'_>, turn: &FinishedTurn, _: &PackJobQueue) -> munshi_store::Result<()> {
        let note = "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, 'diary')";
        tx.execute(note, params![turn.run.as_uuid()])?;
        self.heard.lock().unwrap().push(turn.clone());
        if self.fails {
            return Err(munshi_store::Error::Refused("as it was told".to_owned()));
        }
        Ok(())
    }
}

async fn open(test: &TestDb, fails: bool) -> (Shop, Arc<Mutex<Vec<FinishedTurn>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut house = PackRegistry::default();
    house.turn_hooks.push(FromPack { pack: "sample", what: Arc::new(Diary { heard: heard.clone(), fails }) });
    let script = [ScriptedTurn::call("count", &arguments("")), ScriptedTurn::text("There are none.")];
    (Shop::open_with(test, script, Plan { house, ..Plan::default() }).await, heard)
}

on_both! {
    async fn a_pack_hears_of_each_turn_in_its_transaction(test: TestDb) {
        let (shop, heard) = open(&test, false).await;
        assert_eq!(shop.ask("1", "how many notes").await.state, RunState::Done);
        let heard = heard.lock().unwrap().clone();
        let [turn] = &heard[..] else { panic!("once: {heard:?}") };
        assert_eq!((turn.reply.as_str(), turn.context.message.as_str()), ("There are none.", "how many notes"));
        assert_eq!((turn.calls.len(), turn.calls[0].tool.as_str(), turn.calls[0].ok), (1, "count", true));
        assert_eq!(shop.notes().await, 1, "what it wrote is there with the reply");
    }

    async fn one_that_fails_takes_nothing_from_the_person(test: TestDb) {
        let (shop, heard) = open(&test, true).await;
        let outcome = shop.ask("1", "how many notes").await;
        assert_eq!((outcome.state, outcome.text.as_str()), (RunState::Done, "There are none."));
        let times = heard.lock().unwrap().len();
        assert_eq!((times, shop.notes().await), (1, 0), "what it wrote is undone");
    }
}
