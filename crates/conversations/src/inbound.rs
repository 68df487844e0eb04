//! Whether a message can be taken at all, and what to change where not.

use munshi_types::InboundMessage;

use crate::error::{Error, Result};

/// In bytes.
pub const LONGEST_TEXT: usize = 64 * 1024;
const LONGEST_ID: usize = 512;
const LONGEST_REFERENCE: usize = 4096;
const MOST_ATTACHED: usize = 20;

pub fn validate(inbound: &InboundMessage) -> Result<()> {
    validate_text(inbound)?;
    if inbound.outside_id.is_empty() {
        return unfit("the message has no channel message id: send one, and repeat it on every retry");
    }
    validate_field("the message id", &inbound.outside_id, LONGEST_ID)?;
    if inbound.attached.len() > MOST_ATTACHED {
        return unfit(format!(
            "too many attachments ({}): send at most {MOST_ATTACHED} with one message",
            inbound.attached.len()
        ));
    }
    for attached in &inbound.attached {
        validate_field("an attachment's media type", &attached.media_type, LONGEST_ID)?;
        validate_field("an attachment's name", attached.name.as_deref().unwrap_or_default(), LONGEST_ID)?;
        validate_field("an attachment's reference", &attached.reference, LONGEST_REFERENCE)?;
    }
    match &inbound.reply_to {
        Some(to) if to.address.is_empty() => unfit("the reply address is empty"),
        Some(to) => validate_field("the reply address", &to.address, LONGEST_ID),
        None => Ok(()),
    }
}

fn validate_text(inbound: &InboundMessage) -> Result<()> {
    let text = &inbound.text;
    if text.trim().is_empty() && inbound.attached.is_empty() {
        return unfit("the message is empty: send text or an attachment");
    }
    if text.len() > LONGEST_TEXT {
        return unfit(format!(
            "the message is {} bytes long: send at most {LONGEST_TEXT}, and the rest as an attachment",
            text.len()
        ));
    }
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        Some(found) => unfit(format!(
            "the message contains the control character U+{:04X}: only line breaks and tabs are allowed",
            u32::from(found)
        )),
        None => Ok(()),
    }
}

fn validate_field(what: &str, text: &str, longest: usize) -> Result<()> {
    if text.len() > longest {
        return unfit(format!("{what} is {} bytes long: the limit is {longest}", text.len()));
    }
    if text.chars().any(char::is_control) {
        return unfit(format!("{what} contains a control character"));
    }
    Ok(())
}

fn unfit(what: impl Into<String>) -> Result<()> {
    Err(Error::Unfit(what.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::tier::Channel;
    use munshi_types::{AttachedFile, InboundSender, InboundTarget, ReplyAddress};

    fn inbound(text: &str) -> InboundMessage {
        InboundMessage {
            channel: Channel::Web,
            to: InboundTarget::Address("handle:sharma".parse().unwrap()),
            from: InboundSender::default(),
            outside_id: "1".to_owned(),
            text: text.to_owned(),
            attached: Vec::new(),
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: Default::default(),
        }
    }

    fn refusal(inbound: &InboundMessage) -> String {
        validate(inbound).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_taken_is_told_with_what_to_do() {
        assert!(validate(&inbound("राम ko 500\nudhaar\tdiya")).is_ok());
        assert!(validate(&inbound(&"a".repeat(LONGEST_TEXT))).is_ok());
        assert_eq!(refusal(&inbound(" \n")), "the message is empty: send text or an attachment");
        let long = refusal(&inbound(&"a".repeat(LONGEST_TEXT + 1)));
        assert_eq!(
            long,
            "the message is 65537 bytes long: send at most 65536, and the rest as an attachment"
        );
        assert!(refusal(&inbound("a\0b")).contains("U+0000"));
        assert!(refusal(&inbound("a\u{1b}[31m")).contains("U+001B"));
        assert!(refusal(&inbound("a\u{85}b")).contains("U+0085"));
    }

    #[test]
    fn everything_beside_the_text_is_bounded_too() {
        let picture = |reference: &str| AttachedFile {
            media_type: "image/jpeg".to_owned(),
            name: None,
            reference: reference.to_owned(),
        };
        let good = inbound("x");
        assert!(
            validate(&InboundMessage { attached: vec![picture("m:1")], text: String::new(), ..good.clone() })
                .is_ok()
        );
        for bad in [
            InboundMessage { attached: vec![picture("m:1"); MOST_ATTACHED + 1], ..good.clone() },
            InboundMessage { attached: vec![picture(&"m".repeat(LONGEST_REFERENCE + 1))], ..good.clone() },
            InboundMessage { attached: vec![picture("m\0")], ..good.clone() },
            InboundMessage { outside_id: String::new(), ..good.clone() },
            InboundMessage { outside_id: "a\0".to_owned(), ..good.clone() },
            InboundMessage { outside_id: "a".repeat(LONGEST_ID + 1), ..good.clone() },
            InboundMessage { reply_to: Some(ReplyAddress::new(Channel::Web, String::new())), ..good.clone() },
            InboundMessage {
                reply_to: Some(ReplyAddress::new(Channel::Web, "a\0".to_owned())),
                ..good.clone()
            },
        ] {
            assert!(validate(&bad).is_err(), "{bad:?}");
        }
    }
}
