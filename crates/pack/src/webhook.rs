//! What others send a pack without being asked: an address of its own for each tenant, `/hooks/{tenant}/{pack}/{name}`.
//!
//! What a pack has verified is stored before the sender is answered, once for each of the sender's ids, together with the job
//! that lets the pack handle it.

use async_trait::async_trait;
use munshi_jobs::JobFailure;
use munshi_types::{Tenant, Timestamp};

use crate::delivery::PackDelivery;
use crate::foreign::Foreign;
use crate::job::PackJobCall;
use crate::services::{PackServiceError, PackServices};

/// One delivery, as its pack handles it: like a job of the pack's own.
pub type PackDeliveryCall = PackJobCall<PackDelivery>;

#[async_trait]
pub trait PackWebhook: Send + Sync {
    /// A plain word, the only one of its pack: `tickets`.
    fn name(&self) -> &'static str;

    /// What its ids belong to. A poll that asks the same sender says the same, so that nothing is taken by both.
    fn source(&self) -> &'static str {
        self.name()
    }

    /// Headers that are stored with a delivery where they are there once, in small letters. No secret is among them.
    fn kept_headers(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it comes from whom it should, and what the sender calls it. Everything is looked at as it was sent; nothing is
    /// written.
    async fn verify(&self, request: &WebhookRequest) -> Result<WebhookVerdict, WebhookRejection>;

    /// What a sender is answered that looks at the address with GET before it uses it: by default it learns nothing.
    async fn answer_probe(&self, _request: &WebhookRequest) -> Result<String, WebhookRejection> {
        Err(WebhookRejection::Unverified("this webhook answers no GET".to_owned()))
    }

    /// Takes in a stored delivery: writes the pack's tables and begins runs, in the transaction that ends it
    /// ([`PackJobCall::finish`]). It may be asked again after a crash or a failure.
    async fn handle(&self, call: &PackDeliveryCall) -> Result<(), JobFailure>;
}

/// A request to a webhook, before anybody knows who sent it.
pub struct WebhookRequest {
    pub tenant: Tenant,
    /// As the sender has it, with its query: some sign it.
    pub url: String,
    /// By their names in small letters.
    pub headers: Vec<(String, Vec<u8>)>,
    pub query: Vec<(String, String)>,
    /// As it was sent, to the byte.
    pub body: Foreign<Vec<u8>>,
    pub now: Timestamp,
    pub services: PackServices,
}

impl WebhookRequest {
    /// A header that is there once and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let value = found.next().filter(|_| found.next().is_none())?;
        std::str::from_utf8(&value.1).ok()
    }

    /// What stands in the query under a name, once.
    pub fn query(&self, name: &str) -> Option<&str> {
        let mut found = self.query.iter().filter(|(known, _)| known == name);
        found.next().filter(|_| found.next().is_none()).map(|(_, value)| value.as_str())
    }
}

/// What a request that was verified is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookVerdict {
    /// To be stored and handled, once under the sender's id. Without one, the same body is the same delivery.
    Take { sender_id: Option<String> },
    /// A question whether we are there, with what it is to be answered. Nothing is stored.
    Answer(String),
    /// Nothing for us: answered as if it had been taken.
    Ignore,
}

/// Why a request is not taken. The sender hears none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookRejection {
    /// It is not from whom it should be, or can't be shown to be.
    Unverified(String),
    /// Nobody can say now: the sender is to come again.
    Failed(String),
}

impl From<PackServiceError> for WebhookRejection {
    fn from(error: PackServiceError) -> Self {
        match error {
            PackServiceError::NoCredential(_) => Self::Unverified(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}
