//! Whether the person a tool is about agrees to what it is for: the one it is called for, or the one that an argument of it names.

use munshi_types::{ConsentId, ToolSpec};

use super::decision_store::DecisionStore;
use super::refusal::{ActRefusal, RefusalCode};
use super::request::{PolicyRequest, ProposalMode};
use super::{StageName, decision_store::ConsentGrant};
use crate::consents::PurposeQuestion;
use crate::error::Result;

/// What is known of somebody's consent to a purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurposeStanding {
    Given(ConsentId),
    /// They have said no in this very run, or to the same program a while ago.
    Refused,
    Unasked,
    /// They were asked a while ago, and have not answered yet.
    Asked,
    /// It is about somebody else, who has not agreed or is not known: which of both is nobody's to find out by asking.
    UnaskedOther,
    /// Nobody is known for whom it is called.
    Nobody,
}

/// What the purpose of a tool means for a call.
pub(super) enum PurposeOutcome {
    /// Nothing is in the way: it needs none, or rests on this one.
    Open(Option<ConsentId>),
    /// They are asked first.
    Ask(PurposeQuestion),
    Refuse(ActRefusal),
}

pub(super) fn check(
    ask: &PolicyRequest<'_>,
    spec: &ToolSpec,
    ground: &mut dyn DecisionStore,
) -> Result<PurposeOutcome> {
    let Some(name) = &spec.consent else { return Ok(PurposeOutcome::Open(None)) };
    let refuse =
        |code, what: &str| Ok(PurposeOutcome::Refuse(ActRefusal::new(StageName::Consent, code, what)));
    let Some(purpose) = ask.policy.consent.purposes.get(name) else {
        let what =
            "What this tool is for was not declared here, so nobody can agree to it. Answer without it.";
        return refuse(RefusalCode::UndeclaredPurpose, what);
    };
    match ground.find_purpose_consent(ask, name)? {
        PurposeStanding::Given(consent) => return Ok(PurposeOutcome::Open(Some(consent))),
        PurposeStanding::Refused => {
            let what = "The person has not agreed to what this tool is for. Don't ask them again now; answer without it.";
            return refuse(RefusalCode::NoConsent, what);
        }
        PurposeStanding::Asked => {
            let what = "The person has been asked already whether they agree to what this tool is for, and has not answered. Call it \
                        again once they have; answer without it until then.";
            return refuse(RefusalCode::NoConsent, what);
        }
        PurposeStanding::UnaskedOther => {
            let what = "This is about somebody else, who has not agreed here to what this tool is for. They are not asked in this \
                        conversation, and nobody agrees in their place. Answer without it.";
            return refuse(RefusalCode::NoConsent, what);
        }
        PurposeStanding::Nobody => {
            let what = "This tool is called only for somebody who has agreed to what it is for, and nobody is known here. Answer \
                        without it.";
            return refuse(RefusalCode::NoConsent, what);
        }
        PurposeStanding::Unasked => {}
    }
    if ask.wanted == ProposalMode::Rehearsal {
        let what = "Nobody is asked before something is tried out, and the person has not agreed to what this tool is for.";
        return refuse(RefusalCode::NoConsent, what);
    }
    // Somebody agreed to this very act, and what it rests on was withdrawn or has ended since.
    if let Some(ConsentGrant::Act(..) | ConsentGrant::Purpose(_)) = ground.find_consent(ask, &[])? {
        let what = "What the person had agreed to holds no longer. Propose it anew if they still want it.";
        return refuse(RefusalCode::NoConsent, what);
    }
    let (words, language) = purpose.choose_words(ask.caller.language.as_ref());
    Ok(PurposeOutcome::Ask(PurposeQuestion {
        purpose: name.clone(),
        words: words.to_owned(),
        language: language.cloned(),
        days: purpose.days,
    }))
}
