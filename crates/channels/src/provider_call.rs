//! Asking a provider over HTTP: within a time and a size, and with an account of whether it may have heard us.

use std::time::Duration;

use munshi_conversations::outbox::SendFault;
use munshi_http::{RequestBuilder, Response, StatusCode, list_causes, read_body};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::link::LinkFault;
use crate::links::json::describe_fault;

/// A provider that has not answered by then is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Answers are small; files are streamed.
const LARGEST_ANSWER: usize = 1024 * 1024;
/// Of what a provider says of a failure, so much is told.
const LONGEST_REASON: usize = 300;
/// No provider's pause is believed to be longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// What a provider answered, whichever status it has.
#[derive(Clone, Debug)]
pub(crate) struct ProviderAnswer {
    pub status: StatusCode,
    /// When it is to be asked again, where it says so.
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) struct CallFault {
    pub why: String,
    /// Whether the provider may have heard us all the same.
    pub may_have_arrived: bool,
}

/// Asks, and reads the answer. Addresses and headers stand in no fault: some providers have secrets there.
pub(crate) async fn ask(request: RequestBuilder) -> Result<ProviderAnswer, CallFault> {
    let mut response = open(request).await?;
    let (status, retry_after) = (response.status(), read_pause(&response));
    let mut body = Vec::new();
    let read = tokio::time::timeout(LONGEST_WAIT, read_body(&mut response, LARGEST_ANSWER, &mut body)).await;
    let broken = |why: &str| CallFault { why: why.to_owned(), may_have_arrived: true };
    let read = read.map_err(|_| broken("its answer did not end in time"))?;
    read.map_err(|_| broken("its answer broke off, or is too large"))?;
    Ok(ProviderAnswer { status, retry_after, body })
}

/// Asks, and leaves the answer's body to whoever reads it.
pub(crate) async fn open(request: RequestBuilder) -> Result<Response, CallFault> {
    let sent = tokio::time::timeout(LONGEST_WAIT, request.send()).await;
    let timed_out = || CallFault { why: "it did not answer in time".to_owned(), may_have_arrived: true };
    sent.map_err(|_| timed_out())?.map_err(|error| {
        let why = list_causes(&error).join(": ");
        let why = if why.is_empty() { "it can't be reached".to_owned() } else { why };
        CallFault { may_have_arrived: !error.is_connect() && !error.is_builder(), why }
    })
}

fn read_pause(response: &Response) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs).map(|pause| pause.min(LONGEST_PAUSE))
}

impl ProviderAnswer {
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, LinkFault> {
        serde_json::from_slice(&self.body).map_err(|error| {
            LinkFault::passing(format!("its answer can't be read: it is {}", describe_fault(&error)))
        })
    }

    /// Its words, as far as they help whoever looks after the account.
    pub(crate) fn reason(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect();
        format!("{}: {}", self.status.as_u16(), text.trim())
    }

    /// A failure by its status alone: too many and 5xx pass, others last.
    pub(crate) fn fault(&self, what: &str) -> LinkFault {
        let why = format!("{what}: {}", self.reason());
        let passes = self.status == StatusCode::TOO_MANY_REQUESTS
            || self.status == StatusCode::REQUEST_TIMEOUT
            || self.status.is_server_error();
        let fault = if passes { LinkFault::passing(why) } else { LinkFault::refused(why) };
        LinkFault { retry_after: self.retry_after, ..fault }
    }

    /// The same for what was to be sent: a server that fails may have sent it all the same.
    pub(crate) fn send_fault(&self, what: &str) -> SendFault {
        match self.status.is_server_error() && self.status != StatusCode::SERVICE_UNAVAILABLE {
            true => SendFault::unknown(format!("{what}: {}", self.reason())),
            false => self.fault(what).into(),
        }
    }
}

impl From<CallFault> for LinkFault {
    fn from(fault: CallFault) -> Self {
        Self::passing(fault.why)
    }
}

impl From<CallFault> for SendFault {
    fn from(fault: CallFault) -> Self {
        match fault.may_have_arrived {
            true => Self::unknown(fault.why),
            false => Self::passing(fault.why),
        }
    }
}
