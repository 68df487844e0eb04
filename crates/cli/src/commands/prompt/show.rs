//! `munshi prompt show BINDING --message …`: the exact prompt, and how it came about.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use munshi_llm::{ChatMessage, ModelMessagePart};
use munshi_tiers::precedence::{self, TurnSituation};
use munshi_tiers::prompt::{
    AssembledPrompt, ConnectorToolSpec, PromptReport, PromptSection, PromptTiers, StaticPrompt, TurnContext,
    TurnEnvelope, assemble, tool_tokens,
};
use munshi_tiers::{BindingResolution, BindingResolver, ensure_fence_key};
use munshi_tools::{TenantTools, Tool};
use munshi_types::tier::{Channel, LanguageCode, PromptBudgetProfile, PromptBudgets, TierName};
use munshi_types::{SystemRandom, TenantName, Timestamp, ToolName, ToolSpec};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use munshi_wiring::{connectors, installation};
use serde::Serialize;

use super::fixture::{PromptFixture, detect_language, message};
use super::{binding, text};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct PromptShowArguments {
    /// Binding
    binding: TierName,
    /// Message; `-` reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: String,
    /// Tenant, if several have a binding of this name
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// Channel of the message. Default: the binding's first
    #[arg(long)]
    channel: Option<Channel>,
    /// Budget profile to use instead of the agent's: runtime or compact
    #[arg(long)]
    profile: Option<PromptBudgetProfile>,
    /// Sender's address on the channel, to select their slice
    #[arg(long, value_name = "ADDRESS")]
    person: Option<String>,
    /// Sender's language, such as ta or hi-latn. Default: detected
    #[arg(long, value_name = "CODE")]
    language: Option<LanguageCode>,
    /// Time in the prompt, such as 2026-11-15T09:00:00Z. Default: now
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// JSON file with facts, recall and history
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Include the tools of its connectors, which are started for this
    #[arg(long)]
    connectors: bool,
    /// Render as in an escalation
    #[arg(long)]
    escalation: bool,
    /// Print only the exact prompt text
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

/// The prompt as `--json` gives it.
#[derive(Debug, Serialize)]
pub(super) struct PromptShowReport {
    pub(super) tenant: TenantName,
    pub(super) binding: PromptShowTier,
    pub(super) human: PromptShowTier,
    pub(super) team: PromptShowTier,
    pub(super) agent: PromptShowTier,
    pub(super) slice: Option<String>,
    pub(super) channel: Channel,
    pub(super) language: Option<LanguageCode>,
    /// What is the same in every turn, block by block.
    pub(super) blocks: Vec<PromptShowBlock>,
    /// As they go to the model: human, team, agent, and what this turn is about.
    pub(super) system: Vec<String>,
    pub(super) messages: Vec<ChatMessage>,
    pub(super) tools: Vec<ToolSpec>,
    /// Those that would be offered if they were installed.
    pub(super) not_installed: Vec<ToolName>,
    pub(super) budgets: PromptBudgets,
    pub(super) report: PromptReport,
}

#[derive(Debug, Serialize)]
pub(super) struct PromptShowTier {
    pub(super) name: TierName,
    pub(super) version: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct PromptShowBlock {
    pub(super) section: PromptSection,
    pub(super) tokens: u32,
    pub(super) text: String,
}

pub(super) fn run(context: &CommandContext, arguments: &PromptShowArguments) -> Result<()> {
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    let message = message(&arguments.message)?;
    let known = arguments.known.as_deref().map(PromptFixture::read).transpose()?.unwrap_or_default();
    let (resolution, key, shelf) = context.block_on(async {
        let db = database.open().await?;
        let resolver = BindingResolver::new(db.clone()).with_tools(installation::tools()?);
        let (tenant, person) = (arguments.tenant.as_ref(), arguments.person.as_deref());
        let resolution = binding::find(&resolver, tenant, &arguments.binding, person).await?;
        let key = ensure_fence_key(&db, &SystemRandom, context.now()).await?;
        let shelf = match arguments.connectors {
            true => {
                connectors::load_tenant_tools(&context.config()?, &db, &context.clock, resolution.tenant)
                    .await?
            }
            false => Arc::default(),
        };
        Ok((resolution, key, shelf))
    })?;
    let envelope = TurnEnvelope {
        now: arguments.at.unwrap_or_else(|| context.now()),
        zone: resolution.zone.clone(),
        channel: channel(&resolution, arguments.channel)?,
        locale: String::new(),
        language: arguments.language.clone().or_else(|| detect_language(message.as_str())),
        situation: if arguments.escalation { TurnSituation::Escalation } else { TurnSituation::Usual },
    };
    let (channel, language) = (envelope.channel, envelope.language.clone());
    let installed = installation::tools()?;
    let static_prompt = build_static_prompt(&resolution, arguments.profile, &installed);
    let guests = select_connector_tools(&resolution, &static_prompt, &shelf, message.as_str());
    let moment = TurnContext { tools: guests, ..known.into_turn_context(envelope, message, key) };
    let assembled = assemble(&static_prompt, &moment)
        .map_err(|too_large| CommandFailure::refused(too_large.to_string()))?;
    if arguments.raw {
        return context.output.print_exact(&render_raw(&assembled));
    }
    context.output.print_result(
        &build_report(&resolution, &static_prompt, assembled, &installed, (channel, language)),
        text::render,
    )
}

/// The most fitting for the message, as in a turn.
fn select_connector_tools(
    resolution: &BindingResolution,
    static_prompt: &StaticPrompt,
    shelf: &TenantTools,
    message: &str,
) -> Vec<ConnectorToolSpec> {
    let (team, agent) = (&resolution.team.body, &resolution.agent.body);
    let has = |tool: &Tool| {
        precedence::allows_connector_tool(team, agent, &tool.known.connector.name, &tool.known.spec.name)
    };
    let chosen = shelf.choose(&[(message, 1.0)], static_prompt.free_tool_slots(), has).into_iter();
    chosen
        .map(|tool| {
            let spec = &tool.known.spec;
            ConnectorToolSpec { tokens: tool_tokens(spec), tool: Arc::new(spec.clone()) }
        })
        .collect()
}

/// One of the binding's channels.
fn channel(resolution: &BindingResolution, asked: Option<Channel>) -> Result<Channel> {
    let channels = &resolution.binding.channels;
    match asked {
        Some(asked) if channels.contains(&asked) => Ok(asked),
        Some(asked) => {
            let has = channels.iter().map(|channel| channel.as_str()).collect::<Vec<_>>().join(", ");
            let name = &resolution.binding_name;
            Err(CommandFailure::refused(format!("binding {name} has no channel {asked}"))
                .hint(format!("its `channels` are {has}")))
        }
        None => Ok(channels.first().copied().unwrap_or(Channel::Web)),
    }
}

/// The binding's own, or the same three with another profile's budgets.
fn build_static_prompt(
    resolution: &BindingResolution,
    profile: Option<PromptBudgetProfile>,
    installed: &[Arc<ToolSpec>],
) -> Arc<StaticPrompt> {
    let Some(profile) = profile else { return resolution.static_prompt.clone() };
    let mut agent = resolution.agent.body.clone();
    agent.limits.profile = profile;
    let (human, team) = (&resolution.human.body, &resolution.team.body);
    Arc::new(StaticPrompt::new(&PromptTiers { human, team, agent: &agent, installed }))
}

fn build_report(
    resolution: &BindingResolution,
    static_prompt: &StaticPrompt,
    assembled: AssembledPrompt,
    installed: &[Arc<ToolSpec>],
    (channel, language): (Channel, Option<LanguageCode>),
) -> PromptShowReport {
    let BindingResolution { human, team, agent, .. } = resolution;
    let named = |name: &TierName, version| PromptShowTier { name: name.clone(), version };
    let block =
        |(section, text, tokens): (_, &str, _)| PromptShowBlock { section, tokens, text: text.to_owned() };
    PromptShowReport {
        tenant: resolution.tenant_name.clone(),
        binding: named(&resolution.binding_name, resolution.binding_version),
        human: named(&human.name, human.version),
        team: named(&team.name, team.version),
        agent: named(&agent.name, agent.version),
        slice: resolution.slice.clone(),
        channel,
        language,
        blocks: static_prompt.blocks().map(block).collect(),
        system: assembled.system,
        messages: assembled.messages,
        tools: assembled.tools.iter().map(|tool| tool.as_ref().clone()).collect(),
        not_installed: list_missing_tools(resolution, installed),
        budgets: *static_prompt.budgets(),
        report: assembled.report,
    }
}

fn list_missing_tools(resolution: &BindingResolution, installed: &[Arc<ToolSpec>]) -> Vec<ToolName> {
    let mut wanted = precedence::select_tools(&resolution.team.body, &resolution.agent.body);
    wanted.retain(|name| !installed.iter().any(|tool| name.means(tool)));
    wanted
}

/// What is said to the model and by whom it was said before, without a byte of ours between.
fn render_raw(assembled: &AssembledPrompt) -> String {
    let parts = assembled.messages.iter().flat_map(|message| &message.parts);
    let said = parts.filter_map(|part| match part {
        ModelMessagePart::Text { text } => Some(text.as_str()),
        _ => None,
    });
    assembled.system.iter().map(String::as_str).chain(said).collect()
}
