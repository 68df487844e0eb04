//! A name as it is said by itself, from what an ending left of it.
//!
//! An ending changes the name it hangs on: it takes the place of the sign that no vowel follows (ரமேஷ் becomes
//! ரமேஷுக்கு), puts a glide after a vowel (சுனிதா, சுனிதாவுக்கு), or bends the last letter (രാജൻ, രാജന്).

use munshi_types::Language;

/// Neither is seen nor said.
const UNSEEN: [char; 2] = ['\u{200C}', '\u{200D}'];

/// One script of the south, where endings change names.
struct Script {
    consonants: std::ops::RangeInclusive<char>,
    signs: std::ops::RangeInclusive<char>,
    /// The sign that no vowel follows.
    bare: char,
    glides: [char; 2],
}

const SCRIPTS: [Script; 4] = [
    Script {
        consonants: '\u{B95}'..='\u{BB9}',
        signs: '\u{BBE}'..='\u{BCC}',
        bare: '\u{BCD}',
        glides: ['வ', 'ய'],
    },
    Script {
        consonants: '\u{C15}'..='\u{C39}',
        signs: '\u{C3E}'..='\u{C4C}',
        bare: '\u{C4D}',
        glides: ['వ', 'య'],
    },
    Script {
        consonants: '\u{C95}'..='\u{CB9}',
        signs: '\u{CBE}'..='\u{CCC}',
        bare: '\u{CCD}',
        glides: ['ವ', 'ಯ'],
    },
    Script {
        consonants: '\u{D15}'..='\u{D39}',
        signs: '\u{D3E}'..='\u{D4C}',
        bare: '\u{D4D}',
        glides: ['വ', 'യ'],
    },
];

/// Malayalam's letters for a consonant that no vowel follows.
const FINALS: [(char, char); 6] = [('ണ', 'ൺ'), ('ന', 'ൻ'), ('ര', 'ർ'), ('റ', 'ർ'), ('ല', 'ൽ'), ('ള', 'ൾ')];

/// The name that an ending was cut from.
pub(crate) fn restore_name(front: &str, ending: &str, language: Option<Language>) -> String {
    let front = front.trim_end_matches(UNSEEN);
    let (Some(last), Some(first)) = (front.chars().last(), ending.chars().next()) else {
        return front.to_owned();
    };
    // After a long a the n is the name's own too: ഇമ്രാന്. Names that end in it have another dative.
    if last == 'ാ' && first == 'ന' {
        return format!("{front}ൻ");
    }
    let Some(script) = SCRIPTS.iter().find(|script| script.consonants.contains(&last)) else {
        return restore_latin_name(front, ending, language);
    };
    // രാജൻ is രാജന് in the dative: the n is the name's own.
    if first == 'ന' {
        return format!("{front}ൻ");
    }
    if !script.signs.contains(&first) {
        return front.to_owned();
    }
    if let Some(name) = front.strip_suffix("த்த") {
        // செல்வம் becomes செல்வத்துக்கு, and வினோத் வினோத்துக்கு.
        let is_open = name.chars().last().is_some_and(|letter| script.signs.contains(&letter));
        return if is_open { format!("{name}த்") } else { format!("{name}ம்") };
    }
    if let Some(name) = without_glide(front, last, script) {
        return name.to_owned();
    }
    let name = front.strip_suffix(last).unwrap_or(front);
    let is_double = name.ends_with(script.bare);
    match FINALS.iter().find(|(plain, _)| *plain == last) {
        Some((_, closed)) if !is_double => format!("{name}{closed}"),
        _ => format!("{front}{}", script.bare),
    }
}

/// What stands before a glide, where that is a name that ends in a vowel.
fn without_glide<'f>(front: &'f str, last: char, script: &Script) -> Option<&'f str> {
    let name = front.strip_suffix(last).filter(|_| script.glides.contains(&last))?;
    let is_open = name.chars().last().is_some_and(|letter| script.signs.contains(&letter));
    let letters = name.chars().filter(|letter| !script.signs.contains(letter)).count();
    (is_open && letters > 1).then_some(name)
}

/// Sunithavukku, Raviyoda: a glide between two vowels. Raghav and Vijay end so themselves.
fn restore_latin_name(front: &str, ending: &str, language: Option<Language>) -> String {
    // In Malayalam who ends in a has -yude and -kku: Imrante and Imranu are Imran's.
    let own_n = ["nte", "nu", "ne"].iter().any(|own| ending.eq_ignore_ascii_case(own));
    if language == Some(Language::Malayalam) && own_n && front.ends_with('a') {
        return format!("{front}n");
    }
    const OWN: [&str; 8] = ["ghav", "bhav", "dhav", "dav", "rav", "shav", "sav", "nav"];
    let low = front.to_ascii_lowercase();
    let is_glide = match low.as_bytes() {
        [.., b'a' | b'u', b'v'] => !OWN.iter().any(|own| low.ends_with(own)),
        [.., b'i' | b'e', b'y'] => true,
        _ => false,
    };
    let opens = ending.starts_with(['a', 'e', 'i', 'o', 'u']) && ending.len() > 2;
    let name = front.get(..front.len() - 1).filter(|name| is_glide && opens && name.len() > 3);
    name.unwrap_or(front).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_are_said() {
        for (front, ending, name) in [
            ("ரமேஷ", "ுக்கு", "ரமேஷ்"),
            ("சுனிதாவ", "ுக்கு", "சுனிதா"),
            ("ரவி", "க்கு", "ரவி"),
            ("செல்வத்த", "ுக்கு", "செல்வம்"),
            ("ராகவ", "ுக்கு", "ராகவ்"),
            ("வினோத்த", "ுக்கு", "வினோத்"),
            ("ബില്ല", "ിന്", "ബില്ല്"),
            ("குமார", "ிடம்", "குமார்"),
            ("రమేష్\u{200C}", "కి", "రమేష్"),
            ("ರವಿಯ", "ಿಂದ", "ರವಿ"),
            ("ರಾಜುವ", "ಿನ", "ರಾಜು"),
            ("രമേശ", "ിന്", "രമേശ്"),
            ("അനില", "ിന്", "അനിൽ"),
            ("കുമാറ", "ിന്", "കുമാർ"),
            ("രാജ", "ന്", "രാജൻ"),
            ("രാജ", "ന്റെ", "രാജൻ"),
            ("ഇമ്രാ", "ന്", "ഇമ്രാൻ"),
            ("ഇമ്രാ", "ന്റെ", "ഇമ്രാൻ"),
            ("Imra", "nte", "Imran"),
            ("Imra", "nu", "Imran"),
            ("Ravi", "nte", "Ravi"),
            ("രാജു", "വിന്", "രാജു"),
            ("রমেশ", "কে", "রমেশ"),
            ("રમેશ", "ને", "રમેશ"),
            ("Sunithav", "ukku", "Sunitha"),
            ("Ramesh", "ukku", "Ramesh"),
            ("Raghav", "ukku", "Raghav"),
            ("Dev", "ukku", "Dev"),
        ] {
            assert_eq!(restore_name(front, ending, Some(Language::Malayalam)), name, "{front} {ending}");
        }
    }
}
