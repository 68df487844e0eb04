//! Messages of banks that somebody forwards: read without a model. None is left without an answer of its own.

use munshi_pack::{PackReader, PackReading, PackTurnContext};
use munshi_sms::{Currency, NonPaymentReason, OwnTransfer, Sms, SmsReading};
use serde_json::json;

use crate::books::LedgerDay;

pub(crate) struct ForwardedSmsReader;

impl PackReader for ForwardedSmsReader {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let text = scene.message.trim();
        if !munshi_sms::is_notice(text) {
            return None;
        }
        let day = LedgerDay::of(scene.now, &scene.zone).to_date();
        let say = |phrase: &str| Some(PackReading::Say { phrase: phrase.to_owned(), slots: Vec::new() });
        match munshi_sms::read(&Sms { text, sender: None, day: Some(day) }) {
            SmsReading::Payment(payment) if payment.purse == Some(OwnTransfer::Account) => {
                say("ledger-sms-own")
            }
            SmsReading::Payment(payment) if payment.currency != Currency::INR => say("ledger-sms-unsure"),
            // Sure or not, the person is asked, with the reading proposed.
            SmsReading::Payment(_) => {
                Some(PackReading::Call { tool: "book_sms".to_owned(), arguments: json!({ "text": text }) })
            }
            // Money is spoken of, and nothing says what became of it.
            SmsReading::Nothing(NonPaymentReason::Other | NonPaymentReason::Receipt) => {
                say("ledger-sms-unsure")
            }
            SmsReading::Nothing(_) => say("ledger-sms-none"),
        }
    }
}
