//! `agents/NAME.toml`

use super::forms::{CONNECTOR, NAME, SCOPE, TOOL, USE, WORD};
use super::{GUARDRAILS, RULES, TierField, ValueShape, may};

pub(super) const FIELDS: &[TierField] = &[
    may("name", ValueShape::Text, "As people see it."),
    may(
        "extends",
        ValueShape::Word(&NAME),
        "The agent it starts from. What is written here wins, key by key; guardrails and rules are added.",
    ),
    may(
        "tools",
        ValueShape::List(&ValueShape::Word(&TOOL)),
        "What it may call. One that is not installed is not offered.",
    ),
    may(
        "connectors",
        ValueShape::List(&ValueShape::Word(&CONNECTOR)),
        "Connectors of `connectors.toml` whose tools it has too; for each message the most fitting are offered.",
    ),
    may("guidance", ValueShape::Text, "How to use the tools, as prose."),
    GUARDRAILS,
    may(
        "models",
        ValueShape::Table(MODELS),
        "Which models are asked; what is not said is the installation's.",
    ),
    may("memory", ValueShape::Table(MEMORY), "What it remembers."),
    may("retrieval", ValueShape::Table(RETRIEVAL), "What it looks up in documents."),
    may("limits", ValueShape::Table(LIMITS), "How much it may use."),
    may(
        "policy",
        ValueShape::Table(POLICY),
        "What it may do with its tools; nothing is open that is not listed.",
    ),
    RULES,
];

const MODELS: &[TierField] = &[
    may(
        "strategy",
        ValueShape::Choice(&["rule", "classifier", "hybrid"]),
        "How the class of model is chosen.",
    ),
    may(
        "residency",
        ValueShape::List(&ValueShape::Word(&WORD)),
        "Where data may go, in the installation's words.",
    ),
    may(
        "escalation_words",
        ValueShape::List(&ValueShape::Text),
        "Words that ask for more than a quick answer.",
    ),
    may(
        "sure_above",
        ValueShape::Number { least: 0, most: 1000 },
        "This machine's own model answers first where it is at least so sure, in thousandths.",
    ),
    may(
        "uses",
        ValueShape::Map { keys: &USE, values: &ValueShape::List(&ValueShape::Word(&WORD)) },
        "Names of models by use, the first choice first.",
    ),
];

const MEMORY: &[TierField] = &[
    may(
        "scope",
        ValueShape::Choice(&["session", "person", "team"]),
        "Whose memory it is; `person` unless given.",
    ),
    may(
        "facts",
        ValueShape::Flag,
        "Whether what is known of the person goes into every turn; true unless given.",
    ),
    may(
        "recall",
        ValueShape::Choice(&["never", "needed", "always"]),
        "When past episodes are searched; `needed` unless given.",
    ),
    may("episodes", ValueShape::Number { least: 0, most: 20 }, "How many of them at most; 5 unless given."),
    may(
        "history",
        ValueShape::Number { least: 0, most: 100 },
        "How many turns are told again at most; 10 unless given.",
    ),
    may(
        "half_life_days",
        ValueShape::Number { least: 1, most: 3650 },
        "After so many days an episode counts half; 30 unless given.",
    ),
];

const RETRIEVAL: &[TierField] = &[
    may(
        "passages",
        ValueShape::Number { least: 0, most: 20 },
        "How many at most, 0 for none; 4 unless given.",
    ),
    may("least_likeness", ValueShape::Number { least: 0, most: 100 }, "In hundredths; 30 unless given."),
    may("citations", ValueShape::Flag, "Whether an answer names its sources; true unless given."),
    may(
        "collections",
        ValueShape::List(&ValueShape::Word(&WORD)),
        "Folders under knowledge/; without it, all.",
    ),
];

const LIMITS: &[TierField] = &[
    may(
        "profile",
        ValueShape::Choice(&["runtime", "compact"]),
        "`runtime` (unless given) is 7,700 tokens in parts, `compact` 4,000 with the answer.",
    ),
    may("tool_calls", ValueShape::Number { least: 0, most: 20 }, "In one turn; 4 unless given."),
    may("tools_offered", ValueShape::Number { least: 0, most: 64 }, "At once; 12 unless given."),
    may(
        "tool_failures",
        ValueShape::Number { least: 1, most: 10 },
        "After so many of one tool the turn stops; 2 unless given.",
    ),
    may(
        "turn_seconds",
        ValueShape::Number { least: 1, most: 3600 },
        "How long a turn may take; 120 unless given.",
    ),
    may("tokens", ValueShape::Table(TOKENS), "Budgets that differ from the profile's."),
];

const SCOPES: ValueShape = ValueShape::List(&ValueShape::Word(&SCOPE));

const POLICY: &[TierField] = &[
    may(
        "autonomy",
        ValueShape::Choice(&["off", "investigate", "propose", "act"]),
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

const BUDGET: ValueShape = ValueShape::Number { least: 0, most: 1_000_000 };

const TOKENS: &[TierField] = &[
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
