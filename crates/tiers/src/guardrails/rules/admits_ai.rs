//! Whoever asks whether they talk to a machine is told so.

use std::borrow::Cow;

use crate::guardrails::context::Context;
use crate::guardrails::lexicon::Named;
use crate::guardrails::rule::{Check, Part, Rule, Scope, Severity, Tier};
use crate::guardrails::set::Parameters;

static BOT: Named = Named::new("never-human.bot");
static HUMAN: Named = Named::new("never-human.human");
static NO: Named = Named::new("no");

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("admits-ai"),
        tier: Tier::Human,
        // What is missing is said after the reply: nothing has to wait.
        severity: Severity::Rewrite,
        scope: Scope::Reply,
        prompt: Cow::Borrowed("Don't volunteer that you are an AI, but admit it when asked."),
        phrase: "guard-i-am-ai",
        check: Check::Reply(check),
    }
}

fn check(parts: &[Part], context: &Context, _: &Parameters) -> Option<&'static str> {
    if !context.asked_if_ai {
        return None;
    }
    let (machine, human, no) = (BOT.get(), HUMAN.get(), NO.get());
    let admits = |part: &Part| {
        part.reading.clauses.iter().any(|clause| {
            let denied = clause.mask.meets(no);
            (clause.mask.meets(machine) && !denied) || (clause.mask.meets(human) && denied)
        })
    };
    (!parts.iter().any(admits)).then_some("asked whether it is an AI, it did not say")
}

#[cfg(test)]
mod tests {
    use crate::guardrails::rules::trial::check;
    use crate::guardrails::{Context, Piece};

    #[test]
    fn the_admission_is_added_when_it_was_asked_for() {
        let asked = Context { asked_if_ai: true, ..Context::default() };
        for honest in ["Yes, I am an AI.", "मैं इंसान नहीं हूँ।", "நான் ஒரு AI உதவியாளர்."]
        {
            assert!(check("admits-ai", honest, &asked).is_clean(), "{honest}");
        }
        let verdict = check("admits-ai", "Ha ha, good one!", &asked);
        assert_eq!(verdict.pieces.last(), Some(&Piece::Say("guard-i-am-ai")));
        assert!(check("admits-ai", "Ha ha, good one!", &Context::default()).is_clean());
    }
}
