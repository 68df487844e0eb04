//! Which registered text a message leaves by, and what is put into it.

use std::collections::BTreeMap;

use munshi_conversations::outbox::SendFault;
use munshi_types::{OutboundMessage, OutboundPurpose};
use serde_json::{Map, Value};

use super::super::sms::{count_pieces, list_pieces};

/// What stands for whatever has no text of its own.
const ANY: &str = "any";
/// A variable takes no more letters in one message.
const MOST_LETTERS: usize = 700;
/// A code has so many digits.
const CODE: std::ops::RangeInclusive<usize> = 4..=10;

/// A text with what goes into it.
#[derive(Debug, PartialEq)]
pub(super) struct FilledFlow<'a> {
    pub flow: &'a str,
    pub values: Map<String, Value>,
}

/// A template has its values, and is one message; other text may be too long for one.
pub(super) fn count_parts(templates: &BTreeMap<String, String>, outbound: &OutboundMessage) -> u32 {
    match find_own(templates, outbound) {
        Some(_) => 1,
        None => count_pieces(outbound, MOST_LETTERS),
    }
}

pub(super) fn fill<'a>(
    templates: &'a BTreeMap<String, String>,
    outbound: &OutboundMessage,
    part: usize,
) -> Result<FilledFlow<'a>, SendFault> {
    let mut values = Map::new();
    if let Some((flow, given)) = find_own(templates, outbound) {
        for (number, value) in (1..).zip(given) {
            values.insert(format!("var{number}"), Value::String(value.clone()));
        }
        return Ok(FilledFlow { flow, values });
    }
    let purpose = outbound.purpose.as_str();
    let Some(flow) = templates.get(purpose).or_else(|| templates.get(ANY)) else {
        let why = format!(
            "MSG91 sends registered texts alone, and the channel names none for `{purpose}`: add one to its templates"
        );
        return Err(SendFault::refused(why));
    };
    let pieces = list_pieces(outbound, MOST_LETTERS);
    let text = pieces.get(part).ok_or_else(|| SendFault::refused("there is no such part"))?;
    if text.is_empty() {
        return Err(SendFault::refused("a text message has to say something"));
    }
    values.insert("text".to_owned(), Value::String(text.clone()));
    let code = (outbound.purpose == OutboundPurpose::Code).then(|| find_code(text)).flatten();
    if let Some(code) = code {
        values.insert("code".to_owned(), Value::String(code.to_owned()));
    }
    Ok(FilledFlow { flow, values })
}

fn find_own<'a, 'b>(
    templates: &'a BTreeMap<String, String>,
    outbound: &'b OutboundMessage,
) -> Option<(&'a str, &'b [String])> {
    let template = outbound.template.as_ref()?;
    let flow = templates.get(&template.name)?;
    Some((flow.as_str(), template.values.as_slice()))
}

/// The first digits in a row that are as many as a code has.
fn find_code(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_digit()).find(|digits| CODE.contains(&digits.len()))
}

#[cfg(test)]
mod tests {
    use munshi_types::tier::Channel;
    use munshi_types::{MessageId, OutboundTemplate, ReplyAddress};
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn message(text: &str, purpose: OutboundPurpose) -> OutboundMessage {
        let to = ReplyAddress::new(Channel::Sms, "+919812345678");
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        OutboundMessage { purpose, ..OutboundMessage::new(id, to, text.to_owned()) }
    }

    fn templates(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(name, id)| ((*name).to_owned(), (*id).to_owned())).collect()
    }

    #[test]
    fn a_message_leaves_by_its_own_text_or_by_what_it_is_for() {
        let known = templates(&[("bill_due", "f1"), ("code", "f2"), ("any", "f3")]);
        let code = message("481516 is your code.", OutboundPurpose::Code);
        let filled = fill(&known, &code, 0).unwrap();
        assert_eq!((filled.flow, &filled.values["code"]), ("f2", &json!("481516")));
        let bill = OutboundMessage {
            template: Some(OutboundTemplate {
                name: "bill_due".to_owned(),
                language: "hi".parse().unwrap(),
                values: vec!["Meera".to_owned(), "500".to_owned()],
            }),
            ..message("₹500 is due.", OutboundPurpose::Reminder)
        };
        let filled = fill(&known, &bill, 0).unwrap();
        assert_eq!(
            (filled.flow, Value::Object(filled.values)),
            ("f1", json!({ "var1": "Meera", "var2": "500" }))
        );
        let other = message("It is open.", OutboundPurpose::Reply);
        assert_eq!(fill(&known, &other, 0).unwrap().flow, "f3");
    }

    #[test]
    fn what_is_not_registered_does_not_leave() {
        let known = templates(&[("code", "f2")]);
        let fault = fill(&known, &message("It is open.", OutboundPurpose::Reply), 0).unwrap_err();
        assert!(fault.why.contains("`reply`"), "{}", fault.why);
    }
}
