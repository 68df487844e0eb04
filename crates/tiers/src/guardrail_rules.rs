//! The rules that tiers take on: shipped ones by their id, and those they bring themselves.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use munshi_guardrails::{GuardrailParameters, GuardrailRuleSet, PatternRule, price_cooldown};
use munshi_types::tier::{Agent, GuardrailRef, Human, Team};
use serde_json::Value;

use crate::error::{Error, Result};

/// The shipped rules: what each tells the model, by id.
pub(crate) static SHIPPED: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let shipped = GuardrailRuleSet::shipped();
    shipped.rules().iter().map(|rule| (rule.id.to_string(), rule.prompt.to_string())).collect()
});

/// The one rule that has something to set, and its name.
const COOLDOWN: (&str, &str) = (price_cooldown::ID, "turns");
const LONGEST_COOLDOWN: u64 = 50;

/// The rules of a binding, human first, then team, then agent. Where two tiers set the same, the agent's word counts
/// over the team's and the team's over the human's.
pub fn build_rule_set(human: &Human, team: &Team, agent: &Agent) -> Result<GuardrailRuleSet> {
    let named: Vec<&GuardrailRef> =
        human.guardrails.iter().chain(&team.guardrails).chain(&agent.guardrails).collect();
    if let Some(error) = named.iter().find_map(|rule| parse_cooldown_turns(rule).err()) {
        return Err(Error::Unreadable(error));
    }
    let parameters = resolve_parameters(named.iter().copied());
    let mut own = Vec::new();
    for (tier, rules) in [("human", &human.rules), ("team", &team.rules), ("agent", &agent.rules)] {
        for rule in rules {
            own.push(parse_pattern_rule(tier, rule).map_err(Error::Unreadable)?);
        }
    }
    let ids: Vec<&str> = named.iter().map(|rule| rule.id.as_str()).collect();
    GuardrailRuleSet::new(&ids, parameters, own).map_err(|error| Error::Unreadable(error.to_string()))
}

/// What the rules of a binding set, the human's named first. The last word counts. What can't be read is refused when it
/// is applied, and sets nothing here.
pub(crate) fn resolve_parameters<'a>(named: impl Iterator<Item = &'a GuardrailRef>) -> GuardrailParameters {
    let usual = GuardrailParameters::default();
    let said = named.filter_map(|rule| parse_cooldown_turns(rule).ok().flatten()).last();
    GuardrailParameters { price_cooldown: said.unwrap_or(usual.price_cooldown) }
}

/// What a shipped rule tells the model; none where there is no such rule.
pub(crate) fn find_rule_prompt(rule: &GuardrailRef, parameters: &GuardrailParameters) -> Option<String> {
    match rule.id.as_str() {
        price_cooldown::ID => Some(price_cooldown::render_prompt(parameters.price_cooldown)),
        id => SHIPPED.get(id).cloned(),
    }
}

/// What is wrong with a shipped rule as it is named, if anything.
pub(crate) fn parse_cooldown_turns(rule: &GuardrailRef) -> Result<Option<u32>, String> {
    let (id, name) = COOLDOWN;
    let settable = |key: &String| rule.id == id && key == name;
    if let Some(other) = rule.parameters.keys().find(|key| !settable(key)) {
        return Err(format!("rule {} has no parameter `{other}`: only {id} has one, `{name}`", rule.id));
    }
    let Some(turns) = rule.parameters.get(name) else { return Ok(None) };
    let read = turns.as_u64().filter(|turns| (1..=LONGEST_COOLDOWN).contains(turns));
    let read = read.and_then(|turns| u32::try_from(turns).ok());
    read.map(Some)
        .ok_or_else(|| format!("`{name}` is out of range: write a whole number from 1 to {LONGEST_COOLDOWN}"))
}

/// A rule of a tier's own. It is that tier's, whether it says so or not.
pub(crate) fn parse_pattern_rule(tier: &str, rule: &Value) -> Result<PatternRule, String> {
    let mut rule = rule.clone();
    if let Some(fields) = rule.as_object_mut() {
        let said = fields.insert("tier".to_owned(), Value::from(tier));
        if said.is_some_and(|said| said != tier) {
            return Err(format!(
                "this rule names another tier: remove `tier`, the rule belongs to the {tier}"
            ));
        }
    }
    serde_json::from_value(rule).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_guardrails::GuardrailTier;
    use serde_json::json;

    #[test]
    fn three_tiers_make_one_set() {
        let human: Human = serde_json::from_value(json!({
            "name": "M", "identity": "You.", "guardrails": ["never-human", { "id": "price-cooldown", "turns": 9 }],
            "rules": [{ "id": "no-rivals", "severity": "log", "prompt": "Name no other shop.", "words": { "en": ["mega mart"] } }],
        }))
        .unwrap();
        let team: Team = serde_json::from_value(json!({
            "name": "T", "role": "r", "guardrails": ["no-discount", { "id": "price-cooldown", "turns": 4 }],
        }))
        .unwrap();
        let set = build_rule_set(&human, &team, &Agent::default()).unwrap();
        let ids: Vec<&str> = set.rules().iter().map(|rule| rule.id.as_ref()).collect();
        assert_eq!(ids, ["never-human", "price-cooldown", "no-discount", "no-rivals"]);
        assert_eq!(set.rules()[3].tier, GuardrailTier::Human);
    }

    #[test]
    fn what_can_not_be_set_is_said() {
        let rule = |value| serde_json::from_value::<GuardrailRef>(value).unwrap();
        assert_eq!(parse_cooldown_turns(&rule(json!({ "id": "price-cooldown", "turns": 4 }))), Ok(Some(4)));
        assert!(parse_cooldown_turns(&rule(json!({ "id": "price-cooldown", "turns": 0 }))).is_err());
        assert!(parse_cooldown_turns(&rule(json!({ "id": "no-discount", "turns": 4 }))).is_err());
        assert!(parse_pattern_rule("team", &json!({ "id": "x", "tier": "agent" })).is_err());
    }
}
