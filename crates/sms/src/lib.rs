//! Reads the messages of banks, UPI apps, cards and wallets.
//!
//! A message is read as language, not matched against a list of known ones: words have classes, figures have kinds, and
//! who did what to which amount follows from what stands beside what. The rule: a payment that is booked surely is right,
//! and what is no payment is never booked. Pure code: no database, no clock.
//!
//! Not here: what is done about a payment. The ledger pack books it (`messages` there); any other pack can ask what a
//! message says.
//!
//! # Layout
//! - [`Sms`], [`SmsReading`], [`Payment`], [`NonPaymentReason`]: what goes in and what comes out (`reading`, `fingerprint`)
//! - `tokens`: one spelling, cut into tokens; `lexicon`: what words do, from `lexicon/sms.txt`
//! - `find/`: links, dates, accounts, amounts, references; `parsed_message`: all of it together; `roles`: the part of each amount
//! - `events`, `nouns`, `state`, `reversal`, `attempt`: what is said to be done, and whether it was; `non_payment`, `disqualify`: what is no payment; `notice`: what is no person's words; `decide`: which of it counts
//! - `counterparty`, `name`, `chain`, `account_owner`: the other side and the owner's account; `own_transfers`: money that stays the owner's; `sender`: what the sender's id tells
//!
//! # To add a word
//! Add it to its class in `lexicon/sms.txt`, and the message that needed it to `tests/messages/`. A class of its own is a
//! variant of `SmsWordClass` in `lexicon`.

// Money is whole paise; a float would lose one of them some day.
#![deny(clippy::float_arithmetic)]

mod account_owner;
mod attempt;
mod chain;
mod counterparty;
mod decide;
mod disqualify;
mod events;
mod find;
mod fingerprint;
mod lexicon;
mod name;
mod non_payment;
mod notice;
mod nouns;
mod own_transfers;
mod parsed_message;
mod reading;
mod reversal;
mod roles;
mod sender;
mod state;
mod tokens;

pub use fingerprint::normalize_identifier;
pub use notice::is_notice;
pub use reading::{
    Currency, NonPaymentReason, OwnTransfer, Payment, PaymentCertainty, PaymentDirection, PaymentDoubt, Sms,
    SmsReading,
};

/// What the message means.
pub fn read(sms: &Sms<'_>) -> SmsReading {
    decide::decide(&parsed_message::ParsedSms::new(sms.text, sms.day), sms)
}
