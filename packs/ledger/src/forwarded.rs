//! Messages of banks that somebody forwards: read without a model. None is left without an answer of its own.

use munshi_pack::{PackReader, PackReading, PackTurnContext};
use serde_json::json;

use crate::books::LedgerDay;
use crate::sms::{self, Currency, NonPaymentReason, OwnTransfer, Sms};

pub(crate) struct ForwardedSmsReader;

impl PackReader for ForwardedSmsReader {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let text = scene.message.trim();
        if !sms::is_notice(text) {
            return None;
        }
        let day = LedgerDay::of(scene.now, &scene.zone).to_date();
        let say = |phrase: &str| Some(PackReading::Say { phrase: phrase.to_owned(), slots: Vec::new() });
        match sms::read(&Sms { text, sender: None, day: Some(day) }) {
            sms::SmsReading::Payment(payment) if payment.purse == Some(OwnTransfer::Account) => {
                say("ledger-sms-own")
            }
            sms::SmsReading::Payment(payment) if payment.currency != Currency::INR => {
                say("ledger-sms-unsure")
            }
            // Sure or not, the person is asked, with the reading proposed.
            sms::SmsReading::Payment(_) => {
                Some(PackReading::Call { tool: "book_sms".to_owned(), arguments: json!({ "text": text }) })
            }
            // Money is spoken of, and nothing says what became of it.
            sms::SmsReading::Nothing(NonPaymentReason::Other | NonPaymentReason::Receipt) => {
                say("ledger-sms-unsure")
            }
            sms::SmsReading::Nothing(_) => say("ledger-sms-none"),
        }
    }
}
