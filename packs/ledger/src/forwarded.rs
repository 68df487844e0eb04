//! Messages of banks that somebody forwards: read without a model. None is left without an answer of its own.

use munshi_pack::{Reader, Reading, Scene};
use serde_json::json;

use crate::books::Day;
use crate::sms::{self, Currency, Nothing, Purse, Sms};

pub(crate) struct Forwarded;

impl Reader for Forwarded {
    fn read(&self, scene: &Scene) -> Option<Reading> {
        let text = scene.message.trim();
        if !sms::is_notice(text) {
            return None;
        }
        let day = Day::of(scene.now, &scene.zone).to_date();
        let say = |phrase: &str| Some(Reading::Say { phrase: phrase.to_owned(), slots: Vec::new() });
        match sms::read(&Sms { text, sender: None, day: Some(day) }) {
            sms::Reading::Payment(payment) if payment.purse == Some(Purse::Account) => say("ledger-sms-own"),
            sms::Reading::Payment(payment) if payment.currency != Currency::INR => say("ledger-sms-unsure"),
            // Sure or not, the person is asked, with the reading proposed.
            sms::Reading::Payment(_) => {
                Some(Reading::Call { tool: "book_sms".to_owned(), arguments: json!({ "text": text }) })
            }
            // Money is spoken of, and nothing says what became of it.
            sms::Reading::Nothing(Nothing::Other | Nothing::Receipt) => say("ledger-sms-unsure"),
            sms::Reading::Nothing(_) => say("ledger-sms-none"),
        }
    }
}
