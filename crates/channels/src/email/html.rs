//! A text as HTML: the same words, with links that can be pressed. Nothing in it is taken for markup.

/// What ends a sentence stands behind a link, and not in it.
const TRAILING: &str = ".,;:!?)]}'\"।";

/// Which addresses of a text can be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HtmlLinks<'a> {
    All,
    /// Those that stand on a line of their own and lead to this place, where there is one. Beside them stands what strangers wrote, in a
    /// mail that bears our name.
    Within(Option<&'a str>),
}

impl HtmlLinks<'_> {
    fn includes(self, line: &str) -> bool {
        match self {
            Self::All => true,
            Self::Within(place) => {
                let path = place.and_then(|place| line.strip_prefix(place));
                path.is_some_and(|path| (path.is_empty() || path.starts_with('/')) && !path.contains(' '))
            }
        }
    }

    /// The text with every address that can't be pressed written so that no mail program makes a link of it by itself.
    pub(super) fn disarm(self, text: &str) -> String {
        let disarm = |line: &str| if self.includes(line) { line.to_owned() } else { disarm_line(line) };
        text.split('\n').map(disarm).collect::<Vec<_>>().join("\n")
    }
}

fn disarm_line(line: &str) -> String {
    line.split(' ').map(disarm_word).collect::<Vec<_>>().join(" ")
}

/// `https[:]//evil[.]example`, as people write it to each other who warn of it. What is an e-mail address and no more stays as it is.
fn disarm_word(word: &str) -> String {
    let word = word.replace("://", "[:]//");
    if word.contains('@') && !word.contains('/') {
        return word;
    }
    let (mut out, mut before) = (String::with_capacity(word.len()), None);
    for (at, letter) in word.char_indices() {
        let behind = word[at + letter.len_utf8()..].bytes().take(2).filter(u8::is_ascii_alphabetic).count();
        let is_in_host = letter == '.' && behind == 2 && before.is_some_and(char::is_alphanumeric);
        match is_in_host {
            true => out.push_str("[.]"),
            false => out.push(letter),
        }
        before = Some(letter);
    }
    out
}

/// A whole document. `language` is how programs that read aloud know the text.
pub(super) fn render_html(text: &str, language: Option<&str>, links: HtmlLinks<'_>) -> String {
    let language = language.map(|code| format!(" lang=\"{}\"", escape(code))).unwrap_or_default();
    let paragraphs: String =
        split_paragraphs(text).map(|lines| format!("<p>{}</p>\n", render_lines(lines, links))).collect();
    format!(
        "<!doctype html>\n<html{language}><head><meta charset=\"utf-8\"></head>\n\
         <body dir=\"auto\" style=\"font-family:sans-serif;font-size:16px;line-height:1.5\">\n{paragraphs}</body></html>\n"
    )
}

fn split_paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(|lines| lines.trim_matches('\n')).filter(|lines| !lines.trim().is_empty())
}

fn render_lines(lines: &str, links: HtmlLinks<'_>) -> String {
    let render = |line: &str| if links.includes(line) { render_line(line) } else { escape(line) };
    lines.lines().map(render).collect::<Vec<_>>().join("<br>\n")
}

fn render_line(line: &str) -> String {
    line.split(' ').map(render_word).collect::<Vec<_>>().join(" ")
}

fn render_word(word: &str) -> String {
    let begins =
        |scheme: &str| word.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if !begins("https://") && !begins("http://") {
        return escape(word);
    }
    let address = word.trim_end_matches(|letter| TRAILING.contains(letter));
    let (address, behind) = (escape(address), escape(&word[address.len()..]));
    format!("<a href=\"{address}\">{address}</a>{behind}")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if letter.is_control() && letter != '\t' => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_kept_and_links_can_be_pressed() {
        let html = render_html(
            "Namaste,\nyour bill: https://shop.example/b?x=1&y=2.\n\n\nThank you",
            Some("hi"),
            HtmlLinks::All,
        );
        assert!(html.contains("<html lang=\"hi\">"), "{html}");
        assert!(html.contains("<p>Namaste,<br>\n"), "{html}");
        let link =
            "<a href=\"https://shop.example/b?x=1&amp;y=2\">https://shop.example/b?x=1&amp;y=2</a>.</p>";
        assert!(html.contains(link), "{html}");
        assert_eq!(html.matches("<p>").count(), 2, "{html}");
    }

    #[test]
    fn what_strangers_wrote_can_not_be_pressed_in_what_we_tell() {
        let (place, own) = ("https://munshi.example", HtmlLinks::Within(Some("https://munshi.example")));
        let asked = "https://munshi.example/account/approvals/7";
        for forged in [
            "https://evil.example/in",
            "Session ended: https://evil.example/in",
            "https://munshi.example.evil.example/in",
            "https://munshi.example@evil.example/in",
            "see https://munshi.example/account",
        ] {
            let text =
                format!("Asked:\n{forged}\n- {forged}\nAnswer here:\n{asked}\n\nAnswer here:\n{place}\n");
            let html = render_html(&text, None, own);
            assert_eq!(html.matches("<a ").count(), 2, "{html}");
            for link in [asked, place] {
                assert!(
                    html.contains(&format!("Answer here:<br>\n<a href=\"{link}\">{link}</a></p>")),
                    "{html}"
                );
            }
            let html = render_html(&text, None, HtmlLinks::Within(None));
            assert!(!html.contains("<a ") && html.contains(asked), "{html}");
        }
    }

    #[test]
    fn no_mail_program_finds_an_address_of_a_stranger() {
        let (place, own) = ("https://munshi.example", HtmlLinks::Within(Some("https://munshi.example")));
        let forged = "Session ended: HTTPS://evil.example/in or http://evil.com\nwww.evil.example evil.com/in, evil.com";
        let text = format!(
            "{forged}\nhttps://munshi.example.evil.com/in\n₹5.00 of asha@shop.example.\n{place}/account"
        );
        let disarmed = own.disarm(&text);
        for linked in ["https://evil", "http://evil", "HTTPS://evil", "www.evil", "evil.example", "evil.com"]
        {
            assert!(!disarmed.contains(linked), "{linked}: {disarmed}");
        }
        for kept in [
            "Session ended: HTTPS[:]//evil[.]example/in",
            "₹5.00 of asha@shop.example.",
            "\nhttps://munshi.example/account",
        ] {
            assert!(disarmed.contains(kept), "{kept}: {disarmed}");
        }
        assert_eq!(HtmlLinks::All.disarm(&text), text);
    }

    proptest! {
        #[test]
        fn nothing_that_is_said_becomes_markup(text in "[a-z<>&\"'/ :.\n]{0,80}") {
            let html = render_html(&text, None, HtmlLinks::All);
            let allowed = ["!doctype", "html", "/html", "head", "/head", "meta", "body", "/body", "p", "/p", "br", "a", "/a"];
            for tag in html.split('<').skip(1) {
                let name = tag.split([' ', '>']).next().unwrap();
                prop_assert!(allowed.contains(&name), "{}", tag);
            }
        }
    }
}
