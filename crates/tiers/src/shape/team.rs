//! `teams/NAME.md`

use super::word_forms::{DESTINATION, HOLIDAY, HOURS, NAME, TOOL, WORD};
use super::{GUARDRAILS, RULES, TierField, ValueShape, optional, required};

pub(super) const FIELDS: &[TierField] = &[
    required("name", ValueShape::Text, "The display name."),
    optional("department", ValueShape::Text, "The department it belongs to."),
    required("role", ValueShape::Text, "What it does and does not do, in a few sentences."),
    optional(
        "members",
        ValueShape::List(&ValueShape::Word(&NAME)),
        "The humans that belong to it; default any.",
    ),
    optional(
        "register",
        ValueShape::Choice(&["casual", "neutral", "formal", "technical"]),
        "How formally it speaks, within the human's tone; default `neutral`.",
    ),
    optional(
        "tools",
        ValueShape::List(&ValueShape::Word(&TOOL)),
        "The agent's tools that it uses; default all.",
    ),
    optional(
        "recall",
        ValueShape::Number { least: 0, most: 20 },
        "Maximum number of past episodes; default the agent's setting.",
    ),
    GUARDRAILS,
    optional(
        "words",
        ValueShape::Map { keys: &WORD, values: &ValueShape::Text },
        "Its own words for the product's terms: `lead = \"enquiry\"`.",
    ),
    optional("escalation", ValueShape::Table(ESCALATION), "When a person takes over."),
    optional(
        "handoffs",
        ValueShape::List(&ValueShape::Table(HANDOFF)),
        "The only targets a conversation may be handed off to.",
    ),
    RULES,
    optional("sops", ValueShape::Text, "The text below the front matter: how the work is done."),
];

const ESCALATION: &[TierField] = &[
    optional("to", ValueShape::Text, "Who takes over, as text."),
    optional("when", ValueShape::List(&ValueShape::Text), "Conditions, one sentence each."),
    optional(
        "hours",
        ValueShape::List(&ValueShape::Word(&HOURS)),
        "When people are there, by the tenant's clock; default always.",
    ),
    optional("holidays", ValueShape::List(&ValueShape::Word(&HOLIDAY)), "Days on which nobody is there."),
    optional(
        "answer_within",
        ValueShape::Number { least: 1, most: 1440 },
        "Minutes that somebody waits who asked for a person, or wrote to the one who came; default until one answers.",
    ),
    optional(
        "unanswered",
        ValueShape::Word(&NAME),
        "The team that goes on then, one that `handoffs` names; default the agent goes on.",
    ),
    optional(
        "held_drafts",
        ValueShape::Flag,
        "Propose an answer to each message to whoever has the conversation in hand; default false.",
    ),
];

const HANDOFF: &[TierField] = &[
    required(
        "to",
        ValueShape::Word(&DESTINATION),
        "A team's name, `binding/NAME`, or `person` for those who work in the business.",
    ),
    required("when", ValueShape::Text, "The reason, as text."),
];
