//! Tools that a program calls itself, without a turn: in the name of a binding, through the same dispatcher, with nothing
//! open that a turn of that binding would not have.

use std::sync::Arc;

use munshi_identity::Principal;
use munshi_pack::Scene;
use munshi_safety::acts;
use munshi_safety::pipeline::{Caller, CheckedArguments, Concern, Door, Proposal, Source, Taint, Wanted};
use munshi_store::Tx;
use munshi_tiers::{Resolution, contract};
use munshi_tools::{Answer, NoJournal, Tool, Want};
use munshi_types::tier::Channel;
use munshi_types::{ActId, KeyId, ToolName};
use serde_json::{Value, json};

use crate::engine::{Engine, Inner};
use crate::error::Result;

/// A tool that is open, and the binding through which it is.
#[derive(Clone)]
pub struct Offered {
    pub tool: Tool,
    pub place: Arc<Resolution>,
}

/// One call of a program. Its arguments are a model's, of whose prompt nothing is known.
#[derive(Clone)]
pub struct Direct {
    pub who: Principal,
    /// The key that calls: it can't say yes to its own call, and no other key of the same role hears of it.
    pub key: KeyId,
    pub offered: Offered,
    pub arguments: Value,
    /// The same for the same call: it is done once.
    pub act: ActId,
    pub wanted: Wanted,
}

impl Engine {
    /// The tools of these bindings that are open to somebody, each once, by name: through the binding whose agent goes
    /// furthest by itself. With `only`, that one alone.
    pub async fn open_tools(
        &self,
        who: &Principal,
        places: &[Arc<Resolution>],
        only: Option<&str>,
    ) -> Result<Vec<Offered>> {
        let mut all: Vec<Offered> = places.iter().flat_map(|place| self.inner.tools_of(place)).collect();
        all.retain(|one| only.is_none_or(|only| one.tool.known.spec.name.as_str() == only));
        let proposals: Vec<Proposal> = all.iter().map(|one| self.inner.sounding(who, one)).collect();
        let office = self.inner.office.clone();
        let open = self.inner.db.read(who.tenant, move |tx| acts::open(tx, &office, &proposals)).await?;
        let mut open: Vec<Offered> =
            all.into_iter().zip(open).filter_map(|(one, is_open)| is_open.then_some(one)).collect();
        let autonomy = |one: &Offered| one.place.agent.body.policy.autonomy;
        open.sort_by(|one, other| {
            let name = |one: &Offered| one.tool.known.spec.name.clone();
            name(one)
                .cmp(&name(other))
                .then(autonomy(other).cmp(&autonomy(one)))
                .then(one.place.binding_name.cmp(&other.place.binding_name))
        });
        open.dedup_by(|later, first| later.tool.known.spec.name == first.tool.known.spec.name);
        Ok(open)
    }

    /// Calls a tool. It is done to its end also where nobody waits for it any more.
    pub async fn call_tool(&self, call: Direct) -> Result<Answer> {
        let engine = self.clone();
        self.detached(async move { engine.inner.call_directly(call).await }).await
    }

    /// Goes on with an act that waited for a person, or tells how it stands; none where there is no such act.
    pub async fn resume_tool(&self, place: Arc<Resolution>, act: ActId) -> Result<Option<Answer>> {
        let engine = self.clone();
        self.detached(async move {
            let tools: Vec<ToolName> =
                engine.inner.tools_of(&place).iter().map(|one| one.tool.known.spec.name.clone()).collect();
            let conduct = Arc::new(place.agent.body.policy.clone());
            let dispatcher = &engine.inner.dispatcher;
            Ok(dispatcher.resume(place.tenant, act, conduct, &tools, Arc::new(NoJournal)).await?)
        })
        .await
    }
}

impl Inner {
    /// What a turn of this binding has: the agent's own tools, and those of its connectors.
    fn tools_of(&self, place: &Arc<Resolution>) -> Vec<Offered> {
        let (team, agent) = (&place.team.body, &place.agent.body);
        let own = contract::tools(team, agent);
        let own = own.iter().filter_map(|name| self.dispatcher.registry().get(name.as_str()).cloned());
        let mut tools: Vec<Tool> = own.collect();
        if let Some(shelf) = self.dispatcher.shelf(place.tenant) {
            let has = |tool: &&Tool| {
                contract::has_tool_of(team, agent, &tool.known.connector.name, &tool.known.spec.name)
            };
            tools.extend(shelf.all().filter(has).cloned());
        }
        tools.into_iter().map(|tool| Offered { tool, place: place.clone() }).collect()
    }

    /// A proposal that is never made: whether something is open is asked with it.
    fn sounding(&self, who: &Principal, one: &Offered) -> Proposal {
        Proposal {
            act: self.ids.next(),
            name: one.tool.known.spec.name.to_string(),
            arguments: CheckedArguments::new(json!({}), Some(&one.tool.known)),
            tool: Some(one.tool.known.clone()),
            offered: true,
            wanted: Wanted::Act,
            caller: caller(who, None, &one.place),
            agent: Arc::new(one.place.agent.body.policy.clone()),
            taint: taint(who),
            concerns: Vec::new(),
        }
    }

    async fn call_directly(&self, call: Direct) -> Result<Answer> {
        let Direct { who, key, offered: Offered { tool, place }, arguments, act, wanted } = call;
        let concerns = self.concerns_of(&who, &place, &tool, &arguments).await?;
        let want = Want {
            act,
            name: tool.known.spec.name.to_string(),
            arguments,
            offered: true,
            wanted,
            caller: caller(&who, Some(key), &place),
            agent: Arc::new(place.agent.body.policy.clone()),
            taint: taint(&who),
            concerns,
        };
        Ok(self.dispatcher.call(want, Arc::new(NoJournal)).await?)
    }

    async fn concerns_of(
        &self,
        who: &Principal,
        place: &Resolution,
        tool: &Tool,
        arguments: &Value,
    ) -> Result<Vec<Concern>> {
        if self.house.checks.is_empty() {
            return Ok(Vec::new());
        }
        let scene = Scene {
            principal: who.clone(),
            door: Door::from(place.binding.door),
            binding: place.binding_id,
            // There is no conversation, so none that anybody could find.
            session: self.ids.next(),
            channel: Channel::Api,
            language: None,
            message: String::new(),
            before: Arc::default(),
            standing: Arc::default(),
            tools: Arc::default(),
            now: self.clock.now(),
            zone: place.zone.clone(),
        };
        let (house, tool, arguments) =
            (self.house.clone(), tool.known.spec.name.to_string(), arguments.clone());
        let read = move |tx: &mut Tx<'_>| -> Result<Vec<Concern>> {
            let mut concerns = Vec::new();
            for check in &house.checks {
                concerns.extend(check.before(tx, &scene, &tool, &arguments)?);
            }
            Ok(concerns)
        };
        self.db.read(who.tenant, read).await
    }
}

fn caller(who: &Principal, key: Option<KeyId>, place: &Resolution) -> Caller {
    Caller {
        principal: who.clone(),
        door: Door::from(place.binding.door),
        binding: Some(place.binding_id),
        run: None,
        session: None,
        zone: place.zone.clone(),
        background: false,
        key,
    }
}

/// What led the program's model to a call is not known here: it may be anybody's words, so a write is confirmed.
fn taint(who: &Principal) -> Taint {
    // What the program knows it has outside already; of ours this call knows nothing.
    let mut taint = Taint { sources: [Source::Connector].into(), ..Taint::default() };
    if who.role().is_none() {
        taint.sources.insert(Source::Visitor);
    }
    taint
}
