//! Text messages by MSG91, in words that are registered with India's carriers.
//!
//! Carriers take only texts that were registered before (DLT). MSG91 keeps each as a flow with variables; the account's `templates` say which
//! flow a message leaves by: under the name of its own template, else under what it is for, else under `any`.
//!
//! # Layout
//! - [`Msg91Link`]: an account, both ways
//! - `flow`: which flow a message leaves by, with what in it; `api`: asking it; `told`: what it tells

mod api;
mod flow;
mod told;

use std::sync::Arc;

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_types::OutboundMessage;
use munshi_types::tier::Channel;
use ring::hmac;

use self::api::FlowMessage;
use super::sms;
use crate::incoming::{ArrivedFile, ChannelRefusal, ChannelRequest, ChannelVerdict};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, LinkStep};
use crate::send_rate::SendRate;

pub(crate) struct Msg91Link {
    parts: LinkParts,
    rate: SendRate,
}

impl Msg91Link {
    pub(crate) fn new(parts: LinkParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        Self { parts, rate }
    }
}

/// Takes as long whether the first letter is wrong or the last.
fn is_same(given: &str, own: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"munshi.channel.compare");
    let expected = hmac::sign(&key, own.as_bytes());
    hmac::verify(&key, given.as_bytes(), expected.as_ref()).is_ok()
}

#[async_trait]
impl ChannelLink for Msg91Link {
    fn channel(&self) -> Channel {
        Channel::Sms
    }

    fn address(&self) -> Option<String> {
        self.parts.account.number.clone()
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self
    }

    /// MSG91 signs nothing: who knows the word in the address is taken for it.
    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let own = self.parts.make_path_secret().await?;
        if !request.path_secret.as_deref().is_some_and(|given| is_same(given, &own)) {
            return Err(ChannelRefusal::Unverified(
                "the word in the address is not the channel's".to_owned(),
            ));
        }
        let objects = told::read_body(request)
            .ok_or_else(|| ChannelRefusal::Unreadable("it is neither a form nor JSON".to_owned()))?;
        Ok(ChannelVerdict::Take(told::read_events(&objects, self.parts.account.number.as_deref())))
    }

    async fn open_file(&self, _file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        Err(LinkFault::refused("no files come with text messages"))
    }

    async fn open_path_secret(&self) -> Result<Option<String>, LinkFault> {
        self.parts.make_path_secret().await.map(Some)
    }

    fn guide(&self) -> Vec<String> {
        let (token, name) = (self.parts.account.token.name(), &self.parts.name);
        let mut steps = vec![format!(
            "Copy the authkey from MSG91's panel, and store it with `munshi vault set {token}`."
        )];
        if self.parts.account.templates.is_empty() {
            steps.push(format!(
                "Register a text for each kind of message with DLT and in MSG91 under SMS > Templates, then add the channel \
                 {name} again with `--template code=ID --template any=ID --replace`: nothing leaves before."
            ));
        }
        steps.push(
            "In MSG91's panel open SMS > Webhook, paste the channel's address and choose version v2 or v3: then you see \
             what arrived. For messages from people, paste it at your virtual number, too."
                .to_owned(),
        );
        steps
    }

    async fn inspect(&self) -> LinkReport {
        let mut report = LinkReport::default();
        match api::read_balance(&self.parts).await {
            Ok(balance) => {
                report.steps.push(LinkStep::passed("token", format!("{balance} messages are paid for")));
            }
            Err(fault) => report.steps.push(LinkStep::failed("token", fault.what)),
        }
        report.steps.push(match self.parts.account.templates.is_empty() {
            true => LinkStep::failed("templates", "no registered text is named: nothing can leave"),
            false => {
                let names: Vec<&str> = self.parts.account.templates.keys().map(String::as_str).collect();
                LinkStep::passed("templates", names.join(", "))
            }
        });
        report.to_do = self.guide().into_iter().skip(1).collect();
        report
    }
}

#[async_trait]
impl ChannelSender for Msg91Link {
    fn channel(&self) -> Channel {
        Channel::Sms
    }

    /// MSG91 knows no key under which a message would be sent once.
    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    fn account(&self) -> Option<&str> {
        Some(self.parts.name.as_str())
    }

    fn count_parts(&self, outbound: &OutboundMessage) -> u32 {
        flow::count_parts(&self.parts.account.templates, outbound)
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.send_part(outbound, 0).await
    }

    async fn send_part(&self, outbound: &OutboundMessage, part: u32) -> Result<SendReceipt, SendFault> {
        let to = sms::read_number(&outbound.to.address)
            .ok_or_else(|| SendFault::unreachable("the recipient has no number"))?;
        let filled = flow::fill(&self.parts.account.templates, outbound, part as usize)?;
        self.rate.take(outbound.purpose, self.parts.clock.now()).map_err(sms::limit)?;
        let message =
            FlowMessage { flow: filled.flow, to: to.trim_start_matches('+'), values: filled.values };
        api::send(&self.parts, message).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_word_is_the_same() {
        assert!(is_same("abc", "abc"));
        assert!(!is_same("abd", "abc") && !is_same("", "abc") && !is_same("abcd", "abc"));
    }
}
