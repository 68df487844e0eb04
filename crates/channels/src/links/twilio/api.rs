//! Asking Twilio: sending, files, and how a number is set up.

use munshi_conversations::outbox::{SendFault, SendReceipt};
use munshi_http::{RequestBuilder, Response, StatusCode, Url, header};
use serde::Deserialize;

use super::super::sms::{hide_numbers, slow_down};
use super::told::explain;
use crate::link::{LinkFault, LinkParts};
use crate::provider_call::{ProviderAnswer, ask, open};

/// The provider's own.
pub(super) const API: &str = "https://api.twilio.com";

/// Files lie with somebody else at times, who is led to by so many steps at most.
const MOST_STEPS: usize = 3;

/// What Twilio says of a failure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct TwilioFault {
    code: Option<i64>,
    message: String,
}

/// What Twilio says of a message that it took.
#[derive(Clone, Debug, Deserialize)]
struct TwilioMessage {
    sid: String,
}

/// A number of the account.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TwilioNumber {
    pub sid: String,
    pub friendly_name: String,
    pub sms_url: Option<String>,
    pub sms_method: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct TwilioNumbers {
    incoming_phone_numbers: Vec<TwilioNumber>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TwilioAccount {
    pub friendly_name: String,
    pub status: String,
}

/// The account's own part of the API.
pub(super) fn build_url(parts: &LinkParts, path: &str) -> Result<Url, LinkFault> {
    parts.build_url(API, &format!("2010-04-01/Accounts/{}{path}", parts.account.account_id))
}

/// With the account's name and token.
async fn sign(parts: &LinkParts, request: RequestBuilder) -> Result<RequestBuilder, LinkFault> {
    let token = parts.open(&parts.account.token).await?;
    Ok(request.basic_auth(&parts.account.account_id, Some(token.expose())))
}

fn put_form(request: RequestBuilder, fields: &[(&str, &str)]) -> Result<RequestBuilder, LinkFault> {
    let body = serde_urlencoded::to_string(fields)
        .map_err(|_| LinkFault::refused("the message can't be written as a form"))?;
    Ok(request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body))
}

/// Sends one text message.
pub(super) async fn send(parts: &LinkParts, fields: &[(&str, &str)]) -> Result<SendReceipt, SendFault> {
    let request = parts.post(build_url(parts, "/Messages.json")?);
    let request = sign(parts, put_form(request, fields)?).await?;
    let answer = ask(request).await.map_err(SendFault::from)?;
    if answer.status.is_success() {
        // It has the message, whatever else it says.
        let sent: Option<TwilioMessage> = answer.read().ok();
        return Ok(SendReceipt { outside_id: sent.map(|sent| sent.sid) });
    }
    Err(read_send_fault(&answer))
}

/// What a refusal means for the message. Twilio's own words may have the number.
fn read_send_fault(answer: &ProviderAnswer) -> SendFault {
    let fault: TwilioFault = answer.read().unwrap_or_default();
    let code = fault.code.map(|code| code.to_string()).unwrap_or_default();
    let why = describe(answer, &fault);
    match (answer.status, code.as_str()) {
        (_, "21211" | "21610" | "21612" | "21614") => SendFault::unreachable(why),
        (StatusCode::TOO_MANY_REQUESTS, _) | (_, "20429" | "14107") => slow_down(why, answer.retry_after),
        // Somebody mends the token, or fills the account up.
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PAYMENT_REQUIRED, _) => {
            SendFault::passing(why)
        }
        (StatusCode::SERVICE_UNAVAILABLE, _) => {
            SendFault { retry_after: answer.retry_after, ..SendFault::passing(why) }
        }
        (status, _) if status.is_server_error() => SendFault::unknown(why),
        _ => SendFault::refused(why),
    }
}

fn describe(answer: &ProviderAnswer, fault: &TwilioFault) -> String {
    let status = answer.status.as_u16();
    match fault.code {
        Some(code) => {
            let said = hide_numbers(&fault.message);
            format!("Twilio refused it, error {code}: {} ({})", explain(&code.to_string()), said.trim())
        }
        None => format!("Twilio answered {status}"),
    }
}

fn read_fault(answer: &ProviderAnswer) -> LinkFault {
    let fault: TwilioFault = answer.read().unwrap_or_default();
    LinkFault { what: describe(answer, &fault), ..answer.fault("Twilio") }
}

/// Who the account is.
pub(super) async fn read_account(parts: &LinkParts) -> Result<TwilioAccount, LinkFault> {
    let url = parts.build_url(API, &format!("2010-04-01/Accounts/{}.json", parts.account.account_id))?;
    let answer = ask(sign(parts, parts.get(url)).await?).await?;
    if answer.status.is_success() { answer.read() } else { Err(read_fault(&answer)) }
}

/// Our number as the account has it; none where it is not the account's.
pub(super) async fn find_number(parts: &LinkParts, number: &str) -> Result<Option<TwilioNumber>, LinkFault> {
    let mut url = build_url(parts, "/IncomingPhoneNumbers.json")?;
    url.query_pairs_mut().append_pair("PhoneNumber", number);
    let answer = ask(sign(parts, parts.get(url)).await?).await?;
    if !answer.status.is_success() {
        return Err(read_fault(&answer));
    }
    let found: TwilioNumbers = answer.read()?;
    Ok(found.incoming_phone_numbers.into_iter().next())
}

/// Has the number's messages told to an address.
pub(super) async fn set_webhook(parts: &LinkParts, number: &TwilioNumber, to: &str) -> Result<(), LinkFault> {
    if !number.sid.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(LinkFault::refused("Twilio names the number by what is no id"));
    }
    let request = parts.post(build_url(parts, &format!("/IncomingPhoneNumbers/{}.json", number.sid))?);
    let request = put_form(request, &[("SmsUrl", to), ("SmsMethod", "POST")])?;
    let answer = ask(sign(parts, request).await?).await?;
    if answer.status.is_success() { Ok(()) } else { Err(read_fault(&answer)) }
}

/// A file that came with a message. The account's token goes to the API alone, and not to where that leads.
pub(super) async fn open_file(parts: &LinkParts, reference: &str) -> Result<Response, LinkFault> {
    let own = build_url(parts, "/")?;
    let mut url: Url = reference.parse().map_err(|_| LinkFault::refused("the file has no address"))?;
    if url.origin() != own.origin() || !url.path().starts_with(own.path()) {
        return Err(LinkFault::refused("the file is not in this account"));
    }
    let mut request = sign(parts, parts.get(url.clone())).await?;
    for _ in 0..=MOST_STEPS {
        let response = open(request).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if !status.is_redirection() {
            let why = format!("Twilio answered {} for the file", status.as_u16());
            let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(if passes { LinkFault::passing(why) } else { LinkFault::refused(why) });
        }
        let next = response.headers().get(header::LOCATION).and_then(|next| next.to_str().ok());
        url = next
            .and_then(|next| url.join(next).ok())
            .filter(|next| next.scheme() == "https" || next.origin() == own.origin())
            .ok_or_else(|| LinkFault::refused("the file leads nowhere"))?;
        // No name is resolved for a number, so nobody else looks whether it is of a private network.
        if let Some(why) = parts.clients.allowed.find_refusal(&url) {
            return Err(LinkFault::refused(why));
        }
        request = parts.get(url.clone());
    }
    Err(LinkFault::refused("the file leads from one place to the next"))
}

#[cfg(test)]
mod tests {
    use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};

    use super::*;

    fn fault(status: u16, body: &str) -> SendFault {
        read_send_fault(&ProviderAnswer {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: None,
            body: body.as_bytes().to_vec(),
        })
    }

    #[test]
    fn a_refusal_says_what_became_of_the_message() {
        let gone = fault(
            400,
            r#"{"code":21211,"message":"The 'To' number +919812345678 is not valid.","status":400}"#,
        );
        assert_eq!((gone.subject, gone.retryable), (FaultSubject::Recipient, SendRetryability::No));
        assert!(!gone.why.contains("98123"), "{}", gone.why);
        let stopped = fault(400, r#"{"code":21610,"message":"unsubscribed"}"#);
        assert!(stopped.subject == FaultSubject::Recipient && stopped.why.contains("asked to get no"));
        let busy = fault(429, r#"{"code":20429,"message":"Too Many Requests"}"#);
        assert!(busy.retry_after.is_some() && busy.retryable == SendRetryability::Yes);
        let token = fault(401, r#"{"code":20003,"message":"Authenticate"}"#);
        assert_eq!((token.retryable, token.happened), (SendRetryability::Yes, DeliveryCertainty::No));
        assert_eq!(fault(500, "oops").happened, DeliveryCertainty::Maybe);
        assert_eq!(fault(503, "").happened, DeliveryCertainty::No);
        assert_eq!(fault(400, r#"{"code":21617,"message":"long"}"#).retryable, SendRetryability::No);
    }
}
