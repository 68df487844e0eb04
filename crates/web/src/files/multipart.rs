//! The file of a `multipart/form-data` body, as it comes. What is before it is passed over within a bound; what is behind it is not read.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use munshi_blobs::UploadRefusal;

/// The head of a part.
const LONGEST_HEAD: usize = 8 * 1024;
/// Other fields of the form, altogether.
const LONGEST_BEFORE: usize = 64 * 1024;
/// As the standard says.
const LONGEST_BOUNDARY: usize = 70;

/// Why there is no file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormError {
    Refused(UploadRefusal),
    Malformed(&'static str),
}

/// The boundary of a form's content type.
pub(super) fn find_boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let found = parse_parameters(parameters).find(|(name, _)| name.eq_ignore_ascii_case("boundary"));
    let (_, boundary) = found?;
    (1..=LONGEST_BOUNDARY).contains(&boundary.len()).then_some(boundary)
}

/// `name=value; name="value"`, as headers write them.
fn parse_parameters(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once('=')?;
        let name = name.trim_matches([' ', '\t', ';']).to_owned();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => parse_quoted(quoted),
            None => {
                let (value, after) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), after)
            }
        };
        rest = after;
        Some((name, value))
    })
}

fn parse_quoted(text: &str) -> (String, &str) {
    let (mut value, mut escaped) = (String::new(), false);
    for (at, letter) in text.char_indices() {
        match letter {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return (value, &text[at + 1..]),
            _ => {
                value.push(letter);
                escaped = false;
            }
        }
    }
    (value, "")
}

/// Reads a form piece by piece; no more than a head or a boundary waits in memory.
pub(super) struct FormReader {
    pieces: BoxStream<'static, Result<Bytes, UploadRefusal>>,
    /// What ends a part: a line break, two dashes, the boundary.
    delimiter: Vec<u8>,
    waiting: BytesMut,
}

impl FormReader {
    pub(super) fn new(pieces: BoxStream<'static, Result<Bytes, UploadRefusal>>, boundary: &str) -> Self {
        // The first boundary has no line before it.
        let waiting = BytesMut::from(&b"\r\n"[..]);
        Self { pieces, delimiter: format!("\r\n--{boundary}").into_bytes(), waiting }
    }

    /// Goes to the first part that is a file, and says what it is called. Its content follows.
    pub(super) async fn find_file(&mut self) -> Result<Option<String>, FormError> {
        let mut passed = 0;
        loop {
            while let Some(piece) = self.next_piece().await.map_err(FormError::Refused)? {
                passed += piece.len();
                if passed > LONGEST_BEFORE {
                    return Err(FormError::Malformed("The form has too much before its file."));
                }
            }
            let _boundary = self.waiting.split_to(self.delimiter.len());
            let head = self.read_head().await?;
            match find_file_name(&head) {
                Some(name) => return Ok(Some(name).filter(|name| !name.is_empty())),
                None => passed += head.len(),
            }
        }
    }

    /// More of the current part; none at its end. A body that ends within a part broke off.
    pub(super) async fn next_piece(&mut self) -> Result<Option<Bytes>, UploadRefusal> {
        loop {
            if let Some(at) = find(&self.waiting, &self.delimiter) {
                return Ok((at > 0).then(|| self.waiting.split_to(at).freeze()));
            }
            // The delimiter may have begun within the last bytes.
            let safe = self.waiting.len().saturating_sub(self.delimiter.len() - 1);
            if safe > 0 {
                return Ok(Some(self.waiting.split_to(safe).freeze()));
            }
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<(), UploadRefusal> {
        let piece = self.pieces.next().await.ok_or(UploadRefusal::BrokenOff)??;
        self.waiting.extend_from_slice(&piece);
        Ok(())
    }

    /// From behind a boundary to the empty line; an error where the boundary was the last.
    async fn read_head(&mut self) -> Result<String, FormError> {
        loop {
            if self.waiting.starts_with(b"--") {
                return Err(FormError::Malformed("The form has no file in it."));
            }
            if let Some(at) = find(&self.waiting, b"\r\n\r\n") {
                let head = self.waiting.split_to(at);
                // The line break before the next boundary may be the last of this empty line.
                let _blank = self.waiting.split_to(2);
                let _break = self.take_break();
                return String::from_utf8(head.to_vec())
                    .map_err(|_| FormError::Malformed("A part of the form has an unreadable head."));
            }
            if self.waiting.len() > LONGEST_HEAD {
                return Err(FormError::Malformed("A part of the form has a head that is too long."));
            }
            self.read_more().await.map_err(FormError::Refused)?;
        }
    }

    /// The second line break of an empty line, unless the part is empty and it belongs to the boundary.
    fn take_break(&mut self) -> Option<BytesMut> {
        let is_boundary = self.waiting.starts_with(&self.delimiter);
        (!is_boundary).then(|| self.waiting.split_to(2))
    }
}

/// The name that a part's file has; none where the part is no file.
fn find_file_name(head: &str) -> Option<String> {
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) =
        lines.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"))?;
    let (_, parameters) = value.split_once(';')?;
    let found = parse_parameters(parameters).find(|(name, _)| name.eq_ignore_ascii_case("filename"));
    // As browsers write what they may not.
    found.map(|(_, name)| name.replace("%22", "\"").replace("%0D", "").replace("%0A", ""))
}

fn find(within: &[u8], word: &[u8]) -> Option<usize> {
    let first = *word.first()?;
    let mut from = 0;
    loop {
        let at = from + within.get(from..)?.iter().position(|byte| *byte == first)?;
        if within[at..].starts_with(word) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn read(body: &[u8], piece: usize) -> Result<(Option<String>, Vec<u8>), FormError> {
        let pieces: Vec<_> = body.chunks(piece).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let mut form = FormReader::new(stream::iter(pieces).boxed(), "XX");
        let name = form.find_file().await?;
        let mut content = Vec::new();
        while let Some(piece) = form.next_piece().await.map_err(FormError::Refused)? {
            content.extend_from_slice(&piece);
        }
        Ok((name, content))
    }

    const FORM: &[u8] = b"--XX\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nhello\r\n\
        --XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\"; c.txt\"\r\n\
        Content-Type: text/html\r\n\r\none\r\n--X\r\n--XY\r\ntwo\r\n--XX--\r\n";

    #[tokio::test]
    async fn the_file_of_a_form_comes_whole_however_it_is_cut() {
        for piece in 1..FORM.len() {
            let (name, content) = read(FORM, piece).await.unwrap();
            assert_eq!(name.as_deref(), Some("a \"b\"; c.txt"));
            assert_eq!(content, b"one\r\n--X\r\n--XY\r\ntwo", "pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn a_form_without_a_file_or_an_end_is_refused() {
        let form = |text: &str| text.replace('\n', "\r\n").into_bytes();
        let field = form("--XX\ncontent-disposition: form-data; name=\"a\"\n\nb\n--XX--\n");
        let none = FormError::Malformed("The form has no file in it.");
        assert_eq!(read(&field, 7).await.unwrap_err(), none);
        let cut = form("--XX\ncontent-disposition: form-data; name=\"f\"; filename=\"f\"\n\nhello\n--X");
        let broken = FormError::Refused(UploadRefusal::BrokenOff);
        assert_eq!(read(&cut, 9).await.unwrap_err(), broken);
        assert_eq!(read(b"", 1).await.unwrap_err(), broken);
        let mut long = form("--XX\nx: ");
        long.extend(vec![b'a'; 2 * LONGEST_HEAD]);
        assert!(matches!(read(&long, 999).await.unwrap_err(), FormError::Malformed(_)));
        let mut much = form("--XX\ncontent-disposition: form-data; name=\"a\"\n\n");
        much.extend(vec![b'a'; 2 * LONGEST_BEFORE]);
        assert!(matches!(read(&much, 999).await.unwrap_err(), FormError::Malformed(_)));
    }

    #[tokio::test]
    async fn an_empty_file_is_empty() {
        let empty = b"--XX\r\ncontent-disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n\r\n--XX--";
        for piece in [1, 5, 1000] {
            assert_eq!(read(empty, piece).await.unwrap(), (None, Vec::new()));
        }
    }

    #[test]
    fn a_boundary_is_read_as_it_is_written() {
        for (given, found) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("Multipart/Form-Data; charset=utf-8; Boundary=\"a b;c\"", Some("a b;c")),
            ("multipart/mixed; boundary=abc", None),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
        ] {
            assert_eq!(find_boundary(given).as_deref(), found);
        }
    }
}
