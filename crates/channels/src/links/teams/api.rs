//! Asking the Bot Framework: our own token, and what its refusals mean.

use std::time::Duration;

use munshi_conversations::outbox::SendFault;
use munshi_http::header::{AUTHORIZATION, CONTENT_TYPE};
use munshi_http::{StatusCode, Url};
use munshi_types::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::link::{LinkFault, LinkParts};
use crate::provider_call::{CallFault, ProviderAnswer, ask};

const LOGIN: &str = "https://login.microsoftonline.com";
const SCOPE: &str = "https://api.botframework.com/.default";
/// Whose the bots are that were made for everybody, as they could be once.
const EVERYBODY: &str = "botframework.com";
/// A token is used no more when it is about to end.
const RESERVE: Duration = Duration::from_secs(300);
/// Where it says too much and not how long.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_REASON: usize = 200;

/// Our token, as long as it is good.
#[derive(Default)]
pub(super) struct TeamsAccessToken(Mutex<Option<KnownTeamsToken>>);

struct KnownTeamsToken {
    text: String,
    until: Timestamp,
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    #[serde(default)]
    expires_in: u64,
}

/// Why nothing was posted, as far as anybody knows.
#[derive(Clone, Debug)]
pub(super) enum TeamsFault {
    /// Before anything was asked.
    Unasked(LinkFault),
    Call(CallFault),
    Status(ProviderAnswer),
}

impl TeamsAccessToken {
    async fn load(&self, parts: &LinkParts) -> Result<String, LinkFault> {
        let mut known = self.0.lock().await;
        let now = parts.clock.now();
        if let Some(token) = known.as_ref().filter(|token| now < token.until) {
            return Ok(token.text.clone());
        }
        let told = fetch_token(parts).await?;
        let lasts = Duration::from_secs(told.expires_in).saturating_sub(RESERVE);
        *known = Some(KnownTeamsToken { text: told.access_token.clone(), until: now.plus(lasts) });
        Ok(told.access_token)
    }

    /// One that was not taken is used no more.
    async fn forget(&self, text: &str) {
        let mut known = self.0.lock().await;
        if known.as_ref().is_some_and(|token| token.text == text) {
            *known = None;
        }
    }

    /// Whether the app's id and secret are believed.
    pub(super) async fn check(&self, parts: &LinkParts) -> Result<(), LinkFault> {
        *self.0.lock().await = None;
        self.load(parts).await.map(drop)
    }

    /// Posts something, with a new token where the one we have is not taken any more. The caller has made sure whose the address is.
    pub(super) async fn post(&self, parts: &LinkParts, url: &Url, body: &Value) -> Result<Value, TeamsFault> {
        for is_second in [false, true] {
            let token = self.load(parts).await.map_err(TeamsFault::Unasked)?;
            let request = parts.post(url.clone()).header(AUTHORIZATION, format!("Bearer {token}"));
            let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
            let answer = ask(request).await.map_err(TeamsFault::Call)?;
            if answer.status.is_success() {
                return Ok(answer.json().unwrap_or(Value::Null));
            }
            if answer.status != StatusCode::UNAUTHORIZED || is_second {
                return Err(TeamsFault::Status(answer));
            }
            self.forget(&token).await;
        }
        Err(TeamsFault::Unasked(LinkFault::passing("the Bot Framework takes no token of ours")))
    }

    /// For a file that is given out to our token.
    pub(super) async fn authorize(&self, parts: &LinkParts) -> Result<String, LinkFault> {
        Ok(format!("Bearer {}", self.load(parts).await?))
    }
}

async fn fetch_token(parts: &LinkParts) -> Result<TokenAnswer, LinkFault> {
    let account = &parts.account;
    let directory = account.owner_id.as_deref().unwrap_or(EVERYBODY);
    let url = parts.build_url(LOGIN, &format!("{directory}/oauth2/v2.0/token"))?;
    let secret = parts.open(&account.token).await?;
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", account.account_id.as_str()),
        ("client_secret", secret.expose().trim()),
        ("scope", SCOPE),
    ];
    let body =
        serde_urlencoded::to_string(form).map_err(|_| LinkFault::refused("the secret can't be sent"))?;
    let request = parts.post(url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
    let answer = ask(request).await?;
    if answer.status.is_success() {
        return answer.read();
    }
    let fault = answer.fault("Microsoft's login refused");
    let told = answer.json().unwrap_or(Value::Null);
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    // `AADSTS7000215: Invalid client secret provided.`, and much more behind it that helps nobody.
    let what: String =
        text("error_description").lines().next().unwrap_or_default().chars().take(LONGEST_REASON).collect();
    match text("error").as_str() {
        "" => Err(fault),
        error => Err(LinkFault {
            what: format!(
                "Microsoft's login refused ({error}: {what}): check account_id, owner_id (the directory's id) and the secret in the vault"
            ),
            ..fault
        }),
    }
}

impl TeamsFault {
    /// Its word for why, such as `ConversationNotFound`.
    fn code(answer: &ProviderAnswer) -> String {
        let told = answer.json().unwrap_or(Value::Null);
        let code = told["error"]["code"].as_str().unwrap_or_default();
        code.chars().take(60).collect()
    }
}

impl From<TeamsFault> for SendFault {
    fn from(fault: TeamsFault) -> Self {
        let answer = match fault {
            TeamsFault::Unasked(fault) => {
                // Whoever looks after the account mends it: nobody was written to.
                let after = fault.retry_after;
                return Self { retry_after: after, ..Self::passing(fault.what) };
            }
            TeamsFault::Call(fault) => return fault.into(),
            TeamsFault::Status(answer) => answer,
        };
        let code = TeamsFault::code(&answer);
        let why = |what: &str| format!("{what} ({} {code})", answer.status.as_u16()).replace(" )", ")");
        match answer.status.as_u16() {
            429 => Self::limited(why("Teams takes no more for now"), answer.retry_after.unwrap_or(PAUSE)),
            412 | 503 => Self::passing(why("Teams put it off")),
            401 => Self::passing(why(
                "the Bot Framework does not take the bot's token: is the bot registered with this app id?",
            )),
            404 => Self::unreachable(why("the conversation is gone")),
            403 => match code.as_str() {
                "BotDisabledByAdmin" | "ForbiddenOperationException" => {
                    Self::passing(why("Teams does not let the bot write: an admin has to allow it"))
                }
                _ => Self::unreachable(why("the bot is not in the conversation, or is blocked there")),
            },
            // Some of them come from what stands before the service, which may have taken it all the same.
            500..=599 => Self::unknown(why("Teams failed")),
            _ => Self::refused(why("Teams refused the message")),
        }
    }
}

impl From<TeamsFault> for LinkFault {
    fn from(fault: TeamsFault) -> Self {
        match fault {
            TeamsFault::Unasked(fault) => fault,
            TeamsFault::Call(fault) => fault.into(),
            TeamsFault::Status(answer) => answer.fault("Teams refused"),
        }
    }
}

#[cfg(test)]
mod tests {
    use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};

    use super::*;

    fn fault(status: u16, code: &str) -> SendFault {
        let status = StatusCode::from_u16(status).unwrap();
        let body = format!("{{\"error\":{{\"code\":\"{code}\",\"message\":\"29:meera\"}}}}").into_bytes();
        TeamsFault::Status(ProviderAnswer { status, retry_after: Some(Duration::from_secs(9)), body }).into()
    }

    #[test]
    fn a_refusal_is_what_its_status_says() {
        use DeliveryCertainty as Sent;
        use SendRetryability::{No, Yes};
        for (status, code, retryable, happened, subject) in [
            (429, "", Yes, Sent::No, FaultSubject::Account),
            (412, "", Yes, Sent::No, FaultSubject::Account),
            (401, "", Yes, Sent::No, FaultSubject::Account),
            (403, "BotNotInConversationRoster", No, Sent::No, FaultSubject::Recipient),
            (403, "BotDisabledByAdmin", Yes, Sent::No, FaultSubject::Account),
            (404, "ConversationNotFound", No, Sent::No, FaultSubject::Recipient),
            (400, "BadSyntax", No, Sent::No, FaultSubject::Account),
            (413, "MessageSizeTooBig", No, Sent::No, FaultSubject::Account),
            (500, "", Yes, Sent::Maybe, FaultSubject::Account),
            (502, "", Yes, Sent::Maybe, FaultSubject::Account),
            (504, "", Yes, Sent::Maybe, FaultSubject::Account),
        ] {
            let fault = fault(status, code);
            assert_eq!(
                (fault.retryable, fault.happened, fault.subject),
                (retryable, happened, subject),
                "{status}"
            );
            assert!(!fault.why.contains("meera") && fault.why.contains(&status.to_string()), "{}", fault.why);
        }
        assert_eq!(fault(429, "").retry_after, Some(Duration::from_secs(9)));
    }
}
