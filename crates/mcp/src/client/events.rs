//! The events of an answer, within bounds.

use futures_util::stream::{BoxStream, StreamExt, unfold};
use munshi_http::Response;
use sse_stream::{Error as SseError, Sse, SseStream};

use super::error_text;
use crate::LONGEST_MESSAGE;

/// Its events, none longer than a message may be.
pub(super) fn stream_events(response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
    let pieces =
        unfold((response, Length::default(), false), |(mut response, mut length, over)| async move {
            if over {
                return None;
            }
            match response.chunk().await {
                Ok(Some(piece)) => match length.grow(&piece) > LONGEST_MESSAGE {
                    true => {
                        let error = format!("an event is longer than {LONGEST_MESSAGE} bytes");
                        Some((Err(std::io::Error::other(error)), (response, length, true)))
                    }
                    false => Some((Ok(piece), (response, length, false))),
                },
                Ok(None) => None,
                Err(error) => Some((
                    Err(std::io::Error::other(error_text::render_request_error(&error))),
                    (response, length, true),
                )),
            }
        });
    SseStream::from_bytes_stream(pieces).boxed()
}

/// How long the event has become that is being read. It begins anew at every blank line, however the pieces fall.
#[derive(Default)]
struct Length {
    bytes: usize,
    /// Whether nothing stands in the line yet.
    is_blank: bool,
    /// The last was a carriage return: a line feed after it ends no other line.
    is_returned: bool,
}

impl Length {
    fn grow(&mut self, piece: &[u8]) -> usize {
        for byte in piece {
            self.bytes = self.bytes.saturating_add(1);
            let ends = match byte {
                b'\n' if self.is_returned => false,
                b'\n' | b'\r' => true,
                _ => {
                    self.is_blank = false;
                    false
                }
            };
            self.is_returned = *byte == b'\r';
            if ends {
                if self.is_blank {
                    self.bytes = 0;
                }
                self.is_blank = true;
            }
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_at_a_blank_line_however_the_pieces_fall() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("event: a{end}data: 12345{end}{end}").repeat(20);
            for size in 1..text.len() {
                let mut length = Length::default();
                let longest = text.as_bytes().chunks(size).map(|piece| length.grow(piece)).max();
                assert!(longest <= Some(26), "{end:?} in pieces of {size}: {longest:?}");
                assert!(length.grow(&[b'x'; 100]) >= 100);
            }
        }
    }
}
