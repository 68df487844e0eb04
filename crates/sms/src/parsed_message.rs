//! A message with everything found in it: what each word does, and what each figure is.

use std::ops::Range;

use jiff::civil::{Date, Time};
use munshi_types::Money;

use super::find;
use super::lexicon::{self, SmsWordClass, SmsWordMatch};
use super::reading::Currency;
use super::tokens::{SmsTokenKind, TokenizedSms};

/// What a token is part of. A token is part of one thing only; what is found first keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmsTokenUse {
    Free,
    Link,
    Vpa,
    Date,
    Time,
    Tail,
    Amount,
    Reference,
    Phone,
}

/// The part an amount has in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AmountRole {
    /// It may be what moved.
    Moved,
    Balance,
    Limit,
    Due,
    /// A fee or a cashback beside what moved.
    Fee,
    /// "Up to", "above", "off": nobody's money.
    Spoken,
}

#[derive(Clone, Debug)]
pub(crate) struct SmsAmount {
    pub(crate) tokens: Range<usize>,
    pub(crate) money: Money,
    pub(crate) currency: Currency,
    /// Without a currency.
    pub(crate) is_bare: bool,
    /// Written in lakhs or thousands, as advertisements do.
    pub(crate) is_round: bool,
    pub(crate) role: AmountRole,
}

#[derive(Clone, Debug)]
pub(crate) struct AccountTail {
    pub(crate) tokens: Range<usize>,
    pub(crate) digits: String,
}

#[derive(Clone, Debug)]
pub(crate) struct PaymentReference {
    pub(crate) tokens: Range<usize>,
    pub(crate) value: String,
}

#[derive(Debug)]
pub(crate) struct ParsedSms {
    pub(crate) cut: TokenizedSms,
    pub(crate) marks: Vec<SmsWordMatch>,
    /// For each token: the mark it belongs to, as its place in `marks`.
    mark_of: Vec<Option<usize>>,
    pub(crate) uses: Vec<SmsTokenUse>,
    /// For each token: the number of its sentence.
    sentences: Vec<usize>,
    pub(crate) amounts: Vec<SmsAmount>,
    pub(crate) tails: Vec<AccountTail>,
    pub(crate) references: Vec<PaymentReference>,
    pub(crate) vpas: Vec<Range<usize>>,
    pub(crate) date: Option<Date>,
    pub(crate) time: Option<Time>,
    /// Figures written with letters, `2O,OOO`, to pass a filter. No bank writes so.
    pub(crate) is_disguised: bool,
}

impl ParsedSms {
    pub(crate) fn new(text: &str, day: Option<Date>) -> Self {
        let cut = TokenizedSms::new(text);
        let marks = lexicon::marks(&cut);
        let mut mark_of = vec![None; cut.len()];
        for (number, mark) in marks.iter().enumerate() {
            mark_of[mark.tokens.clone()].fill(Some(number));
        }
        let mut page = Self {
            uses: vec![SmsTokenUse::Free; cut.len()],
            sentences: Vec::new(),
            cut,
            marks,
            mark_of,
            amounts: Vec::new(),
            tails: Vec::new(),
            references: Vec::new(),
            vpas: Vec::new(),
            date: None,
            time: None,
            is_disguised: false,
        };
        page.is_disguised = (2..page.len()).any(|at| is_disguised(&page.cut, at));
        find::links(&mut page);
        find::dates(&mut page, day);
        find::accounts(&mut page);
        find::amounts(&mut page);
        find::references(&mut page);
        page.sentences = sentences(&page);
        find::bare_amounts(&mut page);
        super::roles::assign(&mut page);
        page
    }

    pub(crate) fn len(&self) -> usize {
        self.cut.len()
    }

    pub(crate) fn class(&self, at: usize) -> Option<SmsWordClass> {
        self.mark_of
            .get(at)
            .copied()
            .flatten()
            .and_then(|number| self.marks.get(number))
            .map(|mark| mark.class)
    }

    pub(crate) fn is_class(&self, at: usize, class: SmsWordClass) -> bool {
        self.class(at) == Some(class)
    }

    pub(crate) fn token_use(&self, at: usize) -> SmsTokenUse {
        self.uses.get(at).copied().unwrap_or(SmsTokenUse::Free)
    }

    pub(crate) fn is_free(&self, at: usize) -> bool {
        self.token_use(at) == SmsTokenUse::Free
    }

    pub(crate) fn assign_use(&mut self, tokens: Range<usize>, what: SmsTokenUse) {
        let end = tokens.end.min(self.uses.len());
        if tokens.start < end {
            self.uses[tokens.start..end].fill(what);
        }
    }

    pub(crate) fn sentence(&self, at: usize) -> usize {
        self.sentences.get(at).copied().unwrap_or(usize::MAX)
    }

    /// The marks of a class that are words of the message, not parts of links and names.
    pub(crate) fn matches_of(&self, class: SmsWordClass) -> impl Iterator<Item = &SmsWordMatch> {
        self.marks.iter().filter(move |mark| mark.class == class && self.is_message_word(mark))
    }

    pub(crate) fn has(&self, class: SmsWordClass) -> bool {
        self.matches_of(class).next().is_some()
    }

    pub(crate) fn is_message_word(&self, mark: &SmsWordMatch) -> bool {
        !matches!(self.token_use(mark.tokens.start), SmsTokenUse::Link | SmsTokenUse::Vpa)
    }

    /// Whether a word of the class stands in the sentence of a token.
    pub(crate) fn has_in_sentence(&self, at: usize, class: SmsWordClass) -> bool {
        let sentence = self.sentence(at);
        self.matches_of(class).any(|mark| self.sentence(mark.tokens.start) == sentence)
    }
}

/// The letters O behind a figure and a comma or dot.
fn is_disguised(cut: &TokenizedSms, at: usize) -> bool {
    let zeros = cut.lowercase(at).len() >= 2 && cut.lowercase(at).bytes().all(|byte| byte == b'o');
    let joined = cut.is_glued(at) && (cut.is_sign(at - 1, ',') || cut.is_sign(at - 1, '.'));
    zeros && joined && cut.is_glued(at - 1) && cut.is_number(at - 2)
}

const SHORTENED: [&str; 41] = [
    "incl", "rs", "inr", "re", "no", "avl", "aval", "avail", "avbl", "ref", "mr", "mrs", "ms", "dr", "cr",
    "txn", "trxn", "acct", "ac", "bal", "info", "st", "ltd", "pvt", "co", "amt", "dt", "id", "smt", "shri",
    "cust", "min", "max", "clr", "tot", "curr", "lmt", "रु", "ரூ", "రూ", "രൂ",
];
const DOMAINS: [&str; 9] = ["com", "in", "co", "org", "net", "ly", "io", "me", "gov"];

fn sentences(page: &ParsedSms) -> Vec<usize> {
    let mut number = 0;
    (0..page.len())
        .map(|at| {
            let own = number;
            if ends_sentence(page, at) {
                number += 1;
            }
            own
        })
        .collect()
}

fn ends_sentence(page: &ParsedSms, at: usize) -> bool {
    match page.cut.shape(at) {
        Some(SmsTokenKind::Sign('!' | '?' | ';' | '।' | '|' | '•')) => {
            page.token_use(at) != SmsTokenUse::Link
        }
        Some(SmsTokenKind::Sign('.')) => is_full_stop(page, at),
        _ => false,
    }
}

/// A dot ends a sentence unless it shortens a word or stands inside a name.
fn is_full_stop(page: &ParsedSms, at: usize) -> bool {
    if matches!(
        page.token_use(at),
        SmsTokenUse::Link | SmsTokenUse::Vpa | SmsTokenUse::Tail | SmsTokenUse::Amount
    ) || page.cut.is_sign(at + 1, '.')
    {
        return false;
    }
    let Some(before) = at.checked_sub(1) else { return false };
    let word = page.cut.lowercase(before);
    if page.cut.is_word(before) && (SHORTENED.contains(&word) || word.chars().count() == 1) {
        return false;
    }
    if page.cut.is_glued(at + 1) && page.cut.is_word(before) && page.cut.is_word(at + 1) {
        return page.class(at + 1).is_some() && !DOMAINS.contains(&page.cut.lowercase(at + 1));
    }
    true
}
