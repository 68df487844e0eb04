//! Sentences that say what a shipped rule says, so that it can be checked and not only asked for.

use munshi_types::tier::{GuardrailRef, TierKind};

use super::Draft;
use super::report::ImportDestination;

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

const FORBIDDING: [&str; 9] =
    ["never", "not", "no", "avoid", "avoids", "refuse", "refuses", "without", "cannot"];

/// Whether a sentence says what is not done.
pub(super) fn is_forbidding(sentence: &str) -> bool {
    strip_prohibition(sentence) != sentence
}

/// The sentence up to the word that forbids.
pub(super) fn strip_prohibition(sentence: &str) -> &str {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '\'' | '’');
    let mut at = 0;
    for word in sentence.split(|letter: char| !is_part(letter)) {
        let lower = word.to_lowercase().replace('’', "'");
        if FORBIDDING.contains(&lower.as_str()) || lower.ends_with("n't") {
            return sentence.get(..at).unwrap_or_default();
        }
        at += word.len();
        at += sentence.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    sentence
}

/// Takes on the rule that a sentence speaks of, and says which it was and where it went. The sentence itself is kept by
/// whoever asked.
pub(super) fn adopt_rule(sentence: &str, draft: &mut Draft) -> Option<(&'static str, ImportDestination)> {
    let lower = sentence.to_lowercase();
    let is_meant = |known: &&Known| {
        let forbidden = !known.forbids || is_forbidding(sentence);
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
    Some((known.id, ImportDestination::Tier(known.tier, "guardrails")))
}

/// Whether a rule is about how it sounds.
pub(super) fn is_about_voice(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["tone", "voice", "emoji", "swear"].iter().any(|word| lower.contains(word))
}

/// Whether a rule is about who the persona is, and not about how the work is done.
pub(super) fn is_about_persona(sentence: &str) -> bool {
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
            assert_eq!(adopt_rule(sentence, &mut draft).map(|(id, _)| id), id, "{sentence}");
            adopt_rule(sentence, &mut draft);
            let all = [&draft.human.guardrails, &draft.team.guardrails, &draft.agent.guardrails];
            assert_eq!(all.iter().map(|rules| rules.len()).sum::<usize>(), usize::from(id.is_some()), "once");
        }
    }
}
