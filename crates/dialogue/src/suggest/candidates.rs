//! What may be offered as a next step, and how a tool's own phrases are said.

use std::collections::HashSet;
use std::sync::LazyLock;

use munshi_lang::{Language, Locale, PhraseError, Phrasebook, PlaceholderValue, ScriptForm, detect, fold};
use munshi_types::ToolSpec;

/// In letters.
pub const LONGEST: usize = 60;
/// Of these in a row, words count together in the list.
const MOST_WORDS: usize = 3;
/// So many digits are an amount or a number of somebody's.
const MOST_DIGITS: usize = 2;

static DONE: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lines = include_str!("../../words/done.txt").lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace);
    words.map(|words| words.split('_').map(fold::normalize_spelling).collect::<Vec<_>>().join(" ")).collect()
});

/// A suggestion on one line, if it can be one at all.
pub(super) fn clean_line(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_matches(|c: char| matches!(c, '"' | '“' | '”' | '*' | '`' | '-' | '•')).trim();
    let is_word = line.chars().any(char::is_alphanumeric) && !line.chars().any(char::is_control);
    (is_word && line.chars().count() <= LONGEST).then(|| line.to_owned())
}

/// Whether a model's line may be offered. Whoever taps it makes the words their own, so it holds no amount, number, address
/// or link that a model could have from somebody else; and it is in the person's language.
pub(super) fn is_harmless(text: &str, voice: Locale) -> bool {
    let digits = text.chars().filter(|c| c.is_numeric()).count();
    let leads_away = text.contains(['@', '/', '\\', '<', '>', '{', '}', '₹', '$']) || text.contains("www.");
    digits <= MOST_DIGITS && !leads_away && !says_done(text) && is_in_language(text, voice)
}

/// Words that are sure to be of another language are not the person's; a few short ones tell nothing.
fn is_in_language(text: &str, voice: Locale) -> bool {
    let Some(found) = detect(text) else { return true };
    let form = if voice.language == Language::English { ScriptForm::Latin } else { voice.form };
    found.form() == form && (!found.is_sure() || found.plausible.contains(&voice.language))
}

/// Whether it says that something was done. A question may ask for that.
pub(super) fn says_done(text: &str) -> bool {
    if text.trim_end().ends_with('?') {
        return false;
    }
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | '!' | '।' | ':' | ';'))
        .map(fold::normalize_spelling)
        .filter(|word| !word.is_empty())
        .collect();
    (1..=MOST_WORDS).any(|count| words.windows(count).any(|some| DONE.contains(&some.join(" "))))
}

/// How a person would ask for a tool: by its phrases in their language and script, else in the other script, else in
/// English, else by its name. One that writes is said as a wish. A phrase with a gap in it, such as `{person}`, is how tools
/// are recognised, and nothing that a person could say.
pub(super) fn render_request(
    spec: &ToolSpec,
    voice: Locale,
    book: &Phrasebook,
) -> Result<Option<String>, PhraseError> {
    // A phrase with a slot says nothing to a person before somebody fills it.
    let is_whole = |text: &&String| !text.contains(['{', '}']);
    let own = spec.phrases.get(&voice.language).into_iter().flatten().filter(is_whole);
    let in_form = |text: &&String| voice.language == Language::English || form_of(text) == voice.form;
    let best = own.clone().find(in_form).or_else(|| own.clone().next());
    let english = || spec.phrases.get(&Language::English).into_iter().flatten().find(is_whole);
    let name = || spec.phrases.is_empty().then(|| spec.name.as_str().replace('_', " "));
    let Some(text) = best.or_else(english).cloned().or_else(name) else { return Ok(None) };
    let Some(text) = clean_line(&capitalise(&text)) else { return Ok(None) };
    if !spec.effect.writes() {
        return Ok((!says_done(&text)).then_some(text));
    }
    Ok(clean_line(&book.render("want-to", voice, &[("what", PlaceholderValue::Text(&text))])?))
}

fn form_of(text: &str) -> ScriptForm {
    if text.chars().any(fold::is_indic) { ScriptForm::Native } else { ScriptForm::Latin }
}

/// With a great letter, where the script has them.
fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A text whose numbers and links are left to what it stands by: for labels that others wrote.
pub(super) fn is_plain_label(text: &str) -> bool {
    let digits = text.chars().filter(|c| c.is_numeric()).count();
    digits <= MOST_DIGITS && !text.contains(['@', '<', '>']) && !text.contains("://")
}
