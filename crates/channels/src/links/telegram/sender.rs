//! Sending by a bot, part by part.

use async_trait::async_trait;
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_types::tier::Channel;
use munshi_types::{MessageId, OutboundAttachment, OutboundMessage};
use serde_json::Value;

use super::TelegramLink;
use super::arrivals::name_message;
use super::bot_api::{BotApiFault, BotToken, call, call_with_form};
use super::form::FormBody;
use super::outgoing::{ChatAddress, OutgoingPart, build_parameters, build_text, list_parts};
use crate::email::qr::draw_png;
use crate::text::TextStyle;

/// What Telegram takes of one file.
const LARGEST_FILE: u64 = 50 * 1024 * 1024;
/// A picture that is larger goes as a file.
const LARGEST_PICTURE: usize = 10 * 1024 * 1024;

/// A file with its bytes, ready to go.
struct ReadyFile {
    name: String,
    media_type: String,
    title: String,
    bytes: Vec<u8>,
}

impl TelegramLink {
    async fn send_text(
        &self,
        token: &BotToken,
        parameters: Value,
        text: (MessageId, &str, &[String]),
    ) -> Result<Value, BotApiFault> {
        let marked = build_text(parameters.clone(), text, TextStyle::TelegramHtml);
        match self.call_following(token, "sendMessage", marked).await {
            // It was refused, so nobody has it: better without marks than not at all.
            Err(BotApiFault::Refused(said)) if said.code == 400 && said.says("parse entities") => {
                let plain = build_text(parameters, text, TextStyle::Plain);
                self.call_following(token, "sendMessage", plain).await
            }
            other => other,
        }
    }

    /// A group that became a larger one has another number: what was refused for that goes there.
    async fn call_following(
        &self,
        token: &BotToken,
        method: &str,
        mut parameters: Value,
    ) -> Result<Value, BotApiFault> {
        match call(&self.parts, token, method, &parameters).await {
            Err(BotApiFault::Refused(said)) if said.migrate_to.is_some() => {
                parameters["chat_id"] = said.migrate_to.into();
                if let Some(fields) = parameters.as_object_mut() {
                    fields.remove("reply_parameters");
                }
                call(&self.parts, token, method, &parameters).await
            }
            other => other,
        }
    }

    async fn load(&self, attachment: &OutboundAttachment) -> Result<ReadyFile, SendFault> {
        match attachment {
            OutboundAttachment::File { file, name, media_type } => {
                let source = self.parts.files.as_ref();
                let source = source.ok_or_else(|| SendFault::refused("files can't be sent from here"))?;
                let bytes = source.load(self.parts.tenant, *file, LARGEST_FILE).await?;
                Ok(ReadyFile {
                    name: name.clone(),
                    media_type: media_type.clone(),
                    title: String::new(),
                    bytes,
                })
            }
            OutboundAttachment::Qr { text, title } => {
                let drawn = draw_png(text);
                let bytes = drawn.ok_or_else(|| SendFault::refused("the text is too long for a QR code"))?;
                let title = title.clone();
                Ok(ReadyFile { name: "qr.png".to_owned(), media_type: "image/png".to_owned(), title, bytes })
            }
            OutboundAttachment::Link { .. } => Err(SendFault::refused("a link is no file")),
        }
    }

    async fn send_file(
        &self,
        token: &BotToken,
        parameters: &Value,
        (mark, file): (&str, &ReadyFile),
    ) -> Result<Value, BotApiFault> {
        let is_picture = matches!(file.media_type.as_str(), "image/jpeg" | "image/png")
            && file.bytes.len() <= LARGEST_PICTURE;
        let sent = match is_picture {
            true => self.send_form(token, ("sendPhoto", "photo"), parameters, (mark, file)).await,
            false => self.send_form(token, ("sendDocument", "document"), parameters, (mark, file)).await,
        };
        match sent {
            // Such as one that is very long and narrow: it was refused, so it goes as a file.
            Err(BotApiFault::Refused(said)) if is_picture && said.code == 400 && said.says("photo") => {
                self.send_form(token, ("sendDocument", "document"), parameters, (mark, file)).await
            }
            Err(BotApiFault::Refused(said)) if said.migrate_to.is_some() => {
                let mut moved = parameters.clone();
                moved["chat_id"] = said.migrate_to.into();
                self.send_form(token, ("sendDocument", "document"), &moved, (mark, file)).await
            }
            other => other,
        }
    }

    async fn send_form(
        &self,
        token: &BotToken,
        (method, field): (&str, &str),
        parameters: &Value,
        (mark, file): (&str, &ReadyFile),
    ) -> Result<Value, BotApiFault> {
        let mut form = FormBody::new(mark);
        for (name, value) in parameters.as_object().into_iter().flatten() {
            form.add_text(name, &value.to_string());
        }
        if !file.title.is_empty() {
            form.add_text("caption", &file.title.chars().take(1000).collect::<String>());
        }
        form.add_file(field, (&file.name, &file.media_type, &file.bytes));
        call_with_form(&self.parts, token, method, form.finish()).await
    }
}

#[async_trait]
impl ChannelSender for TelegramLink {
    fn channel(&self) -> Channel {
        Channel::Telegram
    }

    /// Telegram knows no key: what is sent twice stands there twice.
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
        u32::try_from(list_parts(outbound).len()).unwrap_or(u32::MAX).max(1)
    }

    async fn send_part(&self, outbound: &OutboundMessage, part: u32) -> Result<SendReceipt, SendFault> {
        let to = ChatAddress::parse(&outbound.to.address)
            .ok_or_else(|| SendFault::unreachable("the recipient's address is no chat of Telegram's"))?;
        let parts = list_parts(outbound);
        let at = usize::try_from(part).unwrap_or(usize::MAX);
        let asked = parts.get(at).ok_or_else(|| SendFault::refused("the message says nothing"))?;
        let ready = match asked {
            OutgoingPart::File(attachment) => Some(self.load(attachment).await?),
            OutgoingPart::Text { .. } => None,
        };
        let token = BotToken::open(&self.parts).await?;
        let taken = self.rate.take(outbound.purpose, self.parts.clock.now());
        taken.map_err(|limit| SendFault::limited(limit.what, limit.after))?;
        let parameters = build_parameters(outbound, to, part);
        let sent = match (asked, &ready) {
            (OutgoingPart::Text { markdown, buttons }, _) => {
                self.send_text(&token, parameters, (outbound.id, markdown, buttons)).await?
            }
            (OutgoingPart::File(_), Some(file)) => {
                let mark = format!("{}{part}", outbound.id.to_string().replace('-', ""));
                self.send_file(&token, &parameters, (&mark, file)).await?
            }
            (OutgoingPart::File(_), None) => return Err(SendFault::refused("the file is gone")),
        };
        let number = |path: &str| sent.pointer(path).and_then(Value::as_i64);
        let named = number("/message_id").zip(number("/chat/id"));
        Ok(SendReceipt { outside_id: named.map(|(message, chat)| name_message(token.bot, chat, message)) })
    }
}
