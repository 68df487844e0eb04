//! The prompt as people read it: every block in the colour of its tier, then the numbers.

use munshi_llm::{ChatMessage, ModelMessagePart, ModelRole};
use munshi_tiers::prompt::{PromptCut, PromptCutReason, PromptReport, PromptSection};
use munshi_types::tier::TierKind;

use super::show::PromptShowReport;
use crate::output::formatting::format_count;
use crate::output::table::{OutputCellStyle, OutputTable, OutputTableCell};
use crate::output::{PromptPartColour, TextStyler, sanitize_text};

pub(super) fn render(shown: &PromptShowReport, painter: TextStyler) -> String {
    let mut out = heading(shown, painter);
    for block in &shown.blocks {
        let tier = block.section.tier();
        let tokens = format_count(u64::from(block.tokens), "token");
        out += &label(painter, &format!("{tier}, {}: {tokens}", section_label(block.section)));
        out += &painter.colour_lines(section_colour(block.section), &sanitize_text(&block.text));
    }
    out += &label(painter, "cache boundary");
    let turn = shown.system.get(3..).unwrap_or_default();
    turn.iter().for_each(|text| out += &painter.colour_lines(PromptPartColour::Turn, &sanitize_text(text)));
    shown.messages.iter().for_each(|message| out += &render_message(message, painter));
    for tool in &shown.tools {
        out += &format!(
            "{}  {}\n",
            painter.colour_lines(PromptPartColour::Agent, tool.name.as_str()),
            tool.description
        );
    }
    out += &label(painter, "tokens");
    out += &numbers(&shown.report, painter);
    out += &tiers(shown);
    out + &render_cuts(shown, painter)
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
        painter.colour_lines(tier_colour(kind), &format!("{kind} {name}@{version}"))
    };
    let tiers = [
        tier(TierKind::Human, human.name.as_str(), human.version),
        tier(TierKind::Team, team.name.as_str(), team.version),
        tier(TierKind::Agent, agent.name.as_str(), agent.version),
        painter.colour_lines(PromptPartColour::Turn, "this turn"),
    ];
    format!("{line}\n{}\n", tiers.join("  "))
}

fn label(painter: TextStyler, text: &str) -> String {
    painter.dim(&format!("── {text} ──")) + "\n"
}

fn render_message(message: &ChatMessage, painter: TextStyler) -> String {
    let who = if message.role == ModelRole::User { "the person" } else { "the persona" };
    let text = message.parts.iter().filter_map(|part| match part {
        ModelMessagePart::Text { text } => Some(sanitize_text(text)),
        _ => None,
    });
    let text: String = text.collect();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    label(painter, who) + &painter.colour_lines(PromptPartColour::Turn, &text) + end
}

fn numbers(report: &PromptReport, painter: TextStyler) -> String {
    let mut table = OutputTable::new(&["TOKENS", "OF", "BLOCK"]);
    for share in &report.shares {
        let whose = if share.section.is_static() { share.section.tier().as_str() } else { "turn" };
        table.add_row([share.tokens.to_string().into(), whose.into(), section_label(share.section).into()]);
    }
    let total = format!("all, of at most {}", report.most);
    table.add_row([
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
    let verdict = if is_over { ": over budget, so `apply` rejects the agent" } else { "" };
    match budgets.system {
        Some(most) => format!("Human, team and agent have {together} of {most} together{verdict}.\n"),
        None => format!(
            "Human has {human} of {}, team {team} of {}, agent {agent} of {}{verdict}.\n",
            budgets.human, budgets.team, budgets.agent
        ),
    }
}

/// What the model is not told, and why.
fn render_cuts(shown: &PromptShowReport, painter: TextStyler) -> String {
    let mut lines: Vec<String> = shown.report.cuts.iter().map(cut_line).collect();
    let missing = shown.not_installed.iter();
    lines.extend(missing.map(|tool| format!("tool {tool} is not offered: it is not installed")));
    if lines.is_empty() {
        return "Nothing was omitted.\n".to_owned();
    }
    lines.iter().map(|line| painter.doubtful(line) + "\n").collect()
}

/// `history, number 3, 120 tokens: omitted; …`
fn cut_line(cut: &PromptCut) -> String {
    let PromptCut { section, index, tokens, left, .. } = *cut;
    let tokens = format_count(u64::from(tokens), "token");
    let what = if left == 0 { "omitted".to_owned() } else { format!("shortened to {left}") };
    let is_one = matches!(section, PromptSection::Message | PromptSection::Summary | PromptSection::Profile);
    let number = if is_one { String::new() } else { format!(", number {}", index + 1) };
    format!("{}{number}, {tokens}: {what}; {}", section_label(section), describe_cut_reason(cut.why))
}

const fn describe_cut_reason(why: PromptCutReason) -> &'static str {
    match why {
        PromptCutReason::Policy => "limited by the agent's policy",
        PromptCutReason::Depth => "beyond the team's history depth",
        PromptCutReason::Passages => "beyond the agent's passage limit",
        PromptCutReason::Unsure => "confidence too low",
        PromptCutReason::SectionBudget => "section budget exhausted",
        PromptCutReason::DynamicBudget => "dynamic budget exhausted",
        PromptCutReason::Ceiling => "total budget exhausted",
        PromptCutReason::NoQuestion => "its question was omitted",
    }
}

fn section_colour(section: PromptSection) -> PromptPartColour {
    if section.is_static() { tier_colour(section.tier()) } else { PromptPartColour::Turn }
}

const fn tier_colour(tier: TierKind) -> PromptPartColour {
    match tier {
        TierKind::Human => PromptPartColour::Human,
        TierKind::Team => PromptPartColour::Team,
        TierKind::Agent | TierKind::Binding => PromptPartColour::Agent,
    }
}

const fn section_label(section: PromptSection) -> &'static str {
    match section {
        PromptSection::ToolSchemas => "tool schemas",
        PromptSection::Soul => "soul",
        PromptSection::Identity => "identity",
        PromptSection::Voice => "voice",
        PromptSection::Language => "languages",
        PromptSection::HumanGuardrails => "human guardrails",
        PromptSection::Role => "role",
        PromptSection::Sops => "SOPs",
        PromptSection::Handoffs => "handoffs",
        PromptSection::TeamGuardrails => "team guardrails",
        PromptSection::Contract => "decision contract",
        PromptSection::Fences => "data fences",
        PromptSection::AgentGuardrails => "agent guardrails",
        PromptSection::Guidance => "tool guidance",
        PromptSection::Profile => "visitor profile",
        PromptSection::Facts => "facts",
        PromptSection::Recall => "recall",
        PromptSection::Summary => "summary",
        PromptSection::Envelope => "time, place and channel",
        PromptSection::Words => "tenant vocabulary",
        PromptSection::History => "history",
        PromptSection::Message => "message",
        PromptSection::ToolResults => "tool results",
    }
}
