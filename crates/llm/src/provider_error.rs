//! Why a provider would not, by what is done about it.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::error::ModelError;
use crate::target::{ModelTarget, ProviderKey};
use crate::transport::ProviderResponseHead;

/// An answer that is no success, or an error said in the middle of a stream.
#[derive(Debug)]
pub(crate) struct ProviderErrorResponse {
    pub status: u16,
    /// Null where the body was no JSON.
    pub body: Value,
    pub retry_after: Option<Duration>,
}

/// How an account that has run dry is said; it stays dry however often it is asked.
const UNPAID: [&str; 4] =
    ["insufficient_quota", "billing_error", "credit balance is too low", "billing_hard_limit"];
const FORBIDDEN: [&str; 5] = ["permission", "PERMISSION_DENIED", "authentication", "api key", "API key"];
const TOO_LONG: [&str; 7] = [
    "context_length_exceeded",
    "prompt is too long",
    "maximum context length",
    "exceeds the maximum number of tokens",
    "exceed_context_size",
    "request_too_large",
    "available context size",
];
/// As much of a provider's words as is kept.
const LONGEST_MESSAGE: usize = 300;
/// A piece of the request this long, found in a provider's message, is a quotation.
const QUOTATION: usize = 12;
/// A shorter value of a header is no secret, and a word like any other.
const SHORTEST_SECRET: usize = 6;
/// The largest request that is kept beside an open stream to compare with.
const LARGEST_KEPT: usize = 16 << 10;

impl ProviderErrorResponse {
    pub(crate) fn new(head: &ProviderResponseHead, body: &[u8]) -> Self {
        let retry_after = head.retry_after.or_else(|| head.limits.time_until_reset());
        Self { status: head.status, body: serde_json::from_slice(body).unwrap_or_default(), retry_after }
    }

    /// `kind` is the provider's word for the error, `message` its sentence.
    pub(crate) fn classify(&self, kind: &str, message: &str) -> ModelError {
        let says = |words: &[&str]| words.iter().any(|word| kind.contains(word) || message.contains(word));
        let message = if message.is_empty() { kind.trim() } else { message }.to_owned();
        let (status, retry_after) = (self.status, self.retry_after);
        match status {
            401 | 402 => ModelError::Unauthorised,
            // Some say this of what a person wrote, so it is no judgement on the key unless it says so.
            403 if says(&FORBIDDEN) => ModelError::Unauthorised,
            _ if says(&UNPAID) => ModelError::Unauthorised,
            429 => ModelError::RateLimited { retry_after },
            413 => ModelError::TooLong,
            400..500 if says(&TOO_LONG) => ModelError::TooLong,
            408 | 409 | 425 | 500.. => ModelError::Failed { status, message, retry_after },
            300..400 => {
                ModelError::Rejected { status, message: "the server redirects to another URL".to_owned() }
            }
            _ => ModelError::Rejected { status, message },
        }
    }
}

/// Keeps keys and prompts out of faults, which are logged and stored as they are.
#[derive(Clone, Debug)]
pub(crate) struct ErrorScrubber {
    key: ProviderKey,
    /// Values of the target's own headers and query.
    secrets: Vec<String>,
    model: String,
    /// None: too large to keep, so that no message can be shown to be clean.
    sent: Option<Bytes>,
}

impl ErrorScrubber {
    pub(crate) fn new(target: &ModelTarget, sent: &Bytes) -> Self {
        let given = target.headers.iter().chain(&target.dialect.query).map(|(_, value)| value.clone());
        let secrets = given.filter(|value| value.len() >= SHORTEST_SECRET).collect();
        Self { key: target.key.clone(), secrets, model: target.model.clone(), sent: Some(sent.clone()) }
    }

    /// For as long as a stream is open: a thousand of them must not hold a thousand large requests.
    pub(crate) fn drop_large_request(mut self) -> Self {
        self.sent = self.sent.filter(|sent| sent.len() <= LARGEST_KEPT);
        self
    }

    pub(crate) fn redact(&self, mut fault: ModelError) -> ModelError {
        match &mut fault {
            ModelError::Failed { message, .. }
            | ModelError::Rejected { message, .. }
            | ModelError::Unreachable(message) => {
                self.redact_text(message);
            }
            // The rest holds our own words.
            _ => {}
        }
        fault
    }

    fn redact_text(&self, text: &mut String) {
        if !self.key.is_empty() {
            *text = text.replace(self.key.reveal(), "••••");
        }
        for secret in &self.secrets {
            *text = text.replace(secret, "••••");
        }
        *text = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
            text.truncate(end);
            text.push('…');
        }
        if self.may_quote_request(text) {
            "message withheld: it may quote the request".clone_into(text);
        }
    }

    fn may_quote_request(&self, text: &str) -> bool {
        let Some(sent) = &self.sent else { return !text.is_empty() };
        // A model's name is long and says what is wrong, so it may be named.
        let text = if self.model.is_empty() { text.to_owned() } else { text.replace(&self.model, "") };
        // So may the names of a request's fields, which are ours and not the person's.
        let text: Vec<&str> =
            text.split_inclusive([' ', '`', '\'', '"']).filter(|word| !word.contains('_')).collect();
        let text = text.concat();
        let mut pieces = text.as_bytes().windows(QUOTATION);
        pieces.any(|piece| memchr::memmem::find(sent, piece).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::WireFormat;

    fn scrub(sent: &'static str) -> ErrorScrubber {
        let target = ModelTarget {
            key: ProviderKey::new("sk-secret"),
            ..ModelTarget::new("t", WireFormat::OpenAi, "", "model-1")
        };
        ErrorScrubber::new(&target, &Bytes::from_static(sent.as_bytes()))
    }

    fn cleaned(sent: &'static str, message: &str) -> String {
        match scrub(sent).redact(ModelError::Rejected { status: 400, message: message.to_owned() }) {
            ModelError::Rejected { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_key_and_no_prompt_stays_in_a_fault() {
        assert_eq!(cleaned("", "the key sk-secret is wrong"), "the key •••• is wrong");
        let sent = r#"{"content":"Kavita owes 500 rupees since last Tuesday"}"#;
        let quoted = cleaned(sent, "can't read: Kavita owes 500 rupees since last Tuesday");
        assert!(!quoted.contains("Kavita"), "{quoted}");
        assert!(!cleaned(r#"{"content":"Kavita PIN 4321"}"#, "what is Kavita PIN 4321?").contains("4321"));
        assert_eq!(cleaned(sent, "no such model: model-1"), "no such model: model-1");
        let field = r#"{"max_completion_tokens":256}"#;
        assert!(cleaned(field, "`max_completion_tokens` is too large").contains("max_completion_tokens"));
        assert_eq!(cleaned("", "wrong\u{1b}[2J"), "wrong [2J");
        assert!(cleaned("", &"é".repeat(1000)).len() < 700);
        let large = ErrorScrubber { sent: Some(Bytes::from(vec![b'x'; LARGEST_KEPT + 1])), ..scrub("") };
        let fault = ModelError::Failed { status: 529, message: "Overloaded".to_owned(), retry_after: None };
        assert_eq!(large.clone().redact(fault.clone()), fault);
        assert_ne!(
            large.drop_large_request().redact(fault.clone()),
            fault,
            "what can't be compared is not shown"
        );
    }

    #[test]
    fn headers_and_query_are_secrets_too() {
        let mut target = ModelTarget::new("t", WireFormat::OpenAi, "", "m");
        target.headers = vec![("X-Secret".to_owned(), "topsecret-1".to_owned())];
        target.dialect.query = vec![("code".to_owned(), "hidden-22".to_owned())];
        let scrub = ErrorScrubber::new(&target, &Bytes::new());
        let fault = ModelError::Failed {
            status: 500,
            message: "topsecret-1 hidden-22".to_owned(),
            retry_after: None,
        };
        assert!(scrub.redact(fault).to_string().ends_with("•••• ••••"));
    }

    #[test]
    fn statuses_by_what_is_done_about_them() {
        let classed = |status, kind: &str, message: &str| {
            ProviderErrorResponse { status, body: Value::Null, retry_after: None }
                .classify(kind, message)
                .code()
        };
        assert_eq!(classed(401, "", ""), "unauthorised");
        assert_eq!(classed(403, "permission_error", ""), "unauthorised");
        assert_eq!(classed(403, "", "your input was flagged"), "rejected");
        assert_eq!(classed(429, "rate_limit_error", ""), "rate_limited");
        assert_eq!(classed(429, "insufficient_quota", ""), "unauthorised");
        assert_eq!(classed(400, "invalid_request_error", "prompt is too long: 9 tokens"), "too_long");
        assert_eq!(classed(400, "invalid_request_error", "no"), "rejected");
        assert_eq!(classed(404, "", ""), "rejected");
        assert_eq!(classed(307, "", ""), "rejected");
        for status in [408, 500, 502, 503, 504, 529] {
            assert_eq!(classed(status, "", ""), "provider_failed");
        }
    }
}
