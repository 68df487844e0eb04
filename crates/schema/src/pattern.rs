//! Patterns are ECMAScript's by the specification; the engine is linear and has a syntax of its own. What both mean
//! alike goes through, what differs is written out, and what the engine can't do is refused by it.

use regex::{Regex, RegexBuilder};

/// A pattern may grow to so much in memory. Matching may visit all of it for each letter, so a larger one costs more.
const SIZES: [(usize, usize); 3] = [(1 << 12, 1), (1 << 14, 4), (1 << 16, 16)];
const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str =
    r"\t\n\x0B\f\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

/// A pattern made ready, with what matching it costs.
#[derive(Debug)]
pub(crate) struct SchemaPattern {
    regex: Regex,
    weight: usize,
}

impl SchemaPattern {
    pub(crate) fn compile(pattern: &str) -> Result<Self, String> {
        let translated = translate(pattern)?;
        let sized = |(size, weight)| {
            let built = RegexBuilder::new(&translated).size_limit(size).dfa_size_limit(size * 4).build();
            built.ok().map(|regex| Self { regex, weight })
        };
        let smallest = SIZES.into_iter().find_map(sized);
        smallest.ok_or_else(|| "its pattern can't be matched in linear time".to_owned())
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// In steps of the checker.
    pub(crate) fn cost(&self, text: &str) -> usize {
        1 + text.len() * self.weight / 64
    }
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
                    return Err(format!("its pattern has the unknown escape \\{next}"));
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
                    return Err("its pattern uses lookaround, which takes more than linear time".to_owned());
                }
            }
            '[' if !in_class => {
                in_class = true;
                translated.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    translated.push('^');
                }
                if letters.peek() == Some(&']') {
                    return Err("its pattern has an empty character class".to_owned());
                }
            }
            ']' if in_class => {
                in_class = false;
                translated.push(']');
            }
            // Letters of a list that mean more to the engine than to ECMAScript.
            '[' | '&' | '~' if in_class => translated.extend(['\\', letter]),
            '-' if in_class && letters.peek() == Some(&'-') => {
                return Err("its pattern has a range that starts with a hyphen".to_owned());
            }
            '.' if !in_class => translated.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            ']' | '}' if !in_class => translated.push(letter),
            _ => translated.push(letter),
        }
    }
    if in_class { Err("its pattern has an unclosed character class".to_owned()) } else { Ok(translated) }
}

fn escape(letter: char, in_class: bool, into: &mut String) {
    let set = match letter {
        'd' | 'D' => Some(DIGIT),
        'w' | 'W' => Some(WORD),
        's' | 'S' => Some(SPACE),
        _ => None,
    };
    match (set, letter) {
        // A list in a list, so that no hyphen beside it makes a range of it.
        (Some(set), 'd' | 'w' | 's') => into.push_str(&format!("[{set}]")),
        (Some(set), _) => into.push_str(&format!("[^{set}]")),
        (None, 'b' | 'B') if !in_class => into.push_str(&format!(r"(?-u:\{letter})")),
        // A slash needs its escape in JavaScript's literals alone.
        (None, '/' | '<' | '>') => into.push(letter),
        (None, 'v') => into.push_str(r"\x0B"),
        (None, '-') => into.push_str(r"\-"),
        (None, letter) => into.extend(['\\', letter]),
    }
}
