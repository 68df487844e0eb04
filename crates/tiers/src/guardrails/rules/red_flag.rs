//! Whoever tells of danger to life is sent to help, whatever else is said.

use std::borrow::Cow;

use crate::guardrails::context::Context;
use crate::guardrails::lexicon::{Listed, Named};
use crate::guardrails::reading::{Clause, Reading};
use crate::guardrails::rule::{Check, Part, Rule, Scope, Severity, Tier};
use crate::guardrails::sentences::ends;
use crate::guardrails::set::Parameters;

static PATTERNS: Listed = Listed::new("red-flag");
static ESCALATE: Named = Named::new("red-flag.escalate");
static AND: Named = Named::new("red-flag.and");
static NO: Named = Named::new("no");

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("red-flag"),
        tier: Tier::Team,
        // Harmless advice must not go out ahead of it: the reply waits until it has sent the person to help.
        severity: Severity::Block,
        scope: Scope::Reply,
        prompt: Cow::Borrowed(
            "If anything points to danger to life, send the person to emergency care at once (112, 108).",
        ),
        phrase: "guard-emergency",
        check: Check::Reply(check),
    }
}

/// Whether the turn says so, or the person's own words do.
pub(crate) fn raised(context: &Context) -> bool {
    if context.escalated {
        return false;
    }
    if context.red_flag {
        return true;
    }
    let said = &context.person_said;
    !said.is_empty() && told(&Reading::new(said, &ends(said)))
}

/// Whether somebody's words tell of danger to life.
pub(crate) fn told(said: &Reading) -> bool {
    !PATTERNS.find(said).is_empty()
}

/// Whether any clause sends to help.
pub(crate) fn sends_anywhere(said: &Reading) -> bool {
    said.clauses.iter().any(|clause| sends(said, clause))
}

fn check(parts: &[Part], context: &Context, _: &Parameters) -> Option<&'static str> {
    let sent = |part: &Part| sends_anywhere(&part.reading);
    (raised(context) && !parts.iter().any(sent)).then_some("a red flag was raised and no help was offered")
}

/// Whether a clause sends to help. Of `call 112 and don't move him` only what is said of the help counts.
fn sends(reading: &Reading, clause: &Clause) -> bool {
    let (mut help, mut denied) = (false, false);
    for at in clause.tokens() {
        if reading.is(at, AND.get()) {
            if help && !denied {
                return true;
            }
            (help, denied) = (false, false);
        }
        help |= reading.is(at, ESCALATE.get());
        denied |= reading.is(at, NO.get());
    }
    help && !denied
}

#[cfg(test)]
mod tests {
    use crate::guardrails::rules::trial::check;
    use crate::guardrails::{Context, Parameters, Piece, RuleSet};

    #[test]
    fn a_reply_without_help_is_replaced() {
        let context = Context { person_said: "I have severe chest pain".into(), ..Context::default() };
        let verdict = check("red-flag", "Drink some water. Rest a while.", &context);
        assert_eq!(verdict.pieces, [Piece::Say("guard-emergency")]);
        assert!(check("red-flag", "Please go to the nearest hospital right away.", &context).is_clean());
        assert!(check("red-flag", "Call 112 and don't move him.", &context).is_clean());
        assert!(!check("red-flag", "Rest, and don't call an ambulance.", &context).is_clean());
        assert!(check("red-flag", "Drink some water.", &Context::default()).is_clean());
    }

    #[test]
    fn only_a_raised_flag_makes_a_reply_wait() {
        let set = RuleSet::new(&["red-flag"], Parameters::default(), Vec::new()).unwrap();
        assert!(set.buffers_whole_reply());
        assert!(!set.buffers(&Context::default()));
        assert!(set.buffers(&Context { red_flag: true, ..Context::default() }));
    }
}
