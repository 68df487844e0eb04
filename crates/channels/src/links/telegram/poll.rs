//! Asking Telegram what is new.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_types::Timestamp;
use serde_json::{Value, json};

use super::TelegramLink;
use super::arrivals::{join_albums, read_update};
use super::bot_api::{BotApiFault, BotToken, call};
use super::message_text::BotName;
use super::update::{BotUpdate, KINDS};
use crate::link::{LinkFault, PolledEvents};

/// So long Telegram waits where there is nothing.
const WAITS: u64 = 25;
/// So many updates at once: their answer stays small enough however long each is.
const MOST: u64 = 15;
/// After a week without any, Telegram begins to number anew, and would take the old number for a later one.
const NUMBERS_LAST: Duration = Duration::from_secs(6 * 24 * 3600);

/// Where to go on from: the bot, the number of its next update, and when the one before it was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UpdateCursor {
    pub bot: i64,
    pub next: i64,
    pub heard_at: Timestamp,
}

impl UpdateCursor {
    /// None for what is no cursor of this.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('@');
        let (bot, next, at) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            bot: bot.parse().ok()?,
            next: next.parse().ok()?,
            heard_at: Timestamp::from_micros(at.parse().ok()?),
        })
    }

    pub(super) fn write(self) -> String {
        format!("{}@{}@{}", self.bot, self.next, self.heard_at.as_micros())
    }
}

impl TelegramLink {
    pub(super) async fn ask_for_updates(
        self: &Arc<Self>,
        cursor: Option<&str>,
    ) -> Result<PolledEvents, LinkFault> {
        let token = BotToken::open(&self.parts).await?;
        let known = match self.find_known(&token) {
            Some(known) => known,
            None => self.ask_who(&token).await?,
        };
        if !self.may_ask.load(Ordering::Acquire) {
            self.end_webhook(&token).await?;
            self.may_ask.store(true, Ordering::Release);
        }
        let now = self.parts.clock.now();
        let from = cursor
            .and_then(UpdateCursor::parse)
            .filter(|cursor| cursor.bot == token.bot && now.since(cursor.heard_at) < NUMBERS_LAST);
        let mut parameters = json!({ "limit": MOST, "timeout": WAITS, "allowed_updates": KINDS });
        if let Some(from) = from {
            parameters["offset"] = json!(from.next);
        }
        let answer = match call(&self.parts, &token, "getUpdates", &parameters).await {
            Ok(answer) => answer,
            Err(fault) => {
                if matches!(&fault, BotApiFault::Refused(said) if said.code == 409) {
                    // Somebody set a webhook, or asks beside us.
                    self.may_ask.store(false, Ordering::Release);
                }
                return Err(fault.into());
            }
        };
        let Value::Array(told) = answer else {
            return Err(LinkFault::passing("Telegram's answer to getUpdates can't be read"));
        };
        let bot = BotName { id: token.bot, username: Some(known.username.as_str()) };
        Ok(self.read_told(told, &bot))
    }

    /// What is unreadable loses none of the others, and is not asked for again.
    fn read_told(self: &Arc<Self>, told: Vec<Value>, bot: &BotName<'_>) -> PolledEvents {
        let last = told.iter().filter_map(|one| one.get("update_id").and_then(Value::as_i64)).max();
        let mut read = Vec::new();
        for one in told {
            match serde_json::from_value::<BotUpdate>(one) {
                Ok(update) => {
                    let update = read_update(&update, bot);
                    if let Some(press) = update.pressed.clone() {
                        self.answer_press(press);
                    }
                    read.push(update);
                }
                // Not the reader's own words: they may repeat what somebody wrote.
                Err(_) => {
                    tracing::warn!(channel = %self.parts.name, "Telegram tells an update in a shape that is unknown here");
                }
            }
        }
        let heard_at = self.parts.clock.now();
        let next = last.map(|last| UpdateCursor { bot: bot.id, next: last + 1, heard_at }.write());
        PolledEvents { events: join_albums(read), next }
    }
}
