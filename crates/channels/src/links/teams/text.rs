//! The words of a message as people wrote them: Teams writes whom somebody mentions in tags, and some letters as HTML has them.

/// Without the mention of us; others are named as people write that. `own` are the tags that mention us.
pub(super) fn read_text(text: &str, own: &[&str]) -> String {
    let without =
        own.iter().filter(|tag| !tag.is_empty()).fold(text.to_owned(), |text, tag| text.replace(tag, " "));
    let mut read = String::with_capacity(without.len());
    let mut rest = without.as_str();
    while let Some((before, behind)) = rest.split_once("<at") {
        read.push_str(before);
        let inner = behind.split_once('>').and_then(|(_, inner)| inner.split_once("</at>"));
        let Some((name, after)) = inner else {
            read.push_str("<at");
            rest = behind;
            continue;
        };
        read.push('@');
        read.push_str(name);
        rest = after;
    }
    read.push_str(rest);
    unescape(&read).trim().to_owned()
}

/// Once: what was written as `&amp;lt;` is `&lt;`.
fn unescape(text: &str) -> String {
    let plain = text.replace("&nbsp;", " ").replace('\u{a0}', " ").replace("&lt;", "<").replace("&gt;", ">");
    plain.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_become_what_people_wrote() {
        let own = ["<at>Munshi</at>"];
        for (told, read) in [
            ("<at>Munshi</at> what is due?", "what is due?"),
            ("<at>Munshi</at>&nbsp;5 &lt; 6 &amp; 7", "5 < 6 & 7"),
            ("ask <at id=\"1\">Ravi</at> too", "ask @Ravi too"),
            ("<at open", "<at open"),
            ("<at", "<at"),
            ("&amp;lt;", "&lt;"),
            ("नमस्ते\n", "नमस्ते"),
            ("", ""),
        ] {
            assert_eq!(read_text(told, &own), read, "{told}");
        }
    }
}
