//! Which languages it speaks, wherever the files say so.

use munshi_types::tier::{LanguageCode, TierKind};

use super::Draft;
use super::markdown::{MarkdownFile, MarkdownSection, parse_item};
use super::report::{ImportConcern, ImportDestination, WorkspaceImportReport};
use super::rules;

const SPEECH: ImportDestination = ImportDestination::Tier(TierKind::Human, "speech");

/// What an instruction about languages begins with.
const VERBS: [&str; 7] = ["speak", "reply", "answer", "respond", "write", "talk", "use"];

/// `Speak Marathi, Hindi and English.` among rules: something to do, not something that is never done. One that names
/// no language that is known here is told about.
pub(super) fn extract_from_rule(
    page: &MarkdownFile,
    line: usize,
    rule: &str,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) -> bool {
    let plain = rule.trim_start_matches(['*', '_', ' ']);
    let rest = ["Always ", "always ", "Please ", "please "].iter().find_map(|word| plain.strip_prefix(word));
    let said = rules::strip_prohibition(rest.unwrap_or(plain));
    let mut words = said.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let verb = words.next().map(str::to_lowercase).unwrap_or_default();
    if !VERBS.contains(&verb.as_str()) {
        return false;
    }
    let words: Vec<&str> = words.collect();
    let codes: Vec<LanguageCode> =
        words.iter().filter(|word| word.len() > 2).filter_map(|word| code(word)).collect();
    if !codes.is_empty() {
        add(page, line, (rule, codes), draft, report);
        return true;
    }
    // `Speak Tulu.`, `Reply in the customer's language.`
    let names_one = words.first().is_some_and(|word| verb == "speak" && word.starts_with(char::is_uppercase));
    let about = words.iter().any(|word| word.to_lowercase().starts_with("language"));
    if about && draft.human.speech.mixing.is_empty() {
        rule.trim_end_matches('.').clone_into(&mut draft.human.speech.mixing);
        report.note(page.file, line, rule, SPEECH);
    } else if about || names_one {
        report.flag(page.file, line, rule, ImportConcern::Unclear);
    }
    about || names_one
}

/// To those that were named before; what stands there by itself gives way. More than the names is kept as how they mix.
fn add(
    page: &MarkdownFile,
    line: usize,
    (rule, codes): (&str, Vec<LanguageCode>),
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) {
    let speech = &mut draft.human.speech;
    if !draft.is_language_told {
        speech.languages.clear();
        draft.is_language_told = true;
    }
    for code in codes {
        if !speech.languages.contains(&code) {
            speech.languages.push(code);
        }
    }
    let more = rule.split_whitespace().any(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        let is_plain = VERBS.contains(&word.as_str())
            || ["in", "and", "or", "always", "please", ""].contains(&word.as_str());
        !is_plain && code(&word).is_none()
    });
    if more {
        let rule = rule.trim_end_matches('.');
        speech.mixing =
            if speech.mixing.is_empty() { rule.to_owned() } else { format!("{}. {rule}", speech.mixing) };
    }
    report.note(page.file, line, rule, SPEECH);
}

/// A section that names languages, one to a line or all in one. Otherwise it is prose like any other.
pub(super) fn extract_from_section(
    page: &MarkdownFile,
    section: &MarkdownSection,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) -> bool {
    let is_named =
        |text: &str| text.split('.').next().is_some_and(|list| names(list).all(|name| code(name).is_some()));
    let lines: Vec<&str> = section.lines().map(|(_, text)| parse_item(text).unwrap_or(text)).collect();
    let named = lines.iter().take_while(|text| is_named(text)).count();
    let Some((list, rest)) = lines.split_at_checked(named).filter(|(list, _)| !list.is_empty()) else {
        return false;
    };
    let rest: String = rest.iter().map(|text| format!(". {text}")).collect();
    extract_from_list(page, section.line, &format!("{}{rest}", list.join(", ")), draft, report);
    true
}

/// `EN (default), HI, TA. Mirror the user's language.`
pub(super) fn extract_from_list(
    page: &MarkdownFile,
    line: usize,
    value: &str,
    draft: &mut Draft,
    report: &mut WorkspaceImportReport,
) {
    let (list, mixing) = value.split_once('.').unwrap_or((value, ""));
    let codes = codes(list);
    if codes.is_empty() {
        report.flag(page.file, line, value, ImportConcern::Unclear);
        return;
    }
    draft.human.speech.languages = codes;
    draft.is_language_told = true;
    mixing.trim().trim_end_matches('.').clone_into(&mut draft.human.speech.mixing);
    report.note(page.file, line, "the languages", SPEECH);
}

fn codes(list: &str) -> Vec<LanguageCode> {
    names(list).filter_map(code).collect()
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ';', '/', '+']).flat_map(|part| part.split(" and "))
}

fn code(named: &str) -> Option<LanguageCode> {
    let word = named
        .split_whitespace()
        .next()?
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase();
    let code = match word.as_str() {
        "english" => "en",
        "hindi" => "hi",
        "hinglish" => "hi-latn",
        "bengali" | "bangla" => "bn",
        "gujarati" => "gu",
        "kannada" => "kn",
        "malayalam" => "ml",
        "marathi" => "mr",
        "odia" | "oriya" => "or",
        "punjabi" => "pa",
        "tamil" => "ta",
        "telugu" => "te",
        "arabic" => "ar",
        "urdu" => "ur",
        short if short.len() == 2 => short,
        _ => return None,
    };
    code.parse().ok()
}
