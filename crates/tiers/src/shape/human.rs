//! `humans/NAME.md`

use super::forms::LANGUAGE;
use super::{Field, GUARDRAILS, RULES, Shape, may, needed};

pub(super) const FIELDS: &[Field] = &[
    needed("name", Shape::Text, "As people see it."),
    needed(
        "identity",
        Shape::Text,
        "Who it is and for whom, in a sentence or two: the first words after the soul.",
    ),
    may("flaw", Shape::Text, "The weakness that makes it somebody, and that is of use."),
    may("nevers", Shape::List(&Shape::Text), "What it never does, each a sentence."),
    GUARDRAILS,
    may("voice", Shape::Table(VOICE), "How it sounds."),
    may("speech", Shape::Table(SPEECH), "Which languages it speaks."),
    RULES,
    may("soul", Shape::Text, "The prose below the front matter: what it has lived through."),
];

const VOICE: &[Field] = &[
    may("tone", Shape::Text, "In a few words."),
    may("sentences", Shape::Text, "How long its sentences are."),
    may("humour", Shape::Text, "What it finds funny, and how much of it shows."),
    may("phrases", Shape::List(&Shape::Text), "What it likes to say."),
    may("avoids", Shape::List(&Shape::Text), "What it would never say."),
];

const SPEECH: &[Field] = &[
    may(
        "languages",
        Shape::List(&Shape::Word(&LANGUAGE)),
        "The first is where it begins; English unless given.",
    ),
    may(
        "lock",
        Shape::Choice(&["open", "listed", "first"]),
        "`open` follows the person into any language, `listed` (unless given) only into those named, `first` never.",
    ),
    may("mixing", Shape::Text, "How languages mix, in a sentence."),
    may("culture", Shape::Text, "Whose idiom it is."),
];
