//! Microsoft Teams, by a bot.
//!
//! The Bot Framework tells us of messages at one address, with a token that Microsoft signs; we answer at the service that the message came
//! from, with a token of our own. A chat with the bot is between a person and us; elsewhere we answer where we are mentioned. Each thread of a
//! channel is a group of its own.
//!
//! # Layout
//! - `token`: whether a request is the Bot Framework's; `activity`: what it tells; `text`: words without Teams' marks
//! - `place`: conversations at their services, as an answer's address has them
//! - `api`: our own token, and what refusals mean; `format`: a message as activities
//! - `inspect`: what is to do in Microsoft's pages

mod activity;
mod api;
mod format;
mod inspect;
mod place;
mod text;
mod token;

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_http::Url;
use munshi_http::header::AUTHORIZATION;
use munshi_types::tier::Channel;
use munshi_types::{OutboundAttachment, OutboundMessage};
use serde_json::{Value, json};

use self::activity::{OWN_FILE, TeamsActivity};
use self::api::TeamsAccessToken;
use self::format::{TeamsPart, build_activity, build_parts};
use self::place::{TeamsPlace, is_service, name_message};
use self::token::{BotKeys, BotRequest};
use super::file_stream::stream_file;
use super::json::{describe_fault, read_without_nulls};
use crate::email::qr::draw_png;
use crate::incoming::{
    ArrivedFile, ArrivedMessage, ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, LinkStep, WorkingSign};
use crate::provider_call::{ProviderAnswer, open};
use crate::send_rate::SendRate;

/// Pictures stand within the message: no larger ones are shown.
const LARGEST_PICTURE: u64 = 700 * 1024;

const NO_FILES: &str = "Teams takes no files of bots but pictures: send a link to it";

pub(crate) struct TeamsLink {
    parts: LinkParts,
    rate: SendRate,
    keys: BotKeys,
    token: TeamsAccessToken,
}

impl TeamsLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        Self { parts, rate, keys: BotKeys::default(), token: TeamsAccessToken::default() }
    }

    /// Where an answer is posted.
    fn find_activities(&self, address: &str) -> Result<(TeamsPlace, Url), LinkFault> {
        let refused = || LinkFault::refused("the address is no conversation in Teams");
        let place = TeamsPlace::read(address).ok_or_else(refused)?;
        let url = place.build_activities_url(&self.parts)?;
        Ok((place, url))
    }

    async fn build_file(&self, outbound: &OutboundMessage, at: usize) -> Result<Value, SendFault> {
        let refused = |why: &str| SendFault::refused(why.to_owned());
        let (media_type, name, bytes) = match outbound.attachments.get(at) {
            Some(OutboundAttachment::Qr { text, .. }) => {
                let bytes = draw_png(text).ok_or_else(|| refused("the text is too long for a QR code"))?;
                ("image/png".to_owned(), "qr.png".to_owned(), bytes)
            }
            Some(OutboundAttachment::File { file, name, media_type }) if is_picture(media_type) => {
                let source = self.parts.files.as_ref();
                let source = source.ok_or_else(|| refused("files can't be sent from here"))?;
                let bytes = source.load(self.parts.tenant, *file, LARGEST_PICTURE).await?;
                (media_type.clone(), name.clone(), bytes)
            }
            _ => return Err(refused(NO_FILES)),
        };
        let mut activity = build_activity(outbound);
        let url = format!("data:{media_type};base64,{}", STANDARD.encode(&bytes));
        activity["attachments"] = json!([{ "contentType": media_type, "contentUrl": url, "name": name }]);
        Ok(activity)
    }
}

/// Whether it has a file that Teams does not take of bots.
fn has_refused_file(outbound: &OutboundMessage) -> bool {
    let is_refused = |attachment: &OutboundAttachment| matches!(attachment, OutboundAttachment::File { media_type, .. } if !is_picture(media_type));
    outbound.attachments.iter().any(is_refused)
}

fn is_picture(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif")
}

/// What a request is answered that wants more than to be taken: a press of a card that is not of our kind gets an empty answer.
fn answer_invoke(activity: &TeamsActivity) -> ChannelAnswer {
    let answer = match activity.name.as_deref() {
        Some("adaptiveCard/action") => {
            json!({ "statusCode": 200, "type": "application/vnd.microsoft.activity.message", "value": "" })
        }
        _ => json!({}),
    };
    ChannelAnswer::json(answer.to_string())
}

#[async_trait]
impl ChannelLink for TeamsLink {
    fn channel(&self) -> Channel {
        Channel::Teams
    }

    fn address(&self) -> Option<String> {
        None
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self
    }

    /// The token names the service that the message names, so the message is read first; nothing of it is believed before the token is.
    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let authorization = request.header("authorization");
        let authorization = authorization
            .ok_or_else(|| ChannelRefusal::Unverified("no token of the Bot Framework's".to_owned()))?;
        let told: Value = serde_json::from_slice(&request.body)
            .map_err(|_| ChannelRefusal::Unverified("it is nothing of the Bot Framework's".to_owned()))?;
        let claimed = BotRequest {
            authorization,
            service_url: told["serviceUrl"].as_str().unwrap_or_default(),
            channel_id: told["channelId"].as_str().unwrap_or_default(),
        };
        self.keys.verify(&self.parts, &claimed, request.now).await?;
        let activity: TeamsActivity = read_without_nulls(told).map_err(|error| {
            let fault = describe_fault(&error);
            ChannelRefusal::Unreadable(format!("what the Bot Framework tells can't be read: it is {fault}"))
        })?;
        if activity.kind == "invoke" {
            return Ok(ChannelVerdict::Answer(answer_invoke(&activity)));
        }
        let event = activity.read(self.parts.account.owner_id.as_deref());
        Ok(ChannelVerdict::Take(event.into_iter().collect()))
    }

    /// What people uploaded has an address that opens it for a while; pictures in the words are given out to our token.
    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        let (is_own, address) = match file.reference.strip_prefix(OWN_FILE) {
            Some(address) => (true, address),
            None => (false, file.reference.as_str()),
        };
        let url: Url = address.parse().map_err(|_| LinkFault::refused("the file has no address"))?;
        let instead = self.parts.account.api_url.as_deref();
        let is_service = is_service(instead, &url);
        if url.scheme() != "https" && !is_service {
            return Err(LinkFault::refused("the file is not given out by https"));
        }
        self.parts.check_place(&url)?;
        let mut request = self.parts.get(url);
        if is_own {
            if !is_service {
                return Err(LinkFault::refused("the file is not with Microsoft's service"));
            }
            request = request.header(AUTHORIZATION, self.token.authorize(&self.parts).await?);
        }
        let response = open(request).await?;
        let status = response.status();
        if !status.is_success() {
            let answer = ProviderAnswer { status, retry_after: None, body: Vec::new() };
            return Err(answer.fault("Teams did not give the file"));
        }
        Ok(stream_file(response))
    }

    /// It ends by itself after some seconds, or with the answer.
    async fn show_working(&self, message: &ArrivedMessage, sign: WorkingSign) -> Result<(), LinkFault> {
        if sign == WorkingSign::Removed {
            return Ok(());
        }
        let (_, url) = self.find_activities(&message.reply_to)?;
        self.token.post(&self.parts, &url, &json!({ "type": "typing" })).await?;
        Ok(())
    }

    fn guide(&self) -> Vec<String> {
        inspect::list_steps(&self.parts)
    }

    async fn inspect(&self) -> LinkReport {
        let step = match self.token.check(&self.parts).await {
            Ok(()) => LinkStep::passed("token", "Microsoft's login takes the app's id and secret"),
            Err(fault) => LinkStep::failed("token", fault.what),
        };
        inspect::build_report(&self.parts, step)
    }
}

#[async_trait]
impl ChannelSender for TeamsLink {
    fn channel(&self) -> Channel {
        Channel::Teams
    }

    /// The Bot Framework knows no key, and does not show a bot what was said.
    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
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
        // Before anything leaves: words that speak of a file are no answer without it.
        if has_refused_file(outbound) {
            return Err(SendFault::refused(NO_FILES));
        }
        let now = self.parts.clock.now();
        self.rate.take(outbound.purpose, now).map_err(|limit| SendFault::limited(limit.what, limit.after))?;
        let found = self.find_activities(&outbound.to.address);
        let (place, url) = found.map_err(|fault| SendFault::unreachable(fault.what))?;
        let activity = match build_parts(outbound).into_iter().nth(part as usize) {
            Some(TeamsPart::Words(activity)) => activity,
            Some(TeamsPart::File(at)) => self.build_file(outbound, at).await?,
            None => return Err(SendFault::refused("there is nothing in it that Teams can show")),
        };
        let answer = self.token.post(&self.parts, &url, &activity).await?;
        let id = answer["id"].as_str().map(|id| name_message(&place.conversation, id));
        Ok(SendReceipt { outside_id: id })
    }
}
