//! WhatsApp's error codes, by what they mean for a message. The same in answers and in what is told afterwards.

use std::time::Duration;

use munshi_conversations::outbox::SendFault;
use serde_json::Value;

use super::number::mask_numbers;
use crate::provider_call::ProviderAnswer;

const LONGEST_WORDS: usize = 300;

/// A fault as WhatsApp tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WhatsappError {
    pub code: i64,
    pub words: String,
}

/// What a code means for whoever sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorMeaning {
    /// The account can't send now: its token, its payment, its rights. Somebody can mend that.
    Account(&'static str),
    /// Too much at once; what to wait where nothing is said.
    Limit(Duration),
    /// Nothing ever reaches them by this address.
    Recipient,
    /// They may not be written to now, or not with this.
    Message(&'static str),
    /// WhatsApp itself failed, and says that nothing was sent.
    Passing,
    Unknown,
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

fn find_meaning(code: i64) -> ErrorMeaning {
    use ErrorMeaning::{Account, Limit, Message, Passing, Recipient, Unknown};
    match code {
        0 | 190 => Account("its token is not valid any more: put a new one into the vault"),
        3 | 10 | 200..=299 | 131005 => Account("its token lacks a permission: whatsapp_business_messaging"),
        368 | 131031 | 130497 => {
            Account("WhatsApp has restricted the account: see its page in Business Manager")
        }
        131042 | 131044 => Account("its payment is not in order: see the billing page in Business Manager"),
        131037 => Account("its display name is not approved yet"),
        131045 | 133010 | 133000..=133009 => Account("its number is not registered with the Cloud API"),
        131057 => Account("WhatsApp is working on the account"),
        131030 => {
            Account("the app is in development: add the recipient to its test numbers, or take it live")
        }
        130429 | 131056 => Limit(MINUTE),
        4 | 80007 | 131048 | 131064 | 133016 => Limit(HOUR),
        131026 | 131021 => Recipient,
        131062 => Message("this needs a phone number, and the recipient shows none"),
        131047 => Message("the recipient has not written for 24 hours: only a template may be sent"),
        131049 | 130472 => Message("WhatsApp does not deliver this to the recipient now"),
        131050 => Message("the recipient wants no marketing messages"),
        132000..=132999 => Message("the template can't be sent so"),
        100 | 131008 | 131009 | 131051..=131053 => Message("WhatsApp does not take it"),
        131016 | 131000 | 135000 => Passing,
        _ => Unknown,
    }
}

impl WhatsappError {
    /// One of `errors`, or the `error` of an answer.
    pub(super) fn read(error: &Value) -> Option<Self> {
        let code = error.get("code").and_then(Value::as_i64)?;
        let part = |at: &str| error.pointer(at).and_then(Value::as_str).filter(|text| !text.is_empty());
        let first = part("/message").or_else(|| part("/title")).unwrap_or("no reason given");
        let details = part("/error_data/details").filter(|details| !first.contains(details));
        let words = details.map_or_else(|| first.to_owned(), |details| format!("{first}: {details}"));
        let words = words.chars().filter(|c| !c.is_control()).take(LONGEST_WORDS).collect::<String>();
        Some(Self { code, words: mask_numbers(&words) })
    }

    /// For whoever looks after the account.
    pub(super) fn describe(&self) -> String {
        let words = &self.words;
        let number = format!("#{}", self.code);
        let words = if words.contains(&number) { words.clone() } else { format!("({number}) {words}") };
        match find_meaning(self.code) {
            ErrorMeaning::Account(hint) | ErrorMeaning::Message(hint) => format!("{words} – {hint}"),
            ErrorMeaning::Recipient => format!("{words} – the recipient can't be reached on WhatsApp"),
            ErrorMeaning::Limit(_) | ErrorMeaning::Passing | ErrorMeaning::Unknown => words,
        }
    }

    fn fault(&self, answer: &ProviderAnswer) -> Option<SendFault> {
        let why = format!("WhatsApp did not take it: {}", self.describe());
        Some(match find_meaning(self.code) {
            ErrorMeaning::Account(_) | ErrorMeaning::Passing => SendFault::passing(why),
            ErrorMeaning::Limit(after) => SendFault::limited(why, answer.retry_after.unwrap_or(after)),
            ErrorMeaning::Recipient => SendFault::unreachable(why),
            ErrorMeaning::Message(_) => SendFault::refused(why),
            ErrorMeaning::Unknown => return None,
        })
    }
}

/// What an answer that is no success means for the message that was to be sent.
pub(super) fn read_send_fault(answer: &ProviderAnswer) -> SendFault {
    let told = answer.json().and_then(|body| WhatsappError::read(body.get("error")?));
    let known = told.as_ref().and_then(|error| error.fault(answer));
    known.unwrap_or_else(|| {
        let mut fault = answer.send_fault("WhatsApp did not take it");
        fault.why = mask_numbers(&fault.why);
        fault
    })
}

/// The same of a question that sends nothing.
pub(super) fn describe_answer(answer: &ProviderAnswer) -> String {
    let told = answer.json().and_then(|body| WhatsappError::read(body.get("error")?));
    told.map_or_else(|| mask_numbers(&answer.reason()), |error| error.describe())
}

#[cfg(test)]
mod tests {
    use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};
    use munshi_http::StatusCode;
    use serde_json::json;

    use super::*;

    fn answer(status: u16, body: &Value) -> ProviderAnswer {
        let status = StatusCode::from_u16(status).unwrap();
        ProviderAnswer { status, retry_after: None, body: body.to_string().into_bytes() }
    }

    fn fault(status: u16, code: i64) -> SendFault {
        let told = json!({ "error": { "message": format!("(#{code}) no, 919812345678"), "type": "OAuthException",
            "code": code, "error_data": { "messaging_product": "whatsapp", "details": "because" }, "fbtrace_id": "A" } });
        read_send_fault(&answer(status, &told))
    }

    #[test]
    fn codes_say_what_becomes_of_a_message() {
        use DeliveryCertainty::{Maybe, No};
        use SendRetryability::{No as Never, Yes};
        for (status, code, retryable, happened, subject) in [
            (400, 131026, Never, No, FaultSubject::Recipient),
            (400, 131047, Never, No, FaultSubject::Account),
            (400, 132001, Never, No, FaultSubject::Account),
            (400, 100, Never, No, FaultSubject::Account),
            (401, 190, Yes, No, FaultSubject::Account),
            (400, 130429, Yes, No, FaultSubject::Account),
            (500, 131000, Yes, No, FaultSubject::Account),
            (503, 999_999, Yes, No, FaultSubject::Account),
            (500, 2, Yes, Maybe, FaultSubject::Account),
            (400, 999_999, Never, No, FaultSubject::Account),
        ] {
            let fault = fault(status, code);
            assert_eq!(
                (fault.retryable, fault.happened, fault.subject),
                (retryable, happened, subject),
                "{code}"
            );
            assert!(!fault.why.contains("98123"), "{}", fault.why);
        }
    }

    #[test]
    fn a_limit_says_when_to_come_again() {
        assert_eq!(fault(400, 131056).retry_after, Some(MINUTE));
        assert_eq!(fault(400, 131048).retry_after, Some(HOUR));
        let told = json!({ "error": { "code": 130429, "message": "rate" } });
        let paused = ProviderAnswer { retry_after: Some(Duration::from_secs(7)), ..answer(429, &told) };
        assert_eq!(read_send_fault(&paused).retry_after, Some(Duration::from_secs(7)));
    }

    #[test]
    fn what_is_no_json_is_told_by_its_status() {
        let page = ProviderAnswer { body: b"<html>".to_vec(), ..answer(502, &Value::Null) };
        assert_eq!(read_send_fault(&page).happened, DeliveryCertainty::Maybe);
    }
}
