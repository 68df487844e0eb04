//! The prompt as people read it: every block in the colour of its tier, then the numbers.

use munshi_llm::{Message, Part, Role};
use munshi_tiers::prompt::{Cut, Report, Section, Why};
use munshi_types::tier::TierKind;

use super::show::Shown;
use crate::output::shown::count;
use crate::output::table::{Cell, Table, Tone};
use crate::output::{Hue, Painter, without_commands};

pub(super) fn words(shown: &Shown, painter: Painter) -> String {
    let mut out = heading(shown, painter);
    for block in &shown.blocks {
        let tier = block.section.tier();
        let tokens = count(u64::from(block.tokens), "token");
        out += &label(painter, &format!("{tier}, {}: {tokens}", named(block.section)));
        out += &painter.hued(hue(block.section), &without_commands(&block.text));
    }
    out += &label(painter, "the cache boundary");
    let turn = shown.system.get(3..).unwrap_or_default();
    turn.iter().for_each(|text| out += &painter.hued(Hue::Turn, &without_commands(text)));
    shown.messages.iter().for_each(|message| out += &said(message, painter));
    for tool in &shown.tools {
        out += &format!("{}  {}\n", painter.hued(Hue::Agent, tool.name.as_str()), tool.description);
    }
    out += &label(painter, "tokens");
    out += &numbers(&shown.report, painter);
    out += &tiers(shown);
    out + &left_out(shown, painter)
}

fn heading(shown: &Shown, painter: Painter) -> String {
    let Shown { tenant, binding, human, team, agent, channel, .. } = shown;
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
        painter.hued(Hue::Turn, "this turn"),
    ];
    format!("{line}\n{}\n", tiers.join("  "))
}

fn label(painter: Painter, text: &str) -> String {
    painter.dim(&format!("── {text} ──")) + "\n"
}

fn said(message: &Message, painter: Painter) -> String {
    let who = if message.role == Role::User { "the person" } else { "the persona" };
    let text = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(without_commands(text)),
        _ => None,
    });
    let text: String = text.collect();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    label(painter, who) + &painter.hued(Hue::Turn, &text) + end
}

fn numbers(report: &Report, painter: Painter) -> String {
    let mut table = Table::new(&["TOKENS", "OF", "BLOCK"]);
    for share in &report.shares {
        let whose = if share.section.is_static() { share.section.tier().as_str() } else { "turn" };
        table.row([share.tokens.to_string().into(), whose.into(), named(share.section).into()]);
    }
    let total = format!("all, of at most {}", report.most);
    table.row([report.total.to_string().into(), "".into(), Cell::new(total, Tone::Good)]);
    table.render(painter)
}

/// `human 638 of 800, team 415 of 1200, …`
fn tiers(shown: &Shown) -> String {
    let budgets = &shown.budgets;
    let of = |tier: TierKind| {
        let shares = shown.report.shares.iter();
        let own = shares.filter(|share| {
            share.section.is_static() && share.section != Section::ToolSchemas && share.section.tier() == tier
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
fn left_out(shown: &Shown, painter: Painter) -> String {
    let mut lines: Vec<String> = shown.report.cuts.iter().map(cut_line).collect();
    let missing = shown.not_installed.iter();
    lines.extend(missing.map(|tool| format!("tool {tool} is not offered: it is not installed")));
    if lines.is_empty() {
        return "Nothing was left out.\n".to_owned();
    }
    lines.iter().map(|line| painter.doubtful(line) + "\n").collect()
}

/// `history, number 3, 120 tokens: left out; …`
fn cut_line(cut: &Cut) -> String {
    let Cut { section, index, tokens, left, .. } = *cut;
    let tokens = count(u64::from(tokens), "token");
    let what = if left == 0 { "left out".to_owned() } else { format!("shortened to {left}") };
    let is_one = matches!(section, Section::Message | Section::Summary | Section::Profile);
    let number = if is_one { String::new() } else { format!(", number {}", index + 1) };
    format!("{}{number}, {tokens}: {what}; {}", named(section), why(cut.why))
}

const fn why(why: Why) -> &'static str {
    match why {
        Why::Policy => "the agent's policy wants fewer, or none",
        Why::Depth => "the team looks back less far",
        Why::Passages => "the agent looks up fewer passages",
        Why::Unsure => "it is too unsure to be told as known",
        Why::SectionBudget => "its own budget is spent",
        Why::DynamicBudget => "the budget for all that changes is spent",
        Why::Ceiling => "the prompt and the answer are at their ceiling",
        Why::NoQuestion => "its question was left out",
    }
}

fn hue(section: Section) -> Hue {
    if section.is_static() { hue_of(section.tier()) } else { Hue::Turn }
}

const fn hue_of(tier: TierKind) -> Hue {
    match tier {
        TierKind::Human => Hue::Human,
        TierKind::Team => Hue::Team,
        TierKind::Agent | TierKind::Binding => Hue::Agent,
    }
}

const fn named(section: Section) -> &'static str {
    match section {
        Section::ToolSchemas => "descriptions of tools",
        Section::Soul => "soul",
        Section::Identity => "identity",
        Section::Voice => "voice",
        Section::Language => "languages",
        Section::HumanGuardrails => "what it never does",
        Section::Role => "role",
        Section::Sops => "how the work is done",
        Section::Handoffs => "handing over",
        Section::TeamGuardrails => "the team's rules",
        Section::Contract => "who decides",
        Section::Fences => "what is data",
        Section::AgentGuardrails => "hard limits",
        Section::Guidance => "how to use the tools",
        Section::Profile => "what the visitor says of themselves",
        Section::Facts => "facts",
        Section::Recall => "recall",
        Section::Summary => "summary",
        Section::Envelope => "time, place and channel",
        Section::Words => "the tenant's words",
        Section::History => "history",
        Section::Message => "message",
        Section::ToolResults => "answers of tools",
    }
}
