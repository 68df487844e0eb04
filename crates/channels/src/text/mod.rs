//! What is said, as people's apps show it: the Markdown of an answer in the marks of each, and in pieces that each takes.
//!
//! [`split`] first, then [`render`] each piece: pieces are Markdown themselves, and no mark is cut.
//!
//! # Layout
//! - `block`: lines and what they are; `inline`: marks within a line; `marks`: what each app writes for them
//! - `split`: pieces; `sentence`: where a sentence ends

mod block;
mod inline;
mod marks;
mod sentence;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use split::split;

/// How an app writes what is bold, a link, a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TextStyle {
    Whatsapp,
    /// The HTML that Telegram takes with `parse_mode`.
    TelegramHtml,
    /// Slack's own marks.
    Slack,
    /// Markdown, as Teams shows it.
    Teams,
    /// No marks at all, such as for a text message.
    Plain,
}

/// A text as an app shows it. Nothing in it becomes more than a mark of the text's own: no mention, no tag.
pub(crate) fn render(markdown: &str, style: TextStyle) -> String {
    let blocks = block::parse(markdown);
    marks::write(&blocks, style)
}
