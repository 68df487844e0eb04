//! `humans/NAME.md`

use super::word_forms::LANGUAGE;
use super::{GUARDRAILS, RULES, TierField, ValueShape, optional, required};

pub(super) const FIELDS: &[TierField] = &[
    required("name", ValueShape::Text, "The display name."),
    required(
        "identity",
        ValueShape::Text,
        "Who it is and whom it serves, in one or two sentences. Follows the soul in the prompt.",
    ),
    optional("flaw", ValueShape::Text, "A useful weakness that gives it character."),
    optional("nevers", ValueShape::List(&ValueShape::Text), "What it never does, one sentence each."),
    GUARDRAILS,
    optional("voice", ValueShape::Table(VOICE), "How it sounds."),
    optional("speech", ValueShape::Table(SPEECH), "Which languages it speaks."),
    RULES,
    optional("soul", ValueShape::Text, "The text below the front matter: its life story."),
];

const VOICE: &[TierField] = &[
    optional("tone", ValueShape::Text, "Its tone, in a few words."),
    optional("sentences", ValueShape::Text, "How long its sentences are."),
    optional("humour", ValueShape::Text, "What it finds funny, and how much it shows."),
    optional("phrases", ValueShape::List(&ValueShape::Text), "Phrases it likes to use."),
    optional("avoids", ValueShape::List(&ValueShape::Text), "Phrases it never uses."),
];

const SPEECH: &[TierField] = &[
    optional(
        "languages",
        ValueShape::List(&ValueShape::Word(&LANGUAGE)),
        "Its languages; it starts in the first. Default English.",
    ),
    optional(
        "lock",
        ValueShape::Choice(&["open", "listed", "first"]),
        "`open` follows the person into any language, `listed` (default) only into those listed, `first` never.",
    ),
    optional("mixing", ValueShape::Text, "How languages mix, in a sentence."),
    optional("culture", ValueShape::Text, "Whose idiom it uses."),
];
