//! One letter for the many that look like it.
//!
//! The lexicon and the replies go through the same function, so what they mean the same is spelled the same.

use munshi_lang::fold::is_indic;
use munshi_lang::token::digit_value;
use unicode_normalization::UnicodeNormalization;

/// What a character is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyph {
    Letter(char),
    Digit(char),
    /// Not seen, or only a mark on the letter before it.
    Nothing,
    Space,
    Line,
    Sign(char),
}

/// Letters of other alphabets that pass for Latin ones, each before the one it passes for.
const LOOKALIKES: &str = "аaвbсcԁdеeёeһhнhіiїiјjкkӏlмmпnоoрpԛqгrѕsтtуyўyѵvԝwхxԍgьb\
    αaβbγyδdεeζzηnιiκkλlμuνvοoρpτtυuχxωwϲcϳj\
    ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz\
    ɑaɡgɩiıiƚlɵoʋuʍwƅbƈcɗdɠgɦhɓbƙkɲnƥpʂsƭt℮e";

/// A character brought to the one it stands for.
pub(crate) fn to_glyph(letter: char) -> Glyph {
    match letter {
        'a'..='z' => Glyph::Letter(letter),
        'A'..='Z' => Glyph::Letter(letter.to_ascii_lowercase()),
        '0'..='9' => Glyph::Digit(letter),
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Glyph::Line,
        '\'' | '’' | 'ʼ' | '＇' | '‘' => Glyph::Sign('\''),
        _ if letter.is_ascii_whitespace() => Glyph::Space,
        _ if letter.is_ascii() => Glyph::Sign(letter),
        '\u{900}'..='\u{D7F}' => to_indic_glyph(letter),
        _ => to_other_glyph(letter),
    }
}

fn to_indic_glyph(letter: char) -> Glyph {
    let place = letter as u32 % 0x80;
    if let 0x66..=0x6F = place
        && let Some(value) = digit_value(letter)
    {
        return Glyph::Digit(char::from(b'0' + value));
    }
    match letter {
        '।' | '॥' => Glyph::Sign('।'),
        '৳' | '૱' | '௹' => Glyph::Sign('₹'),
        // The dot below is typed or not; the nasal sign has two shapes.
        '\u{93C}' | '\u{9BC}' | '\u{A3C}' | '\u{ABC}' | '\u{B3C}' => Glyph::Nothing,
        'ँ' => Glyph::Letter('ं'),
        'ઁ' => Glyph::Letter('ં'),
        'ੰ' => Glyph::Letter('ਂ'),
        // Letters made with that dot are the letter without it.
        '\u{929}'
        | '\u{931}'
        | '\u{934}'
        | '\u{958}'..='\u{95F}'
        | '\u{9DC}'..='\u{9DF}'
        | '\u{A33}'
        | '\u{A36}'
        | '\u{A59}'..='\u{A5E}'
        | '\u{B5C}'
        | '\u{B5D}' => Glyph::Letter(letter.nfd().next().unwrap_or(letter)),
        _ => Glyph::Letter(letter),
    }
}

fn to_other_glyph(letter: char) -> Glyph {
    if is_unseen(letter) {
        return Glyph::Nothing;
    }
    if letter.is_whitespace() {
        return Glyph::Space;
    }
    if let Some(value) = digit_value(letter) {
        return Glyph::Digit(char::from(b'0' + value));
    }
    let code = letter as u32;
    match code {
        // Letters in squares and circles, and the ones flags are made of.
        0x1F130..=0x1F149 | 0x1F150..=0x1F169 | 0x1F170..=0x1F189 => {
            return to_boxed_glyph((code - 0x1F130) % 0x20);
        }
        0x1F1E6..=0x1F1FF => return to_boxed_glyph(code - 0x1F1E6),
        _ => {}
    }
    if !letter.is_alphanumeric() {
        return Glyph::Sign(letter);
    }
    let low = letter.to_lowercase().next().unwrap_or(letter);
    if let Some(plain) = lookalike(low) {
        return Glyph::Letter(plain);
    }
    // Marks fall away with the rest of what a letter decomposes to.
    match low.nfkd().next() {
        Some(first) if first.is_ascii_digit() => Glyph::Digit(first),
        Some(first) if first.is_alphabetic() => {
            let first = first.to_lowercase().next().unwrap_or(first);
            Glyph::Letter(lookalike(first).unwrap_or(first))
        }
        _ => Glyph::Letter(low),
    }
}

fn to_boxed_glyph(place: u32) -> Glyph {
    char::from_u32('a' as u32 + place).filter(char::is_ascii_lowercase).map_or(Glyph::Nothing, Glyph::Letter)
}

fn lookalike(letter: char) -> Option<char> {
    let mut pairs = LOOKALIKES.chars();
    while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
        if from == letter {
            return Some(to);
        }
    }
    None
}

/// Characters that are not seen, or only mark the letter before them.
pub(crate) fn is_unseen(letter: char) -> bool {
    !letter.is_ascii()
        && matches!(
            letter,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180E}'
                | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}'
                | '\u{20D0}'..='\u{20F0}' | '\u{E0000}'..='\u{E01EF}'
        )
}

/// The letter a digit or sign stands for between letters: d1sc0unt, c@sh.
pub(crate) const fn decode_leet(letter: char) -> Option<char> {
    match letter {
        '0' => Some('o'),
        '1' | '!' | '|' => Some('i'),
        '3' | '€' => Some('e'),
        '4' | '@' => Some('a'),
        '5' | '$' => Some('s'),
        '7' => Some('t'),
        '8' => Some('b'),
        _ => None,
    }
}

/// Adds a letter to the word that begins at `from`, joining what Unicode lets be written in two ways.
pub(crate) fn push_letter(letters: &mut String, from: usize, letter: char) {
    match letter {
        'ா' | 'া' | 'ৗ' | 'ା' | 'ാ' => {
            if let Some(joined) = compose_vowel_sign(letters.get(from..).unwrap_or_default(), letter) {
                letters.pop();
                letters.push(joined);
                return;
            }
        }
        'क'..='ह' => fold_nasal(letters, from, letter),
        _ => {}
    }
    letters.push(letter);
}

/// The one sign that two in a row stand for.
fn compose_vowel_sign(word: &str, letter: char) -> Option<char> {
    Some(match (word.chars().next_back()?, letter) {
        ('ெ', 'ா') => 'ொ',
        ('ே', 'ா') => 'ோ',
        ('ে', 'া') => 'ো',
        ('ে', 'ৗ') => 'ৌ',
        ('େ', 'ା') => 'ୋ',
        ('െ', 'ാ') => 'ൊ',
        ('േ', 'ാ') => 'ോ',
        _ => return None,
    })
}

/// हिन्दी and हिंदी: a nasal tied to the consonant after it is the nasal sign.
fn fold_nasal(letters: &mut String, from: usize, letter: char) {
    const TIED: [(&str, &str); 3] = [("न्", "तथदधसशकगचजटडपब"), ("म्", "पफबभ"), ("ण्", "टठडढ")];
    if !letters.ends_with('्') {
        return;
    }
    for (tied, before) in TIED {
        let whole = letters.len() >= from + tied.len() && letters.ends_with(tied);
        if whole && before.contains(letter) {
            letters.truncate(letters.len() - tied.len());
            letters.push('ं');
        }
    }
}

/// A word of the lexicon, spelled as the reader spells a reply.
pub(crate) fn normalise_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        match to_glyph(letter) {
            Glyph::Letter(letter) | Glyph::Digit(letter) => push_letter(&mut out, 0, letter),
            Glyph::Sign('\'') => out.push('\''),
            _ => {}
        }
    }
    out
}

/// Whether it is a letter or a digit. The Indic blocks hold little else, and asking the tables of Unicode is slow.
pub(crate) fn is_letter_or_digit(letter: char) -> bool {
    is_indic(letter) || letter.is_alphanumeric()
}

/// Whether a letter begins a written syllable: signs of vowels and the like belong to the one before.
pub(crate) fn begins_syllable(letter: char) -> bool {
    let code = letter as u32;
    if !(0x900..=0xD7F).contains(&code) {
        return true;
    }
    let place = code % 0x80;
    !(place <= 3 || (0x3C..=0x4D).contains(&place) || (0x55..=0x57).contains(&place) || place == 0x70)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguised_letters_are_the_letters_they_show() {
        for (disguised, shown) in [
            ("ｄｉｓｃｏｕｎｔ", "discount"),
            ("dіѕсоunt", "discount"),
            ("𝐝𝐢𝐬𝐜𝐨𝐮𝐧𝐭", "discount"),
            ("🅳🅸🆂🅲🅾🆄🅽🆃", "discount"),
            ("ⓓⓘⓢⓒⓞⓤⓝⓣ", "discount"),
            ("ᴅɪꜱᴄᴏᴜɴᴛ", "discount"),
            ("d\u{200B}is\u{AD}count", "discount"),
            ("d̷i̷s̷c̷o̷u̷n̷t̷", "discount"),
            ("हिन्दी", "हिंदी"),
            ("छूट\u{200D}", "छूट"),
            ("ज़्यादा", "ज्यादा"),
        ] {
            assert_eq!(normalise_word(disguised), normalise_word(shown), "{disguised}");
        }
    }
}
