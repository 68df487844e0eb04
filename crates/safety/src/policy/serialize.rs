//! A policy as its author would write it. Reading it again gives the same policy.

use munshi_identity::RoleRules;
use munshi_toml::writer::{render_key, write_heading, write_ordered};
use munshi_types::Conduct;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Policy;
use crate::error::{Error, Result};

/// Where nothing is said, the file says that.
const NOTHING: &str = "# No rules are set, so the defaults apply.\n";

const CONDUCT: &[&str] = &["autonomy", "read", "write", "deny", "ask"];
const ROLE: &[&str] = &["allow", "deny", "approve"];
const PURPOSE: &[&str] = &["days", "words"];
const MESSAGE: &[&str] = &["tool", "template", "audience", "per_day"];

/// Every key that says something: without what is so anyway. An entry of a connector or role stays though it be empty,
/// since it stands in the place of what was shipped.
pub fn to_minimal_map(policy: &Policy) -> Result<Map<String, Value>> {
    let (whole, usual) = (to_json(policy)?, to_json(&Policy::default())?);
    let mut body = match omit_defaults(whole, &usual) {
        Some(Value::Object(body)) => body,
        _ => Map::new(),
    };
    for (key, usual) in
        [("connectors", to_json(&Conduct::default())?), ("roles", to_json(&RoleRules::default())?)]
    {
        let entries = body.get_mut(key).and_then(Value::as_object_mut);
        for entry in entries.into_iter().flat_map(Map::values_mut) {
            *entry = omit_defaults(entry.take(), &usual).unwrap_or_else(|| Value::Object(Map::new()));
        }
    }
    Ok(body)
}

fn to_json(of: &impl Serialize) -> Result<Value> {
    serde_json::to_value(of).map_err(|error| Error::Invalid(format!("the policy can't be written: {error}")))
}

/// What differs from the usual; none where nothing does.
fn omit_defaults(value: Value, usual: &Value) -> Option<Value> {
    match (value, usual) {
        (Value::Object(body), Value::Object(usual)) => {
            let kept = body.into_iter().filter_map(|(key, value)| match usual.get(&key) {
                Some(usual) => omit_defaults(value, usual).map(|value| (key, value)),
                None => Some((key, value)),
            });
            let kept: Map<String, Value> = kept.collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        (value, usual) => (value != *usual).then_some(value),
    }
}

/// `policy.toml` with its keys in one order, so that the same policy always has the same bytes.
pub fn to_toml(policy: &Policy) -> Result<String> {
    let body = to_minimal_map(policy)?;
    let mut out = String::new();
    write_ordered(&body, &["most_autonomy", "packs"], &mut out);
    let section = |key: &str| body.get(key).and_then(Value::as_object);
    for (key, order) in [("connectors", CONDUCT), ("roles", ROLE)] {
        for (name, entry) in section(key).into_iter().flatten() {
            write_heading(&format!("[{key}.{}]", render_key(name)), &mut out);
            write_ordered(entry.as_object().unwrap_or(&Map::new()), order, &mut out);
        }
    }
    let tables: [(&str, &[&str]); 6] = [
        ("residency", &["providers", "places", "pictures"]),
        ("retention", &["archive_after_days", "messages_days", "files_days", "acts_days", "prompts_days"]),
        ("files", &["quota_mb"]),
        ("redaction", &["profile", "fields"]),
        ("rates", &["calls_per_minute", "writes_per_minute", "refused_per_minute"]),
        ("approvals", &["hours"]),
    ];
    for (key, order) in tables {
        if let Some(table) = section(key) {
            write_heading(&format!("[{key}]"), &mut out);
            write_ordered(table, order, &mut out);
        }
    }
    let purposes = section("consent").and_then(|consent| consent.get("purposes")?.as_object());
    for (name, purpose) in purposes.into_iter().flatten() {
        write_heading(&format!("[consent.purposes.{}]", render_key(name)), &mut out);
        write_ordered(purpose.as_object().unwrap_or(&Map::new()), PURPOSE, &mut out);
    }
    let messages = body.get("messages").and_then(Value::as_array);
    for message in messages.into_iter().flatten().filter_map(Value::as_object) {
        write_heading("[[messages]]", &mut out);
        write_ordered(message, MESSAGE, &mut out);
    }
    Ok(if out.is_empty() { NOTHING.to_owned() } else { out })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::policy::{
        ApprovalTimeout, AuthorisedTemplate, ConsentPurpose, ConsentRules, ConsentWords, DataResidency,
        FileLimits, OutboundRedaction, RetentionPeriods, ToolRateLimits, parse_file,
    };
    use munshi_identity::{PermissionRules, Role};
    use munshi_privacy::{HiddenFields, RedactionProfile};
    use munshi_types::{Autonomy, ScopeGlob, TenantPacks};
    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;

    fn globs() -> impl Strategy<Value = Vec<ScopeGlob>> {
        let glob = "[a-z]{1,6}(\\.[a-z*]{1,5}){0,2}".prop_map(|text| text.parse::<ScopeGlob>().unwrap());
        vec(glob, 0..4)
    }

    fn autonomy() -> impl Strategy<Value = Autonomy> {
        prop::sample::select(Autonomy::ALL.to_vec())
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z-]{1,12}", any::<String>().prop_map(|text| text.replace('\0', " "))]
    }

    fn conduct() -> impl Strategy<Value = Conduct> {
        (autonomy(), globs(), globs(), globs(), globs())
            .prop_map(|(autonomy, read, write, deny, ask)| Conduct { autonomy, read, write, deny, ask })
    }

    fn rules() -> impl Strategy<Value = PermissionRules> {
        let one = (option::of(globs()), globs(), globs()).prop_map(|(allow, deny, approve)| RoleRules {
            allow,
            deny,
            approve,
        });
        btree_map(prop::sample::select(Role::ALL.to_vec()), one, 0..4).prop_map(PermissionRules)
    }

    fn purposes() -> impl Strategy<Value = ConsentRules> {
        let text =
            || text().prop_map(|text| format!("May we? {}", text.chars().take(100).collect::<String>()));
        let code = "[a-z]{2,3}(-latn)?".prop_map(|code| code.parse().unwrap());
        let words = prop_oneof![
            text().prop_map(ConsentWords::One),
            btree_map(code, text(), 1..3).prop_map(ConsentWords::ByLanguage),
        ];
        let purpose = (1..=3650u32, words).prop_map(|(days, words)| ConsentPurpose { days, words });
        let name = "[a-z][a-z0-9_]{0,8}".prop_map(|name| name.parse().unwrap());
        btree_map(name, purpose, 0..3).prop_map(|purposes| ConsentRules { purposes })
    }

    /// Any policy there can be.
    pub(in crate::policy) fn policies() -> impl Strategy<Value = Policy> {
        let profiles = vec![
            RedactionProfile::None,
            RedactionProfile::Standard,
            RedactionProfile::Hipaa,
            RedactionProfile::Finance,
        ];
        let leaving = (prop::sample::select(profiles), vec("[a-z.]{1,8}", 0..3))
            .prop_map(|(profile, fields)| OutboundRedaction { profile, fields: HiddenFields::new(fields) });
        let per_day = option::of(1..=10_000u32);
        let message =
            ("[a-z][a-z_]{0,8}", text(), text(), per_day).prop_map(|(tool, template, audience, per_day)| {
                AuthorisedTemplate { tool: tool.parse().unwrap(), template, audience, per_day }
            });
        let rates = (0..700u32, 0..200u32, 1..90u32).prop_map(|(calls, writes, refused)| ToolRateLimits {
            calls_per_minute: calls,
            writes_per_minute: writes,
            refused_per_minute: refused,
        });
        let waiting = (1..=720u16).prop_map(|hours| ApprovalTimeout { hours });
        (
            option::of(autonomy()),
            btree_map(text(), conduct(), 0..3),
            rules(),
            leaving,
            vec(message, 0..3),
            prop_oneof![Just(ToolRateLimits::default()), rates],
            prop_oneof![Just(ApprovalTimeout::default()), waiting],
            (option::of(vec(text(), 0..3)), option::of(vec(text(), 0..3)), option::of(vec(text(), 0..3))),
            purposes(),
        )
            .prop_map(
                |(most_autonomy, connectors, roles, redaction, messages, rates, approvals, said, consent)| {
                    let pictures = said.0.as_ref().map(|_| crate::policy::PictureSharing::Allow);
                    let residency = DataResidency { providers: said.0, places: said.1, pictures };
                    let period = |of: &Option<Vec<String>>| of.as_ref().map(|list| 1 + list.len() as u32);
                    let retention = RetentionPeriods {
                        messages_days: period(&residency.providers),
                        files_days: period(&residency.places),
                        acts_days: period(&said.2),
                        prompts_days: period(&residency.places),
                        ..RetentionPeriods::default()
                    };
                    let files = FileLimits { quota_mb: period(&said.2) };
                    let packs = said.2.map(TenantPacks::only).unwrap_or_default();
                    Policy {
                        most_autonomy,
                        packs,
                        connectors,
                        roles,
                        redaction,
                        messages,
                        rates,
                        approvals,
                        residency,
                        retention,
                        files,
                        consent,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_it_was(policy in policies()) {
            let text = to_toml(&policy).unwrap();
            let again = parse_file(&text).unwrap_or_else(|slip| panic!("{slip:?} in\n{text}"));
            prop_assert_eq!(&again, &policy, "{}", text);
            prop_assert_eq!(to_toml(&again).unwrap(), text);
            let body = Value::Object(to_minimal_map(&policy).unwrap());
            prop_assert_eq!(serde_json::from_value::<Policy>(body).unwrap(), policy);
        }
    }

    #[test]
    fn only_what_says_something_is_written() {
        assert_eq!(to_toml(&Policy::default()).unwrap(), NOTHING);
        assert_eq!(parse_file(NOTHING).unwrap(), Policy::default());
        let text = "most_autonomy = \"propose\"\n\n[connectors.ledger]\n\n[connectors.\"our mail\"]\nautonomy = \"act\"\n\
                    write = [\"mail.*\"]\n\n[roles.staff]\nallow = []\n\n[approvals]\nhours = 2\n";
        assert_eq!(to_toml(&parse_file(text).unwrap()).unwrap(), text);
    }
}
