//! `munshi prompt show BINDING --message …`: the exact prompt, and how it came about.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use munshi_llm::{ChatMessage, ModelMessagePart};
use munshi_tiers::contract::{self, TurnSituation};
use munshi_tiers::prompt::{
    AssembledPrompt, ConnectorToolSpec, PromptReport, PromptSection, PromptTiers, StaticPrompt, TurnContext,
    TurnEnvelope, assemble, tool_tokens,
};
use munshi_tiers::{BindingResolution, BindingResolver, fence_key};
use munshi_tools::{TenantTools, Tool};
use munshi_types::tier::{Channel, LanguageCode, PromptBudgetProfile, PromptBudgets, TierName};
use munshi_types::{SystemRandom, TenantName, Timestamp, ToolName, ToolSpec};
use serde::Serialize;

use super::moment::{PromptFixture, language_of, message};
use super::{binding, words};
use crate::context::CommandContext;
use crate::failure::{CommandFailure, Result};
use crate::wiring::database::ConfiguredDatabase;
use crate::wiring::{connectors, installed};

#[derive(Debug, Args)]
pub(crate) struct PromptShowArguments {
    /// Whose prompt
    binding: TierName,
    /// What the person writes; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    message: String,
    /// Whose binding, where several tenants have one of this name
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantName>,
    /// The way the message comes, one of the binding's; without it, the first of them
    #[arg(long)]
    channel: Option<Channel>,
    /// Budgets to try instead of the agent's profile: runtime or compact
    #[arg(long)]
    profile: Option<PromptBudgetProfile>,
    /// Who writes, as the channel names them: somebody in a slice gets what the slice gets
    #[arg(long, value_name = "ADDRESS")]
    person: Option<String>,
    /// The person's language, such as ta or hi-latn; without it, the message's own
    #[arg(long, value_name = "CODE")]
    language: Option<LanguageCode>,
    /// The time to tell, such as 2026-11-15T09:00:00Z; without it, now
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// A file with what is known and was said before, as JSON
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// With the tools of its connectors, which are started for it and stopped again
    #[arg(long)]
    connectors: bool,
    /// As in an escalation
    #[arg(long)]
    escalation: bool,
    /// Only the prompt's text, to the byte
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
    let database = ConfiguredDatabase::for_one_question(&context.config()?)?;
    let message = message(&arguments.message)?;
    let known = arguments.known.as_deref().map(PromptFixture::read).transpose()?.unwrap_or_default();
    let (resolution, key, shelf) = context.block_on(async {
        let db = database.open().await?;
        let resolver = BindingResolver::new(db.clone()).offering(installed::tools()?);
        let (tenant, person) = (arguments.tenant.as_ref(), arguments.person.as_deref());
        let resolution = binding::find(&resolver, tenant, &arguments.binding, person).await?;
        let key = fence_key(&db, &SystemRandom, context.now()).await?;
        let shelf = match arguments.connectors {
            true => connectors::shelf(&context.config()?, &db, &context.clock, resolution.tenant).await?,
            false => Arc::default(),
        };
        Ok((resolution, key, shelf))
    })?;
    let envelope = TurnEnvelope {
        now: arguments.at.unwrap_or_else(|| context.now()),
        zone: resolution.zone.clone(),
        channel: channel(&resolution, arguments.channel)?,
        locale: String::new(),
        language: arguments.language.clone().or_else(|| language_of(message.as_str())),
        situation: if arguments.escalation { TurnSituation::Escalation } else { TurnSituation::Usual },
    };
    let (channel, language) = (envelope.channel, envelope.language.clone());
    let installed = installed::tools()?;
    let cast = cast(&resolution, arguments.profile, &installed);
    let guests = guests(&resolution, &cast, &shelf, message.as_str());
    let moment = TurnContext { tools: guests, ..known.moment(envelope, message, key) };
    let assembled =
        assemble(&cast, &moment).map_err(|too_large| CommandFailure::refused(too_large.to_string()))?;
    if arguments.raw {
        return context.output.exactly(&raw(&assembled));
    }
    context
        .output
        .answer(&shown(&resolution, &cast, assembled, &installed, (channel, language)), words::words)
}

/// The most fitting for the message, as in a turn.
fn guests(
    resolution: &BindingResolution,
    cast: &StaticPrompt,
    shelf: &TenantTools,
    message: &str,
) -> Vec<ConnectorToolSpec> {
    let (team, agent) = (&resolution.team.body, &resolution.agent.body);
    let has =
        |tool: &Tool| contract::has_tool_of(team, agent, &tool.known.connector.name, &tool.known.spec.name);
    let chosen = shelf.choose(&[(message, 1.0)], cast.guests(), has).into_iter();
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
            Err(CommandFailure::refused(format!(
                "binding {name} is not on {asked}, so no such message comes"
            ))
            .hint(format!("it is on {has}; its file says so under `channels`")))
        }
        None => Ok(channels.first().copied().unwrap_or(Channel::Web)),
    }
}

/// The binding's own, or the same three with another profile's budgets.
fn cast(
    resolution: &BindingResolution,
    profile: Option<PromptBudgetProfile>,
    installed: &[Arc<ToolSpec>],
) -> Arc<StaticPrompt> {
    let Some(profile) = profile else { return resolution.cast.clone() };
    let mut agent = resolution.agent.body.clone();
    agent.limits.profile = profile;
    let (human, team) = (&resolution.human.body, &resolution.team.body);
    Arc::new(StaticPrompt::new(&PromptTiers { human, team, agent: &agent, installed }))
}

fn shown(
    resolution: &BindingResolution,
    cast: &StaticPrompt,
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
        blocks: cast.blocks().map(block).collect(),
        system: assembled.system,
        messages: assembled.messages,
        tools: assembled.tools.iter().map(|tool| tool.as_ref().clone()).collect(),
        not_installed: not_installed(resolution, installed),
        budgets: *cast.budgets(),
        report: assembled.report,
    }
}

fn not_installed(resolution: &BindingResolution, installed: &[Arc<ToolSpec>]) -> Vec<ToolName> {
    let mut wanted = contract::tools(&resolution.team.body, &resolution.agent.body);
    wanted.retain(|name| !installed.iter().any(|tool| tool.name == *name));
    wanted
}

/// What is said to the model and by whom it was said before, without a byte of ours between.
fn raw(assembled: &AssembledPrompt) -> String {
    let parts = assembled.messages.iter().flat_map(|message| &message.parts);
    let said = parts.filter_map(|part| match part {
        ModelMessagePart::Text { text } => Some(text.as_str()),
        _ => None,
    });
    assembled.system.iter().map(String::as_str).chain(said).collect()
}
