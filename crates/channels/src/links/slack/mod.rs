//! Slack, by an app of the workspace's own.
//!
//! Slack tells us of messages (its Events API) and of presses of our buttons (its interactivity) at one address, and signs both.
//! A direct message is between a person and us; in a channel we answer where we are mentioned, and in threads where we were. Each thread
//! of a channel is a group of its own.
//!
//! # Layout
//! - `signature`: whether a request is Slack's; `event`: what it tells; `press`: a press of a button; `text`: words without Slack's marks
//! - `place`: conversations and threads, as an answer's address has them
//! - `api`: asking, and what its refusals mean; `format`: a message as blocks; `send`: sending it, and asking whether it was
//! - `inspect`: whether the app works, and what is left to do

mod api;
mod event;
mod format;
mod inspect;
mod place;
mod press;
mod send;
mod signature;
mod text;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_http::Url;
use munshi_http::header::{AUTHORIZATION, CONTENT_TYPE};
use munshi_types::OutboundMessage;
use munshi_types::tier::Channel;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::api::{call_form, call_method, is_own_place};
use self::event::{SlackEnvelope, read_event};
use self::format::build_parts;
use self::place::{SlackPlace, split_message};
use self::press::{SlackPress, read_press};
use super::file_stream::stream_file;
use super::json::{describe_fault, read_without_nulls};
use crate::incoming::{
    ArrivedFile, ArrivedMessage, ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, WorkingSign};
use crate::provider_call::{ProviderAnswer, open};
use crate::send_rate::SendRate;

/// The sign that somebody works on a message.
const WORKING: &str = "eyes";

pub(crate) struct SlackLink {
    parts: LinkParts,
    rate: SendRate,
    /// Our user there, once somebody has asked. Events say it too.
    own: OnceLock<String>,
    /// Notes for people who pressed what was for others.
    notes: Mutex<JoinSet<()>>,
}

impl SlackLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        Self { parts, rate, own: OnceLock::new(), notes: Mutex::default() }
    }

    /// A form with a `payload` is a press of something; all else is JSON.
    fn read(&self, request: &ChannelRequest) -> Result<ChannelVerdict, String> {
        if let Some(form) = request.form() {
            let payload = form.iter().find(|(name, _)| name == "payload");
            let Some((_, payload)) = payload else { return Ok(ChannelVerdict::Take(Vec::new())) };
            return Ok(match read_press(payload)? {
                SlackPress::Said(event) => ChannelVerdict::Take(vec![*event]),
                SlackPress::NotTheirs { pressed_in, by, meant } => {
                    self.note_meant(pressed_in, &by, &meant);
                    ChannelVerdict::Take(Vec::new())
                }
                SlackPress::Nothing => ChannelVerdict::Take(Vec::new()),
            });
        }
        let unreadable = |error: serde_json::Error| {
            format!("what Slack tells can't be read: it is {}", describe_fault(&error))
        };
        let told: Value = serde_json::from_slice(&request.body).map_err(unreadable)?;
        let envelope: SlackEnvelope = read_without_nulls(told).map_err(unreadable)?;
        if envelope.kind == "url_verification" {
            return Ok(ChannelVerdict::Answer(ChannelAnswer::plain(envelope.challenge.unwrap_or_default())));
        }
        read_event(&envelope, self.own.get().map(String::as_str)).map(ChannelVerdict::Take)
    }

    /// Tells whoever pressed, and nobody else, for whom it was. The provider waits for no such note.
    fn note_meant(&self, pressed_in: SlackPlace, by: &str, meant: &str) {
        let text = format!("These buttons are for <@{meant}>. Write what you want to say.");
        let mut body = json!({ "channel": pressed_in.conversation, "user": by, "text": text });
        if let Some(thread) = pressed_in.thread {
            body["thread_ts"] = json!(thread);
        }
        let parts = self.parts.clone();
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        while notes.try_join_next().is_some() {}
        notes.spawn(async move {
            if let Err(fault) = call_method(&parts, "chat.postEphemeral", &body).await {
                let fault = LinkFault::from(fault);
                tracing::debug!(channel = %parts.name, why = fault.what, "a note was not sent");
            }
        });
    }

    async fn find_file(&self, file: &ArrivedFile) -> Result<Url, LinkFault> {
        let told = match file.reference.strip_prefix("file:") {
            Some(id) => {
                let found = call_form(&self.parts, "files.info", &[("file", id)]).await?;
                let of = &found["file"];
                let url = of["url_private_download"].as_str().or(of["url_private"].as_str());
                url.map(str::to_owned)
                    .ok_or_else(|| LinkFault::refused("Slack does not give the file out"))?
            }
            None => file.reference.clone(),
        };
        let url: Url = told.parse().map_err(|_| LinkFault::refused("the file has no address"))?;
        match is_own_place(&self.parts, &url) {
            true => Ok(url),
            false => Err(LinkFault::refused("the file is not with Slack")),
        }
    }
}

#[async_trait]
impl ChannelLink for SlackLink {
    fn channel(&self) -> Channel {
        Channel::Slack
    }

    fn address(&self) -> Option<String> {
        None
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self
    }

    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let Some(secret) = &self.parts.account.secret else {
            return Err(ChannelRefusal::Failed("the channel has no signing secret".to_owned()));
        };
        // Nobody's clock is asked and no vault opened for what bears no signature at all.
        if request.header("x-slack-signature").is_none() {
            return Err(ChannelRefusal::Unverified("no signature of Slack's".to_owned()));
        }
        let secret = self.parts.open(secret).await?;
        signature::verify_signature(secret.expose().trim(), request)?;
        self.read(request).map_err(ChannelRefusal::Unreadable)
    }

    /// Slack gives files out to the app's token. Without leave to read them it shows a page to sign in.
    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        let url = self.find_file(file).await?;
        let token = self.parts.open(&self.parts.account.token).await?;
        let request = self.parts.get(url).header(AUTHORIZATION, format!("Bearer {}", token.expose()));
        let response = open(request).await?;
        let status = response.status();
        let told = response.headers().get(CONTENT_TYPE).and_then(|told| told.to_str().ok());
        let is_page = told.is_some_and(|told| told.starts_with("text/html"));
        if status.is_redirection() || (is_page && !file.media_type.starts_with("text/html")) {
            return Err(LinkFault::refused("Slack gives no files to the app: add the scope files:read"));
        }
        if !status.is_success() {
            let answer = ProviderAnswer { status, retry_after: None, body: Vec::new() };
            return Err(answer.fault("Slack did not give the file"));
        }
        Ok(stream_file(response))
    }

    /// A reaction. An app that may not react has no sign.
    async fn show_working(&self, message: &ArrivedMessage, sign: WorkingSign) -> Result<(), LinkFault> {
        let Some((channel, ts)) = split_message(&message.outside_id) else { return Ok(()) };
        let method = match sign {
            WorkingSign::Shown => "reactions.add",
            WorkingSign::Removed => "reactions.remove",
        };
        let body = json!({ "channel": channel, "timestamp": ts, "name": WORKING });
        match call_method(&self.parts, method, &body).await {
            Ok(_) => Ok(()),
            Err(fault) => match fault.error() {
                Some(
                    "already_reacted" | "no_reaction" | "missing_scope" | "message_not_found"
                    | "not_reactable" | "thread_locked",
                ) => Ok(()),
                _ => Err(fault.into()),
            },
        }
    }

    fn guide(&self) -> Vec<String> {
        inspect::list_steps(&self.parts)
    }

    async fn inspect(&self) -> LinkReport {
        let (report, own) = inspect::inspect_app(&self.parts).await;
        if let Some(own) = own {
            let _known = self.own.set(own);
        }
        report
    }
}

#[async_trait]
impl ChannelSender for SlackLink {
    fn channel(&self) -> Channel {
        Channel::Slack
    }

    /// Each message bears its id, and Slack shows what was said. Where the app may not read that, asking fails, and nothing is sent again.
    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Asked
    }

    fn account(&self) -> Option<&str> {
        Some(self.parts.name.as_str())
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.send_part(outbound, 0).await
    }

    fn count_parts(&self, outbound: &OutboundMessage) -> u32 {
        u32::try_from(build_parts(outbound).len()).unwrap_or(u32::MAX)
    }

    async fn send_part(&self, outbound: &OutboundMessage, part: u32) -> Result<SendReceipt, SendFault> {
        let now = self.parts.clock.now();
        self.rate.take(outbound.purpose, now).map_err(|limit| SendFault::limited(limit.what, limit.after))?;
        send::send_part(&self.parts, outbound, part as usize).await
    }

    async fn was_sent(&self, outbound: &OutboundMessage) -> Result<Option<SendReceipt>, SendFault> {
        self.was_part_sent(outbound, 0).await
    }

    async fn was_part_sent(
        &self,
        outbound: &OutboundMessage,
        part: u32,
    ) -> Result<Option<SendReceipt>, SendFault> {
        send::find_sent(&self.parts, outbound, part as usize).await
    }
}
