//! Prices a reply names.

use std::ops::Range;

use munshi_types::Money;

use super::classes::WordClassSet;
use super::lexicon::{self, NamedWordClass};
use super::reading::{Clause, GuardrailReading};

static PAID: NamedWordClass = NamedWordClass::new("price.paid");
static COST: NamedWordClass = NamedWordClass::new("price.cost");
static COUNTED: NamedWordClass = NamedWordClass::new("price.counted");
static JUST: NamedWordClass = NamedWordClass::new("price.just");
static REFERENCE: NamedWordClass = NamedWordClass::new("no-secrets.reference");
static PLACED: NamedWordClass = NamedWordClass::new("price.placed");
static SCALE: NamedWordClass = NamedWordClass::new("scale");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PriceMention {
    pub span: Range<usize>,
    /// Unknown when it is said in words.
    pub value: Option<Money>,
}

/// Every price of a text. Money that was paid, is owed or is the person's own is no price.
pub(crate) fn find_prices(reading: &GuardrailReading) -> Vec<PriceMention> {
    let (paid, cost, reference) = (PAID.get(), COST.get(), REFERENCE.get());
    let mut found = Vec::new();
    if !reading.has(WordClassSet::of(lexicon::NUMBER)) {
        return found;
    }
    for clause in reading.clauses.iter().filter(|clause| !clause.mask.intersects(paid)) {
        let bare = clause.mask.intersects(cost);
        for at in clause.tokens() {
            let money = reading.has_class(at, WordClassSet::of(lexicon::MONEY));
            let thousands = reading.tokens[at].is_number() && reading.spelling(at + 1) == "k";
            let just = reading.tokens[at].is_number()
                && !clause.mask.intersects(reference)
                && is_followed_by_only(reading, clause, at);
            if money || ((bare || thousands || just) && stands_for_price(reading, clause, at)) {
                found.push(PriceMention {
                    span: reading.tokens[at].start..reading.tokens[at].end,
                    value: parse_value(reading, at),
                });
            }
        }
    }
    found
}

/// `1200 only` at the end of a clause, with nothing else said of the number.
fn is_followed_by_only(reading: &GuardrailReading, clause: &Clause, at: usize) -> bool {
    let mut rest = (at + 1..clause.to).filter(|next| reading.is_word_or_number(*next));
    let placed = at.checked_sub(1).is_some_and(|before| reading.has_class(before, PLACED.get()));
    !placed && rest.next().is_some_and(|next| reading.has_class(next, JUST.get())) && rest.next().is_none()
}

/// A bare number beside a word of price: three digits at least, and nothing it counts.
fn stands_for_price(reading: &GuardrailReading, clause: &Clause, at: usize) -> bool {
    let number = reading.has_class(at, WordClassSet::of(lexicon::NUMBER));
    let token = &reading.tokens[at];
    if !number || reading.has_class(at, WordClassSet::of(lexicon::PERCENT)) {
        return false;
    }
    let counted = |near: usize| clause.tokens().contains(&near) && reading.has_class(near, COUNTED.get());
    if counted(at + 1)
        || (reading.has_class(at + 1, SCALE.get()) && counted(at + 2))
        || at.checked_sub(1).is_some_and(counted)
    {
        return false;
    }
    let scaled = reading.has_class(at + 1, SCALE.get());
    // R-2241 is a name, 12/5 and 5:30 are days and hours.
    let tied = |near: Option<usize>| {
        near.and_then(|near| reading.tokens.get(near))
            .is_some_and(|token| token.is_sign('-') || token.is_sign('/') || token.is_sign(':'))
    };
    let glued =
        token.gap == super::tokens::TokenGap::None && at > clause.from && reading.is_word_or_number(at - 1);
    let named = (tied(at.checked_sub(1)) && at >= 2 && reading.is_word_or_number(at - 2)) || glued;
    let dated = tied(Some(at + 1))
        && reading.tokens.get(at + 2).is_some_and(super::tokens::GuardrailToken::is_number);
    let digits = reading.spelling(at).bytes().filter(u8::is_ascii_digit).count();
    !named && !dated && (digits >= 3 || scaled) && digits <= 7
}

/// What the digits say, with the scale after them.
fn parse_value(reading: &GuardrailReading, at: usize) -> Option<Money> {
    reading.tokens.get(at).filter(|token| token.is_number())?;
    let plain: String = reading.spelling(at).chars().filter(|letter| *letter != ',').collect();
    let money: Money = plain.parse().ok()?;
    let by = match reading.spelling(at + 1) {
        "k" => 1_000,
        "l" | "lakh" | "lac" | "लाख" | "லட்சம்" | "লাখ" | "লক্ষ" => 100_000,
        "hazaar" | "hazar" | "hajar" | "thousand" | "हजार" | "ஆயிரம்" | "হাজার" => {
            1_000
        }
        "sau" | "hundred" | "सौ" | "শো" => 100,
        _ => 1,
    };
    money.times(by).ok()
}
