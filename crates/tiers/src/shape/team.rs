//! `teams/NAME.md`

use super::forms::{DESTINATION, NAME, TOOL, WORD};
use super::{GUARDRAILS, RULES, TierField, ValueShape, may, needed};

pub(super) const FIELDS: &[TierField] = &[
    needed("name", ValueShape::Text, "As people see it."),
    may("department", ValueShape::Text, "Where in the business it belongs."),
    needed("role", ValueShape::Text, "What it is there for and what not, in a few sentences."),
    may(
        "members",
        ValueShape::List(&ValueShape::Word(&NAME)),
        "The humans who staff it; without it, any may.",
    ),
    may(
        "register",
        ValueShape::Choice(&["casual", "neutral", "formal", "technical"]),
        "How formally it speaks inside the human's tone; `neutral` unless given.",
    ),
    may(
        "tools",
        ValueShape::List(&ValueShape::Word(&TOOL)),
        "What it uses of the agent's tools; without it, all.",
    ),
    may(
        "recall",
        ValueShape::Number { least: 0, most: 20 },
        "How many past episodes are called to mind; else the agent says.",
    ),
    GUARDRAILS,
    may(
        "words",
        ValueShape::Map { keys: &WORD, values: &ValueShape::Text },
        "What it calls things, by the product's word for them: `lead = \"enquiry\"`.",
    ),
    may("escalation", ValueShape::Table(ESCALATION), "When a person takes over."),
    may(
        "handoffs",
        ValueShape::List(&ValueShape::Table(HANDOFF)),
        "Where a conversation may be handed on to, and nowhere else.",
    ),
    RULES,
    may("sops", ValueShape::Text, "The prose below the front matter: how the work is done."),
];

const ESCALATION: &[TierField] = &[
    may("to", ValueShape::Text, "Who takes over, in words."),
    may("when", ValueShape::List(&ValueShape::Text), "Each a sentence."),
];

const HANDOFF: &[TierField] = &[
    needed("to", ValueShape::Word(&DESTINATION), "A team's name, or `binding/NAME`."),
    needed("when", ValueShape::Text, "What for, in words."),
];
