//! Asking MSG91: sending by its flows, and whether the key is good.

use munshi_conversations::outbox::{SendFault, SendReceipt};
use munshi_http::{StatusCode, header};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::sms::{hide_numbers, slow_down};
use crate::link::{LinkFault, LinkParts};
use crate::provider_call::{ProviderAnswer, ask};

/// The provider's own.
const API: &str = "https://control.msg91.com";
/// Of its own words, so many letters are told.
const LONGEST_REASON: usize = 200;

/// What it answers, whichever status it has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FlowAnswer {
    #[serde(rename = "type")]
    kind: String,
    message: Value,
    code: Value,
}

/// One message by one flow.
pub(super) struct FlowMessage<'a> {
    pub flow: &'a str,
    /// Digits alone.
    pub to: &'a str,
    pub values: Map<String, Value>,
}

pub(super) async fn send(parts: &LinkParts, message: FlowMessage<'_>) -> Result<SendReceipt, SendFault> {
    let FlowMessage { flow, to, values: mut recipient } = message;
    recipient.insert("mobiles".to_owned(), json!(to));
    let body = json!({
        "template_id": flow, "sender": parts.account.account_id, "short_url": "0", "recipients": [recipient],
    });
    let key = parts.open(&parts.account.token).await?;
    let request = parts
        .post(parts.build_url(API, "api/v5/flow")?)
        .header("authkey", key.expose())
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.to_string());
    drop(key);
    let answer = ask(request).await.map_err(SendFault::from)?;
    read_answer(&answer)
}

/// What it made of the message. It says no with a good status, too.
fn read_answer(answer: &ProviderAnswer) -> Result<SendReceipt, SendFault> {
    let said: Option<FlowAnswer> = answer.read().ok();
    if let Some(said) = &said
        && answer.status.is_success()
        && said.kind.eq_ignore_ascii_case("success")
    {
        return Ok(SendReceipt { outside_id: said.message.as_str().map(str::to_owned) });
    }
    let Some(said) = said.filter(|said| said.kind.eq_ignore_ascii_case("error")) else {
        let why = format!("MSG91 answered {}", answer.status.as_u16());
        return Err(match answer.status {
            StatusCode::TOO_MANY_REQUESTS => slow_down(why, answer.retry_after),
            // A good status with words that nobody knows may be a yes.
            status if status.is_success() => {
                SendFault::unknown(format!("{why}, and not whether it has the message"))
            }
            _ => answer.send_fault("MSG91"),
        });
    };
    let words = read_words(&said.message);
    let why = format!("MSG91 refused it: {}", hide_numbers(&words).trim());
    let (words, code) = (words.to_ascii_lowercase(), read_words(&said.code));
    let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    Err(match answer.status {
        StatusCode::TOO_MANY_REQUESTS => slow_down(why, answer.retry_after),
        status if status.is_server_error() => SendFault::unknown(why),
        // Somebody mends the key, or fills the account up.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PAYMENT_REQUIRED => {
            SendFault::passing(why)
        }
        _ if matches!(code.as_str(), "201" | "207" | "301" | "418") => SendFault::passing(why),
        _ if has(&["authentication", "authkey", "balance", "credit", "whitelist"]) => SendFault::passing(why),
        _ if has(&["mobile no", "mobile number", "invalid mobile", "invalid number"]) => {
            SendFault::unreachable(why)
        }
        _ => SendFault::refused(why),
    })
}

fn read_words(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    text.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect()
}

/// How many messages the account has paid for: who is told has a good key.
pub(super) async fn read_balance(parts: &LinkParts) -> Result<String, LinkFault> {
    let mut url = parts.build_url(API, "api/balance.php")?;
    let key = parts.open(&parts.account.token).await?;
    // It takes the key nowhere else. Addresses stand in no fault and no log.
    url.query_pairs_mut().append_pair("authkey", key.expose()).append_pair("type", "4");
    drop(key);
    let answer = ask(parts.get(url)).await?;
    let text = String::from_utf8_lossy(&answer.body).trim().trim_matches('"').to_owned();
    match answer.status.is_success() && text.parse::<f64>().is_ok() {
        true => Ok(text),
        false if answer.status.is_server_error() => {
            Err(LinkFault::passing(format!("MSG91 answered {}", answer.status.as_u16())))
        }
        false => Err(LinkFault::refused(
            "MSG91 does not take the key: copy it from its panel under Authkey, and look whether the key is for \
             this machine's address alone",
        )),
    }
}

#[cfg(test)]
mod tests {
    use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};

    use super::*;

    fn read(status: u16, body: &str) -> Result<SendReceipt, SendFault> {
        read_answer(&ProviderAnswer {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: None,
            body: body.as_bytes().to_vec(),
        })
    }

    #[test]
    fn an_answer_says_what_became_of_the_message() {
        let sent = read(200, r#"{"message":"5762846b4f8d285d378b4567","type":"success"}"#).unwrap();
        assert_eq!(sent.outside_id.as_deref(), Some("5762846b4f8d285d378b4567"));
        let refused = read(200, r#"{"message":"flow id missing","type":"error"}"#).unwrap_err();
        assert_eq!((refused.retryable, refused.happened), (SendRetryability::No, DeliveryCertainty::No));
        let key =
            read(401, r#"{"type":"error","message":"Authentication failure","code":"201"}"#).unwrap_err();
        assert_eq!(key.retryable, SendRetryability::Yes);
        let nobody =
            read(400, r#"{"type":"error","message":"Invalid mobile number 919812345678"}"#).unwrap_err();
        assert_eq!(nobody.subject, FaultSubject::Recipient);
        assert!(!nobody.why.contains("98123"), "{}", nobody.why);
        for (status, body) in
            [(200, "ok"), (500, "oops"), (502, r#"{"type":"error","message":"bad gateway"}"#)]
        {
            assert_eq!(read(status, body).unwrap_err().happened, DeliveryCertainty::Maybe, "{status} {body}");
        }
        assert!(read(429, "").unwrap_err().retry_after.is_some());
    }
}
