//! HTML that can't be broken out of: markup is a template of the pack, everything else is escaped.

use std::fmt;

use askama::Template;
use askama::filters::Escaper;

/// A piece of a page. Only a template makes one, so nobody's words become markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    pub fn render(template: &impl Template) -> askama::Result<Self> {
        template.render().map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Escapes text so that it may stand between tags and in quoted attributes. A pack names it in its `askama.toml`. What
/// leads to another place, such as `href`, must also be looked at for its scheme.
#[derive(Clone, Copy, Debug)]
pub struct HtmlEscaper;

impl Escaper for HtmlEscaper {
    fn write_escaped_str<W: fmt::Write>(&self, mut out: W, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| match letter {
            '&' => out.write_str("&amp;"),
            '<' => out.write_str("&lt;"),
            '>' => out.write_str("&gt;"),
            '"' => out.write_str("&quot;"),
            '\'' => out.write_str("&#39;"),
            '`' => out.write_str("&#96;"),
            '\0' => out.write_char('\u{fffd}'),
            other => out.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_escaped_can_open_or_close_anything(text: String) {
            let mut safe = String::new();
            HtmlEscaper.write_escaped_str(&mut safe, &text).unwrap();
            prop_assert!(!safe.contains(['<', '>', '"', '\'', '`', '\0']));
            let back = safe.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            let back = back.replace("&#39;", "'").replace("&#96;", "`").replace("&amp;", "&");
            prop_assert_eq!(back, text.replace('\0', "\u{fffd}"));
        }
    }
}
