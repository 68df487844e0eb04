//! The team: the job the human is doing.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{GuardrailRef, Holiday, OpeningHours, TierName};
use crate::tool::ToolName;

/// What the job is and how it is done. Owns register, the choice of tools and the depth of recall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// As people see it: `Front desk`.
    pub name: String,
    #[serde(default)]
    pub department: String,
    /// What the team is there for, and what not, in a few sentences.
    pub role: String,
    /// Its standard operating procedures, as prose. Never trimmed, never touched: the same bytes in and out.
    #[serde(default)]
    pub sops: String,
    /// The humans who staff it; none means that any may.
    #[serde(default)]
    pub members: Vec<TierName>,
    #[serde(default)]
    pub register: Register,
    /// What it uses of the agent's tools; none means all of them.
    #[serde(default)]
    pub tools: Option<Vec<ToolName>>,
    /// What it calls things, by the product's word for them: a `lead` is an enquiry.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
    /// How many past episodes are called to mind; none leaves it to the agent.
    #[serde(default)]
    pub recall: Option<u8>,
    #[serde(default)]
    pub escalation: Escalation,
    /// Where a conversation may be handed on to, and nowhere else.
    #[serde(default)]
    pub handoffs: Vec<Handoff>,
    #[serde(default)]
    pub guardrails: Vec<GuardrailRef>,
    /// Pattern rules of its own, as they were written; those who check replies read them.
    #[serde(default)]
    pub rules: Vec<Value>,
}

/// How formally the team speaks, inside the human's tone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Register {
    Casual,
    #[default]
    Neutral,
    Formal,
    Technical,
}

/// When a person has to take over, and who.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Escalation {
    /// Who takes over, in words: `the owner`.
    pub to: String,
    /// Each a sentence: `somebody is hurt`.
    pub when: Vec<String>,
    /// When people are there, by the tenant's clock; none means always.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hours: Vec<OpeningHours>,
    /// Days on which nobody is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holidays: Vec<Holiday>,
    /// In minutes: so long somebody is let wait who asked for a person, or wrote to the one who came; none means until one answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_within: Option<u16>,
    /// The team that goes on then; none leaves it to the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<TierName>,
    /// Whether whoever has a conversation in hand is proposed an answer to each message; else the agent is silent meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held_drafts: bool,
}

/// One allowed way on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    pub to: Destination,
    /// In words: `returns and refunds`.
    pub when: String,
}

/// Another team, another binding as a whole, or a person of the business: `support`, `binding/legal-notice`, `person`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Destination {
    Team(TierName),
    Binding(TierName),
    /// Whoever of those who work in the business is met first.
    Person,
}

const PERSON: &str = "person";

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |name: &str| name.parse().map_err(|error: super::TierNameError| error.to_string());
        match text.split_once('/') {
            None if text == PERSON => Ok(Self::Person),
            None => read(text).map(Self::Team),
            Some(("team", name)) => read(name).map(Self::Team),
            Some(("binding", name)) => read(name).map(Self::Binding),
            Some(_) => {
                Err(format!("`{text}` is not a handoff target: name a team, or write binding/NAME or person"))
            }
        }
    }
}

impl TryFrom<String> for Destination {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> Self {
        destination.to_string()
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A team of that name is told apart from a person.
            Self::Team(name) if name.as_str() == PERSON => write!(f, "team/{name}"),
            Self::Team(name) => write!(f, "{name}"),
            Self::Binding(name) => write!(f, "binding/{name}"),
            Self::Person => f.write_str(PERSON),
        }
    }
}
