//! Where a sentence ends, in the scripts that people here write.

/// These end one whatever stands behind them.
const ALWAYS: &str = "।॥۔。！？";
/// These end one before a space.
const BEFORE_SPACE: &str = ".!?…؟";
/// These belong to the sentence that they stand behind.
const CLOSING: &str = "\"'”’»)]}*_~`";

/// A full stop behind these ends no sentence.
const SHORTENED: [&str; 17] = [
    "rs", "mr", "mrs", "ms", "dr", "no", "smt", "shri", "sri", "st", "vs", "e.g", "i.e", "eg", "ie",
    "approx", "डॉ",
];

/// Where sentences end in a text: behind the last sign of each.
pub(super) fn list_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        let (always, maybe) = (ALWAYS.contains(c), BEFORE_SPACE.contains(c));
        if !always && !maybe {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((next, c)) =
            letters.next_if(|(_, c)| CLOSING.contains(*c) || BEFORE_SPACE.contains(*c) || ALWAYS.contains(*c))
        {
            end = next + c.len_utf8();
        }
        let is_apart = text[end..].chars().next().is_none_or(char::is_whitespace);
        if always || (is_apart && !(c == '.' && is_shortened(&text[..at], &text[end..]))) {
            ends.push(end);
        }
    }
    ends
}

/// Whether a full stop only shortens a word, or stands behind a list's number.
fn is_shortened(before: &str, after: &str) -> bool {
    let goes_on = after.trim_start().chars().next().is_some_and(char::is_lowercase);
    let line = before.rsplit('\n').next().unwrap_or_default();
    let word = line.rsplit(|c: char| c.is_whitespace() || "([{\"'*_".contains(c)).next().unwrap_or_default();
    let is_number = line.trim() == word && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    goes_on || is_number || is_initial || SHORTENED.contains(&word.to_lowercase().as_str())
}
