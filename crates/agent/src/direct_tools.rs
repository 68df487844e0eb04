//! Tools that a program calls itself, without a turn: in the name of a binding, through the same dispatcher, with nothing
//! open that a turn of that binding would not have.

use std::sync::Arc;

use munshi_conversations::Result;
use munshi_identity::Principal;
use munshi_identity::keys::KeyCeiling;
use munshi_pack::PackTurnContext;
use munshi_safety::acts;
use munshi_safety::pipeline::{
    ActCaller, ActConcern, CallerAudience, CheckedArguments, Proposal, ProposalMode, Taint, TaintSource,
};
use munshi_store::Tx;
use munshi_tiers::{BindingResolution, precedence};
use munshi_tools::{NoActJournal, Tool, ToolAnswer, ToolCallRequest};
use munshi_types::tier::Channel;
use munshi_types::{ActId, KeyId, TenantPacks, ToolName};
use serde_json::{Value, json};

use crate::engine::{TurnEngine, TurnEngineInner};

/// A tool that is open, and the binding through which it is.
#[derive(Clone)]
pub struct DirectTool {
    pub tool: Tool,
    pub binding: Arc<BindingResolution>,
}

/// One call of a program. Its arguments are a model's, of whose prompt nothing is known.
#[derive(Clone)]
pub struct DirectCall {
    pub who: Principal,
    /// The key that calls: it can't say yes to its own call, and no other key of the same role hears of it.
    pub key: KeyId,
    pub offered: DirectTool,
    pub arguments: Value,
    /// The same for the same call: it is done once.
    pub act: ActId,
    pub wanted: ProposalMode,
}

impl TurnEngine {
    /// The tools of these bindings that are open to somebody, each once, by name: through the binding whose agent goes
    /// furthest by itself. With `only`, that one alone. Those that need a conversation are open to no program.
    pub async fn open_tools(
        &self,
        who: &Principal,
        bindings: &[Arc<BindingResolution>],
        only: Option<&str>,
    ) -> Result<Vec<DirectTool>> {
        let mut all: Vec<DirectTool> =
            bindings.iter().flat_map(|binding| self.inner.tools_of(binding)).collect();
        all.retain(|one| {
            let spec = &one.tool.known.spec;
            !spec.needs_conversation && only.is_none_or(|only| spec.name.as_str() == only)
        });
        let proposals: Vec<Proposal> =
            all.iter().map(|one| self.inner.build_probe_proposal(who, one)).collect();
        let act_services = self.inner.act_services.clone();
        let open =
            self.inner.db.read(who.tenant, move |tx| acts::check_open(tx, &act_services, &proposals)).await?;
        let mut open: Vec<DirectTool> =
            all.into_iter().zip(open).filter_map(|(one, is_open)| is_open.then_some(one)).collect();
        let autonomy = |one: &DirectTool| one.binding.agent.body.policy.autonomy;
        open.sort_by(|one, other| {
            let name = |one: &DirectTool| one.tool.known.spec.name.clone();
            // Of two packs' tools with one name it is always the same one's, whatever agents may do.
            name(one)
                .cmp(&name(other))
                .then(one.tool.known.pack.cmp(&other.tool.known.pack))
                .then(autonomy(other).cmp(&autonomy(one)))
                .then(one.binding.binding_name.cmp(&other.binding.binding_name))
        });
        open.dedup_by(|later, first| later.tool.known.spec.name == first.tool.known.spec.name);
        Ok(open)
    }

    /// Calls a tool. It is done to its end also where nobody waits for it any more.
    pub async fn call_tool(&self, call: DirectCall) -> Result<ToolAnswer> {
        let engine = self.clone();
        self.run_detached(async move { engine.inner.call_directly(call).await }).await
    }

    /// Goes on with an act that waited for a person, or tells how it stands; none where there is no such act.
    pub async fn resume_tool(
        &self,
        binding: Arc<BindingResolution>,
        act: ActId,
    ) -> Result<Option<ToolAnswer>> {
        let engine = self.clone();
        self.run_detached(async move {
            if !binding.agent.body.connectors.is_empty() {
                engine.inner.dispatcher.wait_for_connectors(binding.tenant).await;
            }
            let tools: Vec<ToolName> = engine
                .inner
                .tools_of(&binding)
                .iter()
                .filter_map(|one| one.tool.known.identity().parse().ok())
                .collect();
            let conduct = Arc::new(binding.agent.body.policy.clone());
            let dispatcher = &engine.inner.dispatcher;
            Ok(dispatcher.resume(binding.tenant, act, conduct, &tools, Arc::new(NoActJournal)).await?)
        })
        .await
    }
}

impl TurnEngineInner {
    /// What a turn of this binding has: the agent's own tools, and those of its connectors.
    fn tools_of(&self, binding: &Arc<BindingResolution>) -> Vec<DirectTool> {
        let (team, agent) = (&binding.team.body, &binding.agent.body);
        let own = precedence::select_tools(team, agent);
        let own = own.iter().flat_map(|name| self.dispatcher.registry().list_meant(name)).cloned();
        let mut tools: Vec<Tool> = own.collect();
        if let Some(shelf) = self.dispatcher.tenant_tools(binding.tenant) {
            let has = |tool: &&Tool| {
                precedence::allows_connector_tool(
                    team,
                    agent,
                    &tool.known.connector.name,
                    &tool.known.spec.name,
                )
            };
            tools.extend(shelf.all().filter(has).cloned());
        }
        tools.into_iter().map(|tool| DirectTool { tool, binding: binding.clone() }).collect()
    }

    /// A proposal that is never made: whether something is open is asked with it.
    fn build_probe_proposal(&self, who: &Principal, one: &DirectTool) -> Proposal {
        Proposal {
            act: self.ids.next(),
            name: one.tool.known.spec.name.to_string(),
            arguments: CheckedArguments::new(json!({}), Some(&one.tool.known)),
            tool: Some(one.tool.known.clone()),
            offered: true,
            wanted: ProposalMode::Act,
            caller: caller(who, None, &one.binding),
            agent: Arc::new(one.binding.agent.body.policy.clone()),
            taint: taint(who),
            concerns: Vec::new(),
        }
    }

    async fn call_directly(&self, call: DirectCall) -> Result<ToolAnswer> {
        let DirectCall { who, key, offered: DirectTool { tool, binding }, arguments, act, wanted } = call;
        let concerns = self.concerns_of(&who, &binding, &tool, &arguments).await?;
        let want = ToolCallRequest {
            act,
            name: tool.known.identity(),
            arguments,
            offered: true,
            wanted,
            caller: caller(&who, Some(key), &binding),
            agent: Arc::new(binding.agent.body.policy.clone()),
            taint: taint(&who),
            concerns,
        };
        Ok(self.dispatcher.call(want, Arc::new(NoActJournal)).await?)
    }

    pub(crate) async fn concerns_of(
        &self,
        who: &Principal,
        binding: &BindingResolution,
        tool: &Tool,
        arguments: &Value,
    ) -> Result<Vec<ActConcern>> {
        if self.packs.checks.is_empty() {
            return Ok(Vec::new());
        }
        let mut pack_context = PackTurnContext {
            principal: who.clone(),
            door: CallerAudience::from(binding.binding.door),
            binding: binding.binding_id,
            // There is no conversation, so none that anybody could find.
            session: self.ids.next(),
            channel: Channel::Api,
            language: None,
            message: String::new(),
            before: Arc::default(),
            standing: Arc::default(),
            tools: Arc::default(),
            packs: TenantPacks::all(),
            now: self.clock.now(),
            zone: binding.zone.clone(),
            query: Arc::default(),
        };
        let act_services = self.act_services.clone();
        let (packs, tool, arguments) =
            (self.packs.clone(), tool.known.spec.name.to_string(), arguments.clone());
        let read = move |tx: &mut Tx<'_>| -> Result<Vec<ActConcern>> {
            let mut concerns = Vec::new();
            pack_context.packs = act_services.load_policy(tx)?.packs.clone();
            for check in packs.checks_of(&pack_context.packs) {
                concerns.extend(check.check_before_act(tx, &pack_context, &tool, &arguments)?);
            }
            Ok(concerns)
        };
        self.db.read(who.tenant, read).await
    }
}

fn caller(who: &Principal, key: Option<KeyId>, binding: &BindingResolution) -> ActCaller {
    ActCaller {
        principal: who.clone(),
        door: CallerAudience::from(binding.binding.door),
        binding: Some(binding.binding_id),
        run: None,
        session: None,
        zone: binding.zone.clone(),
        language: None,
        background: false,
        // Whoever calls through a key has been cut down to what it lets them be.
        ceiling: key.map(|_| KeyCeiling {
            role: who.role(),
            opened: Some(who.opened.clone()),
            closed: who.closed.clone(),
        }),
        key,
    }
}

/// What led the program's model to a call is not known here: it may be anybody's words, so a write is confirmed.
fn taint(who: &Principal) -> Taint {
    // What the program knows it has outside already; of ours this call knows nothing.
    let mut taint = Taint { sources: [TaintSource::Connector].into(), ..Taint::default() };
    if who.role().is_none() {
        taint.sources.insert(TaintSource::Visitor);
    }
    taint
}
