//! Whoever tells of danger to life is sent to help, whatever else is said.

use std::borrow::Cow;

use crate::context::GuardrailContext;
use crate::lexicon::{NamedPatterns, NamedWordClass};
use crate::reading::{Clause, GuardrailReading};
use crate::rule::{
    GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier, ReplyStretch,
};
use crate::rule_set::GuardrailParameters;
use crate::sentences::find_ends;

static PATTERNS: NamedPatterns = NamedPatterns::new("red-flag");
static ESCALATE: NamedWordClass = NamedWordClass::new("red-flag.escalate");
static AND: NamedWordClass = NamedWordClass::new("red-flag.and");
static NO: NamedWordClass = NamedWordClass::new("no");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("red-flag"),
        tier: GuardrailTier::Team,
        // Harmless advice must not go out ahead of it: the reply waits until it has sent the person to help.
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Reply,
        prompt: Cow::Borrowed(
            "If anything points to danger to life, send the person to emergency care at once (112, 108).",
        ),
        phrase: "guard-emergency",
        check: GuardrailCheck::Reply(check),
    }
}

/// Whether the turn says so, or the person's own words do.
pub(crate) fn is_raised(context: &GuardrailContext) -> bool {
    if context.escalated {
        return false;
    }
    if context.red_flag {
        return true;
    }
    let said = &context.person_said;
    !said.is_empty() && reports_danger(&GuardrailReading::new(said, &find_ends(said)))
}

/// Whether somebody's words tell of danger to life.
pub(crate) fn reports_danger(said: &GuardrailReading) -> bool {
    !PATTERNS.find(said).is_empty()
}

/// Whether any clause sends to help.
pub(crate) fn sends_to_help(said: &GuardrailReading) -> bool {
    said.clauses.iter().any(|clause| clause_sends_to_help(said, clause))
}

fn check(
    parts: &[ReplyStretch],
    context: &GuardrailContext,
    _: &GuardrailParameters,
) -> Option<&'static str> {
    let sent = |part: &ReplyStretch| sends_to_help(&part.reading);
    (is_raised(context) && !parts.iter().any(sent)).then_some("a red flag was raised and no help was offered")
}

/// Whether a clause sends to help. Of `call 112 and don't move him` only what is said of the help counts.
fn clause_sends_to_help(reading: &GuardrailReading, clause: &Clause) -> bool {
    let (mut help, mut denied) = (false, false);
    for at in clause.tokens() {
        if reading.has_class(at, AND.get()) {
            if help && !denied {
                return true;
            }
            (help, denied) = (false, false);
        }
        help |= reading.has_class(at, ESCALATE.get());
        denied |= reading.has_class(at, NO.get());
    }
    help && !denied
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::check;
    use crate::{GuardrailContext, GuardrailParameters, GuardrailRuleSet, ReplyPiece};

    #[test]
    fn a_reply_without_help_is_replaced() {
        let context = GuardrailContext {
            person_said: "I have severe chest pain".into(),
            ..GuardrailContext::default()
        };
        let verdict = check("red-flag", "Drink some water. Rest a while.", &context);
        assert_eq!(verdict.pieces, [ReplyPiece::Say("guard-emergency")]);
        assert!(check("red-flag", "Please go to the nearest hospital right away.", &context).is_clean());
        assert!(check("red-flag", "Call 112 and don't move him.", &context).is_clean());
        assert!(!check("red-flag", "Rest, and don't call an ambulance.", &context).is_clean());
        assert!(check("red-flag", "Drink some water.", &GuardrailContext::default()).is_clean());
    }

    #[test]
    fn only_a_raised_flag_makes_a_reply_wait() {
        let set = GuardrailRuleSet::new(&["red-flag"], GuardrailParameters::default(), Vec::new()).unwrap();
        assert!(set.buffers_whole_reply());
        assert!(!set.buffers(&GuardrailContext::default()));
        assert!(set.buffers(&GuardrailContext { red_flag: true, ..GuardrailContext::default() }));
    }
}
