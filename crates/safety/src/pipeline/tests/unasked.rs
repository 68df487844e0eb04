//! What goes to others without anybody being asked: what the owner authorised, and nothing else.

use munshi_types::{ApprovalId, Autonomy, SendArguments, ToolSpec};
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::super::{ActConcern, ConsentGiver, ConsentGrant, TaintSource};
use super::case::{Case, given, sender};
use crate::policy::AuthorisedTemplate;

#[test]
fn a_message_goes_unasked_only_by_its_template_to_its_audience() {
    for (to, template, expected) in
        [("raju", "due", "apply"), ("raju", "other", "ask"), ("stranger", "due", "ask"), ("raju", "", "ask")]
    {
        let mut case = Case::of(sender());
        let (tool, template_of, audience) =
            ("tool".parse().unwrap(), "due".to_owned(), "customers".to_owned());
        case.policy.messages =
            vec![AuthorisedTemplate { tool, template: template_of, audience, per_day: None }];
        case.proposal.arguments = given(json!({ "id": "42", "to": to, "template": template }));
        assert_eq!(case.word(), expected, "{to} {template}");
    }
}

proptest! {
    #[test]
    fn nothing_goes_unasked_that_nobody_authorised(
        to in prop::sample::select(vec!["raju", "stranger"]),
        template in prop::sample::select(vec!["due", "other", ""]),
        audience in prop::sample::select(vec!["customers", "contacts", "friends"]),
        own_audience in prop::option::of(prop::sample::select(vec!["contacts", "customers"])),
        authorised in prop::sample::select(vec!["due", "other"]),
        per_day in prop::option::of(1..5u32),
        unasked in 0..120u32,
    ) {
        let mut case = Case::of(sender());
        let spec = case.proposal.tool.as_ref().map(|tool| tool.spec.clone()).unwrap();
        let sends = spec.sends.clone().map(|sends| SendArguments { audience: own_audience.map(str::to_owned), ..sends });
        case = Case::of(ToolSpec { sends, ..spec });
        let tool = "tool".parse().unwrap();
        let (template_of, audience_of) = (authorised.to_owned(), audience.to_owned());
        case.policy.messages = vec![AuthorisedTemplate { tool, template: template_of, audience: audience_of, per_day }];
        case.ground.unasked = unasked;
        case.proposal.arguments = given(json!({ "id": "42", "to": to, "template": template }));
        let is_member = own_audience == Some(audience) || (to == "raju" && audience == "customers");
        let may = template == authorised && is_member && unasked < per_day.unwrap_or(20);
        // A tool for an audience of its own makes its words when it sends: nobody could be asked about them.
        let otherwise = if own_audience.is_some() { "too_far" } else { "ask" };
        prop_assert_eq!(case.word(), if may { "apply" } else { otherwise });
    }
}

#[test]
fn nobody_is_asked_about_words_that_they_can_not_see() {
    let spec = sender();
    let sends =
        spec.sends.clone().map(|sends| SendArguments { audience: Some("contacts".to_owned()), ..sends });
    let spec = ToolSpec { sends, ..spec };
    let authorised = || {
        let mut case = Case::of(spec.clone());
        let (tool, template, audience) = ("tool".parse().unwrap(), "due".to_owned(), "contacts".to_owned());
        case.policy.messages = vec![AuthorisedTemplate { tool, template, audience, per_day: None }];
        case.proposal.arguments = given(json!({ "id": "42", "to": "raju", "template": "due" }));
        case
    };
    assert_eq!(authorised().word(), "apply");
    let mut unsaid = authorised();
    unsaid.proposal.concerns = vec![ActConcern { phrase: "unsaid".to_owned(), slots: Vec::new() }];
    let mut led = authorised();
    led.proposal.taint.sources.insert(TaintSource::Visitor);
    let mut proposes = authorised();
    proposes.policy.most_autonomy = Some(Autonomy::Propose);
    for mut case in [unsaid, led, proposes] {
        assert_eq!(case.word(), "too_far");
        // Nor does an old yes help: it was to no words.
        case.ground.given =
            Some(ConsentGrant::Act(ApprovalId::from_uuid(Uuid::from_u128(1)), ConsentGiver::Approver));
        assert_eq!(case.word(), "too_far");
    }
}
