//! Reads the messages of banks, UPI apps, cards and wallets.
//!
//! A message is read as language, not matched against a list of known ones: words have classes, figures have kinds, and
//! who did what to which amount follows from what stands beside what. The rule: a payment that is booked surely is right,
//! and what is no payment is never booked. Pure code: no database, no clock.
//!
//! # Layout
//! - [`Sms`], [`SmsReading`], [`Payment`], [`NonPaymentReason`]: what goes in and what comes out (`reading`, `fingerprint`)
//! - `clean`: one spelling, cut into tokens; `lexicon`: what words do, from `lexicon/sms.txt`
//! - `find/`: links, dates, accounts, amounts, references; `page`: all of it together; `roles`: the part of each amount
//! - `events`, `nouns`, `state`, `undo`, `attempt`: what is said to be done, and whether it was; `nothing`, `veto`: what is no payment; `notice`: what is no person's words; `decide`: which of it counts
//! - `counterparty`, `name`, `chain`, `own`: the other side and the owner's account; `purse`: money that stays the owner's; `sender`: what the sender's id tells
//!
//! To teach it a word, add it to `lexicon/sms.txt`; to show that it was needed, add the message to `tests/sms/`.

mod attempt;
mod chain;
mod clean;
mod counterparty;
mod decide;
mod events;
mod find;
mod fingerprint;
mod lexicon;
mod name;
mod nothing;
mod notice;
mod nouns;
mod own;
mod page;
mod purse;
mod reading;
mod roles;
mod sender;
mod state;
mod undo;
mod veto;

pub(crate) use fingerprint::bare;
pub(crate) use notice::is_notice;
pub use reading::{
    Currency, NonPaymentReason, OwnTransfer, Payment, PaymentCertainty, PaymentDirection, PaymentDoubt, Sms,
    SmsReading,
};

/// What the message means.
pub fn read(sms: &Sms<'_>) -> SmsReading {
    decide::decide(&page::ParsedSms::new(sms.text, sms.day), sms)
}
