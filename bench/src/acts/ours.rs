//! Through the dispatcher, with everything on.

use std::sync::Arc;

use anyhow::{Result, ensure};
use munshi_safety::acts::{ActServices, Permit};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ProposalMode, Taint};
use munshi_store::{Tx, params};
use munshi_tools::{
    NoActJournal, ToolAnswer, ToolCallRequest, ToolDispatcher, ToolFailure, ToolHandler, ToolOutput,
    ToolRegistry, WriteToolHandler,
};
use munshi_types::{Effect, IdGenerator, SystemClock};
use serde_json::json;

use super::{Shop, connector, spec};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

struct LogSale;

impl WriteToolHandler for LogSale {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let arguments = permit.arguments();
        let (name, amount) = (arguments["name"].as_str(), arguments["amount"].as_i64());
        tx.execute(super::bare::SALE, params![permit.act(), name, amount])?;
        Ok(ToolOutput::new(json!({ "name": name, "amount": amount })))
    }
}

pub(crate) struct Ours {
    shop: Arc<Shop>,
    dispatcher: ToolDispatcher,
    ids: IdGenerator,
}

impl Ours {
    pub(crate) fn new(shop: Shop) -> Result<Self> {
        let ids = IdGenerator::system();
        let mut registry = ToolRegistry::default();
        registry.add(spec(Effect::Inside)?, connector(), ToolHandler::Write(Arc::new(LogSale)))?;
        let act_services = Arc::new(ActServices::new(
            ids.clone(),
            BudgetGovernor::new(BudgetSettings::default(), ids.clone()),
        ));
        let dispatcher =
            ToolDispatcher::new(shop.db.clone(), act_services, Arc::new(registry), Arc::new(SystemClock));
        Ok(Self { shop: Arc::new(shop), dispatcher, ids })
    }
}

impl Contestant for Ours {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let (shop, dispatcher, ids) = (self.shop.clone(), self.dispatcher.clone(), self.ids.clone());
        load.run_tasks(move || {
            let want = ToolCallRequest {
                act: ids.next(),
                name: "log_sale".to_owned(),
                arguments: json!({ "name": "राजू", "amount": 500, "note": "दो बोरी चावल" }),
                offered: true,
                wanted: ProposalMode::Act,
                caller: shop.caller.clone(),
                agent: shop.agent.clone(),
                taint: Taint::from_own_words("राजू को पाँच सौ का माल दिया"),
                concerns: Vec::new(),
            };
            let dispatcher = dispatcher.clone();
            async move {
                let answer = dispatcher.call(want, Arc::new(NoActJournal)).await?;
                ensure!(matches!(answer, ToolAnswer::Done(_)), "{answer:?}");
                Ok(())
            }
        })
    }
}
