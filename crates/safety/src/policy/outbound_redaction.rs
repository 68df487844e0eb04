//! What a foreign tool may be given.

use munshi_types::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use munshi_privacy::{HiddenFields, Redaction, RedactionProfile};

/// What is hidden from tools that are not of the house. Tools get real values unless the tenant says otherwise: a
/// message can't be sent to a hidden number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutboundRedaction {
    pub profile: RedactionProfile,
    /// Fields by name or dotted path, whatever they hold.
    pub fields: HiddenFields,
}

impl Default for OutboundRedaction {
    fn default() -> Self {
        Self { profile: RedactionProfile::None, fields: HiddenFields::default() }
    }
}

impl OutboundRedaction {
    /// The arguments as they may leave, or none where the call would not be the one that was meant: where a number or a
    /// switch would have to be hidden, and in a write also where the profile finds anything. A field the tenant listed
    /// by name is hidden on purpose and the write may go without it. Whom a message goes to stays, unless it is listed.
    pub fn apply(&self, spec: &ToolSpec, arguments: &Value) -> Option<Value> {
        let leaving = self.redact(self.profile, spec, arguments);
        let meant = is_unchanged_except_text(arguments, &leaving)
            && (!spec.effect.writes() || leaving == self.redact(RedactionProfile::None, spec, arguments));
        meant.then_some(leaving)
    }

    fn redact(&self, profile: RedactionProfile, spec: &ToolSpec, arguments: &Value) -> Value {
        let mut leaving = arguments.clone();
        if profile == RedactionProfile::None && self.fields.is_empty() {
            return leaving;
        }
        let redact = |profile, value: &mut Value| {
            Redaction { profile, fields: &self.fields, known: None }.redact_json(value);
        };
        let to = spec.sends.as_ref().map(|sending| sending.to.as_str());
        let kept = to.and_then(|name| Some((name, leaving.as_object_mut()?.remove(name)?)));
        redact(profile, &mut leaving);
        if let (Some((name, value)), Some(map)) = (kept, leaving.as_object_mut()) {
            let mut alone = serde_json::json!({ name: value });
            redact(RedactionProfile::None, &mut alone);
            map.extend(alone.as_object_mut().map(std::mem::take).unwrap_or_default());
        }
        leaving
    }
}

/// Whether all that is no text is as it was.
fn is_unchanged_except_text(given: &Value, leaving: &Value) -> bool {
    match (given, leaving) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(given), Value::Array(leaving)) => {
            given.len() == leaving.len()
                && given.iter().zip(leaving).all(|(one, other)| is_unchanged_except_text(one, other))
        }
        (Value::Object(given), Value::Object(leaving)) => given
            .iter()
            .all(|(key, one)| leaving.get(key).is_some_and(|other| is_unchanged_except_text(one, other))),
        (given, leaving) => given == leaving,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::{Effect, SendArguments};
    use serde_json::json;

    #[test]
    fn what_leaves_is_hidden_by_profile_and_field_but_the_recipient_is_reached() {
        let spec = ToolSpec {
            effect: Effect::Keyed,
            sends: Some(SendArguments { to: "to".to_owned(), template: None, audience: None }),
            ..ToolSpec::read_only("send".parse().unwrap(), "Sends.", "mail.send")
        };
        let given = json!({ "to": "+919812345678", "text": "call +919812345678", "notes": "private" });
        assert_eq!(OutboundRedaction::default().apply(&spec, &given), Some(given.clone()));
        let strict =
            OutboundRedaction { profile: RedactionProfile::Standard, fields: HiddenFields::new(["notes"]) };
        assert_eq!(strict.apply(&spec, &given), None, "no message with a hole in it");
        let read = ToolSpec { effect: Effect::Read, ..spec.clone() };
        let left = strict.apply(&read, &given).unwrap();
        assert_eq!(left["to"], "+919812345678");
        assert!(!left["text"].to_string().contains("98123"), "{left}");
        assert!(!left["notes"].to_string().contains("private"), "{left}");
        let listed = json!({ "to": "+919812345678", "text": "hello", "notes": "call +919812345678" });
        let left = strict.apply(&spec, &listed).unwrap();
        assert_eq!(left, json!({ "to": "+919812345678", "text": "hello", "notes": "[hidden]" }));
        let account = json!({ "payee": "account no 50100234567890", "amount": 5000 });
        assert_eq!(strict.apply(&spec, &account), None, "no payment to a hidden account");
        let listed = OutboundRedaction { profile: RedactionProfile::None, fields: HiddenFields::new(["to"]) };
        assert_ne!(listed.apply(&spec, &given).unwrap()["to"], "+919812345678");
        let amounts =
            OutboundRedaction { profile: RedactionProfile::None, fields: HiddenFields::new(["amount"]) };
        assert_eq!(amounts.apply(&spec, &json!({ "amount": 500 })), None, "never with another amount");
    }
}
