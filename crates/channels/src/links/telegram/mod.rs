//! Telegram, by a bot.
//!
//! Where this server has a public https address Telegram tells it what is new, with a secret word that only whoever has the bot's token can
//! reckon; elsewhere Telegram is asked. In a group the bot hears what is said to it, and nothing else.
//!
//! # Layout
//! - `bot_api`: a method of the Bot API, and what its refusals mean; `form`: files on their way there
//! - `update`: what Telegram tells; `arrivals`, `message_text`: the same as everything that arrives
//! - `outgoing`: a message in the parts that Telegram takes; `sender`: sending them
//! - `poll`: asking what is new; `inspect`: whether it works, and setting it up

mod arrivals;
mod bot_api;
mod form;
mod inspect;
mod message_text;
mod outgoing;
mod poll;
mod sender;
#[cfg(test)]
mod tests;
mod update;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream;
use munshi_conversations::outbox::ChannelSender;
use munshi_http::Response;
use munshi_types::tier::Channel;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use self::arrivals::{is_unsure, parse_message_name, read_update};
use self::bot_api::{BotToken, call, file_url};
use self::message_text::BotName;
use self::outgoing::ChatAddress;
use self::update::BotUpdate;
use crate::accounts::ReceiveWay;
use crate::incoming::{
    ArrivedFile, ArrivedMessage, ChannelRefusal, ChannelRequest, ChannelRequestMethod, ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, PolledEvents, WorkingSign};
use crate::provider_call::open;
use crate::send_rate::SendRate;

const SECRET_HEADER: &str = "x-telegram-bot-api-secret-token";
/// What Telegram gives out of one file.
const LARGEST_FILE: usize = 20 * 1024 * 1024;
/// A file that stops coming for so long has broken off.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);
/// Shown on the message that is worked on.
const WORKING: &str = "👀";

pub(crate) struct TelegramLink {
    parts: LinkParts,
    rate: SendRate,
    /// As Telegram said last who the bot is.
    bot: Mutex<Option<KnownBot>>,
    /// Whether there is surely no webhook, so that Telegram may be asked.
    may_ask: AtomicBool,
    /// Presses that are being answered.
    answers: TaskTracker,
}

/// Who the bot is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownBot {
    pub id: i64,
    pub name: String,
    /// Without `@`.
    pub username: String,
}

impl TelegramLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        Self {
            rate: SendRate::new(parts.account.per_minute),
            parts,
            bot: Mutex::default(),
            may_ask: AtomicBool::new(false),
            answers: TaskTracker::new(),
        }
    }

    /// Whether Telegram is asked, since it was said so or since it can't tell us.
    fn asks(&self) -> bool {
        let is_public = self.parts.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
        match self.parts.account.receive {
            ReceiveWay::Poll => true,
            ReceiveWay::Webhook => !is_public,
            ReceiveWay::None => false,
        }
    }

    fn known_bot(&self) -> Option<KnownBot> {
        self.bot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, bot: KnownBot) {
        *self.bot.lock().unwrap_or_else(PoisonError::into_inner) = Some(bot);
    }

    /// Who the bot is, where that is known already and the token is still the same bot's.
    fn find_known(&self, token: &BotToken) -> Option<KnownBot> {
        self.known_bot().filter(|known| known.id == token.bot)
    }

    /// Lets the button stop turning. Nobody waits for it, and where it fails nothing is lost.
    fn answer_press(self: &Arc<Self>, press: String) {
        let link = self.clone();
        self.answers.spawn(async move {
            let Ok(token) = BotToken::open(&link.parts).await else { return };
            let parameters = json!({ "callback_query_id": press });
            let answered = call(&link.parts, &token, "answerCallbackQuery", &parameters).await;
            if let Err(fault) = answered {
                let why = LinkFault::from(fault).what;
                tracing::debug!(channel = %link.parts.name, why, "a press could not be answered");
            }
        });
    }

    async fn set_reaction(
        &self,
        token: &BotToken,
        of: &ArrivedMessage,
        sign: Value,
    ) -> Result<(), LinkFault> {
        let Some((chat, message)) = parse_message_name(&of.outside_id) else { return Ok(()) };
        let parameters = json!({ "chat_id": chat, "message_id": message, "reaction": sign });
        call(&self.parts, token, "setMessageReaction", &parameters).await?;
        Ok(())
    }
}

/// One link that all who use it share, and that presses are answered by.
pub(crate) struct SharedTelegramLink(pub(crate) Arc<TelegramLink>);

impl SharedTelegramLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        Self(Arc::new(TelegramLink::new(parts)))
    }
}

#[async_trait]
impl ChannelLink for SharedTelegramLink {
    fn channel(&self) -> Channel {
        Channel::Telegram
    }

    fn address(&self) -> Option<String> {
        self.0.known_bot().map(|bot| format!("@{}", bot.username))
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self.0.clone()
    }

    fn is_asked(&self) -> bool {
        self.0.asks()
    }

    /// Telegram keeps what a bot was told for a day.
    fn replays_history(&self) -> bool {
        true
    }

    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let unverified = |why: &str| ChannelRefusal::Unverified(why.to_owned());
        if request.method != ChannelRequestMethod::Post {
            return Err(unverified("Telegram only posts"));
        }
        let given = request.header(SECRET_HEADER).ok_or_else(|| unverified("it has no secret token"))?;
        let link = &self.0;
        let token = BotToken::open(&link.parts).await?;
        if !token.is_signed(&link.parts, given) {
            return Err(unverified("its secret token is another"));
        }
        // Not the reader's own words: they may repeat what somebody wrote.
        let update: BotUpdate = serde_json::from_slice(&request.body).map_err(|_| {
            ChannelRefusal::Unreadable("an update in a shape that is unknown here".to_owned())
        })?;
        let mut known = link.find_known(&token);
        if known.is_none() && is_unsure(&update) {
            // Once in the life of a process: without our name nobody can tell whether it is for us.
            known = Some(link.ask_who(&token).await?);
        }
        let name = BotName { id: token.bot, username: known.as_ref().map(|bot| bot.username.as_str()) };
        let read = read_update(&update, &name);
        if let Some(press) = read.pressed {
            link.answer_press(press);
        }
        Ok(ChannelVerdict::Take(read.event.into_iter().collect()))
    }

    async fn poll(&self, cursor: Option<&str>) -> Result<PolledEvents, LinkFault> {
        self.0.ask_for_updates(cursor).await
    }

    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        let link = &self.0;
        let token = BotToken::open(&link.parts).await?;
        let found = call(&link.parts, &token, "getFile", &json!({ "file_id": file.reference })).await?;
        let path = found.get("file_path").and_then(Value::as_str).unwrap_or_default();
        let url = file_url(&link.parts, &token, path)?;
        let response = open(link.parts.get(url)).await?;
        if !response.status().is_success() {
            let status = response.status();
            let what = format!("Telegram gives the file out with {}", status.as_u16());
            return Err(match status.is_server_error() || status.as_u16() == 429 {
                true => LinkFault::passing(what),
                false => LinkFault::refused(what),
            });
        }
        Ok(read_file(response))
    }

    async fn show_working(&self, message: &ArrivedMessage, sign: WorkingSign) -> Result<(), LinkFault> {
        let link = &self.0;
        let token = BotToken::open(&link.parts).await?;
        if sign == WorkingSign::Removed {
            return link.set_reaction(&token, message, json!([])).await;
        }
        let reacted =
            link.set_reaction(&token, message, json!([{ "type": "emoji", "emoji": WORKING }])).await;
        let Some(to) = ChatAddress::parse(&message.reply_to) else { return reacted };
        let mut parameters = json!({ "chat_id": to.chat, "action": "typing" });
        if let Some(topic) = to.topic {
            parameters["message_thread_id"] = json!(topic);
        }
        // Groups may allow no reactions: one of the two is enough.
        match call(&link.parts, &token, "sendChatAction", &parameters).await {
            Ok(_) => Ok(()),
            Err(fault) => reacted.map_err(|_| fault.into()),
        }
    }

    fn guide(&self) -> Vec<String> {
        inspect::list_first_steps(&self.0.parts.name)
    }

    async fn inspect(&self) -> LinkReport {
        self.0.look_into().await
    }
}

/// The bytes as they come, and no more than Telegram gives out.
fn read_file(response: Response) -> FileStream {
    let next = |state: Option<(Response, usize)>| async move {
        let (mut response, read) = state?;
        let broken = |why: &str| Some((Err(LinkFault::passing(why)), None));
        match tokio::time::timeout(LONGEST_SILENCE, response.chunk()).await {
            Ok(Ok(None)) => None,
            Ok(Ok(Some(piece))) if read + piece.len() > LARGEST_FILE => {
                Some((Err(LinkFault::refused("the file is too large")), None))
            }
            Ok(Ok(Some(piece))) => {
                let read = read + piece.len();
                Some((Ok(piece), Some((response, read))))
            }
            Ok(Err(_)) => broken("the file broke off"),
            Err(_) => broken("the file stopped coming"),
        }
    };
    stream::unfold(Some((response, 0_usize)), next).boxed()
}
