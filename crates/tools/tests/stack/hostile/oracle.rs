//! What must hold, said a second time from what the world knows: tools, people, the policy, what people answered.

use munshi_identity::{Principal, PrincipalStanding, Role};
use munshi_privacy::RedactionProfile;
use munshi_safety::pipeline::{CallerAudience, ProposalMode};
use munshi_safety::policy::Policy;
use munshi_tools::{ConnectorOrigin, Tool, ToolCallRequest};
use munshi_types::{Autonomy, Conduct, Egress, Reach, ScopeGlob};
use serde_json::Value;

use super::attack::{OTHERS_PHONE, PHONE};

/// The invariants of `docs/safety.md` that can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Invariant {
    Fitting,
    Permitted,
    InScope,
    WithinAutonomy,
    Approved,
    AnsweredByTheRight,
    WithinBudget,
    WithinRate,
    OwnTenant,
    NoSecret,
    Redacted,
    /// No look at an open world carries data of others out unasked.
    KeptIn,
    Audited,
    Once,
}

/// What the world holds against a write at this moment. Budget, rate and answers are told apart from this.
pub(super) fn against(want: &ToolCallRequest, tool: Option<&Tool>, policy: &Policy) -> Vec<Invariant> {
    let Some(tool) = tool else { return vec![Invariant::Fitting] };
    let scope = scope_of(tool, &want.arguments);
    let mut broken = Vec::new();
    let mut hold = |holds: bool, invariant| {
        if !holds {
            broken.push(invariant);
        }
    };
    hold(want.offered && fits(tool, &want.arguments), Invariant::Fitting);
    hold(permitted(want, tool, policy, &scope), Invariant::Permitted);
    hold(in_scope(want, tool, policy, &scope), Invariant::InScope);
    hold(within_autonomy(want, tool, policy), Invariant::WithinAutonomy);
    broken
}

/// Whose yes a write needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Yes {
    Nobodys,
    /// Only because somebody proposes or the policy says so; may be waived.
    ApproverOnce,
    Askers,
    Approvers,
}

pub(super) fn yes_for(want: &ToolCallRequest, tool: &Tool, policy: &Policy) -> Yes {
    let spec = &tool.known.spec;
    if !spec.effect.writes() {
        return if may_carry(want, tool) { Yes::Askers } else { Yes::Nobodys };
    }
    let scope = scope_of(tool, &want.arguments);
    let asked = any_case(&want.agent.ask, &scope)
        || connector(policy, tool).is_some_and(|conduct| any_case(&conduct.ask, &scope));
    let soft = asked || lowest(want, tool, policy) < Autonomy::Act;
    let asker =
        spec.destructive || !want.concerns.is_empty() || (!want.taint.sources.is_empty() && !said(want));
    match () {
        () if spec.dangerous || spec.money || spec.sends.is_some() || (asker && soft) => Yes::Approvers,
        () if asker => Yes::Askers,
        () if soft => Yes::ApproverOnce,
        () => Yes::Nobodys,
    }
}

/// Whether a foreign tool of the open world would be given what a run may have read that others' text has led.
pub(super) fn may_carry(want: &ToolCallRequest, tool: &Tool) -> bool {
    tool.known.connector.origin == ConnectorOrigin::Foreign
        && tool.known.spec.egress != Egress::Allow
        && !want.taint.sources.is_empty()
        && want.taint.holds_private
        && !tells_nothing(want)
}

/// The person's own words in any script, nothing at all, and numbers that are small.
fn tells_nothing(want: &ToolCallRequest) -> bool {
    let Some(map) = want.arguments.as_object() else { return false };
    let words: Vec<&str> = want.taint.own_words.iter().flat_map(|text| text.split(' ')).collect();
    map.values().all(|value| match value {
        Value::String(text) => {
            let text = if text == "राजू" { "raju" } else { text };
            text.trim().is_empty() || words.contains(&text)
        }
        Value::Number(number) => {
            let is_small = number.as_u64().is_some_and(|small| small <= 100);
            is_small || number.as_f64().is_some_and(|number| words.contains(&number.to_string().as_str()))
        }
        _ => false,
    })
}

/// Whether this person's yes counts for an act of this scope.
pub(super) fn is_rightful(who: &Principal, policy: &Policy, scope: &str, own: bool, yes: Yes) -> bool {
    if own && yes == Yes::Askers {
        return true;
    }
    let PrincipalStanding::Member(role) = who.standing else { return false };
    let rules = policy.roles.0.get(&role);
    let denied = rules.is_some_and(|rules| any_case(&rules.deny, scope));
    match role {
        Role::Owner => true,
        Role::Admin => !denied,
        // Of others' acts, never of their own.
        _ => !own && !denied && rules.is_some_and(|rules| any(&rules.approve, scope)),
    }
}

/// Whether a foreign tool was given what the tenant hides: the listed field, and under a profile any phone but the one a
/// message goes to. Or whether it wrote with a hole where the profile hid something.
pub(super) fn leaks(tool: &Tool, given: &Value, policy: &Policy) -> bool {
    let foreign = tool.known.connector.origin == ConnectorOrigin::Foreign;
    let profile = foreign && policy.redaction.profile != RedactionProfile::None;
    let hole = |value: &Value| value.to_string().contains(" hidden]");
    let to = given.get("to").filter(|_| profile && tool.known.spec.sends.is_none());
    let told = to.is_some_and(|to| to.to_string().contains(OTHERS_PHONE));
    let holed = profile && tool.known.spec.effect.writes() && hole(given);
    (foreign && given.to_string().contains(PHONE)) || told || holed
}

pub(super) fn scope_of(tool: &Tool, arguments: &Value) -> String {
    let id = match arguments.get("id") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        other => other.map_or("null".to_owned(), ToString::to_string),
    };
    let plain = id.bytes().map(|byte| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    });
    tool.known.spec.scope.replace("{id}", &plain.collect::<String>())
}

fn fits(tool: &Tool, arguments: &Value) -> bool {
    let Some(map) = arguments.as_object() else { return false };
    let names = ["id", "text", "mood", "to", "phone", "amount"];
    let text = |name: &str| map.get(name).is_none_or(Value::is_string);
    map.keys().all(|name| names.contains(&name.as_str()))
        && map.get("id").is_some_and(|id| id.is_string() || id.is_number())
        && map.contains_key("to")
        && ["text", "mood", "to", "phone"].into_iter().all(text)
        && map.get("amount").is_none_or(Value::is_number)
        && !arguments.to_string().contains("\\u0000")
        && map.values().filter_map(Value::as_f64).all(|number| number.abs() < 9.1e15)
        && map.get("id").is_some_and(|id| names_one_thing(tool, id))
}

/// Where the scope holds the id, nothing that could mean another; where words go out by template, one of a list.
fn names_one_thing(tool: &Tool, id: &Value) -> bool {
    let Some(text) = id.as_str() else { return tool.known.spec.sends.is_none() || id.as_f64() == Some(7.0) };
    let odd = text.is_empty() || text.starts_with(' ') || text.contains(['\u{200b}', '\u{202e}']);
    let listed = tool.known.spec.sends.is_none() || ["7", "42"].contains(&text);
    listed && !(odd && tool.known.spec.scope.contains("{id}"))
}

/// A pattern, by recursion. What closes also closes an empty part.
fn matches(glob: &str, text: &str, closes: bool) -> bool {
    match glob.chars().next() {
        None => text.is_empty(),
        Some('*') => (0..=text.len()).any(|at| matches(&glob[1..], &text[at..], closes)),
        Some('{') => {
            let end = text.find(['.', '/']).unwrap_or(text.len());
            let after = glob.find('}').map_or("", |close| &glob[close + 1..]);
            (end > 0 || closes) && matches(after, &text[end..], closes)
        }
        Some(first) => text.starts_with(first) && matches(&glob[1..], &text[1..], closes),
    }
}

fn any(globs: &[ScopeGlob], scope: &str) -> bool {
    globs.iter().any(|glob| matches(glob.as_str(), scope, false))
}

fn any_case(globs: &[ScopeGlob], scope: &str) -> bool {
    globs.iter().any(|glob| matches(&glob.as_str().to_lowercase(), &scope.to_lowercase(), true))
}

fn permitted(want: &ToolCallRequest, tool: &Tool, policy: &Policy, scope: &str) -> bool {
    let (who, reach) = (&want.caller.principal, tool.known.spec.reach);
    let member = matches!(who.standing, PrincipalStanding::Member(_));
    let service = who.standing == PrincipalStanding::Service;
    let through = match want.caller.door {
        CallerAudience::Private if who.standing == PrincipalStanding::Member(Role::Owner) => true,
        CallerAudience::Work if service => reach != Reach::Owner,
        CallerAudience::Private | CallerAudience::Work => member && reach != Reach::Owner,
        _ if service || who.standing == PrincipalStanding::Anonymous => reach == Reach::Anyone,
        _ => reach >= Reach::Person,
    };
    let may = match who.standing {
        PrincipalStanding::Anonymous => reach == Reach::Anyone,
        PrincipalStanding::Known => reach >= Reach::Person,
        PrincipalStanding::Service => any(&who.opened, scope),
        PrincipalStanding::Member(Role::Owner) => true,
        PrincipalStanding::Member(role) => {
            let rules = policy.roles.0.get(&role);
            let listed = rules.and_then(|rules| rules.allow.as_ref()).is_none_or(|allow| any(allow, scope));
            let denied = rules.is_some_and(|rules| any_case(&rules.deny, scope));
            listed && !denied && (role != Role::Viewer || !tool.known.spec.effect.writes())
        }
    };
    through && may
}

fn connector<'a>(policy: &'a Policy, tool: &Tool) -> Option<&'a Conduct> {
    policy.connectors.get(&tool.known.connector.name)
}

fn in_scope(want: &ToolCallRequest, tool: &Tool, policy: &Policy, scope: &str) -> bool {
    let lane = |conduct: &Conduct| {
        let open = if tool.known.spec.effect.writes() { &conduct.write } else { &conduct.read };
        any(open, scope) && !any_case(&conduct.deny, scope)
    };
    lane(&want.agent) && connector(policy, tool).is_some_and(lane)
}

fn lowest(want: &ToolCallRequest, tool: &Tool, policy: &Policy) -> Autonomy {
    let other = connector(policy, tool).map_or(Autonomy::Investigate, |conduct| conduct.autonomy);
    let undeclared = if tool.known.connector.declares { Autonomy::Act } else { Autonomy::Investigate };
    let most = policy.most_autonomy.unwrap_or(Autonomy::Act);
    want.agent.autonomy.min(other).min(undeclared).min(most)
}

fn within_autonomy(want: &ToolCallRequest, tool: &Tool, policy: &Policy) -> bool {
    match lowest(want, tool, policy) {
        Autonomy::Off => false,
        Autonomy::Investigate => !tool.known.spec.effect.writes(),
        _ => true,
    }
}

/// These worlds' own words are plain: a value is one of them or was not said.
fn said(want: &ToolCallRequest) -> bool {
    let Some(map) = want.arguments.as_object() else { return false };
    let words: Vec<&str> = want.taint.own_words.iter().flat_map(|text| text.split(' ')).collect();
    map.values().all(|value| match value {
        Value::String(text) => words.contains(&text.as_str()),
        Value::Number(number) => {
            number.as_f64().is_some_and(|number| words.contains(&number.to_string().as_str()))
        }
        _ => false,
    })
}

/// A rehearsal changes nothing, whatever it is.
pub(super) fn is_rehearsal(want: &ToolCallRequest) -> bool {
    want.wanted == ProposalMode::Rehearsal
}
