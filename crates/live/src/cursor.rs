//! How far somebody has come in a session.

use std::fmt;
use std::str::FromStr;

/// A message's number, and of which numbering. A session that became one with another has new numbers: a cursor from
/// before leads nowhere then. Written as the number alone, or as `NUMBERING.NUMBER` where there were others before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCursor {
    /// None for whoever names a number without saying of which: of the numbers there are now.
    pub(crate) renumbered: Option<i64>,
    pub(crate) number: i64,
}

/// Something else than a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageCursorError;

impl MessageCursor {
    /// Behind a message of the numbers there are now; 0 stands before the first.
    pub const fn at_number(number: i64) -> Self {
        Self { renumbered: None, number }
    }

    pub const fn new(renumbered: i64, number: i64) -> Self {
        Self { renumbered: Some(renumbered), number }
    }

    pub const fn number(self) -> i64 {
        self.number
    }

    /// Another number of the same numbering.
    pub const fn with_number(self, number: i64) -> Self {
        Self { number, ..self }
    }

    /// Whether it means anything in a session that was renumbered so often and has so many messages.
    pub fn is_of(self, renumbered: i64, messages: i64) -> bool {
        self.renumbered.is_none_or(|own| own == renumbered) && self.number <= messages
    }
}

impl fmt::Display for MessageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.renumbered {
            None | Some(0) => write!(f, "{}", self.number),
            Some(renumbered) => write!(f, "{renumbered}.{}", self.number),
        }
    }
}

/// Of an event id: a number alone is one of the first numbering.
impl FromStr for MessageCursor {
    type Err = MessageCursorError;

    fn from_str(text: &str) -> Result<Self, MessageCursorError> {
        let (renumbered, number) = text.split_once('.').unwrap_or(("0", text));
        Ok(Self::new(parse_count(renumbered)?, parse_count(number)?))
    }
}

fn parse_count(text: &str) -> Result<i64, MessageCursorError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().map_err(|_| MessageCursorError) } else { Err(MessageCursorError) }
}

impl fmt::Display for MessageCursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a message number or event id")
    }
}

impl std::error::Error for MessageCursorError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        for (text, renumbered, number) in [("0", 0, 0), ("17", 0, 17), ("2.17", 2, 17)] {
            let cursor = MessageCursor::new(renumbered, number);
            assert_eq!((text.parse(), cursor.to_string().as_str()), (Ok(cursor), text));
        }
        for bad in ["", "-1", "1.", ".1", "1.2.3", "x", "99999999999999999999"] {
            assert_eq!(bad.parse::<MessageCursor>(), Err(MessageCursorError), "{bad}");
        }
    }

    #[test]
    fn a_cursor_of_other_numbers_means_nothing() {
        assert!(MessageCursor::new(1, 5).is_of(1, 5) && MessageCursor::at_number(5).is_of(1, 5));
        assert!(!MessageCursor::new(0, 5).is_of(1, 5), "of before a merge");
        assert!(!MessageCursor::at_number(6).is_of(1, 5), "nobody has said so much");
    }
}
