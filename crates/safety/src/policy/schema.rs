//! What editors read to complete and check `policy.toml` as it is written.

use serde_json::{Value, json};

use super::MOST_HOURS;

/// The JSON schema of `policy.toml`.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Munshi policy: policy.toml",
        "type": "object",
        "properties": {
            "most_autonomy": autonomy("No agent and no connector goes further; without it, as far as they say."),
            "connectors": {
                "description": "How each connector or pack may be used, by its name. A foreign one that is not listed is closed; a pack of the house that is not listed is used as it was shipped.",
                "type": "object",
                "additionalProperties": conduct(),
            },
            "roles": {
                "description": "What a role may do beyond its nature or short of it. An owner can't be locked out.",
                "type": "object",
                "properties": { "owner": role(), "admin": role(), "staff": role(), "viewer": role() },
                "additionalProperties": false,
            },
            "redaction": redaction(),
            "messages": {
                "description": "Messages that need no approval each time: this template, to this audience.",
                "type": "array",
                "items": message(),
            },
            "residency": residency(),
            "rates": table("How often tools may be called in a minute, for the whole tenant.", &json!({
                "calls_per_minute": number("All calls; 600 unless given.", 0, u32::MAX),
                "writes_per_minute": number("Calls that write; 120 unless given.", 0, u32::MAX),
                "refused_per_minute": number("Refused proposals of one person at one binding; past it they are counted and not looked at one by one. 30 unless given.", 1, u32::MAX),
            })),
            "approvals": table("How a person is asked.", &json!({
                "hours": number("How long an answer is waited for; 24 unless given.", 1, MOST_HOURS.into()),
            })),
        },
        "additionalProperties": false,
    })
}

fn table(description: &str, properties: &Value) -> Value {
    json!({ "description": description, "type": "object", "properties": properties, "additionalProperties": false })
}

fn number(description: &str, least: u32, most: u32) -> Value {
    json!({ "description": description, "type": "integer", "minimum": least, "maximum": most })
}

fn autonomy(description: &str) -> Value {
    json!({ "description": description, "enum": ["off", "investigate", "propose", "act"] })
}

fn scopes(description: &str) -> Value {
    let scope = json!({ "type": "string", "pattern": "^[A-Za-z0-9_.%/*{}-]{1,200}$" });
    json!({ "description": description, "type": "array", "items": scope })
}

fn conduct() -> Value {
    table(
        "One connector.",
        &json!({
            "autonomy": autonomy("How far it goes by itself; `investigate` (looks, never writes) unless given."),
            "read": scopes("What may be looked at, such as `ledger.*`."),
            "write": scopes("What may be written."),
            "deny": scopes("Never, whatever else is listed."),
            "ask": scopes("Written only after a person approved, even where it acts by itself."),
        }),
    )
}

fn role() -> Value {
    table(
        "One role.",
        &json!({
            "allow": scopes("Instead of what the role may do by nature."),
            "deny": scopes("Never, whatever opens it."),
            "approve": scopes("What it may approve of others' acts, beside owners and admins."),
        }),
    )
}

fn redaction() -> Value {
    let fields = json!({
        "description": "Fields by name or dotted path, whatever they hold.",
        "type": "array",
        "items": { "type": "string" },
    });
    let profile = json!({
        "description": "Which kinds of values are hidden; `none` unless given.",
        "enum": ["none", "standard", "hipaa", "finance"],
    });
    table(
        "What is hidden from tools that are not of the house.",
        &json!({ "profile": profile, "fields": fields }),
    )
}

fn residency() -> Value {
    let words = |description: &str| json!({ "description": description, "type": "array", "items": { "type": "string" } });
    table(
        "Which models may see the tenant's data, within what the installation and the agent permit. The model of this machine always may.",
        &json!({
            "providers": words("Models by their names, or all of a provider by its name; an empty list permits none elsewhere."),
            "places": words("Where data may go: the `residency` of models; an empty list permits none elsewhere."),
        }),
    )
}

fn message() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool": { "description": "The tool that sends it.", "type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$" },
            "template": { "description": "The template, as the tool's argument names it.", "type": "string" },
            "audience": { "description": "A tag of the people it may go to.", "type": "string" },
        },
        "required": ["tool", "template", "audience"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::write::tests::policies;
    use crate::policy::written;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_policy_that_can_be_written_fits_the_schema(policy in policies()) {
            let validator = munshi_schema::Schema::compile(&schema()).unwrap();
            let body = Value::Object(written(&policy).unwrap());
            prop_assert!(validator.is_valid(&body), "{body}");
        }
    }

    #[test]
    fn what_is_refused_does_not_fit() {
        let validator = munshi_schema::Schema::compile(&schema()).unwrap();
        for bad in [
            json!({ "autonomy": "act" }),
            json!({ "most_autonomy": "always" }),
            json!({ "connectors": { "x": { "read": ["a b"] } } }),
            json!({ "roles": { "boss": {} } }),
            json!({ "approvals": { "hours": 721 } }),
            json!({ "rates": { "refused_per_minute": 0 } }),
            json!({ "messages": [{ "tool": "send" }] }),
            json!({ "residency": { "provider": ["anthropic"] } }),
            json!({ "residency": { "places": "in" } }),
        ] {
            assert!(serde_json::from_value::<crate::policy::Policy>(bad.clone()).is_err(), "{bad}");
            assert!(!validator.is_valid(&bad), "{bad}");
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "whether to write the docs is said in the environment")]
    fn the_published_schema_is_fresh() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/policy.json");
        let wanted = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var("UPDATE_DOCS").is_ok() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == wanted, "run UPDATE_DOCS=1 cargo test -p munshi-safety schema");
    }
}
