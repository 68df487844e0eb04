//! Prices a reply names.

use std::ops::Range;

use munshi_types::Money;

use super::classes::Classes;
use super::lexicon::{self, Named};
use super::reading::{Clause, Reading};

static PAID: Named = Named::new("price.paid");
static COST: Named = Named::new("price.cost");
static COUNTED: Named = Named::new("price.counted");
static JUST: Named = Named::new("price.just");
static REFERENCE: Named = Named::new("no-secrets.reference");
static PLACED: Named = Named::new("price.placed");
static SCALE: Named = Named::new("scale");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Price {
    pub span: Range<usize>,
    /// Unknown when it is said in words.
    pub value: Option<Money>,
}

/// Every price of a text. Money that was paid, is owed or is the person's own is no price.
pub(crate) fn prices(reading: &Reading) -> Vec<Price> {
    let (paid, cost, reference) = (PAID.get(), COST.get(), REFERENCE.get());
    let mut found = Vec::new();
    if !reading.has(Classes::of(lexicon::NUMBER)) {
        return found;
    }
    for clause in reading.clauses.iter().filter(|clause| !clause.mask.meets(paid)) {
        let bare = clause.mask.meets(cost);
        for at in clause.tokens() {
            let money = reading.is(at, Classes::of(lexicon::MONEY));
            let thousands = reading.tokens[at].is_number() && reading.plain(at + 1) == "k";
            let just = reading.tokens[at].is_number()
                && !clause.mask.meets(reference)
                && is_just(reading, clause, at);
            if money || ((bare || thousands || just) && stands_for_price(reading, clause, at)) {
                found.push(Price {
                    span: reading.tokens[at].start..reading.tokens[at].end,
                    value: value(reading, at),
                });
            }
        }
    }
    found
}

/// `1200 only` at the end of a clause, with nothing else said of the number.
fn is_just(reading: &Reading, clause: &Clause, at: usize) -> bool {
    let mut rest = (at + 1..clause.to).filter(|next| reading.counts(*next));
    let placed = at.checked_sub(1).is_some_and(|before| reading.is(before, PLACED.get()));
    !placed && rest.next().is_some_and(|next| reading.is(next, JUST.get())) && rest.next().is_none()
}

/// A bare number beside a word of price: three digits at least, and nothing it counts.
fn stands_for_price(reading: &Reading, clause: &Clause, at: usize) -> bool {
    let number = reading.is(at, Classes::of(lexicon::NUMBER));
    let token = &reading.tokens[at];
    if !number || reading.is(at, Classes::of(lexicon::PERCENT)) {
        return false;
    }
    let counted = |near: usize| clause.tokens().contains(&near) && reading.is(near, COUNTED.get());
    if counted(at + 1)
        || (reading.is(at + 1, SCALE.get()) && counted(at + 2))
        || at.checked_sub(1).is_some_and(counted)
    {
        return false;
    }
    let scaled = reading.is(at + 1, SCALE.get());
    // R-2241 is a name, 12/5 and 5:30 are days and hours.
    let tied = |near: Option<usize>| {
        near.and_then(|near| reading.tokens.get(near))
            .is_some_and(|token| token.is('-') || token.is('/') || token.is(':'))
    };
    let glued = token.gap == super::tokens::Gap::None && at > clause.from && reading.counts(at - 1);
    let named = (tied(at.checked_sub(1)) && at >= 2 && reading.counts(at - 2)) || glued;
    let dated = tied(Some(at + 1)) && reading.tokens.get(at + 2).is_some_and(super::tokens::Token::is_number);
    let digits = reading.plain(at).bytes().filter(u8::is_ascii_digit).count();
    !named && !dated && (digits >= 3 || scaled) && digits <= 7
}

/// What the digits say, with the scale after them.
fn value(reading: &Reading, at: usize) -> Option<Money> {
    reading.tokens.get(at).filter(|token| token.is_number())?;
    let plain: String = reading.plain(at).chars().filter(|letter| *letter != ',').collect();
    let money: Money = plain.parse().ok()?;
    let by = match reading.plain(at + 1) {
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
