//! What one tool does to the world, in the words of whoever vouches for it.

use std::collections::BTreeMap;

use munshi_types::{Autonomy, ConsentPurposeName, Effect, Language, Reach, SendArguments};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Said in `connectors.toml` by the operator, or by the server under `munshi/tool` in a tool's `_meta`. What is not said
/// is taken at its worst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolDeclaration {
    /// Without it nothing counts as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What a policy speaks of, behind the connector's name: `file.write`, `users/{id}/reset`. Without it the tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dangerous: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sends: Option<SendArguments>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_autonomy: Option<Autonomy>,
    /// The argument that takes the key of a keyed write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The argument that, set to true, has it only say what it would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_up: Option<WriteLookup>,
    /// A failed result says that nothing was done. Without it a write that failed may have been done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_or_nothing: Option<bool>,
    /// What people say when they want it, by language.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<Language, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u16>,
    /// How long a turn waits for it; what takes longer goes on by itself, and its result is told later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_seconds: Option<u16>,
    /// A look whose result may be told again for a minute. Never of money or stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacheable: Option<bool>,
    /// A look whose result is told to the turn that asked and kept nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
    /// What the person it is called for has to have agreed to first: a purpose of the tenant's policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentPurposeName>,
    /// The argument that names whom it is about, where their consent counts and not the person's it is called for. The server's counts too,
    /// whoever names the purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// From how far out it may be reached. Only the operator's word counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// For the model, in place of the server's own words. Only the operator's counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Offered whatever is said. Only the operator's word counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
    /// Never offered. Only the operator's word counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// Arguments with which `munshi connector test` may call it.
    #[serde(rename = "try", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Map<String, Value>>,
}

/// How to see whether a checked write happened: another tool of the connector, its arguments (`{key}` is the act's key,
/// `{name}` the write's own argument), and where its answer shows the thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteLookup {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// A JSON pointer into the answer: what stands there, and is not null, false or empty, happened.
    pub found: String,
}
