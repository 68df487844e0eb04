//! A text cut into words, numbers and signs, spelled plainly, each knowing where it stood in the original.

use super::letters::{Glyph, begins_syllable, glyph, leet, push};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// Digits, with the commas and points inside them.
    Number,
    Sign(char),
}

/// What lies between a token and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    None,
    One,
    Wide,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// Where it stands in the original, in bytes.
    pub start: usize,
    pub end: usize,
    /// Its plain spelling.
    pub plain: String,
    pub kind: Kind,
    pub gap: Gap,
}

impl Token {
    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    pub(crate) fn is_number(&self) -> bool {
        self.kind == Kind::Number
    }

    pub(crate) fn is(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    /// Written in Latin letters.
    pub(crate) fn is_latin(&self) -> bool {
        self.plain.bytes().next().is_some_and(|first| first.is_ascii())
    }

    fn syllables(&self) -> usize {
        let mut tied = false;
        let begins = |letter: char| {
            // A consonant after a virama is part of the cluster.
            let own = begins_syllable(letter) && !tied;
            tied = (0x900..=0xD7F).contains(&(letter as u32)) && letter as u32 % 0x80 == 0x4D;
            own
        };
        self.plain.chars().map(begins).filter(|own| *own).count()
    }
}

/// Whether something has been hidden among tokens: three dots together stand for it, and crosses for digits.
pub(crate) fn hidden(tokens: &[Token]) -> bool {
    let glued = |token: &Token| token.gap == Gap::None;
    let crossed = |token: &Token| token.plain.len() >= 4 && token.plain.bytes().all(|byte| byte == b'x');
    tokens.iter().any(crossed)
        || tokens
            .windows(3)
            .any(|marks| marks.iter().all(|mark| mark.is('•')) && marks.iter().skip(1).all(glued))
}

/// Signs that end a clause; what stands on either side is not one phrase.
pub(crate) const fn parts(sign: char) -> bool {
    matches!(
        sign,
        ',' | ';'
            | ':'
            | '.'
            | '!'
            | '?'
            | '।'
            | '\n'
            | '('
            | ')'
            | '—'
            | '–'
            | '…'
            | '，'
            | '。'
            | '|'
            | '['
            | ']'
            | '{'
            | '}'
    )
}

/// Cuts a text into tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(text.len() / 5 + 4);
    let mut gap = Gap::None;
    let mut rest = text.char_indices().peekable();
    while let Some((start, letter)) = rest.next() {
        let end = start + letter.len_utf8();
        match glyph(letter) {
            Glyph::Nothing => {}
            Glyph::Space => gap = if gap == Gap::None { Gap::One } else { Gap::Wide },
            Glyph::Line => {
                found.push(Token { start, end, plain: String::new(), kind: Kind::Sign('\n'), gap });
                gap = Gap::Wide;
            }
            Glyph::Letter(letter) => {
                add(&mut found, Kind::Word, letter, start, end, gap);
                gap = Gap::None;
            }
            Glyph::Digit(letter) => {
                add(&mut found, Kind::Number, letter, start, end, gap);
                gap = Gap::None;
            }
            Glyph::Sign(sign) => {
                let next = rest.peek().map(|(_, next)| glyph(*next));
                if !joins(&mut found, sign, next, end, gap) {
                    found.push(Token { start, end, plain: String::new(), kind: Kind::Sign(sign), gap });
                }
                gap = Gap::None;
            }
        }
    }
    found
}

fn add(found: &mut Vec<Token>, kind: Kind, letter: char, start: usize, end: usize, gap: Gap) {
    match found.last_mut() {
        Some(last) if last.kind == kind && gap == Gap::None => {
            push(&mut last.plain, letter);
            last.end = end;
        }
        _ => found.push(Token { start, end, plain: String::from(letter), kind, gap }),
    }
}

/// Apostrophes inside words, commas and points inside numbers.
fn joins(found: &mut [Token], sign: char, next: Option<Glyph>, end: usize, gap: Gap) -> bool {
    let Some(last) = found.last_mut().filter(|_| gap == Gap::None) else { return false };
    let fits = match (last.kind, sign) {
        (Kind::Word, '\'') => matches!(next, Some(Glyph::Letter(_))),
        (Kind::Number, ',' | '.') => matches!(next, Some(Glyph::Digit(_))),
        _ => false,
    };
    if fits {
        last.plain.push(sign);
        last.end = end;
    }
    fits
}

/// Letters set apart one by one, with spaces, dots or pictures between them: `d i s c o u n t`. Returns runs of
/// tokens, each with the letters it stands for.
pub(crate) fn spelled_out(tokens: &[Token]) -> Vec<Vec<(usize, String)>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let run = run_from(tokens, at);
        at = run.last().map_or(at, |(last, _)| *last) + 1;
        if run.len() >= 3 {
            found.push(run);
        }
    }
    found
}

/// Runs are not followed further than this.
const LONGEST_RUN: usize = 40;

fn run_from(tokens: &[Token], from: usize) -> Vec<(usize, String)> {
    let mut run: Vec<(usize, String)> = Vec::new();
    let mut signs = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        if (token.gap == Gap::Wide && at > from) || run.len() == LONGEST_RUN {
            break;
        }
        match token.kind {
            Kind::Word if token.syllables() == 1 && token.plain.chars().count() <= 5 => {
                run.push((at, token.plain.clone()));
                signs = 0;
            }
            Kind::Number if !run.is_empty() && token.plain.len() == 1 => {
                let Some(letter) = token.plain.chars().next().and_then(leet) else { break };
                run.push((at, letter.into()));
                signs = 0;
            }
            Kind::Sign(sign) if !run.is_empty() && signs < 3 && sign != '\n' => {
                if let Some(letter) =
                    leet(sign).filter(|_| token.gap == Gap::One || sign == '@' || sign == '$')
                {
                    run.push((at, letter.into()));
                }
                signs += 1;
            }
            _ => break,
        }
    }
    run
}

/// Words broken by signs or digits inside them, without a space: `dis-count`, `d1sc0unt`, `c@shback`.
pub(crate) fn disguised(tokens: &[Token]) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let mut to = at + 1;
        while to < tokens.len() && tokens[to].gap == Gap::None && !tokens[to].is('\n') {
            to += 1;
        }
        let run = &tokens[at..to];
        let words = run.iter().filter(|token| token.is_word()).count();
        if words > 0 && run.len() > 1 && run.len() < 24 {
            add_disguised(tokens, at, to, &mut found);
        }
        at = to;
    }
    found
}

fn add_disguised(tokens: &[Token], from: usize, to: usize, found: &mut Vec<(usize, usize, String)>) {
    let mut word = String::new();
    let mut last = from;
    for (at, token) in tokens.iter().enumerate().take(to).skip(from) {
        match token.kind {
            Kind::Word => {
                token.plain.chars().for_each(|letter| push(&mut word, letter));
                last = at + 1;
            }
            Kind::Number => word.extend(token.plain.chars().filter_map(leet)),
            Kind::Sign(sign) => word.extend(leet(sign)),
        }
    }
    // What follows the last letter (a full stop, an exclamation) is no letter.
    let tail: usize = tokens[last..to].iter().map(stands_for).sum();
    word.truncate(word.len().saturating_sub(tail));
    if last > from + 1 {
        found.push((from, last, word));
    }
}

fn stands_for(token: &Token) -> usize {
    match token.kind {
        Kind::Sign(sign) => usize::from(leet(sign).is_some()),
        _ => token.plain.chars().filter(|letter| leet(*letter).is_some()).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text)
            .into_iter()
            .filter(|token| token.kind != Kind::Sign(' '))
            .map(|token| token.plain)
            .collect()
    }

    #[test]
    fn words_numbers_and_signs_keep_their_place() {
        let text = "Don’t pay ₹1,499.50!";
        let found = tokens(text);
        let spans: Vec<&str> = found.iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(spans, ["Don’t", "pay", "₹", "1,499.50", "!"]);
        assert_eq!(words("d\u{200B}iscount छूट"), ["discount", "छूट"]);
    }

    #[test]
    fn letters_set_apart_are_read_as_words() {
        let joined = |text: &str| {
            let runs = spelled_out(&tokens(text));
            runs.into_iter()
                .map(|run| run.into_iter().map(|(_, part)| part).collect::<String>())
                .collect::<Vec<_>>()
        };
        assert_eq!(joined("a d i s c o u n t  for you"), ["adiscount"]);
        assert_eq!(joined("d.i.s.c.o.u.n.t now"), ["discount"]);
        assert_eq!(joined("d🔥i🔥s🔥c🔥o🔥u🔥n🔥t"), ["discount"]);
        assert_eq!(joined("d 1 s c 0 u n t"), ["discount"]);
        assert_eq!(joined("डि स्का उं ट"), ["डिस्काउंट"]);
        assert_eq!(joined("this is plain"), Vec::<String>::new());
    }

    #[test]
    fn words_with_signs_inside_are_joined() {
        let joined =
            |text: &str| disguised(&tokens(text)).into_iter().map(|(_, _, word)| word).collect::<Vec<_>>();
        assert_eq!(joined("dis-count"), ["discount"]);
        assert_eq!(joined("a d1sc0unt!"), ["discount"]);
        assert_eq!(joined("c@shb@ck"), ["cashback"]);
    }
}
