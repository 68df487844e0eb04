//! Languages in words.

use munshi_types::tier::{HumanLanguages, LanguageCode, LanguageLock};

/// The language a reply is in: the person's as far as the human's lock lets it.
pub fn reply_language<'a>(
    speech: &'a HumanLanguages,
    person: Option<&'a LanguageCode>,
) -> Option<&'a LanguageCode> {
    let first = speech.languages.first();
    let Some(person) = person else { return first };
    match speech.lock {
        LanguageLock::Open => Some(person),
        LanguageLock::Listed => find_listed(speech, person).or(first),
        LanguageLock::First => first.or(Some(person)),
    }
}

/// As it is listed; the same language in other letters is the next best.
fn find_listed<'a>(speech: &'a HumanLanguages, person: &LanguageCode) -> Option<&'a LanguageCode> {
    let same = |code: &&LanguageCode| base(code) == base(person);
    let exactly = speech.languages.iter().find(|code| *code == person);
    exactly.or_else(|| speech.languages.iter().find(same))
}

fn base(code: &LanguageCode) -> &str {
    code.as_str().split('-').next().unwrap_or_default()
}

/// `Hindi in Latin letters`. A language that has no name here goes by its code.
pub(super) fn language_name(code: &LanguageCode) -> String {
    let name = match base(code) {
        "en" => "English",
        "hi" => "Hindi",
        "bn" => "Bengali",
        "gu" => "Gujarati",
        "kn" => "Kannada",
        "ml" => "Malayalam",
        "mr" => "Marathi",
        "or" => "Odia",
        "pa" => "Punjabi",
        "ta" => "Tamil",
        "te" => "Telugu",
        "ur" => "Urdu",
        "as" => "Assamese",
        "ne" => "Nepali",
        "sa" => "Sanskrit",
        "sd" => "Sindhi",
        "ks" => "Kashmiri",
        "kok" => "Konkani",
        "mai" => "Maithili",
        "doi" => "Dogri",
        "brx" => "Bodo",
        "mni" => "Manipuri",
        "sat" => "Santali",
        "ar" => "Arabic",
        other => other,
    };
    if code.is_latin() { format!("{name} in Latin letters") } else { name.to_owned() }
}

/// `Hindi, Tamil and English`.
pub(super) fn join_language_names(codes: &[LanguageCode]) -> String {
    let names: Vec<String> = codes.iter().map(language_name).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> LanguageCode {
        text.parse().unwrap()
    }

    #[test]
    fn a_reply_follows_the_person_as_far_as_the_lock_lets_it() {
        let speech = |lock| HumanLanguages {
            languages: vec![code("kn"), code("en")],
            lock,
            ..HumanLanguages::default()
        };
        let cases = [
            (LanguageLock::Open, Some("ta"), "ta"),
            (LanguageLock::Open, None, "kn"),
            (LanguageLock::Listed, Some("en"), "en"),
            (LanguageLock::Listed, Some("kn-latn"), "kn"),
            (LanguageLock::Listed, Some("hi"), "kn"),
            (LanguageLock::First, Some("en"), "kn"),
        ];
        for (lock, person, reply) in cases {
            let (speech, person) = (speech(lock), person.map(code));
            assert_eq!(reply_language(&speech, person.as_ref()), Some(&code(reply)), "{lock:?} {person:?}");
        }
        let silent = HumanLanguages { languages: Vec::new(), ..HumanLanguages::default() };
        assert_eq!(reply_language(&silent, None), None);
    }

    #[test]
    fn languages_are_called_by_their_names() {
        assert_eq!(
            join_language_names(&[code("en"), code("hi-latn"), code("xx")]),
            "English, Hindi in Latin letters and xx"
        );
        assert_eq!(join_language_names(&[code("ta")]), "Tamil");
    }
}
