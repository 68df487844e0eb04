//! Whether a text is one that a bank, card, wallet or biller sent, and not a person's own words.

use super::lexicon::SmsWordClass;
use super::parsed_message::{ParsedSms, SmsTokenUse};

/// People tell of payments in fewer letters than banks do.
const SHORTEST: usize = 45;

/// What such a sender speaks of. One of them may be said by anybody.
const SPEECH: [SmsWordClass; 12] = [
    SmsWordClass::Own,
    SmsWordClass::Account,
    SmsWordClass::Card,
    SmsWordClass::Wallet,
    SmsWordClass::Balance,
    SmsWordClass::Due,
    SmsWordClass::Limit,
    SmsWordClass::Mandate,
    SmsWordClass::Otp,
    SmsWordClass::Request,
    SmsWordClass::Vpa,
    SmsWordClass::Warning,
];

/// Whether a bank, card, wallet or biller sent the text.
pub fn is_notice(text: &str) -> bool {
    if text.trim().chars().count() < SHORTEST {
        return false;
    }
    let page = ParsedSms::new(text, None);
    let is_numbered = !page.tails.is_empty() || !page.references.is_empty();
    let is_linked = page.uses.contains(&SmsTokenUse::Link);
    let written = page.amounts.iter().any(|amount| !amount.is_bare);
    let spoken = SPEECH.into_iter().filter(|class| page.has(*class)).count();
    // Owners speak of accounts, balances and dues too, but not of yours.
    let is_to_you = page.has(SmsWordClass::Own) && spoken >= 2 && (written || is_linked);
    is_numbered || is_to_you || (spoken >= 3 && is_linked)
}
