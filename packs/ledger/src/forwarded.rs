//! Messages of banks that somebody forwards: read without a model.

use munshi_pack::{Reader, Reading, Scene};
use serde_json::json;

use crate::books::Day;
use crate::sms::{self, Currency, Nothing, Payment, Sms};

pub(crate) struct Forwarded;

/// People tell of payments in fewer letters than banks do.
const SHORTEST: usize = 45;

impl Reader for Forwarded {
    fn read(&self, scene: &Scene) -> Option<Reading> {
        let text = scene.message.trim();
        if text.chars().count() < SHORTEST {
            return None;
        }
        let day = Day::of(scene.now, &scene.zone).to_date();
        let say = |phrase: &str| Some(Reading::Say { phrase: phrase.to_owned(), slots: Vec::new() });
        match sms::read(&Sms { text, sender: None, day: Some(day) }) {
            sms::Reading::Payment(payment) if !is_banks(&payment) => None,
            sms::Reading::Payment(payment) if payment.currency != Currency::INR => say("ledger-sms-unsure"),
            // Sure or not, the person is asked, with the reading proposed.
            sms::Reading::Payment(_) => {
                Some(Reading::Call { tool: "book_sms".to_owned(), arguments: json!({ "text": text }) })
            }
            // What people say themselves may sound like a bill or a reminder; it does not sound like these.
            sms::Reading::Nothing(Nothing::Otp | Nothing::Declined | Nothing::Mandate | Nothing::Hold) => {
                say("ledger-sms-none")
            }
            sms::Reading::Nothing(_) => None,
        }
    }
}

/// A bank names an account or a payment's number; the owner's own words seldom do.
fn is_banks(payment: &Payment) -> bool {
    payment.account.is_some() || payment.reference.is_some()
}
