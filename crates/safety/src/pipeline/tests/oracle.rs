//! What must hold, said a second time and in another way than the stages say it.

use munshi_identity::{PrincipalStanding, Role};
use munshi_privacy::RedactionProfile;
use munshi_types::{Autonomy, Conduct, Egress, Reach, ScopeGlob};
use serde_json::Value;

use super::super::{CallerAudience, CompiledTool, ConnectorOrigin, PolicyRequest, ProposalMode};
use super::world::{SECRET_PHONE, THEIR_PHONE};

/// The invariants of `docs/safety.md` that a decision can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Invariant {
    KnownAndFitting,
    Permitted,
    InPalette,
    InScope,
    WithinAutonomy,
    WithinLimits,
    Redacted,
    Consented,
    /// No look at an open world carries data of others out unasked.
    KeptIn,
}

pub(super) const ALL: [Invariant; 9] = [
    Invariant::KnownAndFitting,
    Invariant::Permitted,
    Invariant::InPalette,
    Invariant::InScope,
    Invariant::WithinAutonomy,
    Invariant::WithinLimits,
    Invariant::Redacted,
    Invariant::Consented,
    Invariant::KeptIn,
];

/// What the oracle knows beside the proposal.
pub(super) struct Truth {
    pub room_left: bool,
    /// A person has agreed to exactly this.
    pub approved: bool,
    /// A person has said not to be asked again about this tool.
    pub waived: bool,
}

/// The invariants this proposal would break if it were applied as it stands.
pub(super) fn against(ask: &PolicyRequest<'_>, truth: &Truth) -> Vec<Invariant> {
    let Some(tool) = &ask.tool else { return vec![Invariant::KnownAndFitting] };
    let scope = scope_of(tool, &ask.arguments);
    let mut broken = Vec::new();
    let mut hold = |holds: bool, invariant| {
        if !holds {
            broken.push(invariant);
        }
    };
    hold(ask.offered && fits(tool, &ask.arguments), Invariant::KnownAndFitting);
    hold(permitted(ask, tool, &scope), Invariant::Permitted);
    hold(in_palette(ask, tool), Invariant::InPalette);
    hold(in_scope(ask, tool, &scope), Invariant::InScope);
    hold(within_autonomy(ask, tool), Invariant::WithinAutonomy);
    hold(truth.room_left, Invariant::WithinLimits);
    hold(!leaks(ask, tool, &ask.arguments), Invariant::Redacted);
    hold(consented(ask, tool, &scope, truth), Invariant::Consented);
    hold(kept_in(ask, tool, truth), Invariant::KeptIn);
    broken
}

/// Whether a foreign tool would be given what is hidden from it: the listed field, and under a profile every number of a
/// phone but the one a message goes to. Or whether it would write with a hole where the profile hid something.
pub(super) fn leaks(ask: &PolicyRequest<'_>, tool: &CompiledTool, leaving: &Value) -> bool {
    if tool.connector.origin == ConnectorOrigin::BuiltIn {
        return false;
    }
    let told = |phone: &str| phone.contains(SECRET_PHONE) || phone.contains(THEIR_PHONE);
    let reached = |name: &str| tool.spec.sends.as_ref().is_some_and(|sending| sending.to == name);
    let Some(map) = leaving.as_object() else { return told(&leaving.to_string()) };
    map.iter().any(|(name, value)| {
        let text = value.to_string();
        let profile = ask.policy.redaction.profile != RedactionProfile::None;
        match name.as_str() {
            "phone" => told(&text),
            name if profile && !reached(name) => {
                told(&text) || (tool.spec.effect.writes() && text.contains("hidden]"))
            }
            _ => false,
        }
    })
}

fn fits(tool: &CompiledTool, arguments: &Value) -> bool {
    let Some(map) = arguments.as_object() else { return false };
    let short = |name: &str| map.get(name).is_none_or(Value::is_string);
    let names = ["id", "amount", "to", "template", "phone"];
    map.keys().all(|name| names.contains(&name.as_str()))
        && map.contains_key("id")
        && map.contains_key("to")
        && ["id", "to", "template", "phone"].into_iter().all(short)
        && map.get("amount").is_none_or(Value::is_i64)
        && map.get("id").and_then(Value::as_str).is_some_and(|id| {
            let listed = tool.spec.sends.as_ref().is_none_or(|sending| sending.template.is_none());
            id.chars().count() <= 40
                && (listed || ["7", "42"].contains(&id))
                && (!tool.spec.scope.contains("{id}") || names_one_thing(id))
        })
}

/// What a tool could not take for another: these worlds hide with a few marks only.
fn names_one_thing(id: &str) -> bool {
    let odd = ['\u{202e}', '\u{200b}', '\u{200d}', '\t'];
    !id.is_empty() && !id.starts_with(' ') && !id.ends_with(' ') && !id.contains(odd)
}

fn scope_of(tool: &CompiledTool, arguments: &Value) -> String {
    let id = arguments.get("id").and_then(Value::as_str).unwrap_or("null");
    let plain = id.bytes().map(|byte| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    });
    tool.spec.scope.replace("{id}", &plain.collect::<String>())
}

/// A pattern, by recursion instead of by going back. What closes also closes an empty part.
fn matches(glob: &str, text: &str, closes: bool) -> bool {
    match glob.chars().next() {
        None => text.is_empty(),
        Some('*') => (0..=text.len())
            .filter(|at| text.is_char_boundary(*at))
            .any(|at| matches(&glob[1..], &text[at..], closes)),
        Some('{') => {
            let end = text.find(['.', '/']).unwrap_or(text.len());
            let after = glob.find('}').map_or("", |close| &glob[close + 1..]);
            (end > 0 || closes) && matches(after, &text[end..], closes)
        }
        Some(first) => {
            text.starts_with(first) && matches(&glob[first.len_utf8()..], &text[first.len_utf8()..], closes)
        }
    }
}

fn any(globs: &[ScopeGlob], scope: &str) -> bool {
    globs.iter().any(|glob| matches(glob.as_str(), scope, false))
}

fn any_case(globs: &[ScopeGlob], scope: &str) -> bool {
    globs.iter().any(|glob| matches(&glob.as_str().to_lowercase(), &scope.to_lowercase(), true))
}

fn permitted(ask: &PolicyRequest<'_>, tool: &CompiledTool, scope: &str) -> bool {
    let who = &ask.caller.principal;
    if ask.tenant.as_str() != "active" || any_case(&who.closed, scope) {
        return false;
    }
    let role = match who.standing {
        PrincipalStanding::Anonymous => return tool.spec.reach == Reach::Anyone,
        PrincipalStanding::Known => return tool.spec.reach >= Reach::Person,
        PrincipalStanding::Service => return any(&who.opened, scope),
        PrincipalStanding::Member(Role::Owner) => return true,
        PrincipalStanding::Member(role) => role,
    };
    let rules = ask.policy.roles.0.get(&role);
    if rules.is_some_and(|rules| any_case(&rules.deny, scope)) {
        return false;
    }
    if any(&who.opened, scope) {
        return true;
    }
    let listed = match rules.and_then(|rules| rules.allow.as_ref()) {
        Some(allow) => any(allow, scope),
        None => role == Role::Admin || !scope.starts_with("members"),
    };
    listed && (role != Role::Viewer || !tool.spec.effect.writes())
}

fn in_palette(ask: &PolicyRequest<'_>, tool: &CompiledTool) -> bool {
    let member = matches!(ask.caller.principal.standing, PrincipalStanding::Member(_));
    let service = ask.caller.principal.standing == PrincipalStanding::Service;
    let owner = ask.caller.principal.standing == PrincipalStanding::Member(Role::Owner);
    match ask.caller.door {
        CallerAudience::Private if owner => true,
        CallerAudience::Work if service => tool.spec.reach != Reach::Owner,
        CallerAudience::Private | CallerAudience::Work => member && tool.spec.reach != Reach::Owner,
        _ if service || ask.caller.principal.standing == PrincipalStanding::Anonymous => {
            tool.spec.reach == Reach::Anyone
        }
        _ => matches!(tool.spec.reach, Reach::Person | Reach::Anyone),
    }
}

fn connector<'a>(ask: &PolicyRequest<'a>, tool: &'a CompiledTool) -> Option<&'a Conduct> {
    ask.policy.connectors.get(&tool.connector.name).or(tool.connector.conduct.as_ref())
}

fn in_scope(ask: &PolicyRequest<'_>, tool: &CompiledTool, scope: &str) -> bool {
    let Some(other) = connector(ask, tool) else { return false };
    let lane = |conduct: &Conduct| {
        let open = if tool.spec.effect.writes() { &conduct.write } else { &conduct.read };
        any(open, scope) && !any_case(&conduct.deny, scope)
    };
    lane(&ask.agent) && lane(other)
}

fn lowest(ask: &PolicyRequest<'_>, tool: &CompiledTool) -> Autonomy {
    let other = connector(ask, tool).map_or(Autonomy::Investigate, |conduct| conduct.autonomy);
    let mut lowest = if ask.agent.autonomy < other { ask.agent.autonomy } else { other };
    if let Some(most) = ask.policy.most_autonomy
        && most < lowest
    {
        lowest = most;
    }
    if !tool.connector.declares && lowest > Autonomy::Investigate {
        lowest = Autonomy::Investigate;
    }
    lowest
}

fn within_autonomy(ask: &PolicyRequest<'_>, tool: &CompiledTool) -> bool {
    match lowest(ask, tool) {
        Autonomy::Off => false,
        Autonomy::Investigate => {
            !tool.spec.effect.writes() && tool.spec.least_autonomy <= Autonomy::Investigate
        }
        level => tool.spec.least_autonomy <= level,
    }
}

fn consented(ask: &PolicyRequest<'_>, tool: &CompiledTool, scope: &str, truth: &Truth) -> bool {
    if !tool.spec.effect.writes() {
        return true;
    }
    if ask.wanted == ProposalMode::Rehearsal {
        return false;
    }
    if truth.approved {
        return true;
    }
    let text = |name: &str| ask.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let authorised = text("template") == "due"
        && text("to") == "customer"
        && tool.spec.sends.as_ref().is_some_and(|sending| sending.template.is_some())
        && ask.policy.messages.iter().any(|message| message.tool == tool.spec.name);
    let hard = tool.spec.dangerous
        || tool.spec.destructive
        || tool.spec.money
        || (tool.spec.sends.is_some() && !authorised)
        || !ask.concerns.is_empty()
        || (!ask.taint.sources.is_empty() && !said(ask));
    let soft = lowest(ask, tool) == Autonomy::Propose
        || any_case(&ask.agent.ask, scope)
        || connector(ask, tool).is_some_and(|conduct| any_case(&conduct.ask, scope));
    !hard && (!soft || truth.waived)
}

/// Whether a run that was led by others, and knows what is private, gives a tool of the open world nothing that it could have
/// read: or a person has agreed to that, where an operator lets them.
fn kept_in(ask: &PolicyRequest<'_>, tool: &CompiledTool, truth: &Truth) -> bool {
    let may_carry = tool.connector.origin == ConnectorOrigin::Foreign
        && tool.spec.egress != Egress::Allow
        && !ask.taint.sources.is_empty()
        && ask.taint.holds_private
        && !tells_nothing(ask, tool);
    let agreed = truth.approved && ask.wanted == ProposalMode::Act;
    let is_asked_anyway = tool.spec.effect.writes() && ask.wanted == ProposalMode::Act;
    !may_carry || (agreed && (tool.spec.egress == Egress::Ask || is_asked_anyway))
}

/// Words of the person, small numbers, and the two ids that some tools list.
fn tells_nothing(ask: &PolicyRequest<'_>, tool: &CompiledTool) -> bool {
    let Some(map) = ask.arguments.as_object() else { return false };
    let words: Vec<&str> = ask.taint.own_words.iter().flat_map(|text| text.split(' ')).collect();
    let lists = tool.spec.parameters["properties"]["id"]["enum"].is_array();
    map.iter().all(|(name, value)| match value {
        Value::String(text) if name == "id" && lists && ["7", "42"].contains(&text.as_str()) => true,
        Value::String(text) if name == "phone" && lists && text == SECRET_PHONE => true,
        Value::String(text) if text.trim().is_empty() => true,
        Value::String(text) => words.contains(&text.as_str()),
        Value::Number(number) => {
            words.contains(&number.to_string().as_str()) || number.as_u64().is_some_and(|small| small <= 100)
        }
        _ => false,
    })
}

/// What a rehearsal breaks: all that an act would, but that nobody agreed to it. What can't be rehearsed must not be.
pub(super) fn counts_in_rehearsal(tool: Option<&CompiledTool>, invariant: Invariant) -> bool {
    invariant != Invariant::Consented
        || tool.is_some_and(|tool| tool.spec.effect.writes() && !tool.spec.dry_run)
}

/// Of these worlds' words only two hold everything an argument can say, and only without further arguments.
fn said(ask: &PolicyRequest<'_>) -> bool {
    let Some(map) = ask.arguments.as_object() else { return false };
    let words: Vec<&str> = ask.taint.own_words.iter().flat_map(|text| text.split(' ')).collect();
    map.values().all(|value| match value {
        Value::String(text) => words.contains(&text.as_str()),
        Value::Number(number) => words.contains(&number.to_string().as_str()),
        _ => false,
    })
}
