//! `teams/NAME.md`

use super::forms::{DESTINATION, NAME, TOOL, WORD};
use super::{Field, GUARDRAILS, RULES, Shape, may, needed};

pub(super) const FIELDS: &[Field] = &[
    needed("name", Shape::Text, "As people see it."),
    may("department", Shape::Text, "Where in the business it belongs."),
    needed("role", Shape::Text, "What it is there for and what not, in a few sentences."),
    may("members", Shape::List(&Shape::Word(&NAME)), "The humans who staff it; without it, any may."),
    may(
        "register",
        Shape::Choice(&["casual", "neutral", "formal", "technical"]),
        "How formally it speaks inside the human's tone; `neutral` unless given.",
    ),
    may("tools", Shape::List(&Shape::Word(&TOOL)), "What it uses of the agent's tools; without it, all."),
    may(
        "recall",
        Shape::Number { least: 0, most: 20 },
        "How many past episodes are called to mind; else the agent says.",
    ),
    GUARDRAILS,
    may(
        "words",
        Shape::Map { keys: &WORD, values: &Shape::Text },
        "What it calls things, by the product's word for them: `lead = \"enquiry\"`.",
    ),
    may("escalation", Shape::Table(ESCALATION), "When a person takes over."),
    may(
        "handoffs",
        Shape::List(&Shape::Table(HANDOFF)),
        "Where a conversation may be handed on to, and nowhere else.",
    ),
    RULES,
    may("sops", Shape::Text, "The prose below the front matter: how the work is done."),
];

const ESCALATION: &[Field] = &[
    may("to", Shape::Text, "Who takes over, in words."),
    may("when", Shape::List(&Shape::Text), "Each a sentence."),
];

const HANDOFF: &[Field] = &[
    needed("to", Shape::Word(&DESTINATION), "A team's name, or `binding/NAME`."),
    needed("when", Shape::Text, "What for, in words."),
];
