//! The words of an HTML mail, without what was quoted in it.

use mail_parser::decoders::html::add_html_token;

/// What of a mail is read; nobody writes more.
const LONGEST: usize = 2 * 1024 * 1024;
/// An entity has no more letters.
const LONGEST_ENTITY: usize = 32;
const LONGEST_LINK: usize = 500;

/// What is shown of it is none of these.
const UNSEEN: [&str; 6] = ["head", "style", "script", "title", "template", "noscript"];
/// Each begins a line.
const BLOCKS: [&str; 21] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "footer",
    "form",
    "header",
    "hr",
    "main",
    "ol",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
    "li",
];
/// Elements in which mail programs put what is answered, by a word of their class or id.
const QUOTES: [&str; 10] = [
    "gmail_quote",
    "gmail_attr",
    "yahoo_quoted",
    "protonmail_quote",
    "moz-cite-prefix",
    "zmail_extra",
    "tutanota_quote",
    "ms-outlook-mobile-reference-message",
    "mail-editor-reference-message-container",
    "front-blockquote",
];
/// From here on all that follows is what is answered.
const ENDS: [&str; 4] = ["divrplyfwdmsg", "appendonsend", "stopspelling", "x_divrplyfwdmsg"];
/// Elements with the writer's name and title.
const SIGNATURES: [&str; 3] = ["gmail_signature", "moz-signature", "protonmail_signature_block"];

/// Whether what is answered stands in the text, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteHandling {
    LeftOut,
    Kept,
}

struct HtmlTag<'a> {
    name: String,
    /// In small letters, as far as its values go.
    attributes: String,
    /// As it stands there.
    raw: &'a str,
    is_closing: bool,
    is_empty: bool,
}

struct HtmlReader {
    text: String,
    /// The element that is passed over, and how many of its name are open in it.
    passed: Option<(String, usize)>,
    handling: QuoteHandling,
    link: Option<(String, usize)>,
    is_over: bool,
    pre_depth: usize,
}

/// The text of a mail in lines, as a reader sees it.
pub(super) fn read_html(html: &str, handling: QuoteHandling) -> String {
    let mut end = html.len().min(LONGEST);
    while !html.is_char_boundary(end) {
        end -= 1;
    }
    let mut reader =
        HtmlReader { text: String::new(), passed: None, handling, link: None, is_over: false, pre_depth: 0 };
    let mut rest = &html[..end];
    // Behind the last end of a tag there is none, whatever looks like its beginning.
    let unended = rest.rfind('>').map_or(0, |last| rest.len() - last);
    while !rest.is_empty() && !reader.is_over {
        let Some(at) = rest.find('<').filter(|at| rest.len() - at >= unended) else {
            reader.take_text(rest);
            break;
        };
        reader.take_text(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        match read_tag(rest) {
            Some((tag, behind)) => {
                reader.take_tag(&tag);
                rest = behind;
            }
            None => {
                reader.take_text("<");
                rest = &rest[1..];
            }
        }
    }
    tidy(&reader.text)
}

/// A tag at the beginning of a text, and what is behind it; none where there is only a sign.
fn read_tag(text: &str) -> Option<(HtmlTag<'_>, &str)> {
    let inner = text.strip_prefix('<')?;
    let is_tag = inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
    if !is_tag {
        return None;
    }
    let mut quote = None;
    let end = inner.char_indices().find(|(_, c)| {
        match (quote, *c) {
            (None, '"' | '\'') => quote = Some(*c),
            (Some(open), c) if c == open => quote = None,
            (None, '>') => return true,
            _ => {}
        }
        false
    });
    // A quotation that is never closed must not swallow the mail.
    let end = end.map(|(at, _)| at).or_else(|| inner.find('>'))?;
    let (raw, behind) = (&inner[..end], &inner[end + 1..]);
    let is_closing = raw.starts_with('/');
    let bare = raw.trim_start_matches('/');
    let name: String = bare
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == ':')
        .collect::<String>()
        .to_ascii_lowercase();
    let attributes = bare.get(name.len()..).unwrap_or_default().to_ascii_lowercase();
    Some((HtmlTag { name, attributes, raw, is_closing, is_empty: raw.ends_with('/') }, behind))
}

impl HtmlReader {
    fn take_text(&mut self, text: &str) {
        if self.passed.is_some() || text.is_empty() {
            return;
        }
        let decoded = decode_entities(text);
        if self.pre_depth > 0 {
            self.text.push_str(&decoded);
            return;
        }
        for (number, word) in decoded.split([' ', '\t', '\r', '\n']).enumerate() {
            if number > 0 && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
    }

    fn take_tag(&mut self, tag: &HtmlTag<'_>) {
        if let Some((name, depth)) = &mut self.passed {
            if tag.name == *name && !tag.is_empty {
                *depth = if tag.is_closing { depth.saturating_sub(1) } else { *depth + 1 };
                if *depth == 0 {
                    self.passed = None;
                    self.begin_line();
                }
            }
            return;
        }
        if tag.is_closing {
            self.close(tag);
            return;
        }
        if self.is_left_out(tag) {
            return;
        }
        match tag.name.as_str() {
            "br" => self.text.push('\n'),
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.begin_paragraph(),
            "td" | "th" if !self.text.ends_with(['\n', ' ']) => self.text.push(' '),
            "a" => self.link = read_attribute(tag.raw, "href").map(|link| (link, self.text.len())),
            "img" => {}
            name if BLOCKS.contains(&name) => {
                self.begin_line();
                match name {
                    "li" => self.text.push_str("- "),
                    "pre" => self.pre_depth += 1,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Whether an element is none of the words.
    fn is_left_out(&mut self, tag: &HtmlTag<'_>) -> bool {
        let has = |words: &[&str]| words.iter().any(|word| tag.attributes.contains(word));
        let is_quote = has(&QUOTES) || (tag.name == "blockquote" && tag.attributes.contains("cite"));
        let is_over = self.handling == QuoteHandling::LeftOut && has(&ENDS);
        if is_over {
            self.is_over = true;
            return true;
        }
        let passes = UNSEEN.contains(&tag.name.as_str())
            || (self.handling == QuoteHandling::LeftOut && (is_quote || has(&SIGNATURES)))
            || tag.attributes.contains("display:none")
            || tag.attributes.contains("display: none");
        let is_void = matches!(tag.name.as_str(), "br" | "img" | "hr" | "meta" | "input" | "link");
        if passes && !tag.is_empty && !is_void {
            self.passed = Some((tag.name.clone(), 1));
        }
        passes
    }

    fn close(&mut self, tag: &HtmlTag<'_>) {
        match tag.name.as_str() {
            "a" => {
                if let Some((link, start)) = self.link.take() {
                    let said = self.text.get(start..).unwrap_or_default().trim().to_owned();
                    let is_address = link.starts_with("http://") || link.starts_with("https://");
                    let is_new = !said.is_empty() && !said.contains("://") && link.len() <= LONGEST_LINK;
                    if is_address && is_new {
                        self.text.push_str(&format!(" ({link})"));
                    }
                }
            }
            "p" => self.begin_paragraph(),
            "pre" => self.pre_depth = self.pre_depth.saturating_sub(1),
            name if BLOCKS.contains(&name) => self.begin_line(),
            _ => {}
        }
    }

    fn begin_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn begin_paragraph(&mut self) {
        self.begin_line();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

/// The value of an attribute as it was written.
fn read_attribute(raw: &str, name: &str) -> Option<String> {
    let lower = raw.to_ascii_lowercase();
    let start = lower.find(&format!("{name}="))? + name.len() + 1;
    let rest = &raw[start..];
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest.split_ascii_whitespace().next()?,
    };
    Some(decode_entities(value.trim()))
}

fn decode_entities(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        match end.filter(|end| *end > 1 && rest.is_char_boundary(end + 1)) {
            Some(end) if rest[1..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#') => {
                add_html_token(&mut decoded, &rest.as_bytes()[..=end], false);
                rest = &rest[end + 1..];
            }
            _ => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded.replace('\u{a0}', " ")
}

/// Without spaces at the ends of lines, and with at most one empty line in between.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines().map(str::trim) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_read_as_they_are_seen() {
        for (html, text) in [
            ("<p>Hello &amp; good&nbsp;day</p><p>Meera</p>", "Hello & good day\n\nMeera"),
            ("<style>p{}</style><div>One</div><div>Two<br>Three</div>", "One\nTwo\nThree"),
            ("<ul><li>rice</li><li>dal</li></ul>", "- rice\n- dal"),
            ("<a href=\"https://a.example/?x=1&amp;y=2\">here</a>", "here (https://a.example/?x=1&y=2)"),
            ("<a href='https://a.example'>https://a.example</a>", "https://a.example"),
            ("1 < 2 && 3 > 2 &notanentity; &", "1 < 2 && 3 > 2 "),
            ("<!-- no --><b>नमस्ते</b> <i>जी</i>", "नमस्ते जी"),
            ("<div style=\"display:none\">preheader</div>Hi", "Hi"),
            ("<table><tr><td>Dal</td><td>₹90</td></tr></table>", "Dal ₹90"),
            ("&#2344;&#x92e;", "नम"),
        ] {
            let read = read_html(html, QuoteHandling::LeftOut);
            assert!(read.starts_with(text), "{html}: {read:?}");
        }
    }

    #[test]
    fn what_is_answered_is_left_out() {
        for html in [
            "<div>Yes</div><div class=\"gmail_quote\"><div class=\"gmail_attr\">On Monday X wrote:<br></div><blockquote>old <div>old</div></blockquote></div>",
            "Yes<blockquote type=\"cite\">old<blockquote type=\"cite\">older</blockquote>old</blockquote>",
            "<div>Yes</div><div id=\"appendonsend\"></div><hr><div id=\"divRplyFwdMsg\"><b>From:</b> X</div><div>old</div>",
            "<p>Yes</p><div class=\"yahoo_quoted\" id=\"1\"><div>old</div></div>",
            "Yes<div class=\"gmail_signature\">Meera, old</div>",
        ] {
            assert_eq!(read_html(html, QuoteHandling::LeftOut), "Yes", "{html}");
        }
        let html = "<blockquote type=\"cite\">old</blockquote>";
        assert_eq!(read_html(html, QuoteHandling::Kept), "old");
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_borne(html in "[<>/a-z =\"'&;#!é\u{a0}\n-]{0,300}") {
            let read = read_html(&html, QuoteHandling::LeftOut);
            prop_assert!(read.len() <= html.len() * 4 + 16);
        }
    }
}
