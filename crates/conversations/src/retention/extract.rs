//! A summary without a model: what was asked and what was answered, each in a line.

use crate::messages::{Message, MessageSpeaker, MessageStatus};

/// In characters, of one message.
const LINE: usize = 160;

/// Adds to what stands for everything before. Where it grows too long, the oldest lines go.
pub fn extract(before: Option<&str>, messages: &[Message], longest: usize) -> String {
    let mut lines: Vec<String> =
        before.into_iter().flat_map(str::lines).filter(|line| *line != CUT).map(str::to_owned).collect();
    lines.extend(messages.iter().filter_map(line));
    join_newest_lines(&lines, longest)
}

/// Says that older lines are gone.
const CUT: &str = "…";

fn line(message: &Message) -> Option<String> {
    let who = match (message.speaker, message.standing) {
        (_, MessageStatus::Refused) => return None,
        // An excuse did nothing.
        (MessageSpeaker::Persona, MessageStatus::Degraded) => return None,
        (MessageSpeaker::Person, _) => "Asked",
        (MessageSpeaker::Persona, MessageStatus::Whole) => "Answered",
        (MessageSpeaker::Colleague(_), _) => "A colleague answered",
    };
    let said = first_sentence(&message.text);
    let attached = if message.attached.is_empty() { "" } else { " (with an attachment)" };
    if said.is_empty() && attached.is_empty() { None } else { Some(format!("{who}: {said}{attached}")) }
}

/// On one line, up to its first end that leaves something to read.
fn first_sentence(text: &str) -> String {
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut said = 0;
    let mut ends = |(at, c): (usize, char)| {
        said += 1;
        let after = at + c.len_utf8();
        let is_end = said > 12 && ends_sentence(c, flat.get(after..).unwrap_or_default());
        is_end.then_some(after)
    };
    let end = flat.char_indices().find_map(&mut ends).unwrap_or(flat.len());
    truncate(flat.get(..end).unwrap_or(&flat), LINE)
}

/// A dot before a number or a small letter is an abbreviation's: `Rs. 500`.
fn ends_sentence(c: char, rest: &str) -> bool {
    let next = rest.strip_prefix(' ').and_then(|rest| rest.chars().next());
    match c {
        '?' | '!' | '।' | '॥' => rest.is_empty() || next.is_some(),
        '.' => rest.is_empty() || next.is_some_and(|next| !next.is_numeric() && !next.is_lowercase()),
        _ => false,
    }
}

/// Cut at a character, with a mark where something is missing.
pub(super) fn truncate(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn join_newest_lines(lines: &[String], longest: usize) -> String {
    let (mut run_channel, mut first) = (longest.saturating_sub(CUT.len() + 1), lines.len());
    for (at, line) in lines.iter().enumerate().rev() {
        let takes = line.chars().count() + 1;
        if takes > run_channel {
            break;
        }
        (run_channel, first) = (run_channel - takes, at);
    }
    let kept = lines.get(first..).unwrap_or_default().join("\n");
    match (first, kept.is_empty()) {
        (0, _) => kept,
        (_, true) => CUT.to_owned(),
        (_, false) => format!("{CUT}\n{kept}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::tier::Channel;
    use munshi_types::{IdGenerator, Timestamp};
    use proptest::prelude::*;

    fn message(speaker: MessageSpeaker, text: &str, standing: MessageStatus) -> Message {
        let ids = IdGenerator::system();
        Message {
            id: ids.next(),
            session: ids.next(),
            number: 1,
            run: ids.next(),
            binding: ids.next(),
            speaker,
            channel: Channel::Web,
            outside_id: None,
            text: text.to_owned(),
            attached: Vec::new(),
            language: None,
            tokens: 0,
            standing,
            generation: 0,
            marks: serde_json::Value::Null,
            suggestions: Vec::new(),
            said_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn it_says_what_was_asked_and_what_was_done() {
        let messages = [
            message(
                MessageSpeaker::Person,
                "Please add a sale of Rs. 500 to Ramesh.\nHe comes tomorrow.",
                MessageStatus::Whole,
            ),
            message(MessageSpeaker::Persona, "I have added it. Anything else?", MessageStatus::Whole),
            message(MessageSpeaker::Person, "रमेश का हिसाब बताओ। जल्दी", MessageStatus::Whole),
            message(MessageSpeaker::Persona, "Sorry, no model answers now.", MessageStatus::Degraded),
            message(MessageSpeaker::Person, "", MessageStatus::Refused),
        ];
        assert_eq!(
            extract(Some("Asked: something"), &messages, 500),
            "Asked: something\nAsked: Please add a sale of Rs. 500 to Ramesh.\nAnswered: I have added it.\n\
             Asked: रमेश का हिसाब बताओ।"
        );
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let messages: Vec<Message> = (0..50)
            .map(|n| message(MessageSpeaker::Person, &format!("question {n}"), MessageStatus::Whole))
            .collect();
        let summary = extract(None, &messages, 100);
        assert!(summary.starts_with("…\n") && summary.ends_with("Asked: question 49"), "{summary}");
        let again = extract(Some(&summary), &messages[..1], 100);
        assert_eq!(again.matches('…').count(), 1, "{again}");
    }

    proptest! {
        #[test]
        fn it_is_never_longer_than_it_may_be(texts in prop::collection::vec("\\PC{0,300}", 0..30), longest in 10..600_usize) {
            let messages: Vec<Message> = texts.iter().map(|text| message(MessageSpeaker::Person, text, MessageStatus::Whole)).collect();
            let once = extract(None, &messages, longest);
            prop_assert!(once.chars().count() <= longest);
            prop_assert!(extract(Some(&once), &messages, longest).chars().count() <= longest);
        }
    }
}
