//! A word of a phrase in another form: kottiddini is kotte, thannittundu is thannu, ethrayaanu is ethra.
//!
//! A past verb is the same act whoever is spoken of politely, as a woman or as many; who acted must agree, where the
//! verb says it. A noun is the same with what only says "the", "is" or "in" hung on it. Folded, so for every script.

use munshi_types::Language;

use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};

const PAST: SmallWordClassSet =
    SmallWordClassSet::of(&[SmallWordClass::Did, SmallWordClass::DidMe, SmallWordClass::DidOther]);

/// What a past verb may be without its ending, with whose ending that is.
pub(super) fn strip_past_endings(
    stem: &str,
    language: Language,
) -> impl Iterator<Item = (SmallWordClass, &str)> {
    let cut = SmallWords::get().strip_forms(stem, language, PAST);
    cut.filter(|(root, _)| is_enough(root, stem)).map(|(root, class)| (class, root))
}

/// What a word of at least some letters may be without what hangs on it: also with the vowel that gave way to it, and without the glide that
/// keeps two vowels apart.
pub(crate) fn strip_suffixes(stem: &str, language: Language, least: usize) -> impl Iterator<Item = String> {
    let cut = SmallWords::get().strip_forms(stem, language, SmallWordClassSet::of(&[SmallWordClass::Bent]));
    let long = cut.filter(move |(front, _)| front.len() >= least);
    long.flat_map(|(front, _)| {
        let glide = front.strip_suffix(['y', 'v']).map(str::to_owned);
        [Some(front.to_owned()), Some(format!("{front}u")), glide].into_iter().flatten()
    })
}

/// Whether enough is left of a word: of one letter cut, three.
fn is_enough(root: &str, stem: &str) -> bool {
    root.len() >= if stem.len() - root.len() > 1 { 2 } else { 3 }
}
