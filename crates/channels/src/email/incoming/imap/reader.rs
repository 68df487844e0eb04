//! What a server says, one answer after the other, within bounds.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Of one answer without the mails in it. Lists of numbers are the longest.
const LONGEST_TEXT: usize = 1024 * 1024;
/// In one answer.
const MOST_LITERALS: usize = 64;
/// A mail is read in pieces of so many bytes.
const READ_SIZE: usize = 16 * 1024;
/// Stands in the text where a literal was; servers say it nowhere.
pub(super) const LITERAL: u8 = 0;

/// One answer: a line, with what stands in it byte by byte apart from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ImapAnswer {
    pub text: Vec<u8>,
    pub literals: Vec<Vec<u8>>,
}

/// Why there is no further answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImapReadError {
    #[error("it closed the connection")]
    Closed,
    #[error("{0}")]
    Broken(#[from] io::Error),
    #[error("it says more than was asked for")]
    TooLong,
}

/// The line to a server. What was read of an answer stays here when nobody waits for the rest any more, so that waiting can end at any
/// time.
#[derive(Debug)]
pub(super) struct ImapLine<S> {
    stream: S,
    unread: Vec<u8>,
    /// So many of these were looked at and end no line: who says little at a time costs no more than who says all at once.
    searched: usize,
    partial: ImapAnswer,
    /// Bytes of the last literal that are still to come.
    missing: usize,
    /// In this answer: all its literals together are no longer.
    largest: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ImapLine<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            unread: Vec::with_capacity(READ_SIZE),
            searched: 0,
            partial: ImapAnswer::default(),
            missing: 0,
            largest: LONGEST_TEXT,
        }
    }

    /// How many bytes the literals of an answer may have from here on.
    pub(super) fn bound_literals(&mut self, largest: usize) {
        self.largest = largest;
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    pub(super) async fn read(&mut self) -> Result<ImapAnswer, ImapReadError> {
        loop {
            if let Some(answer) = self.advance()? {
                return Ok(answer);
            }
            if self.stream.read_buf(&mut self.unread).await? == 0 {
                return Err(ImapReadError::Closed);
            }
        }
    }

    /// Whether the server has said what nobody has read yet.
    pub(super) fn has_unread(&self) -> bool {
        !self.unread.is_empty() || !self.partial.text.is_empty()
    }

    pub(super) fn into_stream(self) -> S {
        self.stream
    }

    /// The answer, once it is whole.
    fn advance(&mut self) -> Result<Option<ImapAnswer>, ImapReadError> {
        loop {
            if self.missing > 0 {
                let now = self.missing.min(self.unread.len());
                if let Some(literal) = self.partial.literals.last_mut() {
                    literal.extend(self.unread.drain(..now));
                }
                self.searched = 0;
                self.missing -= now;
                if self.missing > 0 {
                    return Ok(None);
                }
            }
            let found = self.unread[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = found.map(|at| self.searched + at) else {
                self.searched = self.unread.len();
                let is_long = self.partial.text.len() + self.unread.len() > LONGEST_TEXT;
                return if is_long { Err(ImapReadError::TooLong) } else { Ok(None) };
            };
            self.searched = 0;
            let mut said: Vec<u8> = self.unread.drain(..=end).collect();
            while said.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
                said.pop();
            }
            said.retain(|byte| *byte != LITERAL);
            if self.partial.text.len() + said.len() > LONGEST_TEXT {
                return Err(ImapReadError::TooLong);
            }
            let Some((text, size)) = split_literal(&said) else {
                self.partial.text.append(&mut said);
                return Ok(Some(std::mem::take(&mut self.partial)));
            };
            let known: usize = self.partial.literals.iter().map(Vec::len).sum();
            if size > self.largest.saturating_sub(known) || self.partial.literals.len() >= MOST_LITERALS {
                return Err(ImapReadError::TooLong);
            }
            self.partial.text.extend_from_slice(text);
            self.partial.text.push(LITERAL);
            self.partial.literals.push(Vec::new());
            self.missing = size;
        }
    }
}

/// `… {12}`, or `… {12+}`: so many bytes follow.
fn split_literal(line: &[u8]) -> Option<(&[u8], usize)> {
    let inner = line.strip_suffix(b"}")?;
    let start = inner.iter().rposition(|byte| *byte == b'{')?;
    let digits = &inner[start + 1..];
    let digits = digits.strip_suffix(b"+").unwrap_or(digits);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = std::str::from_utf8(digits).ok()?.parse().unwrap_or(usize::MAX);
    // RFC 3516: a literal of bytes that are no text.
    let text = &line[..start];
    Some((text.strip_suffix(b"~").unwrap_or(text), size))
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    /// What is read where the server says this in pieces of so many bytes, and ends.
    async fn read_all(said: &[u8], piece: usize) -> (Vec<ImapAnswer>, ImapReadError) {
        let (ours, mut theirs) = duplex(16);
        let said = said.to_vec();
        let server = async move {
            for part in said.chunks(piece) {
                let _gone = theirs.write_all(part).await;
            }
        };
        let client = async {
            let mut line = ImapLine::new(ours);
            let mut answers = Vec::new();
            loop {
                match line.read().await {
                    Ok(answer) => answers.push(answer),
                    Err(error) => return (answers, error),
                }
            }
        };
        tokio::join!(client, server).0
    }

    #[tokio::test]
    async fn answers_are_the_same_however_they_come() {
        let said = b"* OK there\r\n* 1 FETCH (UID 7 BODY[] {8}\r\na {3}\r\n) FLAGS ())\r\na1 OK done\r\n";
        for piece in 1..said.len() {
            let (answers, end) = read_all(said, piece).await;
            assert!(matches!(end, ImapReadError::Closed));
            let texts: Vec<String> =
                answers.iter().map(|answer| String::from_utf8_lossy(&answer.text).into_owned()).collect();
            assert_eq!(texts, ["* OK there", "* 1 FETCH (UID 7 BODY[] \0 FLAGS ())", "a1 OK done"]);
            assert_eq!(answers[1].literals, [b"a {3}\r\n)".to_vec()], "by its length, not by what it says");
        }
    }

    #[tokio::test]
    async fn nothing_is_read_without_end() {
        for said in [
            b"* 1 FETCH (BODY[] {99999999999999999999}\r\n".to_vec(),
            b"* 1 FETCH (BODY[] {2000000}\r\n".to_vec(),
            vec![b'a'; LONGEST_TEXT + 100],
            b"{0}\r\n".repeat(MOST_LITERALS + 1),
        ] {
            let (answers, end) = read_all(&said, 8192).await;
            assert!(answers.is_empty() && matches!(end, ImapReadError::TooLong), "{end:?}");
        }
    }

    #[tokio::test]
    async fn who_stops_waiting_loses_nothing() {
        let (ours, mut theirs) = duplex(64);
        let mut line = ImapLine::new(ours);
        theirs.write_all(b"* 2 EX").await.unwrap();
        let waited = tokio::time::timeout(std::time::Duration::from_millis(20), line.read()).await;
        assert!(waited.is_err() && line.has_unread());
        theirs.write_all(b"ISTS\r\n").await.unwrap();
        assert_eq!(line.read().await.unwrap().text, b"* 2 EXISTS");
    }
}
