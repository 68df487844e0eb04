//! HTML that can't be broken out of: markup is the program's own, everything else is escaped.

use std::fmt;

/// A piece of a page. Markup comes as literals only, so nobody's words become markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    pub fn new() -> Self {
        Self::default()
    }

    /// Markup of the pack itself: `.markup("<li>")`.
    #[must_use]
    pub fn markup(mut self, markup: &'static str) -> Self {
        self.0.push_str(markup);
        self
    }

    /// Text or the value of an attribute in quotes, whoever wrote it.
    #[must_use]
    pub fn text(mut self, text: impl fmt::Display) -> Self {
        escape_to(&text.to_string(), &mut self.0);
        self
    }

    /// Another piece.
    #[must_use]
    pub fn append(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Text as it may stand between tags and in quoted attributes. What leads to another place, such as `href`, must also be
/// looked at for its scheme.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape_to(text, &mut out);
    out
}

fn escape_to(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '`' => out.push_str("&#96;"),
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_stay_words() {
        let page = Html::new()
            .markup("<p title=\"")
            .text("a\" onclick='x'")
            .markup("\">")
            .text("<b>&")
            .markup("</p>");
        assert_eq!(page.as_str(), "<p title=\"a&quot; onclick=&#39;x&#39;\">&lt;b&gt;&amp;</p>");
        assert_eq!(Html::new().append(&page).text(5).as_str(), format!("{}5", page.as_str()));
    }

    proptest! {
        #[test]
        fn nothing_escaped_can_open_or_close_anything(text: String) {
            let safe = escape(&text);
            prop_assert!(!safe.contains(['<', '>', '"', '\'', '`', '\0']));
            let back = safe.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            let back = back.replace("&#39;", "'").replace("&#96;", "`").replace("&amp;", "&");
            prop_assert_eq!(back, text.replace('\0', "\u{fffd}"));
        }
    }
}
