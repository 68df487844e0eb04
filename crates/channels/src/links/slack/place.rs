//! Where something is in Slack, as an answer's address has it.

/// A conversation, and a place within it. Written `C024BE91L/1531420618.000200/U024BE7LH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlackPlace {
    /// A conversation's id, or a person's: then it is what they and we write to each other.
    pub conversation: String,
    /// The first message of the thread.
    pub thread: Option<String>,
    /// Whom an answer is for where others read along: only they press its buttons.
    pub person: Option<String>,
}

impl SlackPlace {
    pub(super) fn write(&self) -> String {
        let thread = self.thread.as_deref().unwrap_or_default();
        match (&self.thread, &self.person) {
            (None, None) => self.conversation.clone(),
            (Some(_), None) => format!("{}/{thread}", self.conversation),
            (_, Some(person)) => format!("{}/{thread}/{person}", self.conversation),
        }
    }

    /// None for what is no place there. A person may stand there by their id alone, or with their workspace's before it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('/');
        let first = parts.next()?;
        let conversation = first.rsplit_once(':').map_or(first, |(_, person)| person);
        let part = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let (thread, person) = (part(parts.next()), part(parts.next()));
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        let is_time = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !text.starts_with('.')
        };
        let is_fit = parts.next().is_none()
            && !conversation.is_empty()
            && is_plain(conversation)
            && thread.as_deref().is_none_or(is_time)
            && person.as_deref().is_none_or(is_plain);
        is_fit.then(|| Self { conversation: conversation.to_owned(), thread, person })
    }

    /// Whether it names a person and no conversation.
    pub(super) fn is_person(&self) -> bool {
        self.conversation.starts_with(['U', 'W'])
    }
}

/// What is between one person and us.
pub(super) fn is_direct(conversation: &str) -> bool {
    conversation.starts_with('D')
}

/// A message, the same in everything that Slack tells of it: times are unique within a conversation alone.
pub(super) fn name_message(conversation: &str, at: &str) -> String {
    format!("{conversation}:{at}")
}

/// The conversation and the time of a message; none for what is no message of theirs, such as a press.
pub(super) fn split_message(name: &str) -> Option<(&str, &str)> {
    let (conversation, at) = name.split_once(':')?;
    let is_time = at.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_time && !at.is_empty() && conversation.starts_with(['C', 'D', 'G'])).then_some((conversation, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for (text, is_person) in
            [("D1", false), ("C1/169.01", false), ("C1/169.01/U5", false), ("D1//U5", false), ("U5", true)]
        {
            let place = SlackPlace::read(text).unwrap();
            assert_eq!((place.write().as_str(), place.is_person()), (text, is_person));
        }
        assert_eq!(SlackPlace::read("T1:U5").unwrap().conversation, "U5");
        for text in ["", "/", "C1/a b", "C1/1/2/3", "#general", "C1/../x", "group:T1:C1/1?x"] {
            assert_eq!(SlackPlace::read(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_message_has_a_time() {
        assert_eq!(split_message("C1:169.01"), Some(("C1", "169.01")));
        for name in ["press:C1:169.01:U5:munshi-0", "file:F1", "C1:", "C1"] {
            assert_eq!(split_message(name), None, "{name}");
        }
    }
}
