//! `humans/NAME.md`

use super::forms::LANGUAGE;
use super::{GUARDRAILS, RULES, TierField, ValueShape, may, needed};

pub(super) const FIELDS: &[TierField] = &[
    needed("name", ValueShape::Text, "As people see it."),
    needed(
        "identity",
        ValueShape::Text,
        "Who it is and for whom, in a sentence or two: the first words after the soul.",
    ),
    may("flaw", ValueShape::Text, "The weakness that makes it somebody, and that is of use."),
    may("nevers", ValueShape::List(&ValueShape::Text), "What it never does, each a sentence."),
    GUARDRAILS,
    may("voice", ValueShape::Table(VOICE), "How it sounds."),
    may("speech", ValueShape::Table(SPEECH), "Which languages it speaks."),
    RULES,
    may("soul", ValueShape::Text, "The prose below the front matter: what it has lived through."),
];

const VOICE: &[TierField] = &[
    may("tone", ValueShape::Text, "In a few words."),
    may("sentences", ValueShape::Text, "How long its sentences are."),
    may("humour", ValueShape::Text, "What it finds funny, and how much of it shows."),
    may("phrases", ValueShape::List(&ValueShape::Text), "What it likes to say."),
    may("avoids", ValueShape::List(&ValueShape::Text), "What it would never say."),
];

const SPEECH: &[TierField] = &[
    may(
        "languages",
        ValueShape::List(&ValueShape::Word(&LANGUAGE)),
        "The first is where it begins; English unless given.",
    ),
    may(
        "lock",
        ValueShape::Choice(&["open", "listed", "first"]),
        "`open` follows the person into any language, `listed` (unless given) only into those named, `first` never.",
    ),
    may("mixing", ValueShape::Text, "How languages mix, in a sentence."),
    may("culture", ValueShape::Text, "Whose idiom it is."),
];
