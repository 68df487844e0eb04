//! Whether a bot works, and setting up what Telegram lets us set up.

use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_types::Timestamp;
use serde::Deserialize;
use serde_json::json;

use super::bot_api::{BotApiFault, BotToken, call};
use super::update::KINDS;
use super::{KnownBot, TelegramLink};
use crate::accounts::{ChannelAccountName, ReceiveWay};
use crate::link::{LinkFault, LinkReport, LinkStep};

/// A failure that is older says nothing of how it is now.
const RECENT: Duration = Duration::from_secs(3600);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WebhookInfo {
    url: String,
    pending_update_count: u64,
    last_error_date: i64,
    last_error_message: Option<String>,
}

impl TelegramLink {
    pub(super) async fn look_into(&self) -> LinkReport {
        let mut report = LinkReport::default();
        let token = match BotToken::open(&self.parts).await {
            Ok(token) => token,
            Err(fault) => return failed(report, "token", &fault),
        };
        let bot = match self.ask_who(&token).await {
            Ok(bot) => bot,
            Err(fault) => return failed(report, "token", &fault),
        };
        report.steps.push(LinkStep::passed("token", format!("{} (@{})", bot.name, bot.username)));
        if self.parts.account.receive == ReceiveWay::None {
            report.steps.push(LinkStep::passed("receive", "it only sends"));
            return report;
        }
        let step = if self.asks() { self.end_webhook(&token).await } else { self.set_webhook(&token).await };
        match step {
            Ok(found) => report.steps.push(LinkStep::passed("receive", found)),
            Err(fault) => return failed(report, "receive", &LinkFault::from(fault)),
        }
        report.to_do = vec![
            format!("Open https://t.me/{} in Telegram and write to the bot.", bot.username),
            "To use it in a group, add it there as a member: it answers where somebody writes its name with @ or replies to it."
                .to_owned(),
        ];
        report
    }

    /// Who the bot is, as Telegram has it.
    pub(super) async fn ask_who(&self, token: &BotToken) -> Result<KnownBot, LinkFault> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Me {
            id: i64,
            first_name: String,
            username: String,
        }
        let me = call(&self.parts, token, "getMe", &json!({})).await?;
        let me: Me = serde_json::from_value(me)
            .map_err(|_| LinkFault::passing("Telegram's answer to getMe can't be read"))?;
        let known = KnownBot { id: me.id, name: me.first_name, username: me.username };
        self.remember(known.clone());
        Ok(known)
    }

    async fn load_webhook(&self, token: &BotToken) -> Result<WebhookInfo, BotApiFault> {
        let info = call(&self.parts, token, "getWebhookInfo", &json!({})).await?;
        serde_json::from_value(info)
            .map_err(|_| LinkFault::passing("Telegram's answer to getWebhookInfo can't be read").into())
    }

    /// Nobody is told while somebody asks, and the other way round.
    pub(super) async fn end_webhook(&self, token: &BotToken) -> Result<String, BotApiFault> {
        if !self.load_webhook(token).await?.url.is_empty() {
            // What waits there is heard by asking.
            call(&self.parts, token, "deleteWebhook", &json!({ "drop_pending_updates": false })).await?;
        }
        Ok(match self.parts.account.receive {
            ReceiveWay::Poll => "Telegram is asked what is new".to_owned(),
            _ => "Telegram is asked what is new, since this server has no public https address".to_owned(),
        })
    }

    async fn set_webhook(&self, token: &BotToken) -> Result<String, BotApiFault> {
        let url = self.parts.webhook_url(None);
        let url = url.ok_or_else(|| LinkFault::refused("this server has no public address"))?;
        let before = self.load_webhook(token).await?;
        // What was said to the bot before anybody here heard it is nobody's question now; what we asked for until now goes on.
        let is_first = before.url.is_empty() && !self.may_ask.swap(false, Ordering::AcqRel);
        let parameters = json!({
            "url": url,
            "secret_token": token.sign_account(&self.parts),
            "allowed_updates": KINDS,
            "drop_pending_updates": is_first,
        });
        call(&self.parts, token, "setWebhook", &parameters).await?;
        let now = self.load_webhook(token).await?;
        if now.url != url {
            return Err(LinkFault::passing("Telegram did not take the webhook's address").into());
        }
        // What failed at another address says nothing of this one.
        let failed_at = Timestamp::from_micros(now.last_error_date.saturating_mul(1_000_000));
        let is_recent = self.parts.clock.now().since(failed_at) < RECENT;
        match now
            .last_error_message
            .filter(|_| before.url == url && is_recent && now.pending_update_count > 0)
        {
            Some(why) => {
                let waiting = now.pending_update_count;
                let what = format!("Telegram can't reach {url}: {why}; {waiting} messages wait there");
                Err(LinkFault::passing(what).into())
            }
            None => Ok(format!("Telegram tells {url}")),
        }
    }
}

fn failed(mut report: LinkReport, step: &'static str, fault: &LinkFault) -> LinkReport {
    report.steps.push(LinkStep::failed(step, fault.what.clone()));
    if step == "token" {
        report.to_do = list_token_steps();
    }
    report
}

/// How a bot and its token are had.
fn list_token_steps() -> Vec<String> {
    vec![
        "In Telegram, write to @BotFather: /newbot for a new bot, or /token for one that you have."
            .to_owned(),
        "Copy the token that it gives (123456:ABC…) into the vault under the name that stands in `token`."
            .to_owned(),
    ]
}

/// All that is to do before a bot works.
pub(super) fn list_first_steps(account: &ChannelAccountName) -> Vec<String> {
    let test =
        format!("Run `munshi channel test {account}`: it sets the bot up, and says where to write to it.");
    list_token_steps().into_iter().chain([test]).collect()
}
