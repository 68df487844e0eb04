//! `agents/NAME.toml`

use super::word_forms::{CONNECTOR, NAME, SCOPE, TOOL, USE, WORD};
use super::{GUARDRAILS, RULES, TierField, ValueShape, optional};

pub(super) const FIELDS: &[TierField] = &[
    optional("name", ValueShape::Text, "The display name."),
    optional(
        "extends",
        ValueShape::Word(&NAME),
        "The base agent. Keys set here override the base; guardrails and rules are added to it.",
    ),
    optional(
        "tools",
        ValueShape::List(&ValueShape::Word(&TOOL)),
        "The tools it may call. A tool that is not installed is not offered.",
    ),
    optional(
        "connectors",
        ValueShape::List(&ValueShape::Word(&CONNECTOR)),
        "Connectors from `connectors.toml` whose tools it may also call. The most relevant are offered for each message.",
    ),
    optional("guidance", ValueShape::Text, "How to use the tools, as prose."),
    GUARDRAILS,
    optional(
        "models",
        ValueShape::Table(MODELS),
        "Which models to call; defaults to the installation's settings.",
    ),
    optional("memory", ValueShape::Table(MEMORY), "What it remembers between turns."),
    optional("retrieval", ValueShape::Table(RETRIEVAL), "How it searches documents."),
    optional("limits", ValueShape::Table(LIMITS), "Limits on what it may use."),
    optional(
        "policy",
        ValueShape::Table(POLICY),
        "What it may do with its tools. Scopes that are not listed are denied.",
    ),
    RULES,
];

const MODELS: &[TierField] = &[
    optional(
        "strategy",
        ValueShape::Choice(&["rule", "classifier", "hybrid"]),
        "How the class of model is chosen.",
    ),
    optional(
        "residency",
        ValueShape::List(&ValueShape::Word(&WORD)),
        "Where data may go: `residency` values of the installation's models.",
    ),
    optional(
        "escalation_words",
        ValueShape::List(&ValueShape::Text),
        "Words in a message that select a stronger model.",
    ),
    optional(
        "sure_above",
        ValueShape::Number { least: 0, most: 1000 },
        "The offline model answers first if its confidence is at least this, in thousandths.",
    ),
    optional(
        "templates",
        ValueShape::Flag,
        "If false, the model also answers what plainly asks for a tool that needs no model, such as a balance.",
    ),
    optional(
        "uses",
        ValueShape::Map { keys: &USE, values: &ValueShape::List(&ValueShape::Word(&WORD)) },
        "Model names by use, in order of preference.",
    ),
];

const MEMORY: &[TierField] = &[
    optional(
        "scope",
        ValueShape::Choice(&["session", "person", "team"]),
        "Who shares the memory; default `person`.",
    ),
    optional("facts", ValueShape::Flag, "Include known facts about the person in every turn; default true."),
    optional(
        "recall",
        ValueShape::Choice(&["never", "needed", "always"]),
        "When to search past episodes; default `needed`.",
    ),
    optional(
        "episodes",
        ValueShape::Number { least: 0, most: 20 },
        "Maximum number of past episodes; default 5.",
    ),
    optional(
        "history",
        ValueShape::Number { least: 0, most: 100 },
        "Maximum number of earlier turns in the prompt; default 10.",
    ),
    optional(
        "half_life_days",
        ValueShape::Number { least: 1, most: 3650 },
        "Days after which an episode's weight halves; default 30.",
    ),
];

const RETRIEVAL: &[TierField] = &[
    optional(
        "passages",
        ValueShape::Number { least: 0, most: 20 },
        "Maximum number of passages, 0 for none; default 4.",
    ),
    optional(
        "least_likeness",
        ValueShape::Number { least: 0, most: 100 },
        "Minimum similarity, in hundredths; default 30.",
    ),
    optional("citations", ValueShape::Flag, "Cite sources in answers; default true."),
    optional(
        "collections",
        ValueShape::List(&ValueShape::Word(&WORD)),
        "Folders under knowledge/ to search; default all.",
    ),
];

const LIMITS: &[TierField] = &[
    optional(
        "profile",
        ValueShape::Choice(&["runtime", "compact"]),
        "Token budget: `runtime` (default) is 7,700 tokens in parts; `compact` is 4,000 including the answer.",
    ),
    optional(
        "tool_calls",
        ValueShape::Number { least: 0, most: 20 },
        "Maximum tool calls in one turn; default 4.",
    ),
    optional(
        "tools_offered",
        ValueShape::Number { least: 0, most: 64 },
        "Maximum tools offered at once; default 12.",
    ),
    optional(
        "tool_failures",
        ValueShape::Number { least: 1, most: 10 },
        "Failures of one tool after which the turn stops; default 2.",
    ),
    optional("turn_seconds", ValueShape::Number { least: 1, most: 3600 }, "Timeout of a turn; default 120."),
    optional("tokens", ValueShape::Table(TOKENS), "Token budgets that override the profile."),
];

const SCOPES: ValueShape = ValueShape::List(&ValueShape::Word(&SCOPE));

const POLICY: &[TierField] = &[
    optional(
        "autonomy",
        ValueShape::Choice(&["off", "investigate", "propose", "act"]),
        "What it may do without a person; default `investigate` (read only). The connector's autonomy may be lower.",
    ),
    optional("read", SCOPES, "Scopes it may read, such as `ledger.*`."),
    optional("write", SCOPES, "Scopes it may write."),
    optional("deny", SCOPES, "Scopes that are always denied. What a base denies stays denied."),
    optional(
        "ask",
        SCOPES,
        "Scopes that need a person's approval, even at `act`. What a base asks for stays required.",
    ),
];

const BUDGET: ValueShape = ValueShape::Number { least: 0, most: 1_000_000 };

const TOKENS: &[TierField] = &[
    optional("human", BUDGET, "The human's text."),
    optional("team", BUDGET, "The team's text."),
    optional("agent", BUDGET, "The agent's own text."),
    optional("dynamic", BUDGET, "Memory, documents and history."),
    optional("envelope", BUDGET, "Time, place and channel."),
    optional("system", BUDGET, "Human, team and agent together."),
    optional("tool_schemas", BUDGET, "Tool schemas."),
    optional("profile", BUDGET, "The visitor's profile from their page."),
    optional("memory", BUDGET, "Memory."),
    optional("history", BUDGET, "Earlier turns."),
    optional("tool_results", BUDGET, "Tool results."),
    optional("output", BUDGET, "Reserved for the answer."),
];
