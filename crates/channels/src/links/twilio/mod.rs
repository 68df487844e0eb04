//! Text messages by Twilio.
//!
//! # Layout
//! - [`TwilioLink`]: an account, both ways
//! - `signature`: whether a request is Twilio's; `told`: what it tells; `api`: asking it

mod api;
mod signature;
mod told;

use std::sync::Arc;

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_safety::vault::SecretRef;
use munshi_types::OutboundMessage;
use munshi_types::tier::Channel;

use self::signature::TwilioSignature;
use self::told::TwilioFields;
use super::file_stream::stream_file;
use super::sms;
use crate::accounts::ReceiveWay;
use crate::incoming::{
    ArrivedFile, ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelRequestMethod, ChannelVerdict,
};
use crate::link::{ChannelLink, FileStream, LinkFault, LinkParts, LinkReport, LinkStep};
use crate::send_rate::SendRate;

/// Twilio takes 1,600 letters in one message, and a letter may count as two.
const MOST_LETTERS: usize = 1500;
/// Where a number's messages go that nobody has set up.
const DEMONSTRATION: &str = "https://demo.twilio.com/";
/// What begins the id of a service that chooses the number.
const MESSAGING_SERVICE: &str = "MG";

pub(crate) struct TwilioLink {
    parts: LinkParts,
    rate: SendRate,
}

impl TwilioLink {
    pub(crate) fn new(parts: LinkParts) -> Self {
        let rate = SendRate::new(parts.account.per_minute);
        Self { parts, rate }
    }

    /// Where Twilio tells us of what happens; none where it does not.
    fn webhook(&self) -> Option<String> {
        let is_told = self.parts.account.receive == ReceiveWay::Webhook;
        self.parts.webhook_url(None).filter(|url| is_told && url.starts_with("https://"))
    }

    fn find_secret(&self, way: TwilioSignature) -> Result<&SecretRef, ChannelRefusal> {
        let account = &self.parts.account;
        match way {
            TwilioSignature::AuthToken => Ok(&account.token),
            TwilioSignature::SharedKey => account.secret.as_ref().ok_or_else(|| {
                ChannelRefusal::Unverified(
                    "it is signed with a shared key, and the account has no `secret`".to_owned(),
                )
            }),
        }
    }

    async fn inspect_number(&self, report: &mut LinkReport) {
        let Some(number) = self.address() else { return };
        let found = match api::find_number(&self.parts, &number).await {
            Ok(Some(found)) => found,
            Ok(None) => {
                let why = format!(
                    "{number} is no number of this account: check it in Twilio's console under Phone Numbers"
                );
                report.steps.push(LinkStep::failed("number", why));
                return;
            }
            Err(fault) => {
                report.steps.push(LinkStep::failed("number", fault.what));
                return;
            }
        };
        report.steps.push(LinkStep::passed("number", found.friendly_name.clone()));
        let Some(webhook) = self.webhook() else { return };
        let set = found.sms_url.clone().unwrap_or_default();
        let is_post = found.sms_method.as_deref().is_none_or(|method| method.eq_ignore_ascii_case("POST"));
        if set == webhook && is_post {
            report.steps.push(LinkStep::passed("webhook", "Twilio tells this server"));
        } else if set.is_empty() || set.starts_with(DEMONSTRATION) || set == webhook {
            report.steps.push(match api::set_webhook(&self.parts, &found, &webhook).await {
                Ok(()) => LinkStep::passed("webhook", "Twilio tells this server from now on"),
                Err(fault) => LinkStep::failed("webhook", fault.what),
            });
        } else {
            let why = "the number's messages go to another address now";
            report.steps.push(LinkStep::failed("webhook", why));
            report.to_do.push(format!(
                "In Twilio's console open Phone Numbers > Manage > Active numbers > {number}, and under Messaging, \
                 \"A message comes in\", choose Webhook, paste {webhook} and choose HTTP POST."
            ));
        }
        if self.messaging_service().is_some() {
            report.to_do.push(
                "In Twilio's console open the messaging service, Integration, and choose \"Defer to sender's webhook\": \
                 else the service's own address hears what comes."
                    .to_owned(),
            );
        }
    }

    fn messaging_service(&self) -> Option<&str> {
        self.parts.account.owner_id.as_deref().filter(|id| id.starts_with(MESSAGING_SERVICE))
    }
}

#[async_trait]
impl ChannelLink for TwilioLink {
    fn channel(&self) -> Channel {
        Channel::Sms
    }

    fn address(&self) -> Option<String> {
        self.parts.account.number.clone()
    }

    fn sender(self: Arc<Self>) -> Arc<dyn ChannelSender> {
        self
    }

    /// Twilio sends people whatever text it is answered with.
    fn acknowledge(&self) -> ChannelAnswer {
        ChannelAnswer::xml("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response/>")
    }

    async fn verify(&self, request: &ChannelRequest) -> Result<ChannelVerdict, ChannelRefusal> {
        let unverified = |why: &str| ChannelRefusal::Unverified(why.to_owned());
        if request.method != ChannelRequestMethod::Post {
            return Err(unverified("Twilio sends messages by POST"));
        }
        let way = signature::read_way(request)
            .ok_or_else(|| unverified("it is signed in a way that nobody here knows"))?;
        let secret = self.parts.open(self.find_secret(way)?).await?;
        if !signature::is_signed(request, way, secret.expose()) {
            return Err(unverified("Twilio did not sign it, or signed another address"));
        }
        drop(secret);
        let unreadable = |why: String| ChannelRefusal::Unreadable(why);
        let fields = request.form().ok_or_else(|| unreadable("it is no form".to_owned()))?;
        let fields = TwilioFields::new(fields);
        let own = self.parts.account.account_id.as_str();
        if fields.get("AccountSid").is_some_and(|account| account != own) {
            return Err(unverified("it is of another account"));
        }
        let events = told::read_events(&fields, self.parts.account.number.as_deref());
        Ok(ChannelVerdict::Take(events.map_err(unreadable)?))
    }

    async fn open_file(&self, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
        Ok(stream_file(api::open_file(&self.parts, &file.reference).await?))
    }

    fn guide(&self) -> Vec<String> {
        let token = self.parts.account.token.name();
        let mut steps = vec![format!(
            "Copy the Auth Token from the first page of Twilio's console, and store it with `munshi vault set {token}`."
        )];
        if self.webhook().is_some() {
            let name = &self.parts.name;
            steps.push(format!("`munshi channel test {name}` tells Twilio where this number's messages go."));
        }
        steps
    }

    async fn inspect(&self) -> LinkReport {
        let mut report = LinkReport::default();
        match api::read_account(&self.parts).await {
            Ok(account) if account.status.is_empty() || account.status == "active" => {
                report.steps.push(LinkStep::passed("token", account.friendly_name));
            }
            Ok(account) => {
                let why = format!("Twilio says that the account is {}", account.status);
                report.steps.push(LinkStep::failed("token", why));
                return report;
            }
            Err(fault) => {
                report.steps.push(LinkStep::failed("token", fault.what));
                return report;
            }
        }
        self.inspect_number(&mut report).await;
        report
    }
}

#[async_trait]
impl ChannelSender for TwilioLink {
    fn channel(&self) -> Channel {
        Channel::Sms
    }

    /// Twilio knows no key under which a message would be sent once, and can't be asked for one of ours.
    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Once
    }

    fn account(&self) -> Option<&str> {
        Some(self.parts.name.as_str())
    }

    fn count_parts(&self, outbound: &OutboundMessage) -> u32 {
        sms::count_pieces(outbound, MOST_LETTERS)
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        self.send_part(outbound, 0).await
    }

    async fn send_part(&self, outbound: &OutboundMessage, part: u32) -> Result<SendReceipt, SendFault> {
        let to = sms::read_number(&outbound.to.address)
            .ok_or_else(|| SendFault::unreachable("the recipient has no number"))?;
        let pieces = sms::list_pieces(outbound, MOST_LETTERS);
        let text = pieces.get(part as usize).ok_or_else(|| SendFault::refused("there is no such part"))?;
        if text.is_empty() {
            return Err(SendFault::refused("a text message has to say something"));
        }
        self.rate.take(outbound.purpose, self.parts.clock.now()).map_err(sms::limit)?;
        let status = self.webhook().map(|url| format!("{url}?what=status"));
        let number = self.parts.account.number.as_deref().unwrap_or_default();
        let mut fields = vec![("To", to.as_str()), ("Body", text.as_str())];
        fields.push(match self.messaging_service() {
            Some(service) => ("MessagingServiceSid", service),
            None => ("From", number),
        });
        fields.extend(status.as_deref().map(|url| ("StatusCallback", url)));
        api::send(&self.parts, &fields).await
    }
}
