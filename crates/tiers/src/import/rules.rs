//! Sentences that say what a shipped rule says, so that it can be checked and not only asked for.

use munshi_types::tier::{GuardrailRef, TierKind};

use super::Draft;
use super::report::Place;

/// All words of one of the groups, in any order, make it this rule. Those that forbid need a word that does.
struct Known {
    id: &'static str,
    tier: TierKind,
    forbids: bool,
    groups: &'static [&'static [&'static str]],
}

const fn forbids(id: &'static str, tier: TierKind, groups: &'static [&'static [&'static str]]) -> Known {
    Known { id, tier, forbids: true, groups }
}

const fn asks(id: &'static str, tier: TierKind, groups: &'static [&'static [&'static str]]) -> Known {
    Known { id, tier, forbids: false, groups }
}

const KNOWN: [Known; 17] = [
    forbids("no-discount", TierKind::Team, &[&["discount"], &["coupon"]]),
    forbids("price-needs-sku", TierKind::Team, &[&["price", "sku"]]),
    asks("price-cooldown", TierKind::Team, &[&["between price"], &["pric", "cooldown"], &["turns", "price"]]),
    forbids("no-income-segmentation", TierKind::Team, &[&["income"], &["by wealth"]]),
    forbids("no-invented-scarcity", TierKind::Team, &[&["scarcity"]]),
    forbids("no-diagnosis", TierKind::Team, &[&["diagnos"]]),
    forbids("no-legal-advice", TierKind::Team, &[&["legal advice"]]),
    forbids("no-financial-promise", TierKind::Team, &[&["promise", "return"], &["guarantee", "return"]]),
    asks("fallback-plan", TierKind::Team, &[&["recommend", "fallback"], &["recommend", "alternative"]]),
    forbids("never-human", TierKind::Human, &[&["claim", "human"], &["pretend", "human"]]),
    forbids("persona-lock", TierKind::Human, &[&["break", "persona"], &["break", "character"]]),
    forbids("model-name", TierKind::Agent, &[&["model name"], &["underlying model"], &["which model"]]),
    forbids(
        "prompt-leak",
        TierKind::Agent,
        &[&["system prompt"], &["echo", "prompt"], &["reveal", "instructions"]],
    ),
    forbids("no-secrets", TierKind::Agent, &[&["password"], &["one-time code"], &["api key"]]),
    forbids("identity-numbers", TierKind::Agent, &[&["aadhaar"]]),
    forbids("phi-redaction", TierKind::Agent, &[&["patient", "name"]]),
    forbids("no-internals", TierKind::Agent, &[&["json"], &["sql"], &["internal id"]]),
];

const FORBIDDING: [&str; 7] = ["never", "not ", "n't", "no ", "avoid", "refuse", "without"];

/// Takes on the rule that a sentence speaks of, and says which it was and where it went. The sentence itself is kept by
/// whoever asked.
pub(super) fn take_on(sentence: &str, draft: &mut Draft) -> Option<(&'static str, Place)> {
    let lower = sentence.to_lowercase();
    let is_meant = |known: &&Known| {
        let forbidden = !known.forbids || FORBIDDING.iter().any(|word| lower.contains(word));
        forbidden && known.groups.iter().any(|words| words.iter().all(|word| lower.contains(word)))
    };
    let known = KNOWN.iter().find(is_meant)?;
    let rules = match known.tier {
        TierKind::Human => &mut draft.human.guardrails,
        TierKind::Team => &mut draft.team.guardrails,
        TierKind::Agent | TierKind::Binding => &mut draft.agent.guardrails,
    };
    if !rules.iter().any(|rule| rule.id == known.id) {
        rules.push(GuardrailRef::new(known.id));
    }
    Some((known.id, Place::Tier(known.tier, "guardrails")))
}

/// Whether a rule is about who the persona is, and not about how the work is done.
pub(super) fn is_of_persona(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    [
        "persona",
        "character",
        "human",
        "language",
        "tone",
        "voice",
        "emoji",
        "hindi",
        "english",
        "tamil",
        "swear",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_known_by_what_it_says() {
        for (sentence, id) in [
            ("Never offer discounts.", Some("no-discount")),
            ("We give discounts on Fridays", None),
            ("Wait 3-4 turns between price mentions (pricing cooldown).", Some("price-cooldown")),
            ("After a recommendation, mention the fallback plan.", Some("fallback-plan")),
            ("Never reveal model name.", Some("model-name")),
            ("Do not name the underlying model.", Some("model-name")),
            ("Never segment users by income.", Some("no-income-segmentation")),
            ("Don't break character.", Some("persona-lock")),
            ("Be kind.", None),
        ] {
            let mut draft = Draft::default();
            assert_eq!(take_on(sentence, &mut draft).map(|(id, _)| id), id, "{sentence}");
            take_on(sentence, &mut draft);
            let all = [&draft.human.guardrails, &draft.team.guardrails, &draft.agent.guardrails];
            assert_eq!(all.iter().map(|rules| rules.len()).sum::<usize>(), usize::from(id.is_some()), "once");
        }
    }
}
