//! The part of a text that is shown of a hit.

use std::ops::Range;

/// In characters.
const BEFORE: usize = 60;
const AFTER: usize = 140;

/// The text around a place in it, in one line; dots where more stands before or after. It begins and ends with whole words
/// where these are not too long.
pub fn cut_excerpt(text: &str, place: &Range<usize>) -> String {
    let (Some(before), Some(rest)) = (text.get(..place.start), text.get(place.start..)) else {
        return String::new();
    };
    let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let end = rest.char_indices().nth(AFTER).map_or(text.len(), |(at, _)| place.start + at);
    let start = match text.get(start..place.start).and_then(|part| part.find(char::is_whitespace)) {
        Some(space) if start > 0 => start + space,
        _ => start,
    };
    let end = match text.get(place.start..end).and_then(|part| part.rfind(char::is_whitespace)) {
        Some(space) if end < text.len() && place.start + space >= place.end => place.start + space,
        _ => end,
    };
    let words: Vec<&str> = text.get(start..end).unwrap_or_default().split_whitespace().collect();
    let (left, right) = (if start > 0 { "… " } else { "" }, if end < text.len() { " …" } else { "" });
    format!("{left}{}{right}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_words_around_the_place() {
        let text = format!("{} the needle\nlies here {}", "hay ".repeat(30), "more hay ".repeat(30));
        let at = text.find("needle").unwrap();
        let excerpt = cut_excerpt(&text, &(at..at + 6));
        assert!(excerpt.starts_with("… hay") && excerpt.ends_with(" …"), "{excerpt}");
        assert!(excerpt.contains("the needle lies here more"), "{excerpt}");
        assert_eq!(cut_excerpt("short  text", &(7..11)), "short text");
    }

    proptest! {
        #[test]
        fn it_holds_the_place_and_is_not_endless(text: String, from: usize, to: usize) {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (from, to) = (ends[from % ends.len()], ends[to % ends.len()]);
            let excerpt = cut_excerpt(&text, &(from.min(to)..from.max(to)));
            prop_assert!(excerpt.chars().count() <= BEFORE + AFTER + 4);
        }
    }
}
