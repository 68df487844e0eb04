//! A mail taken apart into the parts that hold something, however it was put together.
//!
//! Which part lies in which is looked at here, level by level and within bounds: somebody may send a mail that is nothing but levels.

use std::panic::{AssertUnwindSafe, catch_unwind};

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::{MessageParser, MimeHeaders};

/// Programs nest half a dozen levels.
const DEEPEST: usize = 12;
/// In one mail; what is behind them is not looked at.
const MOST_PARTS: usize = 300;
/// Of one part. Servers take less.
const LONGEST_HEADER: usize = 256 * 1024;
const MOST_HEADERS: usize = 1000;

/// Programs forget the signs at the end, or leave bits behind.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The lines above a part, each on its own and unfolded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MailHeaders(Vec<(String, String)>);

/// A part that holds something itself.
#[derive(Clone, Debug)]
pub(super) struct MailLeaf<'a> {
    /// Its place among the others, the same each time.
    pub number: usize,
    pub media_type: String,
    pub name: Option<String>,
    /// In angle brackets no more.
    pub content_id: Option<String>,
    pub is_attachment: bool,
    /// The multiparts it lies in, the outermost first.
    pub within: Vec<MultipartPlace>,
    pub headers: MailHeaders,
    charset: Option<String>,
    body: &'a [u8],
}

/// One of the multiparts around a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MultipartPlace {
    /// Of all of the mail.
    pub number: usize,
    /// `alternative`, `related`, `report`.
    pub subtype: String,
}

/// What the header of a part says of it.
struct PartDescription {
    media_type: String,
    boundary: Option<String>,
    name: Option<String>,
    content_id: Option<String>,
    charset: Option<String>,
    is_attachment: bool,
}

struct MailWalk<'a> {
    leaves: Vec<MailLeaf<'a>>,
    parts: usize,
}

impl MailHeaders {
    pub(super) fn parse(block: &[u8]) -> Self {
        let block = &block[..block.len().min(LONGEST_HEADER)];
        let text = String::from_utf8_lossy(block);
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in text.split('\n').map(|line| line.trim_end_matches('\r')) {
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = headers.last_mut() {
                    value.push(' ');
                    value.push_str(line.trim());
                }
                continue;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            if headers.len() < MOST_HEADERS {
                headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        Self(headers)
    }

    /// The topmost of a name.
    pub(super) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// From above.
    pub(super) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.first(name).is_some()
    }
}

impl MailLeaf<'_> {
    pub(super) fn is_type(&self, media_type: &str) -> bool {
        self.media_type == media_type
    }

    pub(super) fn is_within(&self, subtype: &str) -> bool {
        self.within.iter().any(|place| place.subtype == subtype)
    }

    /// As a text, whatever its letters were written in.
    pub(super) fn text(&self) -> String {
        let bytes = self.bytes();
        let decode = self.charset.as_deref().and_then(|name| charset_decoder(name.as_bytes()));
        let is_plain = std::str::from_utf8(&bytes).is_ok();
        match decode.filter(|_| !is_plain || self.charset.as_deref().is_some_and(is_seven_bit)) {
            Some(decode) => guard(|| Some(decode(&bytes))).unwrap_or_default(),
            None => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// Its bytes as they were before they were put into a mail.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let encoding = self.headers.first("content-transfer-encoding").unwrap_or_default();
        match encoding.trim().to_ascii_lowercase().as_str() {
            "base64" => decode_base64(self.body),
            "quoted-printable" => decode_quoted_printable(self.body),
            _ => self.body.to_vec(),
        }
    }

    /// What was sent, as it stands there.
    pub(super) fn body(&self) -> &[u8] {
        self.body
    }
}

/// Letters that are written with others: such bytes look like a plain text.
fn is_seven_bit(charset: &str) -> bool {
    let name = charset.to_ascii_lowercase();
    ["iso-2022", "utf-7", "utf7", "utf-16", "utf16", "hz"].iter().any(|kind| name.starts_with(kind))
}

/// Whatever is no letter of it is passed over, as every mail program does.
fn decode_base64(body: &[u8]) -> Vec<u8> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut letters: Vec<u8> =
        body.iter().copied().take_while(|byte| *byte != b'=').filter(is_letter).collect();
    // A last letter alone holds no byte.
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    LENIENT.decode(&letters).unwrap_or_default()
}

/// What is broken stays as it stands there.
fn decode_quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.trim_ascii_end();
        let (content, is_soft) = match bare.strip_suffix(b"=") {
            Some(content) => (content, true),
            None => (bare, false),
        };
        let mut rest = content;
        while let [byte, tail @ ..] = rest {
            let pair = tail.get(..2).filter(|pair| *byte == b'=' && pair.iter().all(u8::is_ascii_hexdigit));
            match pair.and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()) {
                Some(value) => {
                    decoded.push(value);
                    rest = &tail[2..];
                }
                None => {
                    decoded.push(*byte);
                    rest = tail;
                }
            }
        }
        if !is_soft && line.ends_with(b"\n") {
            decoded.extend_from_slice(b"\r\n");
        }
    }
    decoded
}

/// The parser panics for no mail that anybody knows of. One that nobody knows must not come again and again.
pub(super) fn guard<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}

/// The header of a mail, and what is below it.
pub(super) fn split_header(raw: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while at < raw.len() {
        let end = raw[at..].iter().position(|byte| *byte == b'\n').map_or(raw.len(), |end| at + end + 1);
        if matches!(&raw[at..end], b"\r\n" | b"\n") {
            return (&raw[..at], &raw[end..]);
        }
        at = end;
    }
    (raw, &[])
}

/// The parts of a mail that hold something, in their order.
pub(super) fn list_leaves(raw: &[u8]) -> Vec<MailLeaf<'_>> {
    let mut walk = MailWalk { leaves: Vec::new(), parts: 0 };
    walk.visit(raw, &[]);
    walk.leaves
}

impl<'a> MailWalk<'a> {
    fn visit(&mut self, raw: &'a [u8], within: &[MultipartPlace]) {
        if self.parts >= MOST_PARTS {
            return;
        }
        let number = self.parts;
        self.parts += 1;
        let (header, body) = split_header(raw);
        let headers = MailHeaders::parse(header);
        let is_digest = within.last().is_some_and(|place| place.subtype == "digest");
        let described = describe(header, &headers, is_digest);
        let boundary = described.boundary.filter(|_| within.len() < DEEPEST);
        if let (Some(subtype), Some(boundary)) = (described.media_type.strip_prefix("multipart/"), boundary) {
            let parts = split_parts(body, boundary.as_bytes());
            if !parts.is_empty() {
                let mut inner = within.to_vec();
                inner.push(MultipartPlace { number, subtype: subtype.to_owned() });
                for part in parts {
                    self.visit(part, &inner);
                }
                return;
            }
        }
        self.leaves.push(MailLeaf {
            number,
            media_type: described.media_type,
            name: described.name,
            content_id: described.content_id,
            is_attachment: described.is_attachment,
            within: within.to_vec(),
            charset: described.charset,
            headers,
            body,
        });
    }
}

fn describe(header: &[u8], headers: &MailHeaders, is_digest: bool) -> PartDescription {
    let usual = if is_digest { "message/rfc822" } else { "text/plain" };
    let plain = PartDescription {
        media_type: usual.to_owned(),
        boundary: None,
        name: None,
        content_id: None,
        charset: None,
        is_attachment: false,
    };
    if !headers.has("content-type") && !headers.has("content-disposition") {
        return plain;
    }
    let header = &header[..header.len().min(LONGEST_HEADER)];
    let parsed = guard(|| {
        let parsed = MessageParser::default().parse_headers(header)?;
        let content_type = parsed.content_type();
        let media_type = content_type.map(|given| {
            let subtype = given.subtype().unwrap_or("plain");
            format!("{}/{subtype}", given.ctype()).to_ascii_lowercase()
        });
        let disposition = parsed.content_disposition();
        Some(PartDescription {
            media_type: media_type.unwrap_or_else(|| usual.to_owned()),
            boundary: content_type.and_then(|given| given.attribute("boundary")).map(str::to_owned),
            name: parsed.attachment_name().map(clean_name).filter(|name| !name.is_empty()),
            content_id: parsed.content_id().map(|id| id.trim_matches(['<', '>', ' ']).to_owned()),
            charset: content_type.and_then(|given| given.attribute("charset")).map(str::to_owned),
            is_attachment: disposition.is_some_and(|given| given.ctype().eq_ignore_ascii_case("attachment")),
        })
    });
    parsed.unwrap_or(plain)
}

/// The last of a path, without what is no letter of a name.
fn clean_name(name: &str) -> String {
    const LONGEST: usize = 120;
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    last.chars().filter(|c| !c.is_control()).take(LONGEST).collect::<String>().trim().to_owned()
}

/// What stands between the lines of a boundary. The last one may have no end.
fn split_parts<'a>(body: &'a [u8], boundary: &[u8]) -> Vec<&'a [u8]> {
    if boundary.is_empty() {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut start: Option<usize> = None;
    let mut at = 0;
    while at < body.len() {
        let end = body[at..].iter().position(|byte| *byte == b'\n').map_or(body.len(), |end| at + end + 1);
        if let Some(rest) = body[at..end].strip_prefix(b"--").and_then(|line| line.strip_prefix(boundary)) {
            let rest = rest.trim_ascii_end();
            if rest.is_empty() || rest == b"--" {
                if let Some(start) = start.take() {
                    parts.push(strip_line_end(&body[start..at]));
                }
                if rest == b"--" || parts.len() >= MOST_PARTS {
                    return parts;
                }
                start = Some(end);
            }
        }
        at = end;
    }
    if let Some(start) = start {
        parts.push(&body[start..]);
    }
    parts
}

/// The end of the line before a boundary belongs to the boundary.
fn strip_line_end(part: &[u8]) -> &[u8] {
    let part = part.strip_suffix(b"\n").unwrap_or(part);
    part.strip_suffix(b"\r").unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn types(raw: &str) -> Vec<String> {
        list_leaves(raw.as_bytes()).into_iter().map(|leaf| leaf.media_type).collect()
    }

    #[test]
    fn parts_are_found_however_they_lie() {
        let raw = "Content-Type: multipart/mixed; boundary=\"a\"\r\n\r\npreamble\r\n--a\r\n\
                   Content-Type: multipart/alternative;\r\n boundary=a2\r\n\r\n--a2\r\n\r\nplain\r\n\
                   --a2\r\nContent-Type: TEXT/Html\r\n\r\n<p>html</p>\r\n--a2--\r\n--a\r\n\
                   Content-Type: application/pdf; name=\"x/bill.pdf\"\r\nContent-Disposition: attachment\r\n\
                   Content-Transfer-Encoding: base64\r\n\r\nJVBE\r\nRg\r\n--a--\r\nepilogue\r\n";
        let leaves = list_leaves(raw.as_bytes());
        let found: Vec<_> = leaves.iter().map(|leaf| (leaf.media_type.as_str(), leaf.within.len())).collect();
        assert_eq!(found, [("text/plain", 2), ("text/html", 2), ("application/pdf", 1)]);
        assert_eq!((leaves[0].text().as_str(), leaves[0].is_within("alternative")), ("plain", true));
        assert_eq!((leaves[2].name.as_deref(), leaves[2].bytes()), (Some("bill.pdf"), b"%PDF".to_vec()));
        assert!(leaves[2].is_attachment);
        assert_eq!(types(&raw.replace('\r', "")), ["text/plain", "text/html", "application/pdf"]);
    }

    #[test]
    fn letters_are_read_as_they_were_written() {
        for (header, body, text) in [
            (
                "text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64",
                "4KSo4KSu4KS4\r\n4KWN4KSk4KWH",
                "नमस्ते",
            ),
            (
                "text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable",
                "caf=E9 =\r\nau lait",
                "café au lait",
            ),
            (
                "text/plain; charset=windows-1252\r\nContent-Transfer-Encoding: quoted-printable",
                "=80 5",
                "€ 5",
            ),
            ("text/plain; charset=iso-2022-jp", "\u{1b}$B$O$$\u{1b}(B", "はい"),
            ("text/plain; charset=nonsense", "plain", "plain"),
            ("text/plain; charset=iso-8859-1", "said wrongly: नमस्ते", "said wrongly: नमस्ते"),
            ("text/plain\r\nContent-Transfer-Encoding: quoted-printable", "100=% =ZZ =", "100=% =ZZ "),
        ] {
            let raw = format!("Content-Type: {header}\r\n\r\n{body}");
            assert_eq!(list_leaves(raw.as_bytes())[0].text(), text, "{header}");
        }
    }

    #[test]
    fn nobody_makes_a_mail_that_is_too_much() {
        let nested = "Content-Type: message/rfc822\r\n\r\n".repeat(100_000);
        assert_eq!(types(&nested), ["message/rfc822"]);
        let mut deep = String::new();
        for level in 0..5_000 {
            deep += &format!("Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n");
        }
        assert_eq!(list_leaves(deep.as_bytes()).len(), 1);
        let many = format!(
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n{}",
            "--b\r\n\r\nx\r\n".repeat(100_000)
        );
        assert!(list_leaves(many.as_bytes()).len() < MOST_PARTS);
        let same = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n".repeat(500);
        assert!(!list_leaves(same.as_bytes()).is_empty(), "one that lies in itself");
    }

    proptest! {
        #[test]
        fn whatever_is_sent_is_borne(raw in proptest::collection::vec(any::<u8>(), 0..2000)) {
            for leaf in list_leaves(&raw) {
                let _read = (leaf.text(), leaf.bytes());
            }
        }

        #[test]
        fn whatever_looks_like_a_mail_is_borne(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just("Content-Type: multipart/mixed; boundary=b".to_owned()),
                    Just("Content-Type: message/rfc822".to_owned()),
                    Just("Content-Type: text/html; charset=utf-7".to_owned()),
                    Just("Content-Transfer-Encoding: base64".to_owned()),
                    Just("Content-Disposition: attachment; filename*=utf-8''%e0%a4".to_owned()),
                    Just("--b".to_owned()),
                    Just("--b--".to_owned()),
                    Just(String::new()),
                    "[ -~]{0,40}",
                ],
                0..60,
            )
        ) {
            let raw = lines.join("\r\n");
            let leaves = list_leaves(raw.as_bytes());
            prop_assert!(leaves.len() <= MOST_PARTS);
            for leaf in leaves {
                let _read = (leaf.text(), leaf.bytes());
            }
        }
    }
}
