//! How many tokens a tier's text takes, counted once when it is stored.

use std::collections::BTreeMap;

use munshi_llm::money::count;
use munshi_types::tier::{Agent, GuardrailRef, Human, LanguageCode, Team};
use serde::{Deserialize, Serialize};

use crate::draft::Tier;
use crate::rulebook::SHIPPED;

/// Tokens by block, in the product's own tokenizer; a wire's factor is for those who call one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub total: u64,
    pub blocks: BTreeMap<String, u64>,
}

/// Counts what of a tier goes into every prompt.
pub fn measure(tier: &Tier) -> Tokens {
    let blocks = match tier {
        Tier::Human(human) => of_human(human),
        Tier::Team(team) => of_team(team),
        Tier::Agent(agent) => of_agent(agent),
        Tier::Binding(_) => Vec::new(),
    };
    let blocks: BTreeMap<String, u64> =
        blocks.into_iter().map(|(name, text)| (name.to_owned(), count(&text))).collect();
    Tokens { total: blocks.values().sum(), blocks }
}

type Blocks = Vec<(&'static str, String)>;

fn of_human(human: &Human) -> Blocks {
    let Human { name, identity, soul, voice, speech, flaw, nevers, guardrails, rules } = human;
    let codes: Vec<&str> = speech.languages.iter().map(LanguageCode::as_str).collect();
    vec![
        ("soul", soul.clone()),
        ("identity", lines([name, identity, flaw])),
        (
            "voice",
            lines(
                [&voice.tone, &voice.sentences, &voice.humour]
                    .into_iter()
                    .chain(&voice.phrases)
                    .chain(&voice.avoids),
            ),
        ),
        ("language", lines([&codes.join(", "), &speech.mixing, &speech.culture])),
        ("guardrails", lines(nevers.iter().chain(&ruled(guardrails, rules)))),
    ]
}

fn of_team(team: &Team) -> Blocks {
    let handoffs: Vec<String> = team.handoffs.iter().map(|way| format!("{}: {}", way.to, way.when)).collect();
    vec![
        ("role", lines([&team.name, &team.department, &team.role])),
        ("sops", team.sops.clone()),
        (
            "handoffs",
            lines(std::iter::once(&team.escalation.to).chain(&team.escalation.when).chain(&handoffs)),
        ),
        ("guardrails", lines(&ruled(&team.guardrails, &team.rules))),
    ]
}

fn of_agent(agent: &Agent) -> Blocks {
    vec![("guardrails", lines(&ruled(&agent.guardrails, &agent.rules))), ("tools", agent.guidance.clone())]
}

/// What each rule tells the model.
fn ruled(guardrails: &[GuardrailRef], rules: &[serde_json::Value]) -> Vec<String> {
    let said = rules.iter().filter_map(|rule| rule.get("prompt")?.as_str().map(str::to_owned));
    guardrails.iter().filter_map(|rule| SHIPPED.get(&rule.id).cloned()).chain(said).collect()
}

fn lines<'a>(parts: impl IntoIterator<Item = &'a String>) -> String {
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}
