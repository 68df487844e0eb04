//! What all text messages have in common, whoever carries them.

use std::time::Duration;

use munshi_conversations::outbox::SendFault;
use munshi_identity::ContactAddress;
use munshi_types::{OutboundAttachment, OutboundMessage};

use crate::incoming::ArrivedSender;
use crate::send_rate::SendLimit;
use crate::text::{TextStyle, render, split};

/// So many digits in a row may be somebody's number.
const LONGEST_SHOWN: usize = 6;

/// Everything that a message says, in pieces of at most `most` characters: links and suggestions as text, and files by their names, since
/// none go along. The same each time for the same message; at least one.
pub(super) fn list_pieces(outbound: &OutboundMessage, most: usize) -> Vec<String> {
    let pieces = split(&compose(outbound), most).into_iter();
    let pieces: Vec<String> = pieces
        .map(|piece| render(&piece, TextStyle::Plain))
        .filter(|piece| !piece.trim().is_empty())
        .collect();
    if pieces.is_empty() { vec![String::new()] } else { pieces }
}

pub(super) fn count_pieces(outbound: &OutboundMessage, most: usize) -> u32 {
    u32::try_from(list_pieces(outbound, most).len()).unwrap_or(u32::MAX)
}

fn compose(outbound: &OutboundMessage) -> String {
    let attached = outbound.attachments.iter().map(|attachment| match attachment {
        OutboundAttachment::Link { url, title } | OutboundAttachment::Qr { text: url, title } => {
            if title.is_empty() { url.clone() } else { format!("{title}: {url}") }
        }
        OutboundAttachment::File { name, .. } => format!("[{name}]"),
    });
    let suggestions = (1..).zip(&outbound.suggestions).map(|(number, text)| format!("{number}. {text}"));
    let suggestions: Vec<String> = suggestions.collect();
    let suggestions = (!suggestions.is_empty()).then(|| suggestions.join("\n"));
    let parts = [outbound.text.clone()].into_iter().chain(attached).chain(suggestions);
    parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// With `+` and nothing between its digits; none for a name, or for the few digits that only programs have.
pub(super) fn read_number(text: &str) -> Option<String> {
    let digits = text.trim().trim_start_matches('+');
    let number = ContactAddress::phone(&format!("+{digits}")).ok()?;
    Some(number.as_str().to_owned())
}

/// Who wrote from a number. It is what the channel calls them and no more: anybody can make up the sender of a text message, so it does not
/// make them the person who has that phone.
pub(super) fn build_sender(number: &str) -> ArrivedSender {
    ArrivedSender { channel_id: number.to_owned(), ..ArrivedSender::default() }
}

/// A provider's words without any number that may be somebody's.
pub(super) fn hide_numbers(text: &str) -> String {
    let (mut out, mut digits) = (String::with_capacity(text.len()), String::new());
    for c in text.chars().map(Some).chain([None]) {
        if let Some(digit) = c.filter(char::is_ascii_digit) {
            digits.push(digit);
            continue;
        }
        out.push_str(if digits.len() > LONGEST_SHOWN { "…" } else { &digits });
        digits.clear();
        out.extend(c);
    }
    out
}

/// What the provider takes no more of for now.
pub(super) fn limit(limit: SendLimit) -> SendFault {
    SendFault::limited(limit.what, limit.after)
}

/// So long is waited where the provider names no pause.
const PAUSE: Duration = Duration::from_secs(30);

/// Too much was asked of a provider.
pub(super) fn slow_down(why: String, pause: Option<Duration>) -> SendFault {
    SendFault::limited(why, pause.unwrap_or(PAUSE))
}

#[cfg(test)]
mod tests {
    use munshi_types::tier::Channel;
    use munshi_types::{MessageId, ReplyAddress};
    use uuid::Uuid;

    use super::*;

    fn message(text: &str) -> OutboundMessage {
        let to = ReplyAddress::new(Channel::Sms, "+919812345678");
        OutboundMessage::new(MessageId::from_uuid(Uuid::from_u128(7)), to, text.to_owned())
    }

    #[test]
    fn all_that_is_said_is_text() {
        let outbound = OutboundMessage {
            suggestions: vec!["Yes".to_owned(), "No".to_owned()],
            attachments: vec![OutboundAttachment::Link {
                url: "https://pay.example/1".to_owned(),
                title: "Pay".to_owned(),
            }],
            ..message("**500** is due.")
        };
        let pieces = list_pieces(&outbound, 1500);
        assert_eq!(pieces.len(), 1, "{pieces:?}");
        assert!(pieces[0].starts_with("500 is due."), "{pieces:?}");
        assert!(pieces[0].contains("Pay: https://pay.example/1"), "{pieces:?}");
        assert!(pieces[0].contains("1. Yes") && pieces[0].ends_with("2. No"), "{pieces:?}");
    }

    #[test]
    fn what_is_long_leaves_in_pieces_and_nothing_in_none() {
        let long = "This is one sentence of many. ".repeat(120);
        let pieces = list_pieces(&message(&long), 1500);
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.chars().count() <= 1500), "{pieces:?}");
        assert_eq!(list_pieces(&message(&long), 1500), pieces);
        assert_eq!(count_pieces(&message(""), 1500), 1);
    }

    #[test]
    fn a_program_has_no_number() {
        assert_eq!(read_number("+91 98123 45678").as_deref(), Some("+919812345678"));
        assert_eq!(read_number("919812345678").as_deref(), Some("+919812345678"));
        for text in ["VK-SBIINB", "57575", "", "+"] {
            assert_eq!(read_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_proves_nobody() {
        let from = build_sender("+919812345678");
        assert_eq!((from.channel_id.as_str(), from.phone), ("+919812345678", None));
    }

    #[test]
    fn nobodys_number_is_told() {
        assert_eq!(hide_numbers("the 'To' number +919812345678 is off"), "the 'To' number +… is off");
        assert_eq!(hide_numbers("code 21211"), "code 21211");
    }
}
