//! Compiles `lexicon/` into sorted tables, with the fold the crate itself uses. A line that cannot be read
//! fails the build and names itself.

#![allow(clippy::print_stdout, reason = "cargo reads a build script's standard output")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

#[path = "src/fold/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "the crate uses the rest")]
mod fold;
#[path = "src/lexicon/slots.rs"]
mod slots;
#[path = "../types/src/word_list.rs"]
#[allow(dead_code, unused_macros, unreachable_pub, reason = "the crates use the rest")]
mod word_list;

type Table = BTreeMap<String, BTreeMap<String, u16>>;
type Fallible<T> = Result<T, Box<dyn Error>>;

/// The order of `Language::ALL`.
const CODES: [&str; 11] = ["en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"];
const INDO_ARYAN: [&str; 7] = ["en", "hi", "bn", "gu", "mr", "or", "pa"];
const DRAVIDIAN: [&str; 4] = ["ta", "te", "kn", "ml"];

fn main() -> Fallible<()> {
    println!("cargo::rerun-if-changed=lexicon");
    println!("cargo::rerun-if-changed=src/fold");
    println!("cargo::rerun-if-changed=src/lexicon");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../types/src/word_list.rs");
    let mut words = Table::new();
    let mut skeletons = Table::new();
    let mut spellings = Vec::new();
    for code in INDO_ARYAN {
        numbers(code, &mut words, &mut skeletons, &mut spellings)?;
    }
    for file in ["money", "units", "dates"] {
        senses(file, &mut words)?;
    }
    for code in CODES {
        load_everyday_words(code, &mut words)?;
    }
    let mut out = String::new();
    write_table(&mut out, "WORDS", &words)?;
    write_table(&mut out, "SKELETONS", &skeletons)?;
    write_spellings(&mut out, &spellings)?;
    write_fractions(&mut out, &words)?;
    write_english(&mut out, &spellings)?;
    write_devanagari(&mut out, &spellings)?;
    write_loans(&mut out)?;
    write_shapes(&mut out, &spellings)?;
    check_collisions(&words)?;
    write_clashes(&mut out)?;
    for code in DRAVIDIAN {
        write_morphemes(code, &mut out)?;
    }
    #[allow(clippy::disallowed_methods, reason = "cargo hands a build script its settings this way")]
    let target = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&target).join("lexicon.rs"), out)?;
    Ok(())
}

fn lines(name: &str) -> Fallible<Vec<String>> {
    let text = fs::read_to_string(format!("lexicon/{name}.txt"))?;
    Ok(word_list::read_lines(&text).map(|line| line.text.to_owned()).collect())
}

fn mask(codes: &str) -> Fallible<u16> {
    if codes == "*" {
        return Ok(0x7FF);
    }
    codes.split(',').try_fold(0, |mask, code| {
        let at = CODES.iter().position(|known| *known == code).ok_or(format!("unknown language {code}"))?;
        Ok(mask | 1 << at)
    })
}

/// The keys people may type for a word: as written, as spoken, and with the dotted letters plain.
fn keys(word: &str, code: &str) -> Fallible<BTreeSet<String>> {
    let known = |l: char| l.is_ascii_alphabetic() || fold::is_indic(l) || "'’:-\u{200C}\u{200D}".contains(l);
    if let Some(stray) = word.chars().find(|l| !known(*l)) {
        return Err(format!("`{word}` has a letter of no known script: {stray:?}").into());
    }
    let undotted: String = word
        .chars()
        .filter(|l| !matches!(l, '\u{93C}' | '\u{9BC}' | '\u{A3C}' | '\u{ABC}' | '\u{B3C}'))
        .map(|l| match l {
            '\u{95C}' => 'ड',
            '\u{95D}' => 'ढ',
            '\u{9DC}' => 'ড',
            '\u{9DD}' => 'ঢ',
            '\u{A5C}' => 'ਡ',
            '\u{B5C}' => 'ଡ',
            '\u{B5D}' => 'ଢ',
            other => other,
        })
        .collect();
    let mut keys = BTreeSet::new();
    for form in [word, undotted.as_str()] {
        keys.insert(fold::key(form));
        keys.insert(fold::spoken_key(form));
    }
    let more: Vec<String> = keys.iter().flat_map(|key| endings(key, code)).collect();
    keys.extend(more);
    keys.retain(|key| !key.is_empty());
    Ok(keys)
}

/// Endings a language writes now and leaves out then.
fn endings(key: &str, code: &str) -> Vec<String> {
    let mut more = Vec::new();
    // Odia says the last vowel where many leave it out, and its twenties to forties end in sh or shi alike.
    if code == "or" {
        more.extend(key.strip_suffix('a').filter(|bare| bare.len() > 2).map(str::to_owned));
        let stem = key.trim_end_matches(['a', 'i']);
        if stem.len() > 4 && (stem.ends_with("sh") || stem.ends_with('s')) {
            more.extend([stem.to_owned(), format!("{stem}a"), format!("{stem}i")]);
        }
    }
    // Marathi doubles the last consonant of its fifties and sixties, and Latin letters show it with an a.
    let doubled = ["van", "pan", "sht", "shth"].iter().any(|end| key.ends_with(end));
    if code == "mr" && key.len() > 4 && doubled {
        more.push(format!("{key}a"));
    }
    more
}

fn add(table: &mut Table, key: String, meaning: &str, mask: u16) {
    *table.entry(key).or_default().entry(meaning.to_owned()).or_default() |= mask;
}

fn hundredths(text: &str) -> Fallible<u32> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let scale = if rest.len() == 1 { 10 } else { 1 };
    Ok(whole.parse::<u32>()? * 100 + rest.parse::<u32>()? * scale)
}

/// A number word as it stands in a file: spelling, language, meaning, keys.
struct Spelling {
    text: String,
    mask: u16,
    meaning: String,
    keys: BTreeSet<String>,
}

/// Spellings whose key has two meanings in one language are told apart as written: চব্বিশ, ছাব্বিশ.
fn write_spellings(out: &mut String, spellings: &[Spelling]) -> Fallible<()> {
    let mut meanings: BTreeMap<(&str, u16), BTreeSet<&str>> = BTreeMap::new();
    for spelling in spellings {
        for key in &spelling.keys {
            meanings.entry((key, spelling.mask)).or_default().insert(&spelling.meaning);
        }
    }
    let mut table = Table::new();
    for spelling in spellings {
        let doubtful =
            |key: &String| meanings.get(&(key.as_str(), spelling.mask)).is_some_and(|all| all.len() > 1);
        if spelling.keys.iter().any(doubtful) {
            add(&mut table, fold::normalize_spelling(&spelling.text), &spelling.meaning, spelling.mask);
        }
    }
    write_table(out, "SPELLINGS", &table)
}

/// English number words by their spelling.
fn write_english(out: &mut String, spellings: &[Spelling]) -> Fallible<()> {
    let mut table = Table::new();
    for word in spellings.iter().filter(|word| word.mask == 1) {
        add(&mut table, word.text.to_lowercase(), &word.meaning, word.mask);
    }
    write_table(out, "ENGLISH_NUMBERS", &table)
}

/// Number words in the script that two languages share, by their spelling: the fold of छह is that of चा.
fn write_devanagari(out: &mut String, spellings: &[Spelling]) -> Fallible<()> {
    let mut table = Table::new();
    for word in
        spellings.iter().filter(|word| word.text.chars().any(|l| ('\u{900}'..='\u{97F}').contains(&l)))
    {
        add(&mut table, fold::normalize_spelling(&word.text), &word.meaning, word.mask);
    }
    write_table(out, "DEVANAGARI_NUMBERS", &table)
}

/// English number words in the other scripts, by their spelling.
fn write_loans(out: &mut String) -> Fallible<()> {
    let mut table = Table::new();
    for line in lines("numbers/loans")? {
        let (value, all) = line.split_once(' ').ok_or(format!("no words: {line}"))?;
        let meaning = number_meaning(value)?;
        for word in all.split(' ') {
            keys(word, "").map_err(|error| format!("loans: {line}: {error}"))?;
            add(&mut table, fold::normalize_spelling(word), &meaning, 1);
        }
    }
    write_table(out, "LOANS", &table)
}

/// Words that are more than numbers, each with the languages in which it is one even before a scale.
fn write_clashes(out: &mut String) -> Fallible<()> {
    let mut table = Table::new();
    for line in lines("clashes")? {
        let (codes, words) = match line.strip_prefix("! ").and_then(|rest| rest.split_once(' ')) {
            Some((codes, words)) => (mask(codes)?, words),
            None => (0, line.as_str()),
        };
        for word in words.split(' ') {
            add(&mut table, word.to_lowercase(), "Word", codes);
        }
    }
    write_table(out, "CLASHES", &table)
}

/// The threes of letters that the number words of each native script are made of.
fn write_shapes(out: &mut String, spellings: &[Spelling]) -> Fallible<()> {
    let mut table = Table::new();
    let native = |word: &str| word.chars().any(fold::is_indic);
    for word in spellings.iter().filter(|word| native(&word.text)) {
        for three in fold::trigrams(&word.text) {
            add(&mut table, three, "Word", word.mask);
        }
    }
    for code in CODES.iter().filter(|code| **code != "en") {
        for line in lines(&format!("spellings/{code}"))? {
            for word in line.split(' ') {
                keys(word, "").map_err(|error| format!("spellings {code}: {error}"))?;
                for three in fold::trigrams(word) {
                    add(&mut table, three, "Word", mask(code)?);
                }
            }
        }
    }
    write_table(out, "SHAPES", &table)
}

/// Two numbers under one key in one language, or a number and a day, are told apart by reading only because
/// somebody knew of them. So every such key stands in `collisions.txt`, and none that is no longer one.
fn check_collisions(words: &Table) -> Fallible<()> {
    let mut found = BTreeSet::new();
    for (key, senses) in words {
        for (place, code) in CODES.iter().enumerate() {
            let here = senses.iter().filter(|(_, mask)| **mask & (1 << place) != 0);
            let mut said: Vec<&str> =
                here.map(|(meaning, _)| meaning.as_str()).filter(|m| counts_or_dates(m)).collect();
            said.sort_unstable();
            if said.len() > 1 && said.iter().any(|meaning| is_number(meaning)) {
                found.insert(format!("{code} {key} {}", said.join(" ")));
            }
        }
    }
    let listed: BTreeSet<String> = lines("collisions")?.into_iter().collect();
    let strangers: Vec<&String> = found.symmetric_difference(&listed).collect();
    match strangers.as_slice() {
        [] => Ok(()),
        all => {
            let all: Vec<&str> = all.iter().map(|line| line.as_str()).collect();
            Err(format!("lexicon/collisions.txt and the words disagree on:\n{}", all.join("\n")).into())
        }
    }
}

fn is_number(meaning: &str) -> bool {
    ["Cardinal", "Scale", "Plus", "Minus", "Part"].iter().any(|kind| meaning.starts_with(kind))
}

/// What a number must not be taken for unnoticed: another number, a day, a month, an hour.
fn counts_or_dates(meaning: &str) -> bool {
    let dates = ["Day", "Either", "Week", "Month", "Year", "Clock", "Next", "Last", "This"];
    is_number(meaning) || dates.iter().any(|kind| meaning.starts_with(kind))
}

/// `x100` is a scale, `+0.25` is added to the number after it, `5` is five.
fn number_meaning(value: &str) -> Fallible<String> {
    Ok(match value.split_at(1) {
        ("x", scale) => format!("Scale({})", scale.parse::<u64>()?),
        ("+", part) => format!("Plus({})", hundredths(part)?),
        ("-", part) => format!("Minus({})", hundredths(part)?),
        ("=", part) => format!("Part({})", hundredths(part)?),
        _ => format!("Cardinal({})", value.parse::<u16>()?),
    })
}

fn numbers(
    code: &str,
    words: &mut Table,
    skeletons: &mut Table,
    spellings: &mut Vec<Spelling>,
) -> Fallible<()> {
    for line in lines(&format!("numbers/{code}"))? {
        let (value, all) = line.split_once(' ').ok_or(format!("no words: {line}"))?;
        let meaning = number_meaning(value)?;
        for word in all.split(' ') {
            // Hundreds in one word and fractions have no endings to leave out (sab is "all", not saba), and the
            // eighties end in shi, never in sha.
            let fixed = value.starts_with(['+', '-'])
                || value.parse::<u16>().is_ok_and(|value| value >= 200 || (80..90).contains(&value));
            let keys = keys(word, if fixed { "" } else { code })
                .map_err(|error| format!("{code}: {line}: {error}"))?;
            for key in &keys {
                add(skeletons, fold::skeleton(key), &meaning, mask(code)?);
                add(words, key.clone(), &meaning, mask(code)?);
            }
            spellings.push(Spelling {
                text: word.to_owned(),
                mask: mask(code)?,
                meaning: meaning.clone(),
                keys,
            });
        }
    }
    Ok(())
}

fn senses(file: &str, words: &mut Table) -> Fallible<()> {
    for line in lines(file)? {
        let mut parts = line.split(' ');
        let (codes, meaning) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let meaning = render_meaning(meaning);
        for word in parts {
            for key in keys(word, "").map_err(|error| format!("{file}: {line}: {error}"))? {
                add(words, key, &meaning, mask(codes)?);
            }
        }
    }
    Ok(())
}

/// `unit.kilogram` is `Unit(crate::unit::MeasureUnit::Kilogram)`, `day.-1` is `Day(-1)`, `rupee` is `Rupee`.
fn render_meaning(text: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    match text.split_once('.') {
        Some(("unit", name)) => format!("Unit(crate::unit::MeasureUnit::{})", capital(name)),
        Some(("monthname", number)) => format!("MonthName({number})"),
        Some((name, number)) => format!("{}({number})", capital(name)),
        None if text == "dayofmonth" => "DayOfMonth".to_owned(),
        None => capital(text),
    }
}

fn load_everyday_words(code: &str, words: &mut Table) -> Fallible<()> {
    for line in lines(&format!("words/{code}"))? {
        for word in line.split(' ') {
            for key in keys(word, "").map_err(|error| format!("{code}: {error}"))? {
                add(words, key, "Word", mask(code)?);
            }
        }
    }
    Ok(())
}

fn write_table(out: &mut String, name: &str, table: &Table) -> Fallible<()> {
    writeln!(out, "static {name}: Table = Table {{ entries: &[")?;
    for (key, senses) in table {
        write!(out, "({key:?}, &[")?;
        for (meaning, mask) in senses {
            write!(out, "Sense {{ languages: Languages({mask}), meaning: Meaning::{meaning} }},")?;
        }
        writeln!(out, "]),")?;
    }
    let keys: Vec<&str> = table.keys().map(String::as_str).collect();
    writeln!(out, "], slots: &{:?} }};", fill_slots(&keys)?)?;
    Ok(())
}

/// The slots of a table: the place of each key in it, where a reader looks for it.
fn fill_slots(keys: &[&str]) -> Fallible<Vec<u16>> {
    let mut slots = vec![slots::EMPTY; slots::count(keys.len())];
    for (place, key) in keys.iter().enumerate() {
        let mut at = slots::first(key, slots.len());
        while slots[at] != slots::EMPTY {
            at = (at + 1) % slots.len();
        }
        slots[at] =
            u16::try_from(place).ok().filter(|place| *place != slots::EMPTY).ok_or("too many words")?;
    }
    Ok(slots)
}

/// The keys that change the number after them by a fraction, the longest first.
fn write_fractions(out: &mut String, words: &Table) -> Fallible<()> {
    let mut found: Vec<(&String, &String, u16)> = Vec::new();
    for (key, senses) in words.iter().filter(|(key, _)| key.len() > 2) {
        let fractions =
            senses.iter().filter(|(meaning, _)| meaning.starts_with("Plus") || meaning.starts_with("Minus"));
        found.extend(fractions.map(|(meaning, mask)| (key, meaning, *mask)));
    }
    found.sort_by_key(|(key, _, _)| std::cmp::Reverse(key.len()));
    writeln!(out, "static FRACTIONS: &[(&str, Sense)] = &[")?;
    for (key, meaning, mask) in found {
        writeln!(out, "({key:?}, Sense {{ languages: Languages({mask}), meaning: Meaning::{meaning} }}),")?;
    }
    writeln!(out, "];")?;
    Ok(())
}

/// As `lexicon::End`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    #[default]
    Never,
    Open,
    Free,
}

/// The pieces of a language's number words: as listed, and as they stand before another piece.
fn write_morphemes(code: &str, out: &mut String) -> Fallible<()> {
    let mut forms: BTreeMap<(String, String), (End, bool)> = BTreeMap::new();
    for line in lines(&format!("morphemes/{code}"))? {
        let (value, spellings) = line.split_once(' ').ok_or(format!("no forms: {line}"))?;
        let (value, bound) = value.strip_suffix('-').map_or((value, false), |value| (value, true));
        let atom = match value.split_at(1) {
            ("x", scale) => format!("Scale({})", scale.parse::<u64>()?),
            ("h", part) => format!("Suffix({})", hundredths(part)?),
            _ => format!("Cardinal({})", value.parse::<u16>()?),
        };
        let ten_or_more = atom.starts_with("Scale") || value.parse::<u16>().is_ok_and(|value| value >= 20);
        let end = match (bound, ten_or_more) {
            (false, _) => End::Free,
            (true, true) => End::Open,
            (true, false) => End::Never,
        };
        for form in spellings.split(' ') {
            let entry = forms.entry((form.to_owned(), atom.clone())).or_default();
            *entry = (entry.0.max(end), true);
            // A last u gives way to the vowel after it; before a quarter it turns to e.
            let Some(stem) = form.strip_suffix('u').filter(|_| !bound) else { continue };
            for (vowel, end) in
                [("", End::Never), ("in", End::Never), ("i", End::Open), ("a", End::Open), ("e", End::Open)]
            {
                let end = if ten_or_more || vowel == "e" { end } else { End::Never };
                let entry = forms.entry((format!("{stem}{vowel}"), atom.clone())).or_default();
                *entry = (entry.0.max(end), true);
            }
        }
    }
    // Where the forms of each letter begin, and where those of z end.
    let begins = |letter: u8| forms.keys().filter(|(form, _)| form.as_bytes()[0] < letter).count();
    let from: Vec<usize> = (b'a'..=b'z' + 1).map(begins).collect();
    writeln!(out, "static PIECES_{}: Pieces = Pieces {{ from: {from:?}, all: &[", code.to_uppercase())?;
    for ((form, atom), (end, joins)) in forms {
        writeln!(
            out,
            "NumberMorpheme {{ form: {form:?}, atom: MorphemeValue::{atom}, end: MorphemeEnd::{end:?}, joins: {joins} }},"
        )?;
    }
    writeln!(out, "] }};")?;
    Ok(())
}
