//! Asking Slack's Web API. It answers 200 to most of what it refuses: what counts is `ok`, and the word in `error`.

use std::time::Duration;

use munshi_conversations::outbox::SendFault;
use munshi_http::{RequestBuilder, StatusCode, Url, header::AUTHORIZATION, header::CONTENT_TYPE};
use serde_json::Value;

use crate::link::{LinkFault, LinkParts};
use crate::provider_call::{CallFault, ProviderAnswer, ask};

const API: &str = "https://slack.com/api";
/// Where Slack says too much and not how long.
const PAUSE: Duration = Duration::from_secs(30);

/// Why Slack did not do what it was asked.
#[derive(Clone, Debug)]
pub(super) enum SlackFault {
    /// Before anything was asked.
    Unasked(LinkFault),
    Call(CallFault),
    /// An answer that is none of its API's.
    Status(ProviderAnswer),
    /// Its word for it.
    Refused {
        error: String,
        needed: Option<String>,
        retry_after: Option<Duration>,
    },
}

/// What one of its words is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlackErrorKind {
    /// The app or its token: for whoever looks after it to mend.
    Account,
    /// Nobody is reached there.
    Recipient,
    /// Too much at once.
    Limited,
    /// Slack itself; nothing was done.
    Passing,
    /// Slack itself; something may have been done.
    Unclear,
    /// What was asked for can't be.
    Request,
}

fn classify(error: &str) -> SlackErrorKind {
    match error {
        "channel_not_found"
        | "user_not_found"
        | "users_not_found"
        | "is_archived"
        | "user_disabled"
        | "cannot_dm_bot"
        | "messages_tab_disabled"
        | "user_not_visible" => SlackErrorKind::Recipient,
        "account_inactive"
        | "invalid_auth"
        | "not_authed"
        | "token_revoked"
        | "token_expired"
        | "missing_scope"
        | "no_permission"
        | "not_allowed_token_type"
        | "org_login_required"
        | "ekm_access_denied"
        | "access_denied"
        | "not_in_channel"
        | "restricted_action"
        | "restricted_action_read_only_channel"
        | "restricted_action_thread_only_channel"
        | "restricted_action_non_threadable_channel"
        | "restricted_action_thread_locked"
        | "team_access_not_granted"
        | "two_factor_setup_required"
        | "accesslimited"
        | "message_limit_exceeded"
        | "storage_limit_reached" => SlackErrorKind::Account,
        "ratelimited" | "rate_limited" => SlackErrorKind::Limited,
        "service_unavailable" | "request_timeout" | "team_added_to_org" => SlackErrorKind::Passing,
        // "Some aspect of the operation may have succeeded", as its documents say.
        "internal_error" | "fatal_error" => SlackErrorKind::Unclear,
        _ => SlackErrorKind::Request,
    }
}

/// What to do about it, where somebody can do something.
fn advise(error: &str, needed: Option<&str>) -> String {
    match error {
        "not_in_channel" => {
            "Slack says not_in_channel: invite the app to the channel with /invite".to_owned()
        }
        "missing_scope" => {
            let scope = needed.unwrap_or("another scope");
            format!(
                "Slack says missing_scope: add {scope} under OAuth & Permissions and install the app again"
            )
        }
        "account_inactive" | "invalid_auth" | "not_authed" | "token_revoked" | "token_expired" => format!(
            "Slack says {error}: install the app again and store its new token, which begins with xoxb-"
        ),
        "channel_not_found" => {
            "Slack says channel_not_found: it is gone, or private and the app is not in it".to_owned()
        }
        _ => format!("Slack says {error}"),
    }
}

impl SlackFault {
    /// Its word, where it has given one.
    pub(super) fn error(&self) -> Option<&str> {
        match self {
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The same for what is not seen by anybody yet when it breaks off.
    pub(super) fn before_sending(self) -> SendFault {
        let fault = SendFault::from(self);
        match fault.happened {
            munshi_conversations::outbox::DeliveryCertainty::Maybe => SendFault::passing(fault.why),
            munshi_conversations::outbox::DeliveryCertainty::No => fault,
        }
    }
}

impl From<SlackFault> for SendFault {
    fn from(fault: SlackFault) -> Self {
        match fault {
            SlackFault::Unasked(fault) => fault.into(),
            SlackFault::Call(fault) => fault.into(),
            SlackFault::Status(answer) if answer.status == StatusCode::TOO_MANY_REQUESTS => {
                Self::limited("Slack takes no more for now", answer.retry_after.unwrap_or(PAUSE))
            }
            // It says that it is fine, and what it says can't be read.
            SlackFault::Status(answer) if answer.status.is_success() => {
                Self::unknown("Slack's answer can't be read")
            }
            SlackFault::Status(answer) => answer.send_fault("Slack refused"),
            SlackFault::Refused { error, needed, retry_after } => {
                let why = advise(&error, needed.as_deref());
                match classify(&error) {
                    SlackErrorKind::Account | SlackErrorKind::Passing => Self::passing(why),
                    SlackErrorKind::Recipient => Self::unreachable(why),
                    SlackErrorKind::Limited => Self::limited(why, retry_after.unwrap_or(PAUSE)),
                    SlackErrorKind::Unclear => Self::unknown(why),
                    SlackErrorKind::Request => Self::refused(why),
                }
            }
        }
    }
}

impl From<SlackFault> for LinkFault {
    fn from(fault: SlackFault) -> Self {
        match fault {
            SlackFault::Unasked(fault) => fault,
            SlackFault::Call(fault) => fault.into(),
            SlackFault::Status(answer) if answer.status.is_success() => {
                Self::passing("Slack's answer can't be read")
            }
            SlackFault::Status(answer) => answer.fault("Slack refused"),
            SlackFault::Refused { error, needed, retry_after } => {
                let why = advise(&error, needed.as_deref());
                let fault = match classify(&error) {
                    SlackErrorKind::Limited | SlackErrorKind::Passing | SlackErrorKind::Unclear => {
                        Self::passing(why)
                    }
                    _ => Self::refused(why),
                };
                Self { retry_after, ..fault }
            }
        }
    }
}

/// Calls a method with what it takes as JSON.
pub(super) async fn call_method(parts: &LinkParts, method: &str, body: &Value) -> Result<Value, SlackFault> {
    let request = build_request(parts, method).await.map_err(SlackFault::Unasked)?;
    let request = request.header(CONTENT_TYPE, "application/json; charset=utf-8").body(body.to_string());
    read_answer(&ask(request).await.map_err(SlackFault::Call)?)
}

/// Calls a method with what it takes as a form: those that read take no JSON.
pub(super) async fn call_form(
    parts: &LinkParts,
    method: &str,
    form: &[(&str, &str)],
) -> Result<Value, SlackFault> {
    let request = build_request(parts, method).await.map_err(SlackFault::Unasked)?;
    let broken = |_| SlackFault::Unasked(LinkFault::refused("what is asked can't be written as a form"));
    let body = serde_urlencoded::to_string(form).map_err(broken)?;
    let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
    read_answer(&ask(request).await.map_err(SlackFault::Call)?)
}

/// A request that proves itself by the app's token.
pub(super) async fn build_request(parts: &LinkParts, method: &str) -> Result<RequestBuilder, LinkFault> {
    let url = parts.build_url(API, method)?;
    let token = parts.open(&parts.account.token).await?;
    Ok(parts.post(url).header(AUTHORIZATION, format!("Bearer {}", token.expose())))
}

pub(super) fn read_answer(answer: &ProviderAnswer) -> Result<Value, SlackFault> {
    let body = answer.json().filter(|_| answer.status.is_success());
    let Some(body) = body.filter(|body| body["ok"].is_boolean()) else {
        return Err(SlackFault::Status(answer.clone()));
    };
    if body["ok"] == true {
        return Ok(body);
    }
    let text = |key: &str| body[key].as_str().map(|text| text.chars().take(100).collect::<String>());
    Err(SlackFault::Refused {
        error: text("error").unwrap_or_else(|| "no error's name".to_owned()),
        needed: text("needed"),
        retry_after: answer.retry_after,
    })
}

/// Whether an address is Slack's, or of what stands in its place in tests: the token goes nowhere else.
pub(super) fn is_own_place(parts: &LinkParts, url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let is_slack = url.scheme() == "https" && (host == "slack.com" || host.ends_with(".slack.com"));
    let instead = parts.account.api_url.as_deref().and_then(|api| api.parse::<Url>().ok());
    match instead {
        Some(api) => api.origin() == url.origin(),
        None => is_slack,
    }
}

#[cfg(test)]
mod tests {
    use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};

    use super::*;

    fn answer(status: u16, body: &str, retry_after: Option<u64>) -> Result<Value, SlackFault> {
        let status = StatusCode::from_u16(status).unwrap();
        let retry_after = retry_after.map(Duration::from_secs);
        read_answer(&ProviderAnswer { status, retry_after, body: body.as_bytes().to_vec() })
    }

    fn send_fault(status: u16, body: &str) -> SendFault {
        answer(status, body, Some(7)).unwrap_err().into()
    }

    #[test]
    fn a_refusal_is_what_its_word_says() {
        use SendRetryability::{No, Yes};
        let refusal = |error: &str| send_fault(200, &format!("{{\"ok\":false,\"error\":\"{error}\"}}"));
        for (error, retryable, happened, subject) in [
            ("channel_not_found", No, DeliveryCertainty::No, FaultSubject::Recipient),
            ("is_archived", No, DeliveryCertainty::No, FaultSubject::Recipient),
            ("not_in_channel", Yes, DeliveryCertainty::No, FaultSubject::Account),
            ("account_inactive", Yes, DeliveryCertainty::No, FaultSubject::Account),
            ("missing_scope", Yes, DeliveryCertainty::No, FaultSubject::Account),
            ("msg_too_long", No, DeliveryCertainty::No, FaultSubject::Account),
            ("invalid_blocks", No, DeliveryCertainty::No, FaultSubject::Account),
            ("internal_error", Yes, DeliveryCertainty::Maybe, FaultSubject::Account),
            ("service_unavailable", Yes, DeliveryCertainty::No, FaultSubject::Account),
        ] {
            let fault = refusal(error);
            assert_eq!(
                (fault.retryable, fault.happened, fault.subject),
                (retryable, happened, subject),
                "{error}"
            );
            assert!(fault.why.contains(error), "{}", fault.why);
        }
        assert_eq!(refusal("ratelimited").retry_after, Some(Duration::from_secs(7)));
    }

    #[test]
    fn what_is_no_answer_of_its_api_is_told_by_its_status() {
        assert_eq!(send_fault(429, "").retry_after, Some(Duration::from_secs(7)));
        assert_eq!(send_fault(500, "").happened, DeliveryCertainty::Maybe);
        assert_eq!(send_fault(503, "").happened, DeliveryCertainty::No);
        for body in ["", "<html>", "[]", "{}", "{\"ok\":1}"] {
            assert_eq!(send_fault(200, body).happened, DeliveryCertainty::Maybe, "{body}");
        }
        assert_eq!(answer(200, "{\"ok\":true,\"ts\":\"1\"}", None).unwrap()["ts"], "1");
    }
}
