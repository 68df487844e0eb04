//! Server-sent events, read as the HTML standard says: any line ending, any split of the bytes, comments, a mark at
//! the start, data over several lines. An event that is not closed by an empty line never happened.
//!
//! Stricter than the standard in two ways, because a wrong word in an answer is worse than none: bytes that are not
//! UTF-8 are an error instead of a replacement character, and an event has a largest size.

use crate::error::ModelError;

const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseMessage {
    /// Empty where the server names none.
    pub event: String,
    pub data: String,
}

#[derive(Debug)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    message: SseMessage,
    has_data: bool,
    at_start: bool,
    /// The last byte was a CR, so an LF now belongs to it.
    after_return: bool,
    limit: usize,
}

impl SseParser {
    /// `limit` bounds an event's bytes, and so what is held at any moment.
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            message: SseMessage::default(),
            has_data: false,
            at_start: true,
            after_return: false,
            limit,
        }
    }

    /// Reads on. The messages before an error are in `out`.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<SseMessage>) -> Result<(), ModelError> {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&bytes[..end])?;
            self.end_line(out)?;
            let ending = bytes[end];
            bytes = &bytes[end + 1..];
            if ending == b'\r' {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend(bytes)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        if self.line.len() + self.message.data.len() + bytes.len() > self.limit {
            return Err(ModelError::Garbled(format!("an event exceeds {} bytes", self.limit)));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, out: &mut Vec<SseMessage>) -> Result<(), ModelError> {
        let mut bytes = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start) && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        let line = std::str::from_utf8(&bytes)
            .map_err(|_| ModelError::Garbled("a line is not valid UTF-8".to_owned()))?;
        if line.is_empty() {
            self.dispatch(out);
        } else {
            self.field(line);
        }
        // The next line uses the same memory.
        bytes.clear();
        self.line = bytes;
        Ok(())
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                if self.has_data {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.message.event),
            // Comments have an empty name; `id` and `retry` are for clients that connect again, which we never do.
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<SseMessage>) {
        let message = std::mem::take(&mut self.message);
        if std::mem::take(&mut self.has_data) {
            out.push(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};
    use proptest::strategy::Strategy;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<(String, String)>, ModelError> {
        let (mut parser, mut out) = (SseParser::new(10_000), Vec::new());
        pieces.iter().try_for_each(|piece| parser.push(piece, &mut out))?;
        Ok(out.into_iter().map(|message| (message.event, message.data)).collect())
    }

    fn message(event: &str, data: &str) -> (String, String) {
        (event.to_owned(), data.to_owned())
    }

    #[test]
    fn the_examples_of_the_standard() {
        let text = b"data: YHOO\ndata: +2\ndata: 10\n\n";
        assert_eq!(read(&[text]).unwrap(), [message("", "YHOO\n+2\n10")]);
        let text =
            b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n";
        let expected = [message("", "first event"), message("", "second event"), message("", " third event")];
        assert_eq!(read(&[text]).unwrap(), expected);
        let text = b"data\n\ndata\ndata\n\ndata:";
        assert_eq!(read(&[text]).unwrap(), [message("", ""), message("", "\n")]);
        assert_eq!(read(&[b"event: add\n\nevent: ping\ndata: 1\n\n"]).unwrap(), [message("ping", "1")]);
    }

    #[test]
    fn endings_may_be_mixed_and_a_mark_may_stand_first() {
        let expected = [message("a", "1"), message("", "2"), message("", "3")];
        let text = b"\xEF\xBB\xBFevent: a\rdata: 1\r\rdata: 2\r\n\r\ndata: 3\n\n";
        assert_eq!(read(&[text]).unwrap(), expected);
        let second = b"data: 1\n\n\xEF\xBB\xBFdata: 2\n\n";
        assert_eq!(read(&[second]).unwrap(), [message("", "1")], "a mark later on is part of a name");
    }

    #[test]
    fn what_is_too_large_or_not_text_is_refused_after_what_came_before() {
        let (mut parser, mut out) = (SseParser::new(20), Vec::new());
        parser.push(b"data: ok\n\ndata: 0123456789", &mut out).unwrap();
        assert!(matches!(parser.push(b"0123456789", &mut out), Err(ModelError::Garbled(_))));
        assert_eq!(out.len(), 1);
        let lines = b"data: 01234567\n".repeat(3);
        assert!(
            matches!(SseParser::new(20).push(&lines, &mut out), Err(ModelError::Garbled(_))),
            "many lines too"
        );
        assert!(matches!(read(&[b"data: \xFF\n\n"]), Err(ModelError::Garbled(_))));
        assert_eq!(read(&["data: राज".as_bytes(), "न\n\n".as_bytes()]).unwrap(), [message("", "राजन")]);
    }

    /// Streams as servers write them, with every ending, and some that no server should.
    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let word = prop::sample::select(vec![
            "data: ",
            "data",
            "event: x",
            "id: 1",
            ": hi",
            "राजन 🛒",
            "a b",
            "\u{FEFF}",
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            "\r\n\r\n",
        ]);
        prop::collection::vec(word, 0..40).prop_map(|words| words.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_events(stream in streams(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            places.extend([0, stream.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            let whole = read(&[&stream]);
            assert_eq!(read(&pieces), whole);
            assert_eq!(read(&bytes), whole);
        }

        #[test]
        fn no_bytes_at_all_break_it(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _outcome = read(&[&bytes]);
        }
    }
}
