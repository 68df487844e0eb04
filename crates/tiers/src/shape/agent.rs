//! `agents/NAME.toml`

use super::forms::{CONNECTOR, NAME, SCOPE, TOOL, USE, WORD};
use super::{Field, GUARDRAILS, RULES, Shape, may};

pub(super) const FIELDS: &[Field] = &[
    may("name", Shape::Text, "As people see it."),
    may(
        "extends",
        Shape::Word(&NAME),
        "The agent it starts from. What is written here wins, key by key; guardrails and rules are added.",
    ),
    may(
        "tools",
        Shape::List(&Shape::Word(&TOOL)),
        "What it may call. One that is not installed is not offered.",
    ),
    may(
        "connectors",
        Shape::List(&Shape::Word(&CONNECTOR)),
        "Connectors of `connectors.toml` whose tools it has too; for each message the most fitting are offered.",
    ),
    may("guidance", Shape::Text, "How to use the tools, as prose."),
    GUARDRAILS,
    may("models", Shape::Table(MODELS), "Which models are asked; what is not said is the installation's."),
    may("memory", Shape::Table(MEMORY), "What it remembers."),
    may("retrieval", Shape::Table(RETRIEVAL), "What it looks up in documents."),
    may("limits", Shape::Table(LIMITS), "How much it may use."),
    may("policy", Shape::Table(POLICY), "What it may do with its tools; nothing is open that is not listed."),
    RULES,
];

const MODELS: &[Field] = &[
    may("strategy", Shape::Choice(&["rule", "classifier", "hybrid"]), "How the class of model is chosen."),
    may("residency", Shape::List(&Shape::Word(&WORD)), "Where data may go, in the installation's words."),
    may("escalation_words", Shape::List(&Shape::Text), "Words that ask for more than a quick answer."),
    may(
        "sure_above",
        Shape::Number { least: 0, most: 1000 },
        "This machine's own model answers first where it is at least so sure, in thousandths.",
    ),
    may(
        "uses",
        Shape::Map { keys: &USE, values: &Shape::List(&Shape::Word(&WORD)) },
        "Names of models by use, the first choice first.",
    ),
];

const MEMORY: &[Field] = &[
    may("scope", Shape::Choice(&["session", "person", "team"]), "Whose memory it is; `person` unless given."),
    may("facts", Shape::Flag, "Whether what is known of the person goes into every turn; true unless given."),
    may(
        "recall",
        Shape::Choice(&["never", "needed", "always"]),
        "When past episodes are searched; `needed` unless given.",
    ),
    may("episodes", Shape::Number { least: 0, most: 20 }, "How many of them at most; 5 unless given."),
    may(
        "history",
        Shape::Number { least: 0, most: 100 },
        "How many turns are told again at most; 10 unless given.",
    ),
    may(
        "half_life_days",
        Shape::Number { least: 1, most: 3650 },
        "After so many days an episode counts half; 30 unless given.",
    ),
];

const RETRIEVAL: &[Field] = &[
    may("passages", Shape::Number { least: 0, most: 20 }, "How many at most, 0 for none; 4 unless given."),
    may("least_likeness", Shape::Number { least: 0, most: 100 }, "In hundredths; 30 unless given."),
    may("citations", Shape::Flag, "Whether an answer names its sources; true unless given."),
    may("collections", Shape::List(&Shape::Word(&WORD)), "Folders under knowledge/; without it, all."),
];

const LIMITS: &[Field] = &[
    may(
        "profile",
        Shape::Choice(&["runtime", "compact"]),
        "`runtime` (unless given) is 7,700 tokens in parts, `compact` 4,000 with the answer.",
    ),
    may("tool_calls", Shape::Number { least: 0, most: 20 }, "In one turn; 4 unless given."),
    may("tools_offered", Shape::Number { least: 0, most: 64 }, "At once; 12 unless given."),
    may(
        "tool_failures",
        Shape::Number { least: 1, most: 10 },
        "After so many of one tool the turn stops; 2 unless given.",
    ),
    may(
        "turn_seconds",
        Shape::Number { least: 1, most: 3600 },
        "How long a turn may take; 120 unless given.",
    ),
    may("tokens", Shape::Table(TOKENS), "Budgets that differ from the profile's."),
];

const SCOPES: Shape = Shape::List(&Shape::Word(&SCOPE));

const POLICY: &[Field] = &[
    may(
        "autonomy",
        Shape::Choice(&["off", "investigate", "propose", "act"]),
        "How far it goes by itself; `investigate` (looks, never writes) unless given. The connector's may be lower.",
    ),
    may("read", SCOPES, "Scopes of tools that look, such as `ledger.*`."),
    may("write", SCOPES, "Scopes of tools that write."),
    may("deny", SCOPES, "Never, whatever else is listed. What a base denies stays denied."),
    may(
        "ask",
        SCOPES,
        "Only after a person approved, even where it acts by itself. What a base asks is asked.",
    ),
];

const BUDGET: Shape = Shape::Number { least: 0, most: 1_000_000 };

const TOKENS: &[Field] = &[
    may("human", BUDGET, "The human's text."),
    may("team", BUDGET, "The team's text."),
    may("agent", BUDGET, "The agent's own text."),
    may("dynamic", BUDGET, "Memory, documents and history."),
    may("envelope", BUDGET, "Time, place, channel."),
    may("system", BUDGET, "Human, team and agent together."),
    may("tool_schemas", BUDGET, "What describes the tools."),
    may("profile", BUDGET, "What a visitor's page says of them."),
    may("memory", BUDGET, "What is remembered."),
    may("history", BUDGET, "What was said before."),
    may("tool_results", BUDGET, "What tools answered."),
    may("output", BUDGET, "Kept free for the answer."),
];
