//! WhatsApp by Gupshup.
//!
//! # Layout
//! - `arrivals`: what it tells; `send`: sending; `inspect`: whether the account works
//!
//! What a message of WhatsApp holds, and in which a reply leaves, is in `whatsapp`.

mod arrivals;
mod inspect;
mod send;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_http::Url;
use munshi_types::tier::Channel;
use munshi_types::{OutboundAttachment, OutboundMessage};
use ring::hmac;
use serde_json::Value;

use super::file_stream::stream_file;
use super::whatsapp::{AttachmentSupport, REPLY_WINDOW, WORKING, plan_parts};
use crate::incoming::{
    ArrivedFile, ArrivedMessage, ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelRequestMethod,
    ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, WorkingSign};
use crate::provider_call::open;
use crate::send_rate::SendRate;

pub(crate) struct GupshupLink {
    parts: LinkParts,
    rate: SendRate,
}

impl GupshupLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        Self { parts, rate }
    }
}

#[async_trait]
impl ChannelLink for GupshupLink {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    fn address(&self) -> Option<String> {
        self.parts.account.number.clone()
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self
    }

    /// Gupshup signs nothing: the word in the address is all that shows that a request is its own.
    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let known = self.parts.make_path_secret().await?;
        let given = request.path_secret.as_deref().unwrap_or_default();
        if !is_same(&known, given) {
            return Err(ChannelRefusal::Unverified("the secret in the address is another".to_owned()));
        }
        let is_bare = request.body.iter().all(u8::is_ascii_whitespace);
        if request.method == ChannelRequestMethod::Get || is_bare {
            return Ok(ChannelVerdict::Answer(ChannelAnswer::plain("")));
        }
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|_| ChannelRefusal::Unreadable("it is no JSON".to_owned()))?;
        arrivals::read(&body, &self.parts.account.account_id).map(ChannelVerdict::Take)
    }

    /// What stands in the answer, Gupshup may send to whoever wrote.
    fn acknowledge(&self) -> ChannelAnswer {
        ChannelAnswer::plain("")
    }

    /// From wherever Gupshup says it lies, which is no place of ours: it is asked by HTTPS, and told no key.
    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        let url: Url = file
            .reference
            .parse()
            .map_err(|_| LinkFault::refused("Gupshup names no address for the file"))?;
        let own = self.parts.account.api_url.as_deref().and_then(|own| own.parse::<Url>().ok());
        if url.scheme() != "https" && own.is_none_or(|own| own.origin() != url.origin()) {
            return Err(LinkFault::refused("Gupshup names a place for the file that is not encrypted"));
        }
        self.parts.check_place(&url)?;
        let response = open(self.parts.get(url)).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(stream_file(response));
        }
        let why = format!("Gupshup does not give out the file: {}", status.as_u16());
        match status.is_server_error() || matches!(status.as_u16(), 408 | 429) {
            true => Err(LinkFault::passing(why)),
            false => Err(LinkFault::refused(why)),
        }
    }

    async fn show_working(&self, message: &ArrivedMessage, sign: WorkingSign) -> Result<(), LinkFault> {
        let sign = match sign {
            WorkingSign::Shown => WORKING,
            WorkingSign::Removed => "",
        };
        let reacted = send::react(&self.parts, &message.reply_to, (&message.outside_id, sign)).await;
        reacted.map_err(|fault| LinkFault::passing(fault.why))
    }

    fn guide(&self) -> Vec<String> {
        inspect::list_guide(&self.parts)
    }

    async fn open_path_secret(&self) -> Result<Option<String>, LinkFault> {
        self.parts.make_path_secret().await.map(Some)
    }

    async fn inspect(&self) -> LinkReport {
        inspect::inspect(&self.parts).await
    }
}

#[async_trait]
impl ChannelSender for GupshupLink {
    fn channel(&self) -> Channel {
        Channel::Whatsapp
    }

    /// What is submitted twice arrives twice.
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
        u32::try_from(plan_parts(outbound, AttachmentSupport::WordsOnly).len()).unwrap_or(u32::MAX)
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.send_part(outbound, 0).await
    }

    async fn send_part(&self, outbound: &OutboundMessage, part: u32) -> Result<SendReceipt, SendFault> {
        let has_file =
            |attachment: &OutboundAttachment| matches!(attachment, OutboundAttachment::File { .. });
        if outbound.template.is_none() && outbound.attachments.iter().any(has_file) {
            // Before anything leaves: words that speak of a file are no answer without it.
            return Err(SendFault::refused(
                "Gupshup takes only files that lie open on the internet: send files by a channel of kind whatsapp",
            ));
        }
        let planned = plan_parts(outbound, AttachmentSupport::WordsOnly);
        let at = usize::try_from(part).unwrap_or(usize::MAX);
        let planned = planned.get(at).ok_or_else(|| SendFault::refused("there is no such part"))?;
        let limited = self.rate.take(outbound.purpose, self.parts.clock.now());
        limited.map_err(|limit| SendFault::limited(limit.what, limit.after))?;
        send::send_part(&self.parts, outbound, planned).await
    }
}

/// How long it takes says nothing of how much of it is right.
fn is_same(known: &str, given: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, known.as_bytes());
    hmac::verify(&key, given.as_bytes(), hmac::sign(&key, known.as_bytes()).as_ref()).is_ok()
}
