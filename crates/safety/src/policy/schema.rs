//! What editors read to complete and check `policy.toml` as it is written.

use serde_json::{Value, json};

use super::consent::{LONGEST_WORDS, MOST_DAYS as MOST_CONSENT_DAYS};
use super::files::MOST_MB;
use super::retention::MOST_DAYS;
use super::{MOST_HOURS, USUAL_PER_DAY};

/// The JSON schema of `policy.toml`.
pub fn build_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Munshi policy: policy.toml",
        "type": "object",
        "properties": {
            "most_autonomy": autonomy("The maximum autonomy of every agent and connector; default no maximum."),
            "packs": {
                "description": "The packs the tenant has, such as `ledger`; default all that are installed. What is not listed offers no tools, context, pages, jobs or webhooks here.",
                "type": "array",
                "items": { "type": "string" },
                "uniqueItems": true,
            },
            "connectors": {
                "description": "How each connector or pack may be used, by name. An external connector that is not listed is denied; a built-in pack that is not listed uses its shipped rules.",
                "type": "object",
                "additionalProperties": conduct(),
            },
            "roles": {
                "description": "Changes to what a role may do by default. An owner can't be locked out.",
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
            "retention": retention(),
            "files": table("How much of people's files is kept.", &json!({
                "quota_mb": number("In megabytes, within `blobs.tenant_mb` of the installation, which is the default.", 1, MOST_MB),
            })),
            "consent": consent(),
            "rates": table("Rate limits on tool calls per minute, for the whole tenant.", &json!({
                "calls_per_minute": number("All calls; default 600.", 0, u32::MAX),
                "writes_per_minute": number("Calls that write; default 120.", 0, u32::MAX),
                "refused_per_minute": number("Refused proposals of one person at one binding that are recorded one by one; past it they are only counted. Default 30.", 1, u32::MAX),
            })),
            "approvals": table("How approvals work.", &json!({
                "hours": number("How long an approval request waits; default 24.", 1, MOST_HOURS.into()),
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
            "autonomy": autonomy("What it may do without a person; default `investigate` (read only)."),
            "read": scopes("Scopes that may be read, such as `ledger.*`."),
            "write": scopes("Scopes that may be written."),
            "deny": scopes("Scopes that are always denied."),
            "ask": scopes("Scopes that need a person's approval, even at `act`."),
        }),
    )
}

fn role() -> Value {
    table(
        "One role.",
        &json!({
            "allow": scopes("Scopes that replace the role's defaults."),
            "deny": scopes("Scopes that are always denied, whatever allows them."),
            "approve": scopes("Scopes of others' acts that it may approve; owners and admins may anyway."),
        }),
    )
}

fn redaction() -> Value {
    let fields = json!({
        "description": "Fields to redact by name or dotted path, whatever they contain.",
        "type": "array",
        "items": { "type": "string" },
    });
    let profile = json!({
        "description": "Which kinds of values are redacted; default `none`.",
        "enum": ["none", "standard", "hipaa", "finance"],
    });
    table("What is redacted for external tools.", &json!({ "profile": profile, "fields": fields }))
}

fn residency() -> Value {
    let words = |description: &str| json!({ "description": description, "type": "array", "items": { "type": "string" } });
    table(
        "Which models may see the tenant's data, within what the installation and the agent permit. The offline model is always permitted.",
        &json!({
            "providers": words("Names of models, or of providers for all their models. An empty list permits no remote model."),
            "pictures": {
                "description": "Whether pictures and documents that people send go to models elsewhere; default `refuse`.",
                "enum": ["refuse", "allow"],
            },
            "places": words("Where data may go: the `residency` of models. An empty list permits no remote model."),
        }),
    )
}

fn retention() -> Value {
    let days = |description: &str| number(description, 1, MOST_DAYS);
    table(
        "How long what people said, gave and had done is kept, in days. What is not given is kept for good.",
        &json!({
            "archive_after_days": days("Messages move to the archive after so long; default `data.hot_days` of the installation."),
            "messages_days": days("Messages are deleted after so long, archived ones too, with summaries and the steps of runs."),
            "files_days": days("Files that people sent are deleted after so long."),
            "acts_days": days("Tool calls that have ended are deleted after so long, with arguments, results and approvals. The audit keeps its entries."),
            "prompts_days": days("Prompts of turns are stored, and deleted after so long; default: none is stored."),
        }),
    )
}

fn consent() -> Value {
    let text = json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_WORDS });
    let purpose = json!({
        "description": "One purpose, by the name that tools give it.",
        "type": "object",
        "properties": {
            "days": number("How long a consent is valid.", 1, MOST_CONSENT_DAYS),
            "words": {
                "description": "What the person is asked, to the letter: one text, or one for each language, such as `en`, `hi` or `hi-latn`.",
                "anyOf": [
                    text,
                    {
                        "type": "object",
                        "propertyNames": { "pattern": "^[a-z]{2,3}(-latn)?$" },
                        "additionalProperties": text,
                        "minProperties": 1,
                    },
                ],
            },
        },
        "required": ["days", "words"],
        "additionalProperties": false,
    });
    let purposes = json!({
        "description": "Purposes that people consent to before certain tools are called for them. A tool that names another purpose is not offered.",
        "type": "object",
        "propertyNames": { "pattern": "^[a-z][a-z0-9_]{0,63}$" },
        "additionalProperties": purpose,
    });
    table("What people are asked to agree to.", &json!({ "purposes": purposes }))
}

fn message() -> Value {
    let per_day = format!("So many go without approval in a day; default {USUAL_PER_DAY}.");
    json!({
        "type": "object",
        "properties": {
            "tool": { "description": "The tool that sends it.", "type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$" },
            "template": { "description": "The template, as given in the tool's argument.", "type": "string" },
            "audience": { "description": "The tag of the people it may be sent to, or what the tool calls all whom it can send to, such as contacts.", "type": "string" },
            "per_day": { "description": per_day, "type": "integer", "minimum": 1, "maximum": 10_000 },
        },
        "required": ["tool", "template", "audience"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::serialize::tests::policies;
    use crate::policy::to_minimal_map;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_policy_that_can_be_written_fits_the_schema(policy in policies()) {
            let validator = munshi_schema::Schema::compile(&build_schema()).unwrap();
            let body = Value::Object(to_minimal_map(&policy).unwrap());
            prop_assert!(validator.is_valid(&body), "{body}");
        }
    }

    #[test]
    fn what_is_refused_does_not_fit() {
        let validator = munshi_schema::Schema::compile(&build_schema()).unwrap();
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
            json!({ "retention": { "messages_days": 0 } }),
            json!({ "retention": { "messages": 3 } }),
            json!({ "files": { "quota_mb": 0 } }),
            json!({ "files": { "quota": 3 } }),
            json!({ "consent": { "purposes": { "a": { "words": "x" } } } }),
            json!({ "consent": { "purposes": { "a": { "days": 4000, "words": "x" } } } }),
            json!({ "consent": { "purposes": { "A b": { "days": 1, "words": "x" } } } }),
            json!({ "consent": { "purposes": { "a": { "days": 1, "words": { "English": "x" } } } } }),
        ] {
            assert!(serde_json::from_value::<crate::policy::Policy>(bad.clone()).is_err(), "{bad}");
            assert!(!validator.is_valid(&bad), "{bad}");
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "whether to write the docs is said in the environment")]
    fn the_published_schema_is_fresh() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/policy.json");
        let wanted = serde_json::to_string_pretty(&build_schema()).unwrap() + "\n";
        if std::env::var("UPDATE_DOCS").is_ok() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == wanted, "run UPDATE_DOCS=1 cargo test -p munshi-safety schema");
    }
}
