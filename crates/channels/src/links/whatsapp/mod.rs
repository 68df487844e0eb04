//! WhatsApp by its own Cloud API.
//!
//! # Layout
//! - `signature`: whose a request is; `arrivals`: what it tells; `content`: what a message says
//! - `parts`: in which messages a reply leaves; `send`: sending them; `media`: files both ways
//! - `graph`: asking Meta; `errors`: what its codes mean; `number`: numbers; `inspect`: whether the account works

mod arrivals;
mod content;
mod errors;
mod graph;
mod inspect;
mod media;
mod number;
mod parts;
mod send;
mod signature;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_types::OutboundMessage;
use munshi_types::tier::Channel;
use serde_json::{Value, json};

use crate::incoming::{
    ArrivedFile, ArrivedMessage, ChannelRefusal, ChannelRequest, ChannelRequestMethod, ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, WorkingSign};
use crate::send_rate::SendRate;
use arrivals::ArrivalReader;

pub(super) use arrivals::read_seconds;
pub(super) use content::{PressedButton, name_button, read_contacts, read_location, read_press, read_text};
pub(super) use number::{mask_numbers, read_number, to_digits};
pub(super) use parts::{AttachmentSupport, WhatsappPart, plan_parts, shorten};
pub(super) use send::flatten;

/// So long after somebody's last message they may be written to in our own words.
pub(super) const REPLY_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// The sign that somebody works on a message.
pub(super) const WORKING: &str = "⏳";

pub(crate) struct WhatsappLink {
    parts: LinkParts,
    rate: SendRate,
}

impl WhatsappLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        Self { parts, rate }
    }

    /// What the app signs with.
    async fn open_app_secret(&self) -> Result<munshi_safety::vault::VaultSecret, LinkFault> {
        let named = self.parts.account.secret.as_ref();
        let named = named.ok_or_else(|| LinkFault::refused("the channel names no app secret: set secret"))?;
        self.parts.open(named).await
    }

    /// Which account a verify token is for.
    fn token_of(&self) -> String {
        format!("{}\0{}", self.parts.tenant, self.parts.name)
    }

    fn reader(&self) -> ArrivalReader<'_> {
        let account = &self.parts.account;
        ArrivalReader {
            phone_number_id: &account.account_id,
            owner_id: account.owner_id.as_deref(),
            number: account.number.as_deref(),
        }
    }
}

#[async_trait]
impl ChannelLink for WhatsappLink {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn address(&self) -> Option<String> {
        self.parts.account.number.clone()
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self
    }

    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let secret = self.open_app_secret().await?;
        if request.method == ChannelRequestMethod::Get {
            return signature::answer_verification(secret.expose(), &self.token_of(), request);
        }
        signature::verify_signature(secret.expose(), request)?;
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|_| ChannelRefusal::Unreadable("it is signed, and no JSON".to_owned()))?;
        match read_text(&body, "/object") {
            Some("whatsapp_business_account") => Ok(ChannelVerdict::Take(self.reader().read(&body))),
            _ => Err(ChannelRefusal::Unreadable("it is signed, and not about WhatsApp".to_owned())),
        }
    }

    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        media::open_file(&self.parts, file).await
    }

    /// Their message is marked as read with it: whoever waits knows that it was seen.
    async fn show_working(&self, message: &ArrivedMessage, sign: WorkingSign) -> Result<(), LinkFault> {
        let convert = |fault: SendFault| LinkFault::passing(fault.why);
        let shown = match sign {
            WorkingSign::Shown => {
                let read = json!({ "messaging_product": "whatsapp", "status": "read", "message_id": message.outside_id });
                send::post_message(&self.parts, &read).await.map_err(convert)?;
                WORKING
            }
            WorkingSign::Removed => "",
        };
        let mut body = send::address_to(&message.reply_to).map_err(convert)?;
        body.insert("type".to_owned(), "reaction".into());
        body.insert("reaction".to_owned(), media::build_reaction(&message.outside_id, shown));
        let answer = send::post_message(&self.parts, &Value::Object(body)).await.map_err(convert)?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(LinkFault::passing(errors::describe_answer(&answer))),
        }
    }

    fn guide(&self) -> Vec<String> {
        inspect::list_guide(&self.parts)
    }

    async fn inspect(&self) -> LinkReport {
        inspect::inspect(self).await
    }
}

#[async_trait]
impl ChannelSender for WhatsappLink {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    /// WhatsApp knows no keys: what is sent twice arrives twice.
    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    fn account(&self) -> Option<&str> {
        Some(self.parts.name.as_str())
    }

    fn reply_window(&self) -> Option<Duration> {
        Some(REPLY_WINDOW)
    }

    fn count_parts(&self, outbound: &OutboundMessage) -> u32 {
        u32::try_from(plan_parts(outbound, AttachmentSupport::Files).len()).unwrap_or(u32::MAX)
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.send_part(outbound, 0).await
    }

    async fn send_part(&self, outbound: &OutboundMessage, part: u32) -> Result<SendReceipt, SendFault> {
        let planned = plan_parts(outbound, AttachmentSupport::Files);
        let limited = self.rate.take(outbound.purpose, self.parts.clock.now());
        limited.map_err(|limit| SendFault::limited(limit.what, limit.after))?;
        send::send_part(&self.parts, outbound, (part, &planned)).await
    }
}
