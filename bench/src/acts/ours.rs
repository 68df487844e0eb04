//! Through the dispatcher, with everything on.

use std::sync::Arc;

use anyhow::{Result, ensure};
use munshi_safety::acts::{Office, Permit};
use munshi_safety::budget::{Governor, Settings};
use munshi_safety::pipeline::{Taint, Wanted};
use munshi_store::{Tx, params};
use munshi_tools::{Answer, Body, Dispatcher, Done, Failure, NoJournal, Registry, Want, Write};
use munshi_types::{Effect, Ids, SystemClock};
use serde_json::json;

use super::{Shop, connector, spec};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

struct LogSale;

impl Write for LogSale {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<Done, Failure> {
        let arguments = permit.arguments();
        let (name, amount) = (arguments["name"].as_str(), arguments["amount"].as_i64());
        tx.execute(super::bare::SALE, params![permit.act(), name, amount])?;
        Ok(Done::with(json!({ "name": name, "amount": amount })))
    }
}

pub(crate) struct Ours {
    shop: Arc<Shop>,
    dispatcher: Dispatcher,
    ids: Ids,
}

impl Ours {
    pub(crate) fn new(shop: Shop) -> Result<Self> {
        let ids = Ids::system();
        let mut registry = Registry::default();
        registry.add(spec(Effect::Inside)?, connector(), Body::Write(Arc::new(LogSale)))?;
        let office = Arc::new(Office::new(ids.clone(), Governor::new(Settings::default(), ids.clone())));
        let dispatcher = Dispatcher::new(shop.db.clone(), office, Arc::new(registry), Arc::new(SystemClock));
        Ok(Self { shop: Arc::new(shop), dispatcher, ids })
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (shop, dispatcher, ids) = (self.shop.clone(), self.dispatcher.clone(), self.ids.clone());
        load.tasks(move || {
            let want = Want {
                act: ids.next(),
                name: "log_sale".to_owned(),
                arguments: json!({ "name": "राजू", "amount": 500, "note": "दो बोरी चावल" }),
                offered: true,
                wanted: Wanted::Act,
                caller: shop.caller.clone(),
                agent: shop.agent.clone(),
                taint: Taint::clean("राजू को पाँच सौ का माल दिया"),
                concerns: Vec::new(),
            };
            let dispatcher = dispatcher.clone();
            async move {
                let answer = dispatcher.call(want, Arc::new(NoJournal)).await?;
                ensure!(matches!(answer, Answer::Done(_)), "{answer:?}");
                Ok(())
            }
        })
    }
}
