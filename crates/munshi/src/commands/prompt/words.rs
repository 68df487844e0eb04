//! The prompt as people read it: every block in the colour of its tier, then the numbers.

use munshi_llm::{ChatMessage, ModelMessagePart, ModelRole};
use munshi_tiers::prompt::{PromptCut, PromptCutReason, PromptReport, PromptSection};
use munshi_types::tier::TierKind;

use super::show::PromptShowReport;
use crate::output::shown::count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::output::{PromptPartColour, TextStyler, without_commands};

pub(super) fn words(shown: &PromptShowReport, painter: TextStyler) -> String {
    let mut out = heading(shown, painter);
    for block in &shown.blocks {
        let tier = block.section.tier();
        let tokens = count(u64::from(block.tokens), "token");
        out += &label(painter, &format!("{tier}, {}: {tokens}", named(block.section)));
        out += &painter.hued(hue(block.section), &without_commands(&block.text));
    }
    out += &label(painter, "the cache boundary");
    let turn = shown.system.get(3..).unwrap_or_default();
    turn.iter().for_each(|text| out += &painter.hued(PromptPartColour::Turn, &without_commands(text)));
    shown.messages.iter().for_each(|message| out += &said(message, painter));
    for tool in &shown.tools {
        out +=
            &format!("{}  {}\n", painter.hued(PromptPartColour::Agent, tool.name.as_str()), tool.description);
    }
    out += &label(painter, "tokens");
    out += &numbers(&shown.report, painter);
    out += &tiers(shown);
    out + &left_out(shown, painter)
}

fn heading(shown: &PromptShowReport, painter: TextStyler) -> String {
    let PromptShowReport { tenant, binding, human, team, agent, channel, .. } = shown;
    let mut line = format!("{} of {tenant} on {channel}", painter.bold(binding.name.as_str()));
    if let Some(slice) = &shown.slice {
        line += &format!(", slice {slice}");
    }
    if let Some(language) = &shown.language {
        line += &format!(", somebody who writes {}", language.as_str());
    }
    let tier = |kind: TierKind, name: &str, version: u32| {
        painter.hued(hue_of(kind), &format!("{kind} {name}@{version}"))
    };
    let tiers = [
        tier(TierKind::Human, human.name.as_str(), human.version),
        tier(TierKind::Team, team.name.as_str(), team.version),
        tier(TierKind::Agent, agent.name.as_str(), agent.version),
        painter.hued(PromptPartColour::Turn, "this turn"),
    ];
    format!("{line}\n{}\n", tiers.join("  "))
}

fn label(painter: TextStyler, text: &str) -> String {
    painter.dim(&format!("── {text} ──")) + "\n"
}

fn said(message: &ChatMessage, painter: TextStyler) -> String {
    let who = if message.role == ModelRole::User { "the person" } else { "the persona" };
    let text = message.parts.iter().filter_map(|part| match part {
        ModelMessagePart::Text { text } => Some(without_commands(text)),
        _ => None,
    });
    let text: String = text.collect();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    label(painter, who) + &painter.hued(PromptPartColour::Turn, &text) + end
}

fn numbers(report: &PromptReport, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["TOKENS", "OF", "BLOCK"]);
    for share in &report.shares {
        let whose = if share.section.is_static() { share.section.tier().as_str() } else { "turn" };
        table.row([share.tokens.to_string().into(), whose.into(), named(share.section).into()]);
    }
    let total = format!("all, of at most {}", report.most);
    table.row([
        report.total.to_string().into(),
        "".into(),
        OutputTableCell::new(total, OutputCellStyle::Good),
    ]);
    table.render(painter)
}

/// `human 638 of 800, team 415 of 1200, …`
fn tiers(shown: &PromptShowReport) -> String {
    let budgets = &shown.budgets;
    let of = |tier: TierKind| {
        let shares = shown.report.shares.iter();
        let own = shares.filter(|share| {
            share.section.is_static()
                && share.section != PromptSection::ToolSchemas
                && share.section.tier() == tier
        });
        own.map(|share| share.tokens).sum::<u32>()
    };
    let (human, team, agent) = (of(TierKind::Human), of(TierKind::Team), of(TierKind::Agent));
    let together = human + team + agent;
    let is_over = human > budgets.human
        || team > budgets.team
        || agent > budgets.agent
        || budgets.system.is_some_and(|most| together > most);
    let verdict = if is_over { ": too much, so `apply` refuses such an agent" } else { "" };
    match budgets.system {
        Some(most) => format!("Human, team and agent have {together} of {most} together{verdict}.\n"),
        None => format!(
            "Human has {human} of {}, team {team} of {}, agent {agent} of {}{verdict}.\n",
            budgets.human, budgets.team, budgets.agent
        ),
    }
}

/// What the model is not told, and why.
fn left_out(shown: &PromptShowReport, painter: TextStyler) -> String {
    let mut lines: Vec<String> = shown.report.cuts.iter().map(cut_line).collect();
    let missing = shown.not_installed.iter();
    lines.extend(missing.map(|tool| format!("tool {tool} is not offered: it is not installed")));
    if lines.is_empty() {
        return "Nothing was left out.\n".to_owned();
    }
    lines.iter().map(|line| painter.doubtful(line) + "\n").collect()
}

/// `history, number 3, 120 tokens: left out; …`
fn cut_line(cut: &PromptCut) -> String {
    let PromptCut { section, index, tokens, left, .. } = *cut;
    let tokens = count(u64::from(tokens), "token");
    let what = if left == 0 { "left out".to_owned() } else { format!("shortened to {left}") };
    let is_one = matches!(section, PromptSection::Message | PromptSection::Summary | PromptSection::Profile);
    let number = if is_one { String::new() } else { format!(", number {}", index + 1) };
    format!("{}{number}, {tokens}: {what}; {}", named(section), why(cut.why))
}

const fn why(why: PromptCutReason) -> &'static str {
    match why {
        PromptCutReason::Policy => "the agent's policy wants fewer, or none",
        PromptCutReason::Depth => "the team looks back less far",
        PromptCutReason::Passages => "the agent looks up fewer passages",
        PromptCutReason::Unsure => "it is too unsure to be told as known",
        PromptCutReason::SectionBudget => "its own budget is spent",
        PromptCutReason::DynamicBudget => "the budget for all that changes is spent",
        PromptCutReason::Ceiling => "the prompt and the answer are at their ceiling",
        PromptCutReason::NoQuestion => "its question was left out",
    }
}

fn hue(section: PromptSection) -> PromptPartColour {
    if section.is_static() { hue_of(section.tier()) } else { PromptPartColour::Turn }
}

const fn hue_of(tier: TierKind) -> PromptPartColour {
    match tier {
        TierKind::Human => PromptPartColour::Human,
        TierKind::Team => PromptPartColour::Team,
        TierKind::Agent | TierKind::Binding => PromptPartColour::Agent,
    }
}

const fn named(section: PromptSection) -> &'static str {
    match section {
        PromptSection::ToolSchemas => "descriptions of tools",
        PromptSection::Soul => "soul",
        PromptSection::Identity => "identity",
        PromptSection::Voice => "voice",
        PromptSection::Language => "languages",
        PromptSection::HumanGuardrails => "what it never does",
        PromptSection::Role => "role",
        PromptSection::Sops => "how the work is done",
        PromptSection::Handoffs => "handing over",
        PromptSection::TeamGuardrails => "the team's rules",
        PromptSection::Contract => "who decides",
        PromptSection::Fences => "what is data",
        PromptSection::AgentGuardrails => "hard limits",
        PromptSection::Guidance => "how to use the tools",
        PromptSection::Profile => "what the visitor says of themselves",
        PromptSection::Facts => "facts",
        PromptSection::Recall => "recall",
        PromptSection::Summary => "summary",
        PromptSection::Envelope => "time, place and channel",
        PromptSection::Words => "the tenant's words",
        PromptSection::History => "history",
        PromptSection::Message => "message",
        PromptSection::ToolResults => "answers of tools",
    }
}
