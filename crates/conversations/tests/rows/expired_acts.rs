//! Acts that a tenant keeps no longer, and those that something still leads to.

use std::time::Duration;

use munshi_conversations::retention::{self, ExpiryReport};
use munshi_store::{Tx, params};
use munshi_types::{ActId, RunId, Timestamp};

use crate::rows::support::{Shop, held, tables};

const DAY: Duration = Duration::from_secs(86_400);

/// An act of ninety days ago.
#[derive(Clone, Copy, Default)]
struct OldAct {
    run: Option<RunId>,
    is_open: bool,
    undo_until: Option<Timestamp>,
    undone_by: Option<ActId>,
}

async fn add(shop: &Shop, act: OldAct) -> ActId {
    let id: ActId = shop.test.ids.next();
    let at = shop.now().minus(DAY * 90);
    let (state, ended_at) = if act.is_open { ("waiting", None) } else { ("applied", Some(at)) };
    let add = move |tx: &mut Tx<'_>| {
        tx.execute(
            "INSERT INTO acts (tenant_id, id, run_id, tool, connector, effect, arguments, proposal, digest, state, attempt,
               began_at, ended_at, undo_until, undone_by)
             VALUES ($1, $2, $3, 'note', 'house', 'inside', '{}', 'null', $4, $5, 1, $6, $7, $8, $9)",
            params![id, act.run, &[0_u8; 32][..], state, at, ended_at, act.undo_until, act.undone_by],
        )
    };
    shop.write(add).await;
    id
}

tables! {
    async fn an_act_stays_while_something_leads_to_it(test: TestDb) {
        let shop = Shop::open(test).await;
        let (ended, open) = (shop.say("+919812345678", "w1", "hello").await, shop.say("+919812345679", "w2", "hello").await);
        shop.answer(held(&ended), "hi").await;
        shop.test.clock.advance(DAY * 100);
        let waiting = add(&shop, OldAct { is_open: true, ..OldAct::default() }).await;
        let mut stay = [
            waiting,
            add(&shop, OldAct { run: Some(open.run), ..OldAct::default() }).await,
            add(&shop, OldAct { undo_until: Some(shop.now().plus(DAY)), ..OldAct::default() }).await,
            add(&shop, OldAct { undone_by: Some(waiting), ..OldAct::default() }).await,
        ];
        let undoing = add(&shop, OldAct::default()).await;
        add(&shop, OldAct { run: Some(ended.run), ..OldAct::default() }).await;
        add(&shop, OldAct { undo_until: Some(shop.now().minus(DAY)), undone_by: Some(undoing), ..OldAct::default() }).await;
        let periods = munshi_safety::policy::parse("[retention]\nacts_days = 30\n").unwrap().retention;
        let expire = async || retention::expire(&shop.test.db, shop.tenant, &periods, shop.now()).await.unwrap();
        assert_eq!(expire().await, ExpiryReport { acts: 3, ..ExpiryReport::default() });
        assert_eq!(expire().await, ExpiryReport::default());
        let list = |tx: &mut Tx<'_>| tx.all("SELECT id FROM acts WHERE tenant_id = $1 ORDER BY id", &[], |row| row.get::<ActId>(0));
        stay.sort_unstable();
        assert_eq!(shop.read(list).await, stay);
        // Once it can be taken back no more, and nobody is about to.
        shop.test.clock.advance(DAY * 2);
        let end = |tx: &mut Tx<'_>| tx.execute("UPDATE acts SET state = 'dropped', ended_at = began_at WHERE tenant_id = $1 AND ended_at IS NULL", &[]);
        shop.write(end).await;
        assert_eq!(expire().await.acts, 3, "that of the run that goes on stays");
    }
}
