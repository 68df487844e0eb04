//! Each stage by its table: what it lets pass and what makes it say no.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use munshi_identity::{PermissionRules, PrincipalStanding, Role, RoleRules};
use munshi_privacy::{HiddenFields, RedactionProfile};
use munshi_types::{
    ApprovalId, Autonomy, Conduct, Effect, Egress, Reach, SendArguments, TenantStatus, ToolSpec,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{
    ActConcern, ActVerdict, CallerAudience, CompiledTool, ConnectorOrigin, ConsentGiver, ConsentGrant,
    ConsentReason, ProposalMode, Risk, StageName, Taint, TaintSource, ToolConnector,
};
use super::case::{Case, connector, given, globs, open, principal, sender, spec};
use super::egress::led;
use crate::policy::OutboundRedaction;

const WRITES: [Effect; 4] = [Effect::Inside, Effect::Keyed, Effect::Checked, Effect::Once];

#[test]
fn schema_takes_what_is_offered_and_fits() {
    let deep = (0..30).fold(json!(1), |inner, _| json!([inner]));
    let cases: [(&str, Value); 14] = [
        ("apply", json!({ "id": "42", "to": "raju" })),
        ("apply", json!({ "id": 42, "to": "raju", "amount": 1.5 })),
        ("apply", json!({ "id": 9_007_199_254_740_991_u64, "to": "raju" })),
        ("bad_arguments", json!({ "to": "raju" })),
        ("bad_arguments", json!({ "id": true, "to": "raju" })),
        ("bad_arguments", json!({ "id": "42", "to": "raju", "approved": true })),
        ("bad_arguments", json!({ "id": "42", "to": "ra\0ju" })),
        ("bad_arguments", json!({ "id": 9_007_199_254_740_993_u64, "to": "raju" })),
        ("bad_arguments", json!({ "id": "42", "to": "raju", "amount": 1e300 })),
        ("bad_arguments", json!({ "id": "42", "to": "x".repeat(70_000) })),
        ("bad_arguments", json!({ "id": "42", "to": deep })),
        ("bad_arguments", json!("{\"id\":\"42\"}")),
        ("bad_arguments", json!([])),
        ("bad_arguments", Value::Null),
    ];
    for (expected, arguments) in cases {
        let mut case = Case::of(spec(Effect::Keyed));
        case.proposal.arguments = given(arguments.clone());
        assert_eq!(case.word(), expected, "{}", arguments.to_string().chars().take(80).collect::<String>());
    }
    let mut case = Case::of(spec(Effect::Keyed));
    case.proposal.offered = false;
    assert_eq!(case.word(), "not_offered");
    case.proposal.tool = None;
    assert_eq!(case.word(), "unknown_tool");
    assert_eq!(case.ground.taken, 0, "what is refused early takes no room");
}

#[test]
fn nothing_is_done_for_a_tenant_that_is_not_active() {
    for (tenant, expected) in [
        (TenantStatus::Active, "apply"),
        (TenantStatus::Paused, "paused"),
        (TenantStatus::Archived, "paused"),
    ] {
        for effect in WRITES.into_iter().chain([Effect::Read]) {
            let mut case = Case::of(spec(effect));
            case.tenant = tenant;
            assert_eq!(case.word(), expected, "{tenant:?} {effect:?}");
        }
    }
}

#[test]
fn a_misfit_never_tells_the_value() {
    let mut case = Case::of(spec(Effect::Keyed));
    case.proposal.arguments = given(json!({ "id": { "card": "4111 1111" }, "to": "raju" }));
    let ActVerdict::Refuse(refusal) = case.decide() else { panic!() };
    assert!(!refusal.suggestion.contains("4111"), "{}", refusal.suggestion);
}

#[test]
fn permission_goes_by_standing_and_role() {
    use PrincipalStanding::{Anonymous, Known as Guest, Member};
    let rules = |role: Role, rules: RoleRules| PermissionRules([(role, rules)].into());
    let deny = || RoleRules { deny: globs(&["USERS/*"]), ..RoleRules::default() };
    let only = |text: &str| RoleRules { allow: Some(globs(&[text])), ..RoleRules::default() };
    let none = PermissionRules::default;
    for (standing, effect, rules, expected) in [
        (Member(Role::Owner), Effect::Keyed, rules(Role::Owner, deny()), "apply"),
        (Member(Role::Admin), Effect::Keyed, none(), "apply"),
        (Member(Role::Admin), Effect::Keyed, rules(Role::Admin, deny()), "not_permitted"),
        (Member(Role::Staff), Effect::Keyed, none(), "apply"),
        (Member(Role::Staff), Effect::Keyed, rules(Role::Staff, only("users/42/*")), "apply"),
        (Member(Role::Staff), Effect::Keyed, rules(Role::Staff, only("users/7/*")), "not_permitted"),
        (Member(Role::Staff), Effect::Keyed, rules(Role::Staff, deny()), "not_permitted"),
        (Member(Role::Viewer), Effect::Read, none(), "apply"),
        (Member(Role::Viewer), Effect::Keyed, none(), "not_permitted"),
        (Guest, Effect::Read, none(), "not_permitted"),
        (Anonymous, Effect::Read, none(), "not_permitted"),
    ] {
        let mut case = Case::of(spec(effect));
        case.proposal.caller.principal = principal(standing);
        case.policy.roles = rules.clone();
        assert_eq!(case.word(), expected, "{standing:?} {effect:?} {rules:?}");
    }
    let mut case = Case::of(spec(Effect::Keyed));
    case.proposal.caller.principal.closed = globs(&["users/42/*"]);
    assert_eq!(case.word(), "not_permitted", "closed to the owner too");
}

#[test]
fn each_door_reaches_what_its_palette_holds() {
    let owner = PrincipalStanding::Member(Role::Owner);
    for (door, standing, least) in [
        (CallerAudience::Private, owner, Some(Reach::Owner)),
        (CallerAudience::Private, PrincipalStanding::Member(Role::Staff), Some(Reach::Business)),
        (CallerAudience::Work, owner, Some(Reach::Business)),
        (CallerAudience::Private, PrincipalStanding::Known, None),
        (CallerAudience::Work, PrincipalStanding::Anonymous, None),
        (CallerAudience::Public, owner, Some(Reach::Person)),
        (CallerAudience::Distribution, PrincipalStanding::Known, Some(Reach::Person)),
        (CallerAudience::Agents, PrincipalStanding::Anonymous, Some(Reach::Anyone)),
    ] {
        for reach in [Reach::Owner, Reach::Business, Reach::Person, Reach::Anyone] {
            let mut case = Case::of(ToolSpec { reach, ..spec(Effect::Read) });
            case.proposal.caller.door = door;
            case.proposal.caller.principal = principal(standing);
            let expected = least.is_some_and(|least| reach >= least);
            assert_eq!(case.word() == "apply", expected, "{door} {standing:?} {reach:?}");
        }
    }
}

#[test]
fn scope_is_open_only_where_agent_and_connector_both_open_it() {
    let lane = |read: &[&str], write: &[&str], deny: &[&str]| Conduct {
        autonomy: Autonomy::Act,
        read: globs(read),
        write: globs(write),
        deny: globs(deny),
        ask: Vec::new(),
    };
    for (conduct, reads, writes) in [
        (lane(&["*"], &["*"], &[]), "apply", "apply"),
        (lane(&["*"], &[], &[]), "apply", "out_of_scope"),
        (lane(&[], &["*"], &[]), "out_of_scope", "apply"),
        (lane(&["users/42/*"], &["users/7/*"], &[]), "apply", "out_of_scope"),
        (lane(&["*"], &["*"], &["users/42/*"]), "denied", "denied"),
        (lane(&["*"], &["*"], &["Users/{who}/TOOL"]), "denied", "denied"),
        (lane(&["*"], &["*"], &["users/7/*"]), "apply", "apply"),
        (lane(&["USERS/*"], &["USERS/*"], &[]), "out_of_scope", "out_of_scope"),
        (Conduct { autonomy: Autonomy::Act, ..Conduct::default() }, "out_of_scope", "out_of_scope"),
    ] {
        for (effect, expected) in [(Effect::Read, reads), (Effect::Keyed, writes)] {
            let mut case = Case::of(spec(effect));
            case.proposal.agent = Arc::new(conduct.clone());
            assert_eq!(case.word(), expected, "agent {conduct:?} {effect:?}");
            let mut case = Case::of(spec(effect));
            case.policy.connectors = [("shop".to_owned(), conduct.clone())].into();
            assert_eq!(case.word(), expected, "connector {conduct:?} {effect:?}");
        }
    }
    let mut case = Case::of(spec(Effect::Read));
    case.policy.connectors.clear();
    assert_eq!(case.word(), "out_of_scope", "a connector nobody speaks of is closed");
}

#[test]
fn no_value_passes_for_another_scope() {
    for (id, scope) in [
        (json!("7"), "users/7/tool"),
        (json!(7), "users/7/tool"),
        (json!(7.0), "users/7/tool"),
        (json!("7/x"), "users/7%2Fx/tool"),
        (json!("*"), "users/%2A/tool"),
        (json!("{id}"), "users/%7Bid%7D/tool"),
        (json!("7."), "users/7%2E/tool"),
        (json!("é"), "users/%C3%A9/tool"),
        (json!(""), "users//tool"),
        (json!([7]), "users/%5B7%5D/tool"),
    ] {
        let tool = CompiledTool::new(spec(Effect::Read), connector(ConnectorOrigin::BuiltIn)).unwrap();
        assert_eq!(tool.render_scope(&json!({ "id": id })), scope);
    }
}

#[test]
fn no_value_that_means_another_passes_a_deny() {
    for id in [
        json!(""),
        json!(" "),
        json!(" admin"),
        json!("admin\t"),
        json!("admin\u{a0}"),
        json!("admin\u{200b}"),
        json!("ad\u{202e}min"),
        json!("admin\u{200d}"),
        json!("admin\u{fe0f}"),
        json!("admin\u{e0041}"),
        json!(["admin"]),
        json!({ "id": "admin" }),
        Value::Null,
    ] {
        let mut open_id = spec(Effect::Keyed);
        open_id.parameters["properties"]["id"] = json!({});
        let mut case = Case::of(open_id);
        case.proposal.agent = Arc::new(Conduct { deny: globs(&["users/admin/*"]), ..open() });
        case.proposal.arguments = given(json!({ "id": id, "to": "raju" }));
        assert_eq!(case.word(), "bad_arguments", "{id}");
        case.proposal.arguments = given(json!({ "id": "admin", "to": "raju" }));
        assert_eq!(case.word(), "denied");
        for honest in [json!("admin2"), json!("राजू"), json!("क्\u{200d}ष"), json!("raju kumar"), json!(7)]
        {
            case.proposal.arguments = given(json!({ "id": honest, "to": "raju" }));
            assert_eq!(case.word(), "apply", "{honest}");
        }
    }
}

#[test]
fn the_lowest_autonomy_counts() {
    for agent in Autonomy::ALL {
        for other in Autonomy::ALL {
            for most in [None, Some(Autonomy::Investigate), Some(Autonomy::Propose)] {
                let lowest = agent.min(other).min(most.unwrap_or(Autonomy::Act));
                for least in [Autonomy::Investigate, Autonomy::Propose, Autonomy::Act] {
                    for effect in [Effect::Read, Effect::Keyed] {
                        let mut case = Case::of(ToolSpec { least_autonomy: least, ..spec(effect) });
                        case.proposal.agent = Arc::new(Conduct { autonomy: agent, ..open() });
                        case.policy.connectors =
                            [("shop".to_owned(), Conduct { autonomy: other, ..open() })].into();
                        case.policy.most_autonomy = most;
                        let expected = match (lowest, effect) {
                            (Autonomy::Off, _) => "off",
                            (Autonomy::Investigate, Effect::Keyed) => "read_only",
                            _ if lowest < least => "too_far",
                            (Autonomy::Propose, Effect::Keyed) => "ask",
                            _ => "apply",
                        };
                        assert_eq!(case.word(), expected, "{agent} {other} {most:?} {least} {effect:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_connector_that_declares_nothing_only_looks() {
    for (effect, expected) in [(Effect::Read, "apply"), (Effect::Keyed, "read_only")] {
        let mut case = Case::with(
            spec(effect),
            ToolConnector { declares: false, ..connector(ConnectorOrigin::Foreign) },
        );
        assert_eq!(case.word(), expected);
    }
}

#[test]
fn limits_say_which_and_are_asked_once() {
    let mut case = Case::of(spec(Effect::Keyed));
    assert_eq!((case.word(), case.ground.taken), ("apply", 1));
    case.ground.full = Some("No more than 5 calls a minute.");
    let ActVerdict::Refuse(refusal) = case.decide() else { panic!() };
    assert_eq!((refusal.stage, refusal.code.as_str()), (StageName::Limits, "over_limit"));
    assert!(refusal.suggestion.contains("5 calls a minute") && refusal.code.is_retryable());
}

#[test]
fn what_leaves_is_redacted_and_what_stays_is_not() {
    let leaving =
        OutboundRedaction { profile: RedactionProfile::Standard, fields: HiddenFields::new(["phone"]) };
    for (origin, effect) in [
        (ConnectorOrigin::BuiltIn, Effect::Inside),
        (ConnectorOrigin::Foreign, Effect::Keyed),
        (ConnectorOrigin::Foreign, Effect::Read),
    ] {
        for wanted in [ProposalMode::Act, ProposalMode::Rehearsal] {
            let mut case = Case::with(ToolSpec { dry_run: true, ..spec(effect) }, connector(origin));
            case.policy.redaction = leaving.clone();
            case.proposal.wanted = wanted;
            case.proposal.arguments = given(json!({ "id": "42", "to": "raju", "phone": "+91 98123 45678" }));
            let (ActVerdict::Apply(cleared) | ActVerdict::Rehearse(cleared)) = case.decide() else {
                panic!()
            };
            let left = cleared.arguments.to_string().contains("98123");
            assert_eq!(left, origin == ConnectorOrigin::BuiltIn, "{origin:?} {effect:?} {wanted:?}");
        }
    }
}

#[test]
fn no_write_goes_ahead_on_a_value_the_profile_hid() {
    let arguments = json!({ "id": "42", "to": "account no 50100234567890", "amount": 5000 });
    for (effect, wanted, expected) in [
        (Effect::Keyed, ProposalMode::Act, "hidden"),
        (Effect::Keyed, ProposalMode::Rehearsal, "hidden"),
        (Effect::Read, ProposalMode::Act, "apply"),
    ] {
        let mut case = Case::of(ToolSpec { dry_run: true, ..spec(effect) });
        case.policy.redaction =
            OutboundRedaction { profile: RedactionProfile::Standard, fields: HiddenFields::default() };
        case.proposal.arguments = given(arguments.clone());
        case.proposal.wanted = wanted;
        assert_eq!(case.word(), expected, "{effect:?} {wanted:?}");
    }
}

#[test]
fn foreign_text_can_not_make_rupees_paise() {
    for (amount, expected) in [(json!(500), "apply"), (json!(50_000), "ask")] {
        let mut case = Case::of(spec(Effect::Keyed));
        let own_words = vec!["42 raju 500".to_owned()];
        case.proposal.taint =
            Taint { sources: BTreeSet::from([TaintSource::Document]), own_words, ..Taint::default() };
        case.proposal.arguments = given(json!({ "id": "42", "to": "raju", "amount": amount }));
        assert_eq!(case.word(), expected, "{amount}");
    }
}

/// A change to a case that gives a reason to ask.
type Change = fn(&mut Case);

/// A case for each reason, who has to agree, and what is risked.
fn cases_by_reason() -> [(ToolSpec, Change, ConsentReason, ConsentGiver, Risk); 9] {
    let plain = || spec(Effect::Keyed);
    let same: Change = |_| {};
    [
        (
            ToolSpec { egress: Egress::Ask, ..spec(Effect::Read) },
            |case| case.proposal.taint = led("hello"),
            ConsentReason::Egress,
            ConsentGiver::Asker,
            Risk::Medium,
        ),
        (
            plain(),
            |case| case.policy.most_autonomy = Some(Autonomy::Propose),
            ConsentReason::Proposes,
            ConsentGiver::Approver,
            Risk::Low,
        ),
        (
            plain(),
            |case| case.proposal.agent = Arc::new(Conduct { ask: globs(&["USERS/*"]), ..open() }),
            ConsentReason::Policy,
            ConsentGiver::Approver,
            Risk::Low,
        ),
        (
            ToolSpec { dangerous: true, ..plain() },
            same,
            ConsentReason::Dangerous,
            ConsentGiver::Approver,
            Risk::High,
        ),
        (
            ToolSpec { destructive: true, ..plain() },
            same,
            ConsentReason::Destructive,
            ConsentGiver::Asker,
            Risk::Medium,
        ),
        (
            ToolSpec { money: true, ..plain() },
            same,
            ConsentReason::Money,
            ConsentGiver::Approver,
            Risk::Medium,
        ),
        (sender(), same, ConsentReason::Message, ConsentGiver::Approver, Risk::Medium),
        (
            plain(),
            |case| {
                case.proposal.taint =
                    Taint { sources: BTreeSet::from([TaintSource::Web]), ..Taint::from_own_words("hello") };
            },
            ConsentReason::Tainted,
            ConsentGiver::Asker,
            Risk::Low,
        ),
        (
            plain(),
            |case| {
                case.proposal.concerns = vec![ActConcern { phrase: "large".to_owned(), slots: Vec::new() }];
            },
            ConsentReason::Concern,
            ConsentGiver::Asker,
            Risk::Low,
        ),
    ]
}

#[test]
fn each_reason_asks_whom_it_must() {
    let id = ApprovalId::from_uuid(Uuid::from_u128(3));
    for (spec, change, reason, needs, risk) in cases_by_reason() {
        let mut case = Case::of(spec);
        change(&mut case);
        let ActVerdict::Ask(question) = case.decide() else { panic!("{reason:?} is not asked") };
        assert_eq!(
            (question.reasons.as_slice(), question.needs, question.risk),
            (&[reason][..], needs, risk)
        );
        let waivable = matches!(reason, ConsentReason::Proposes | ConsentReason::Policy);
        for (given, expected) in [
            (ConsentGrant::Act(id, ConsentGiver::Approver), "apply"),
            (
                ConsentGrant::Act(id, ConsentGiver::Asker),
                if needs == ConsentGiver::Asker { "apply" } else { "outgrown" },
            ),
            (ConsentGrant::Session(id), if waivable { "apply" } else { "ask" }),
        ] {
            case.ground.given = Some(given);
            assert_eq!(case.word(), expected, "{reason:?} {given:?}");
        }
    }
}

#[test]
fn looking_is_never_asked_about() {
    let mut case = Case::of(spec(Effect::Read));
    case.policy.most_autonomy = Some(Autonomy::Propose);
    case.proposal.agent = Arc::new(Conduct { ask: globs(&["*"]), ..open() });
    case.proposal.taint.sources.insert(TaintSource::Visitor);
    case.proposal.concerns = vec![ActConcern { phrase: "large".to_owned(), slots: Vec::new() }];
    assert_eq!(case.word(), "apply");
}

#[test]
fn only_what_can_be_rehearsed_is() {
    for effect in WRITES {
        for dry_run in [true, false] {
            let mut case = Case::of(ToolSpec { dry_run, dangerous: true, ..spec(effect) });
            case.proposal.wanted = ProposalMode::Rehearsal;
            assert_eq!(case.word(), if dry_run { "rehearse" } else { "no_rehearsal" }, "{effect:?}");
        }
    }
    let mut case = Case::of(spec(Effect::Read));
    case.proposal.wanted = ProposalMode::Rehearsal;
    assert_eq!(case.word(), "rehearse");
}

#[test]
fn what_is_not_kept_is_asked_in_a_conversation_alone() {
    let mut case = Case::of(ToolSpec { transient: true, ..spec(Effect::Read) });
    assert_eq!(case.word(), "apply");
    case.proposal.caller.background = true;
    assert_eq!(case.word(), "not_offered");
}

#[test]
fn what_somebody_consents_to_is_theirs_alone() {
    let cached = ToolSpec { cacheable: true, consent: "credit_check".parse().ok(), ..spec(Effect::Read) };
    let about_anybody = ToolSpec { subject: Some("whom".to_owned()), ..spec(Effect::Read) };
    for (what, spec) in [("for whoever consented", cached), ("it is about whom, which", about_anybody)] {
        let error = CompiledTool::new(spec, connector(ConnectorOrigin::BuiltIn)).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_tool_that_contradicts_itself_is_not_installed() {
    let sends = || Some(SendArguments { to: "whom".to_owned(), template: None, audience: None });
    let plain = || spec(Effect::Keyed);
    let house = || connector(ConnectorOrigin::BuiltIn);
    for (what, spec, connector) in [
        ("not a JSON Schema object", ToolSpec { parameters: json!([]), ..plain() }, house()),
        ("type object", ToolSpec { parameters: json!({ "type": "string" }), ..plain() }, house()),
        (
            "its schema is invalid",
            ToolSpec {
                parameters: json!({ "type": "object", "properties": 5 }),
                scope: "a.b".to_owned(),
                ..plain()
            },
            house(),
        ),
        ("start with the module", ToolSpec { scope: "{id}/x".to_owned(), ..plain() }, house()),
        ("start with the module", ToolSpec { scope: String::new(), ..plain() }, house()),
        ("unclosed", ToolSpec { scope: "users/{id".to_owned(), ..plain() }, house()),
        ("must be a required argument", ToolSpec { scope: "users/{phone}".to_owned(), ..plain() }, house()),
        ("must be a required argument", ToolSpec { sends: sends(), ..plain() }, house()),
        ("it only reads", ToolSpec { dangerous: true, ..spec(Effect::Read) }, house()),
        ("it only reads", ToolSpec { destructive: true, ..spec(Effect::Read) }, house()),
        ("it only reads", ToolSpec { money: true, ..spec(Effect::Read) }, house()),
        ("can't be cached", ToolSpec { cacheable: true, ..plain() }, house()),
        (
            "money or stock",
            ToolSpec { cacheable: true, scope: "shop.stocks.read".to_owned(), ..spec(Effect::Read) },
            house(),
        ),
        ("only a built-in pack", spec(Effect::Inside), connector(ConnectorOrigin::Foreign)),
        ("must only read", ToolSpec { transient: true, ..plain() }, house()),
        ("can't be cached", ToolSpec { transient: true, cacheable: true, ..spec(Effect::Read) }, house()),
        (
            "a soft limit",
            ToolSpec { transient: true, wait_at_most: Some(Duration::from_secs(1)), ..spec(Effect::Read) },
            house(),
        ),
        ("no dry run", ToolSpec { transient: true, dry_run: true, ..spec(Effect::Read) }, house()),
    ] {
        let error = CompiledTool::new(spec, connector).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    for (name, schema) in [
        ("note", json!({ "type": "string" })),
        ("note", json!({})),
        ("note", json!(true)),
        ("note", json!({ "type": ["number", "string"] })),
        ("note", json!({ "type": "string", "format": "email" })),
        ("note", json!({ "type": "array", "items": { "type": "number" } })),
        ("note", json!({ "$ref": "#/properties/to", "type": "number" })),
    ] {
        let mut free = sender();
        free.parameters["properties"][name] = schema.clone();
        let error = CompiledTool::new(free, house()).unwrap_err().to_string();
        assert!(error.contains("note can't be free text"), "{schema}: {error}");
    }
    for (word, value) in [
        ("additionalProperties", json!(true)),
        ("patternProperties", json!({ "^x": { "type": "string" } })),
        ("$schema", json!("http://json-schema.org/draft-04/schema#")),
    ] {
        let mut free = sender();
        free.parameters[word] = value;
        let error = CompiledTool::new(free, house()).unwrap_err().to_string();
        assert!(error.contains("`properties` must list all its arguments"), "{word}: {error}");
    }
    let mut unnamed = sender();
    unnamed.parameters["properties"].as_object_mut().unwrap().remove("template");
    assert!(CompiledTool::new(unnamed, house()).unwrap_err().to_string().contains("must be an argument"));
    let mut case = Case::of(sender());
    case.proposal.arguments = given(json!({ "id": "42", "to": "raju", "until": "pay me at once" }));
    assert_eq!(case.word(), "bad_arguments", "a day is a day");
    let known = CompiledTool::new(plain(), house()).unwrap();
    assert_eq!(known.spec.least_autonomy, Autonomy::Propose, "what writes is never below propose");
}
