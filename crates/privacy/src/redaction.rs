//! What may leave through a tool or a log: by kind, and by field.

use munshi_lang::names::cues;
use munshi_lang::text_words::TextWords;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::{HiddenFields, JsonPathStep};
use super::kind::{PiiKind, PiiMatch};
use super::known_entities::KnownEntities;
use super::{health_identifiers, patterns};

/// Which kinds of values a tenant lets nobody have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RedactionProfile {
    None,
    /// Ways to reach somebody, and numbers that are somebody.
    #[default]
    Standard,
    /// The eighteen identifiers of the United States' health rule, as far as text shows them.
    Hipaa,
    /// Where money lies and who pays tax.
    Finance,
}

impl RedactionProfile {
    /// Whether values of a kind are hidden.
    pub const fn hides(self, kind: PiiKind) -> bool {
        match self {
            Self::None => false,
            Self::Standard => {
                matches!(
                    kind,
                    PiiKind::Phone
                        | PiiKind::Email
                        | PiiKind::Account
                        | PiiKind::Upi
                        | PiiKind::Pan
                        | PiiKind::Card
                        | PiiKind::Aadhaar
                        | PiiKind::Ssn
                )
            }
            Self::Finance => matches!(
                kind,
                PiiKind::Account
                    | PiiKind::Card
                    | PiiKind::Upi
                    | PiiKind::Ifsc
                    | PiiKind::Pan
                    | PiiKind::Gstin
                    | PiiKind::Aadhaar
                    | PiiKind::Ssn
            ),
            Self::Hipaa => !matches!(kind, PiiKind::Field | PiiKind::Lookalike),
        }
    }
}

/// A tenant's profile and field list, with the entities whose names and numbers it hides.
#[derive(Clone, Copy, Debug)]
pub struct Redaction<'t> {
    pub profile: RedactionProfile,
    pub fields: &'t HiddenFields,
    pub known: Option<&'t KnownEntities>,
}

impl Redaction<'_> {
    /// A text as it may leave. Doing it twice changes nothing more.
    pub fn redact_text(&self, text: &str) -> String {
        self.redact_and_count(text).0
    }

    /// Hides in place; returns how many values were hidden. Shape and types stay: what is hidden in a string is replaced by a
    /// word for it, a number becomes 0, a yes or no becomes no, so a call that had something hidden must not act on it.
    pub fn redact_json(&self, value: &mut Value) -> usize {
        self.redact_value(value, &mut Vec::new())
    }

    fn redact_value(&self, value: &mut Value, way: &mut Vec<JsonPathStep>) -> usize {
        if !way.is_empty() && self.fields.matches(way) {
            return blank(value);
        }
        match value {
            Value::String(text) => {
                let (hidden, count) = self.redact_and_count(text);
                if count > 0 {
                    *text = hidden;
                }
                count
            }
            Value::Number(number) => {
                let count = self.redact_and_count(&number.to_string()).1;
                if count > 0 { blank(value) } else { 0 }
            }
            Value::Array(items) => {
                let each = items.iter_mut().enumerate();
                each.map(|(at, item)| self.redact_child(item, way, JsonPathStep::Item(at))).sum()
            }
            Value::Object(fields) => {
                let each = fields.iter_mut();
                each.map(|(key, item)| self.redact_child(item, way, JsonPathStep::Key(key.to_lowercase())))
                    .sum()
            }
            Value::Null | Value::Bool(_) => 0,
        }
    }

    fn redact_child(&self, value: &mut Value, way: &mut Vec<JsonPathStep>, step: JsonPathStep) -> usize {
        way.push(step);
        let count = self.redact_value(value, way);
        way.pop();
        count
    }

    /// What is hidden changes what stands beside the rest, so a text is looked at until nothing more is found; one
    /// in which there is no end to it is hidden whole.
    fn redact_and_count(&self, text: &str) -> (String, usize) {
        const MOST: usize = 8;
        let (mut text, mut count) = (text.to_owned(), 0);
        for _ in 0..MOST {
            let found = self.find(&text);
            if found.is_empty() {
                break;
            }
            count += found.len();
            text = replace_matches(&text, &found);
        }
        if self.find(&text).is_empty() {
            (text, count)
        } else {
            (PiiKind::Field.placeholder().to_owned(), count)
        }
    }

    fn find(&self, text: &str) -> Vec<PiiMatch> {
        if self.profile == RedactionProfile::None {
            return Vec::new();
        }
        let mut found = patterns::find(text);
        if let Some(known) = self.known {
            found.extend(known.find_values(text).into_iter().map(|(one, _)| one));
        }
        if self.profile == RedactionProfile::Hipaa {
            found.extend(health_identifiers::find(text));
            let words = TextWords::new(text);
            let spots = self.known.map(|known| known.name_finder().find_in(&words)).unwrap_or_default();
            let names = spots.into_iter().map(|spot| spot.range).chain(cues::find_unlisted_names(&words));
            found.extend(names.map(|range| PiiMatch { kind: PiiKind::Name, range }));
        }
        found.retain(|one| self.profile.hides(one.kind) && !is_placeholder(text, one));
        merge_overlaps(found)
    }
}

fn replace_matches(text: &str, found: &[PiiMatch]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for one in found {
        out.push_str(text.get(at..one.range.start).unwrap_or_default());
        out.push_str(one.kind.placeholder());
        at = one.range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Whether a find lies in what stands for something hidden already.
fn is_placeholder(text: &str, one: &PiiMatch) -> bool {
    let before = text.get(..one.range.start).and_then(|front| front.rfind('[').map(|at| (at, front)));
    before.is_some_and(|(at, front)| {
        let open = !front.get(at..).unwrap_or_default().contains(']');
        let rest = text.get(at..).unwrap_or_default();
        open && rest
            .find(']')
            .is_some_and(|end| rest.get(..end).is_some_and(|mark| mark.ends_with(" hidden")))
    })
}

/// Finds that lie over each other become one, of the kind that begins first.
fn merge_overlaps(mut found: Vec<PiiMatch>) -> Vec<PiiMatch> {
    found.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut settled: Vec<PiiMatch> = Vec::with_capacity(found.len());
    for one in found {
        match settled.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
            }
            _ => settled.push(one),
        }
    }
    settled
}

/// Empties a value and all in it; returns how many values that were.
fn blank(value: &mut Value) -> usize {
    match value {
        Value::String(text) if text == PiiKind::Field.placeholder() => 1,
        Value::String(text) => {
            *text = PiiKind::Field.placeholder().to_owned();
            1
        }
        Value::Number(number) => {
            *number = 0.into();
            1
        }
        Value::Bool(flag) => {
            *flag = false;
            1
        }
        Value::Array(items) => items.iter_mut().map(blank).sum(),
        Value::Object(fields) => fields.values_mut().map(blank).sum(),
        Value::Null => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "Call 98765 43210 or a@b.co; a/c 123456789, IFSC HDFC0001234, GSTIN 27AAPFU0939F1ZV, pay x1@ybl ₹500 on 12/05/2026";

    fn redacted(profile: RedactionProfile, text: &str) -> String {
        let fields = HiddenFields::default();
        let redaction = Redaction { profile, fields: &fields, known: None };
        let once = redaction.redact_text(text);
        assert_eq!(redaction.redact_text(&once), once, "twice");
        once
    }

    #[test]
    fn profiles_hide_their_kinds() {
        assert_eq!(redacted(RedactionProfile::None, TEXT), TEXT);
        assert_eq!(
            redacted(RedactionProfile::Standard, TEXT),
            "Call [phone hidden] or [email hidden]; a/c [account hidden], IFSC HDFC0001234, GSTIN 27AAPFU0939F1ZV, pay [upi hidden] ₹500 on 12/05/2026"
        );
        assert_eq!(
            redacted(RedactionProfile::Finance, TEXT),
            "Call 98765 43210 or a@b.co; a/c [account hidden], IFSC [ifsc hidden], GSTIN [gstin hidden], pay [upi hidden] ₹500 on 12/05/2026"
        );
        assert_eq!(
            redacted(
                RedactionProfile::Hipaa,
                "Mr Sharma, MRN 445566, born 12/05/1931, age 94, PIN 560001, car MH12AB1234, 10.0.0.7, https://x.example/p?id=3, SSN 123-45-6789"
            ),
            "Mr [name hidden], MRN [record hidden], born [date hidden], age [age hidden], PIN [pin hidden], car [vehicle hidden], [address hidden], [link hidden], SSN [ssn hidden]"
        );
    }

    #[test]
    fn json_keeps_its_shape_and_types() {
        let fields = HiddenFields::new(["notes", "customer.*.phone"]);
        let redaction = Redaction { profile: RedactionProfile::Standard, fields: &fields, known: None };
        let mut value = json!({
            "notes": ["likes tea", {"deep": 7, "flag": true, "none": null}],
            "customer": {"home": {"phone": "none of yours", "name": "Ramesh"}},
            "phone": 9_876_543_210u64, "amount": 1250.5, "count": 12, "text": "mail a@b.co"
        });
        let count = redaction.redact_json(&mut value);
        let expected = json!({
            "notes": ["[hidden]", {"deep": 0, "flag": false, "none": null}],
            "customer": {"home": {"phone": "[hidden]", "name": "Ramesh"}},
            "phone": 0, "amount": 1250.5, "count": 12, "text": "mail [email hidden]"
        });
        assert_eq!(value, expected);
        assert_eq!(count, 6);
        redaction.redact_json(&mut value);
        assert_eq!(value, expected);
    }
}
