//! Telegram's Bot API: one method a call. The bot's token stands in every address, so no address stands anywhere else.

use std::time::Duration;

use munshi_conversations::outbox::SendFault;
use munshi_http::header::CONTENT_TYPE;
use munshi_http::{RequestBuilder, Url};
use munshi_safety::vault::VaultSecret;
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;

use crate::link::{FaultDuration, LinkFault, LinkParts};
use crate::provider_call::{CallFault, ask};

const PLACE: &str = "https://api.telegram.org";
/// Where a refusal for too much says not how long.
const USUAL_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// A bot's token, as it was opened for one thing.
pub(super) struct BotToken {
    secret: VaultSecret,
    /// The bot's own number, which is no secret.
    pub bot: i64,
}

impl BotToken {
    pub(super) async fn open(parts: &LinkParts) -> Result<Self, LinkFault> {
        let secret = parts.open(&parts.account.token).await?;
        match parse_bot(secret.expose()) {
            Some(bot) => Ok(Self { bot, secret }),
            None => Err(LinkFault::refused(
                "the token is not one of a Telegram bot: it looks like 123456:ABC, as BotFather gives it",
            )),
        }
    }

    fn expose(&self) -> &str {
        self.secret.expose().trim()
    }

    /// What Telegram sends along with what it tells us of an account: only who has the token can reckon it.
    pub(super) fn sign_account(&self, parts: &LinkParts) -> String {
        let tag = hmac::sign(&self.webhook_key(), &webhook_context(parts));
        tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// In a time that tells nothing of how much of it is right.
    pub(super) fn is_signed(&self, parts: &LinkParts, given: &str) -> bool {
        let Some(tag) = decode_hex(given) else { return false };
        hmac::verify(&self.webhook_key(), &webhook_context(parts), &tag).is_ok()
    }

    fn webhook_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.expose().as_bytes())
    }
}

fn webhook_context(parts: &LinkParts) -> Vec<u8> {
    format!("munshi telegram webhook\0{}\0{}", parts.tenant, parts.name).into_bytes()
}

/// It stands in an address, so nothing else may.
fn parse_bot(token: &str) -> Option<i64> {
    let (bot, rest) = token.trim().split_once(':')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let fits = !rest.is_empty() && rest.len() <= 200 && rest.chars().all(is_plain);
    let bot: i64 = bot.parse().ok()?;
    (fits && bot > 0).then_some(bot)
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..32).map(|at| pair(at * 2)).collect()
}

/// Why a method was not done.
#[derive(Clone, Debug)]
pub(super) enum BotApiFault {
    /// Before anything was asked.
    Link(LinkFault),
    /// There is no answer.
    Call(CallFault),
    Refused(BotApiRefusal),
}

/// What Telegram says of it.
#[derive(Clone, Debug, Default)]
pub(super) struct BotApiRefusal {
    pub code: u16,
    pub description: String,
    pub retry_after: Option<Duration>,
    /// The group lives on under another number.
    pub migrate_to: Option<i64>,
}

/// The one shape of all answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BotApiAnswer {
    ok: bool,
    result: Value,
    error_code: Option<u16>,
    description: Option<String>,
    parameters: Option<AnswerParameters>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnswerParameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

/// Asks for a method with its parameters.
pub(super) async fn call(
    parts: &LinkParts,
    token: &BotToken,
    method: &str,
    parameters: &Value,
) -> Result<Value, BotApiFault> {
    let request = post(parts, token, method)?;
    let request = request.header(CONTENT_TYPE, "application/json").body(parameters.to_string());
    send(request, token).await
}

/// The same with files.
pub(super) async fn call_with_form(
    parts: &LinkParts,
    token: &BotToken,
    method: &str,
    (media_type, body): (String, Vec<u8>),
) -> Result<Value, BotApiFault> {
    let request = post(parts, token, method)?.header(CONTENT_TYPE, media_type).body(body);
    send(request, token).await
}

fn post(parts: &LinkParts, token: &BotToken, method: &str) -> Result<RequestBuilder, LinkFault> {
    let url = parts.build_url(PLACE, &format!("bot{}/{method}", token.expose()))?;
    Ok(parts.post(url))
}

/// Where a file lies. A path of the server's that leads elsewhere is none.
pub(super) fn file_url(parts: &LinkParts, token: &BotToken, path: &str) -> Result<Url, LinkFault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if path.is_empty() || path.starts_with('/') || path.contains("..") || !path.chars().all(is_plain) {
        return Err(LinkFault::refused("Telegram names no place of the file that can be opened"));
    }
    parts.build_url(PLACE, &format!("file/bot{}/{path}", token.expose()))
}

async fn send(request: RequestBuilder, token: &BotToken) -> Result<Value, BotApiFault> {
    let answer = ask(request).await.map_err(BotApiFault::Call)?;
    let Ok(read) = serde_json::from_slice::<BotApiAnswer>(&answer.body) else {
        let code = answer.status.as_u16();
        // Something before Telegram answered, such as a proxy.
        return Err(match answer.status.is_success() {
            true => BotApiFault::Call(CallFault {
                why: "Telegram's answer can't be read".to_owned(),
                may_have_arrived: true,
            }),
            false => BotApiFault::Refused(BotApiRefusal {
                code,
                retry_after: answer.retry_after,
                ..BotApiRefusal::default()
            }),
        });
    };
    if read.ok {
        return Ok(read.result);
    }
    let said = read.parameters.unwrap_or_default();
    let description = read.description.unwrap_or_default().replace(token.expose(), "…");
    Err(BotApiFault::Refused(BotApiRefusal {
        code: read.error_code.unwrap_or(answer.status.as_u16()),
        description: description.chars().filter(|c| !c.is_control()).take(300).collect(),
        retry_after: said
            .retry_after
            .map(Duration::from_secs)
            .or(answer.retry_after)
            .map(|pause| pause.min(LONGEST_PAUSE)),
        migrate_to: said.migrate_to_chat_id,
    }))
}

impl BotApiRefusal {
    fn describe(&self) -> String {
        match self.description.is_empty() {
            true => format!("Telegram answers {}", self.code),
            false => format!("Telegram says: {} ({})", self.description, self.code),
        }
    }

    /// The bot was deleted, or its token was replaced.
    pub(super) fn is_token(&self) -> bool {
        self.code == 401 || (self.code == 404 && self.says("not found") && !self.says("chat"))
    }

    pub(super) fn says(&self, words: &str) -> bool {
        self.description.to_ascii_lowercase().contains(words)
    }

    /// Nothing will ever reach that chat.
    fn is_unreachable(&self) -> bool {
        let gone = [
            "chat not found",
            "user not found",
            "peer_id_invalid",
            "user is deactivated",
            "group chat was deactivated",
            "not enough rights",
            "have no rights",
            "chat_write_forbidden",
        ];
        self.code == 403 || (self.code == 400 && gone.iter().any(|words| self.says(words)))
    }
}

impl From<LinkFault> for BotApiFault {
    fn from(fault: LinkFault) -> Self {
        Self::Link(fault)
    }
}

impl From<BotApiFault> for LinkFault {
    fn from(fault: BotApiFault) -> Self {
        match fault {
            BotApiFault::Link(fault) => fault,
            BotApiFault::Call(fault) => fault.into(),
            BotApiFault::Refused(said) if said.is_token() => Self::refused(
                "Telegram does not know the bot's token: take it from BotFather anew and put it in the vault",
            ),
            BotApiFault::Refused(said) => {
                let passes = said.code == 429 || said.code == 409 || said.code >= 500;
                let lasting = if passes { FaultDuration::Passing } else { FaultDuration::Lasting };
                let retry_after = said.retry_after.or((said.code == 429).then_some(USUAL_PAUSE));
                Self { what: said.describe(), lasting, retry_after }
            }
        }
    }
}

impl From<BotApiFault> for SendFault {
    fn from(fault: BotApiFault) -> Self {
        match fault {
            BotApiFault::Link(fault) => fault.into(),
            BotApiFault::Call(fault) => fault.into(),
            BotApiFault::Refused(said) if said.is_token() => {
                // Somebody puts the right one there.
                Self::passing(
                    "Telegram does not know the bot's token: take it from BotFather anew and put it in the vault",
                )
            }
            BotApiFault::Refused(said) if said.code == 429 => {
                Self::limited(said.describe(), said.retry_after.unwrap_or(USUAL_PAUSE))
            }
            BotApiFault::Refused(said) if said.code >= 500 => Self::unknown(said.describe()),
            BotApiFault::Refused(said) if said.is_unreachable() => Self::unreachable(said.describe()),
            BotApiFault::Refused(said) => Self::refused(said.describe()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_number_and_letters() {
        assert_eq!(parse_bot("123456:ABC-def_1\n"), Some(123_456));
        for bad in ["", "123456", ":a", "a:b", "1:", "1:a/b", "1:a b", "-1:a", "1:../x"] {
            assert_eq!(parse_bot(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_telegram_says_is_told_for_what_it_is() {
        use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendRetryability};
        let fault = |code, words: &str, after: Option<u64>| {
            SendFault::from(BotApiFault::Refused(BotApiRefusal {
                code,
                description: words.to_owned(),
                retry_after: after.map(Duration::from_secs),
                migrate_to: None,
            }))
        };
        let blocked = fault(403, "Forbidden: bot was blocked by the user", None);
        assert_eq!((blocked.subject, blocked.retryable), (FaultSubject::Recipient, SendRetryability::No));
        assert_eq!(fault(400, "Bad Request: chat not found", None).subject, FaultSubject::Recipient);
        assert_eq!(
            fault(429, "Too Many Requests: retry after 7", Some(7)).retry_after,
            Some(Duration::from_secs(7))
        );
        assert_eq!(fault(429, "", None).retry_after, Some(USUAL_PAUSE));
        let broken = fault(502, "Bad Gateway", None);
        assert_eq!(broken.happened, DeliveryCertainty::Maybe, "it may have been sent");
        let token = fault(401, "Unauthorized", None);
        assert_eq!((token.retryable, token.happened), (SendRetryability::Yes, DeliveryCertainty::No));
        let wrong = fault(400, "Bad Request: message text is empty", None);
        assert_eq!((wrong.subject, wrong.retryable), (FaultSubject::Account, SendRetryability::No));
    }
}
