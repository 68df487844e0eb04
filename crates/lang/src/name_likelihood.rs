//! Number words that are somebody's name: Patel ne 500 diye, Ram Das, Sau. Sunita.

use munshi_types::Script;

use crate::lexicon::{Languages, Meaning};
use crate::token::{MessageToken, MessageTokenKind, NameLikelihood};

/// Names that number words are spelled like.
const NAMES: &[&str] = &[
    "velu", "koti", "lakha", "laksh", "lakshya", "shah", "hazara", "hajara", "hazari", "patel", "muthu",
    "munnu", "ekta", "athar",
];

/// What stands after a person and after no number.
const AFTER: &[&str] = &[
    "ne",
    "ko",
    "ji",
    "ku",
    "kku",
    "ge",
    "bhai",
    "bhaiya",
    "da",
    "di",
    "ben",
    "tai",
    "anna",
    "akka",
    "garu",
    "saab",
    "sahab",
    "saheb",
    "uncle",
    "aunty",
    "singh",
    "ki",
    "gari",
    "chettan",
    "chechi",
    "dada",
    "didi",
    "కి",
    "గారు",
    "గారికి",
];

/// What stands before a person.
const TITLES: &[&str] = &["mr", "mrs", "ms", "shri", "sri", "smt", "dr", "kumari", "श्री", "श्रीमती"];

/// Counts that are so common that a capital makes no name of them.
const COMMON: &[&str] = &[
    "do", "ek", "ik", "das", "dus", "char", "chaar", "nau", "sat", "tin", "be", "bara", "sola", "one", "six",
    "ten", "half", "quarter", "oka", "oru", "tis", "bis",
];

/// Marks the words of a message that are names, or may be.
pub(crate) fn mark_names(tokens: &mut [MessageToken<'_>]) {
    for at in 0..tokens.len() {
        if tokens.get(at).is_some_and(MessageToken::is_word) {
            let named = classify_name(tokens, at);
            if let Some(token) = tokens.get_mut(at).filter(|_| named != NameLikelihood::No) {
                token.named = named;
            }
        }
    }
}

/// Marks the words a contact was found in, between two places of the message. One word of it that says how many of
/// something follows may still do so: das rupaye.
pub(crate) fn mark_contact(tokens: &mut [MessageToken<'_>], start: usize, end: usize) {
    let covered: Vec<usize> = (0..tokens.len())
        .filter(|at| tokens.get(*at).is_some_and(|t| (start..end).contains(&t.start)))
        .collect();
    let next = covered.last().and_then(|last| tokens.get(last + 1));
    let after = |want: fn(Meaning) -> Option<()>| {
        next.is_some_and(|next| next.find(Languages::EVERY, want).is_some())
    };
    let counts = |meaning| {
        matches!(meaning, Meaning::Rupee | Meaning::Paisa | Meaning::Unit(_) | Meaning::Clock).then_some(())
    };
    let named = match covered.as_slice() {
        [_] if after(counts) => return,
        [_] if next.is_some_and(is_scale) => NameLikelihood::Maybe,
        _ => NameLikelihood::Surely,
    };
    for at in covered {
        if let Some(token) = tokens.get_mut(at) {
            token.named = named;
        }
    }
}

fn classify_name(tokens: &[MessageToken<'_>], at: usize) -> NameLikelihood {
    let Some(token) = tokens.get(at) else { return NameLikelihood::No };
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    if is_title(tokens, at)
        || before.is_some_and(|before| is_any_of(before, TITLES))
        || is_after_dotted_title(tokens, at)
    {
        return NameLikelihood::Surely;
    }
    let counted = before.is_some_and(|before| before.kind == MessageTokenKind::Digits || is_number(before));
    let next = tokens.get(at + 1);
    if token.script() != Some(Script::Latin) {
        let koti = matches!(token.text, "కోటి") && next.is_some_and(|next| is_any_of(next, AFTER)) && !counted;
        return if koti { NameLikelihood::Surely } else { NameLikelihood::No };
    }
    if !is_capital(token) || counted {
        return NameLikelihood::No;
    }
    let known = is_any_of(token, NAMES);
    let uncertain = token.clashes() || token.senses.is_empty();
    let digits = next.is_some_and(|next| next.kind == MessageTokenKind::Digits);
    let goes_on = next.is_some_and(|next| is_capital(next) && next.senses.is_empty() && !is_common(token));
    // Hazaar ki baat: a plain scale is nobody.
    let person = next.is_some_and(|next| is_any_of(next, AFTER)) && !is_scale(token);
    if known || person || (token.clashes() && goes_on) {
        return NameLikelihood::Surely;
    }
    let follows = before.is_some_and(|before| is_capital(before) && before.senses.is_empty());
    let open = token.clashes() && (follows || !is_common(token));
    if open || (uncertain && digits && !is_common(token)) {
        NameLikelihood::Maybe
    } else {
        NameLikelihood::No
    }
}

/// Sau. Sunita: the hundred is a title.
fn is_title(tokens: &[MessageToken<'_>], at: usize) -> bool {
    let dot = tokens.get(at + 1).is_some_and(|next| next.text == "." && next.glued);
    let name = tokens.get(at + 2).is_some_and(|next| {
        next.is_word() && (next.script() != Some(Script::Latin) || is_capital(next)) && next.senses.is_empty()
    });
    tokens.get(at).is_some_and(|token| is_any_of(token, &["sau", "सौ"])) && dot && name
}

fn is_after_dotted_title(tokens: &[MessageToken<'_>], at: usize) -> bool {
    let Some(title) = at.checked_sub(2).and_then(|at| tokens.get(at)) else { return false };
    tokens.get(at - 1).is_some_and(|dot| dot.text == "." && dot.glued) && is_any_of(title, TITLES)
}

fn is_any_of(token: &MessageToken<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}

fn is_common(token: &MessageToken<'_>) -> bool {
    is_any_of(token, COMMON)
}

/// A capital and small letters after it.
pub(crate) fn is_capital(token: &MessageToken<'_>) -> bool {
    let mut letters = token.text.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

fn is_number(token: &MessageToken<'_>) -> bool {
    let number = |meaning| {
        matches!(
            meaning,
            Meaning::Cardinal(_)
                | Meaning::Scale(_)
                | Meaning::Plus(_)
                | Meaning::Minus(_)
                | Meaning::Part(_)
        )
        .then_some(())
    };
    token.find(Languages::EVERY, number).is_some()
}

fn is_scale(token: &MessageToken<'_>) -> bool {
    token.find(Languages::EVERY, |meaning| matches!(meaning, Meaning::Scale(_)).then_some(())).is_some()
}
