//! Whether a text is one that a bank, card, wallet or biller sent, and not a person's own words.

use super::lexicon::Class;
use super::page::{Page, Use};

/// People tell of payments in fewer letters than banks do.
const SHORTEST: usize = 45;

/// What such a sender speaks of. One of them may be said by anybody.
const SPEECH: [Class; 12] = [
    Class::Own,
    Class::Account,
    Class::Card,
    Class::Wallet,
    Class::Balance,
    Class::Due,
    Class::Limit,
    Class::Mandate,
    Class::Otp,
    Class::Request,
    Class::Vpa,
    Class::Warning,
];

pub(crate) fn is_notice(text: &str) -> bool {
    if text.trim().chars().count() < SHORTEST {
        return false;
    }
    let page = Page::new(text, None);
    let is_numbered = !page.tails.is_empty() || !page.references.is_empty();
    let is_linked = page.uses.contains(&Use::Link);
    let written = page.amounts.iter().any(|amount| !amount.is_bare);
    let spoken = SPEECH.into_iter().filter(|class| page.has(*class)).count();
    // Owners speak of accounts, balances and dues too, but not of yours.
    let is_to_you = page.has(Class::Own) && spoken >= 2 && (written || is_linked);
    is_numbered || is_to_you || (spoken >= 3 && is_linked)
}
