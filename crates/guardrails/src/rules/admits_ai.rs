//! Whoever asks whether they talk to a machine is told so.

use std::borrow::Cow;

use crate::context::GuardrailContext;
use crate::lexicon::NamedWordClass;
use crate::rule::{
    GuardrailCheck, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier, ReplyStretch,
};
use crate::rule_set::GuardrailParameters;

static BOT: NamedWordClass = NamedWordClass::new("never-human.bot");
static HUMAN: NamedWordClass = NamedWordClass::new("never-human.human");
static NO: NamedWordClass = NamedWordClass::new("no");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("admits-ai"),
        tier: GuardrailTier::Human,
        // What is missing is said after the reply: nothing has to wait.
        severity: GuardrailSeverity::Rewrite,
        scope: GuardrailScope::Reply,
        prompt: Cow::Borrowed("Don't volunteer that you are an AI, but admit it when asked."),
        phrase: "guard-i-am-ai",
        check: GuardrailCheck::Reply(check),
    }
}

fn check(
    parts: &[ReplyStretch],
    context: &GuardrailContext,
    _: &GuardrailParameters,
) -> Option<&'static str> {
    if !context.asked_if_ai {
        return None;
    }
    let (machine, human, no) = (BOT.get(), HUMAN.get(), NO.get());
    let admits = |part: &ReplyStretch| {
        part.reading.clauses.iter().any(|clause| {
            let denied = clause.mask.intersects(no);
            (clause.mask.intersects(machine) && !denied) || (clause.mask.intersects(human) && denied)
        })
    };
    (!parts.iter().any(admits)).then_some("asked whether it is an AI, it did not say")
}

#[cfg(test)]
mod tests {
    use crate::rules::trial::check;
    use crate::{GuardrailContext, ReplyPiece};

    #[test]
    fn the_admission_is_added_when_it_was_asked_for() {
        let asked = GuardrailContext { asked_if_ai: true, ..GuardrailContext::default() };
        for honest in ["Yes, I am an AI.", "मैं इंसान नहीं हूँ।", "நான் ஒரு AI உதவியாளர்."]
        {
            assert!(check("admits-ai", honest, &asked).is_clean(), "{honest}");
        }
        let verdict = check("admits-ai", "Ha ha, good one!", &asked);
        assert_eq!(verdict.pieces.last(), Some(&ReplyPiece::Say("guard-i-am-ai")));
        assert!(check("admits-ai", "Ha ha, good one!", &GuardrailContext::default()).is_clean());
    }
}
