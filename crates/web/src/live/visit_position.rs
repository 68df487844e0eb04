//! Where a page broke off: behind a message, and within a turn behind an event of it.

use axum::http::{HeaderMap, HeaderValue};
use munshi_conversations::EventId;
use munshi_live::{MessageCursor, MessageCursorError};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_types::RunId;

use crate::api::stream::LAST_EVENT_ID;

/// `17`, or `17;RUN:1.2.3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VisitPosition {
    /// None: from the newest message on.
    pub(crate) after: Option<MessageCursor>,
    /// The turn, and the last event that was seen of it.
    pub(crate) turn: Option<(RunId, EventId)>,
}

impl VisitPosition {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (cursor, turn) = match text.split_once(';') {
            Some((cursor, turn)) => (cursor, Some(turn)),
            None => (text, None),
        };
        // As the server gave it: a number alone is one of the first numbering, and leads nowhere after a merge.
        let after = Some(cursor.parse().ok()?);
        let Some(turn) = turn else { return Some(Self { after, turn: None }) };
        let (run, event) = turn.split_once(':')?;
        Some(Self { after, turn: Some((run.parse().ok()?, event.parse().ok()?)) })
    }
}

/// What a client says that it has, in the header or the query.
pub(crate) fn read_last_event_id<'a>(
    headers: &'a HeaderMap,
    after: Option<&'a str>,
) -> Result<Option<&'a str>, ApiError> {
    match headers.get(LAST_EVENT_ID).map(HeaderValue::to_str) {
        Some(Ok(text)) => Ok(Some(text.trim())),
        Some(Err(_)) => Err(event_id_error()),
        None => Ok(after),
    }
}

/// A number alone in the query is what a program has counted by itself: of the numbers there are now.
pub(crate) fn parse_cursor(text: &str) -> Result<MessageCursor, MessageCursorError> {
    let cursor: MessageCursor = text.parse()?;
    Ok(if text.contains('.') { cursor } else { MessageCursor::at_number(cursor.number()) })
}

pub(crate) fn event_id_error() -> ApiError {
    ApiError::new(ApiErrorCode::BadRequest, "The last event id is malformed.")
        .hint("Send the id exactly as the stream gave it, or the number of the last message you have.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_types::IdGenerator;

    #[test]
    fn a_position_is_a_message_and_perhaps_an_event() {
        let run: RunId = IdGenerator::system().next();
        let event = EventId { generation: 1, number: 2, offset: 3 };
        let seventeen = Some(MessageCursor::new(0, 17));
        let known = VisitPosition::parse("17");
        assert_eq!(known, Some(VisitPosition { after: seventeen, turn: None }), "of the first numbering");
        assert!(!known.unwrap().after.unwrap().is_of(1, 40), "it leads nowhere once there are others");
        let whole = VisitPosition::parse(&format!("2.17;{run}:1.2.3"));
        assert_eq!(
            whole,
            Some(VisitPosition { after: Some(MessageCursor::new(2, 17)), turn: Some((run, event)) })
        );
        for bad in ["", ";", "x", "17;", "17;nobody:1.2.3", "17;1.2.3", "-1"] {
            assert_eq!(VisitPosition::parse(bad), None, "{bad}");
        }
    }
}
