//! What a tool is for: agreed to by the person it is called for, and by nobody in their place.

use munshi_identity::{PrincipalStanding, Role};
use munshi_types::{ApprovalId, ConsentId, Effect, Egress, ToolSpec};
use uuid::Uuid;

use super::super::{ActVerdict, ConsentGiver, ConsentGrant, ConsentReason, ProposalMode, PurposeStanding};
use super::case::{Case, principal, spec};
use super::egress::led;
use crate::policy;

/// A tool for a credit check, where one is declared.
fn check(effect: Effect) -> Case {
    let mut case = Case::of(ToolSpec { consent: Some("credit_check".parse().unwrap()), ..spec(effect) });
    let declared =
        "[consent.purposes.credit_check]\ndays = 30\nwords = { en = \"May we ask?\", hi = \"क्या हम पूछें?\" }\n";
    case.policy.consent = policy::parse(declared).unwrap().consent;
    case
}

#[test]
fn it_is_put_to_them_in_the_declared_words() {
    for (language, words) in
        [(Some("hi-latn"), "क्या हम पूछें?"), (Some("ta"), "May we ask?"), (None, "May we ask?")]
    {
        let mut case = check(Effect::Read);
        case.proposal.caller.language = language.map(|code| code.parse().unwrap());
        let ActVerdict::Ask(question) = case.decide() else { panic!("they are not asked") };
        assert_eq!(
            (question.reasons.as_slice(), question.needs),
            (&[ConsentReason::Purpose][..], ConsentGiver::Subject)
        );
        let purpose = question.purpose.unwrap();
        assert_eq!((purpose.words.as_str(), purpose.days), (words, 30));
    }
}

#[test]
fn nothing_is_done_without_it() {
    let mut undeclared = check(Effect::Read);
    undeclared.policy.consent = Default::default();
    assert_eq!(undeclared.word(), "undeclared_purpose");
    use PurposeStanding::{Asked, Nobody, Refused, UnaskedOther};
    for standing in [Nobody, UnaskedOther, Refused, Asked] {
        let mut refused = check(Effect::Read);
        refused.ground.purpose = Some(standing);
        assert_eq!(refused.word(), "no_consent", "{standing:?}");
    }
    let mut tried = check(Effect::Read);
    tried.proposal.wanted = ProposalMode::Rehearsal;
    assert_eq!(tried.word(), "no_consent");
    let id = ApprovalId::from_uuid(Uuid::from_u128(3));
    for given in [ConsentGrant::Act(id, ConsentGiver::Approver), ConsentGrant::Purpose(id)] {
        let mut withdrawn = check(Effect::Keyed);
        withdrawn.ground.given = Some(given);
        assert_eq!(withdrawn.word(), "no_consent", "{given:?}");
    }
}

#[test]
fn an_act_rests_on_what_they_agreed_to() {
    let consent = ConsentId::from_uuid(Uuid::from_u128(5));
    let approval = ApprovalId::from_uuid(Uuid::from_u128(3));
    for given in [None, Some(ConsentGrant::Purpose(approval))] {
        let mut case = check(Effect::Read);
        (case.ground.purpose, case.ground.given) = (Some(PurposeStanding::Given(consent)), given);
        let ActVerdict::Apply(cleared) = case.decide() else { panic!("it is not done") };
        assert_eq!((cleared.consent, cleared.approval), (Some(consent), given.map(|_| approval)));
    }
    let mut tried = check(Effect::Read);
    (tried.ground.purpose, tried.proposal.wanted) =
        (Some(PurposeStanding::Given(consent)), ProposalMode::Rehearsal);
    assert_eq!(tried.word(), "rehearse");
}

#[test]
fn what_else_is_asked_is_asked_with_it() {
    let consent = ConsentId::from_uuid(Uuid::from_u128(5));
    let approval = ApprovalId::from_uuid(Uuid::from_u128(3));
    let mut look = check(Effect::Read);
    look.proposal.tool = Case::of(ToolSpec {
        egress: Egress::Ask,
        consent: Some("credit_check".parse().unwrap()),
        ..spec(Effect::Read)
    })
    .proposal
    .tool;
    look.proposal.taint = led("");
    let ActVerdict::Ask(question) = look.decide() else { panic!("they are not asked") };
    assert_eq!(question.reasons, [ConsentReason::Purpose, ConsentReason::Egress]);
    assert_eq!(question.needs, ConsentGiver::Subject);
    // Somebody agreed, and may or may not approve what moves money.
    for (role, expected) in [(Role::Owner, "apply"), (Role::Staff, "outgrown")] {
        let mut case = check(Effect::Keyed);
        case.proposal.tool = Case::of(ToolSpec {
            money: true,
            consent: Some("credit_check".parse().unwrap()),
            ..spec(Effect::Keyed)
        })
        .proposal
        .tool;
        case.proposal.caller.principal = principal(PrincipalStanding::Member(role));
        case.proposal.caller.door = super::super::CallerAudience::Work;
        case.ground.purpose = Some(PurposeStanding::Given(consent));
        case.ground.given = Some(ConsentGrant::Act(approval, ConsentGiver::Subject));
        assert_eq!(case.word(), expected, "{role}");
        case.ground.given = Some(ConsentGrant::Purpose(approval));
        assert_eq!(case.word(), "outgrown", "the act did not stand before them");
    }
}
