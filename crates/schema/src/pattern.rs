//! Patterns are ECMAScript's by the specification; the engine is linear and has a syntax of its own. What both mean
//! alike goes through, what differs is written out, and what the engine can't do is refused by it.

use regex::{Regex, RegexBuilder};

/// A pattern may grow to so much in memory.
const LARGEST: usize = 1 << 18;
const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str =
    r"\t\n\x0B\f\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = translate(pattern)?;
    RegexBuilder::new(&translated)
        .size_limit(LARGEST)
        .build()
        .map_err(|_| "its pattern can't be matched in linear time".to_owned())
}

fn translate(pattern: &str) -> Result<String, String> {
    let mut translated = String::with_capacity(pattern.len() + 16);
    let mut letters = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let Some(next) = letters.next() else {
                    return Err("its pattern ends in a backslash".to_owned());
                };
                if next.is_ascii_alphabetic() && !"bBdDwWsSnrtfvxupP".contains(next) {
                    return Err(format!("its pattern has \\{next}, which means nothing"));
                }
                escape(next, in_class, &mut translated);
            }
            '(' if !in_class && letters.peek() == Some(&'?') => {
                translated.push('(');
                let mut ahead = letters.clone().skip(1);
                let (first, second) = (ahead.next(), ahead.next());
                let is_group = first == Some(':')
                    || (first == Some('<') && second.is_some_and(|letter| letter.is_ascii_alphabetic()));
                if !is_group {
                    return Err(
                        "its pattern looks ahead or back, which takes more than linear time".to_owned()
                    );
                }
            }
            '[' if !in_class => {
                in_class = true;
                translated.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    translated.push('^');
                }
                if letters.peek() == Some(&']') {
                    return Err("its pattern has an empty list of letters".to_owned());
                }
            }
            ']' if in_class => {
                in_class = false;
                translated.push(']');
            }
            // Letters of a list that mean more to the engine than to ECMAScript.
            '[' | '&' | '~' if in_class => translated.extend(['\\', letter]),
            '-' if in_class && letters.peek() == Some(&'-') => {
                return Err("its pattern has a range that begins with a hyphen".to_owned());
            }
            '.' if !in_class => translated.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            ']' | '}' if !in_class => translated.push(letter),
            _ => translated.push(letter),
        }
    }
    if in_class { Err("its pattern has a list that is not closed".to_owned()) } else { Ok(translated) }
}

fn escape(letter: char, in_class: bool, into: &mut String) {
    let set = match letter {
        'd' | 'D' => Some(DIGIT),
        'w' | 'W' => Some(WORD),
        's' | 'S' => Some(SPACE),
        _ => None,
    };
    match (set, letter) {
        (Some(set), 'd' | 'w' | 's') if in_class => into.push_str(set),
        (Some(set), 'd' | 'w' | 's') => into.push_str(&format!("[{set}]")),
        (Some(set), _) => into.push_str(&format!("[^{set}]")),
        (None, 'b' | 'B') if !in_class => into.push_str(&format!(r"(?-u:\{letter})")),
        // A slash needs its escape in JavaScript's literals alone.
        (None, '/') => into.push('/'),
        (None, 'v') => into.push_str(r"\x0B"),
        (None, '-') => into.push_str(r"\-"),
        (None, letter) => into.extend(['\\', letter]),
    }
}
