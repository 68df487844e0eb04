//! Text that carries its tokens: counted once, when it is made, and never again.

use std::sync::Arc;

use munshi_llm::pricing::count_tokens;

use super::fence::{is_sanitized, sanitize};

/// Tokens as they are stored; what a provider counts more is for those who call one.
pub(super) fn count_prompt_tokens(text: &str) -> u32 {
    u32::try_from(count_tokens(text)).unwrap_or(u32::MAX)
}

/// Text of the product or of a tenant, taken as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedText {
    text: Arc<str>,
    tokens: u32,
}

impl CountedText {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { tokens: count_prompt_tokens(&text), text }
    }

    /// A count that can't be is made anew.
    fn from_stored(text: Arc<str>, tokens: u32) -> Self {
        if is_plausible(&text, tokens) { Self { text, tokens } } else { Self::new(text) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub const fn tokens(&self) -> u32 {
        self.tokens
    }
}

/// Something that others wrote: a memory, a passage, a tool's answer, a visitor's own words about themselves. It is one
/// item of a list, every line of it indented, with nothing in it that looks like a fence. See [`fence`](super::fence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedText(CountedText);

impl UntrustedText {
    /// Makes it harmless and counts it.
    pub fn new(raw: &str) -> Self {
        Self(CountedText::new(item(raw)))
    }

    /// As it was stored: what [`Self::as_str`] gave, with its count. Anything else is treated as new.
    pub fn from_stored(text: impl Into<Arc<str>>, tokens: u32) -> Self {
        let text = text.into();
        if is_item(&text) { Self(CountedText::from_stored(text, tokens)) } else { Self::new(&text) }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub const fn tokens(&self) -> u32 {
        self.0.tokens
    }

    pub(super) fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Its beginning, in at most so many tokens, with a word about the rest.
    pub(super) fn truncate_to(&self, most: u32) -> Self {
        let inner = self.as_str().get(MARK.len()..).unwrap_or_default();
        Self(truncate_text(inner, most, |start, rest| item(&format!("{start} {rest}"))))
    }
}

/// What the person or the persona said. It goes to the model as a message, so it needs no fence; but it can't hold one
/// either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UtteranceText(CountedText);

impl UtteranceText {
    pub fn new(raw: &str) -> Self {
        Self(CountedText::new(sanitize(raw)))
    }

    /// As it was stored: what [`Self::as_str`] gave, with its count. Anything else is treated as new.
    pub fn from_stored(text: impl Into<Arc<str>>, tokens: u32) -> Self {
        let text = text.into();
        if is_sanitized(&text) { Self(CountedText::from_stored(text, tokens)) } else { Self::new(&text) }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub const fn tokens(&self) -> u32 {
        self.0.tokens
    }

    pub(super) fn truncate_to(&self, most: u32) -> Self {
        Self(truncate_text(self.as_str(), most, |start, rest| {
            sanitize(&format!("{start} {rest}")).into_owned()
        }))
    }
}

/// A token has at least one byte and never many. Sums of counts that pass can't overflow.
fn is_plausible(text: &str, tokens: u32) -> bool {
    let (bytes, tokens) = (text.len(), tokens as usize);
    tokens <= bytes && bytes <= tokens.saturating_mul(LONGEST_TOKEN)
}

/// In bytes, with room to spare: a run of spaces.
const LONGEST_TOKEN: usize = 256;

const MARK: &str = "- ";
const INDENT: &str = "  ";

/// `- first line`, the others indented, empty ones left out: no line of it begins where a fence would.
fn item(raw: &str) -> String {
    let clean = sanitize(raw);
    let lines = clean.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut out = String::with_capacity(clean.len() + 16);
    for line in lines {
        out.push_str(if out.is_empty() { MARK } else { INDENT });
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn is_item(text: &str) -> bool {
    let Some(body) = text.strip_suffix('\n') else { return text.is_empty() };
    let is_line = |(at, line): (usize, &str)| line.starts_with(if at == 0 { MARK } else { INDENT });
    body.split('\n').enumerate().all(is_line) && is_sanitized(text)
}

/// The longest beginning that fits together with what is said about the rest. Only texts that are too long come here,
/// so it may count.
fn truncate_text(text: &str, most: u32, put: impl Fn(&str, &str) -> String) -> CountedText {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let whole = count_prompt_tokens(text);
    let cut = |end: usize| {
        let start = text.get(..end).unwrap_or_default();
        put(
            start,
            &format!("[… {} of {whole} tokens left out]", whole.saturating_sub(count_prompt_tokens(start))),
        )
    };
    // A token is four bytes of English and rarely less than one of anything: look near there first.
    let (mut low, mut high) = (0, ends.len().min(most as usize * 16));
    while low < high {
        let middle = (low + high).div_ceil(2);
        let end = ends.get(middle).copied().unwrap_or(text.len());
        if count_prompt_tokens(&cut(end)) <= most { low = middle } else { high = middle - 1 }
    }
    CountedText::new(cut(ends.get(low).copied().unwrap_or(text.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_a_list_of_one() {
        assert_eq!(
            UntrustedText::new("owes ₹500\r\n\r\n\nsince May  ").as_str(),
            "- owes ₹500\n  since May\n"
        );
        assert_eq!(UntrustedText::new(" \n").as_str(), "");
        assert_eq!(UntrustedText::new("").tokens(), 0);
    }

    #[test]
    fn what_was_stored_is_taken_with_its_count_and_a_stranger_is_counted() {
        let data = UntrustedText::new("likes blue\nand green");
        assert_eq!(UntrustedText::from_stored(data.as_str(), 17).tokens(), 17);
        assert_eq!(UntrustedText::from_stored("likes blue\nand green", 17), data, "not as it was stored");
        for impossible in [0, 77, u32::MAX] {
            assert_eq!(UntrustedText::from_stored(data.as_str(), impossible), data);
        }
        assert_eq!(UntrustedText::from_stored("- a\n⟦end⟧\n", 1).as_str(), "- - a\n  [end]\n");
        assert_eq!(UtteranceText::from_stored("hello", 4).tokens(), 4);
        assert_eq!(UtteranceText::from_stored("he\u{200b}llo", 4), UtteranceText::new("hello"));
    }

    #[test]
    fn a_shorter_text_says_that_it_is_one() {
        let long = "one two three four five six seven eight nine ten ".repeat(50);
        for most in [20, 40, 100] {
            let short = UtteranceText::new(&long).truncate_to(most);
            assert!(short.tokens() <= most && short.tokens() + 12 > most, "{}", short.tokens());
            assert!(short.as_str().starts_with("one two") && short.as_str().ends_with("left out]"));
            let data = UntrustedText::new(&long).truncate_to(most);
            assert!(data.tokens() <= most && is_item(data.as_str()), "{}", data.as_str());
        }
        let tamil = "வணக்கம் ஐயா ".repeat(40);
        assert!(UtteranceText::new(&tamil).truncate_to(30).tokens() <= 30);
    }
}
