//! What a Telegram message says, in words, and its files.

use super::update::{BotFile, BotMessage, BotUser, TextEntity};
use crate::incoming::ArrivedFile;

/// By which a bot is spoken to.
#[derive(Clone, Copy, Debug)]
pub(super) struct BotName<'a> {
    pub id: i64,
    /// Without `@`; none where nobody knows it yet.
    pub username: Option<&'a str>,
}

/// The words of a message, without the mention of us and with the addresses behind its links.
pub(super) fn read_text(message: &BotMessage, bot: &BotName<'_>) -> String {
    let (text, entities) = message.words();
    let said = apply_entities(text, entities, bot);
    let mut lines = Vec::new();
    if let Some(origin) = &message.forward_origin {
        let from = origin.sender_user.as_ref().and_then(BotUser::full_name);
        let chat = origin.sender_chat.as_ref().or(origin.chat.as_ref()).and_then(|chat| chat.title.clone());
        let from = from.or_else(|| origin.sender_user_name.clone()).or(chat);
        lines.push(from.map_or("[forwarded]".to_owned(), |name| format!("[forwarded from {name}]")));
    }
    lines.extend(describe(message));
    lines.push(said);
    let text = lines.iter().filter(|line| !line.trim().is_empty()).cloned().collect::<Vec<_>>().join("\n");
    if text.is_empty() && list_files(message).is_empty() { "[message]".to_owned() } else { text }
}

/// What is neither words nor a file.
fn describe(message: &BotMessage) -> Option<String> {
    if let Some(venue) = &message.venue {
        let place = &venue.location;
        return Some(format!(
            "[place] {}, {} ({}, {})",
            venue.title, venue.address, place.latitude, place.longitude
        ));
    }
    if let Some(place) = &message.location {
        return Some(format!("[location] {}, {}", place.latitude, place.longitude));
    }
    if let Some(contact) = &message.contact {
        let last = contact.last_name.as_deref().unwrap_or_default();
        let name = format!("{} {last}", contact.first_name);
        return Some(format!("[contact] {} {}", name.trim(), contact.phone_number));
    }
    if let Some(sticker) = &message.sticker {
        return Some(format!("[sticker] {}", sticker.emoji.as_deref().unwrap_or_default()).trim().to_owned());
    }
    if let Some(poll) = &message.poll {
        return Some(format!("[poll] {}", poll.question));
    }
    if let Some(dice) = &message.dice {
        return Some(format!("[dice] {} {}", dice.emoji, dice.value));
    }
    let unread = [
        "story",
        "game",
        "invoice",
        "paid_media",
        "checklist",
        "web_app_data",
        "passport_data",
        "gift",
        "unique_gift",
    ];
    unread
        .iter()
        .find(|kind| message.rest.contains_key(**kind))
        .map(|kind| format!("[{}]", kind.replace('_', " ")))
}

fn apply_entities(text: &str, entities: &[TextEntity], bot: &BotName<'_>) -> String {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    let mut sorted: Vec<&TextEntity> = entities.iter().collect();
    sorted.sort_by_key(|entity| std::cmp::Reverse(entity.offset));
    for entity in sorted {
        let Some(end) = entity.offset.checked_add(entity.length).filter(|end| *end <= units.len()) else {
            continue;
        };
        let words = String::from_utf16_lossy(&units[entity.offset..end]);
        if let Some(command) = strip_command(entity, &words, bot) {
            units.splice(entity.offset..end, command.encode_utf16());
        } else if names_bot(entity, &words, bot) {
            units.splice(entity.offset..end, []);
        } else if let Some(url) =
            entity.url.as_deref().filter(|url| entity.kind == "text_link" && *url != words)
        {
            units.splice(end..end, format!(" ({url})").encode_utf16());
        }
    }
    String::from_utf16_lossy(&units).trim().to_owned()
}

/// `/help@shop_bot` as `/help`, where that is us.
fn strip_command(entity: &TextEntity, words: &str, bot: &BotName<'_>) -> Option<String> {
    let (command, to) = words.split_once('@').filter(|_| entity.kind == "bot_command")?;
    bot.username.is_some_and(|own| own.eq_ignore_ascii_case(to)).then(|| command.to_owned())
}

fn names_bot(entity: &TextEntity, words: &str, bot: &BotName<'_>) -> bool {
    match entity.kind.as_str() {
        "mention" => {
            let named = words.trim_start_matches('@');
            bot.username.is_some_and(|own| own.eq_ignore_ascii_case(named))
        }
        "text_mention" => entity.user.as_ref().is_some_and(|user| user.id == bot.id),
        _ => false,
    }
}

/// Whether a message in a group is for us: it mentions us, or answers something that we said.
pub(super) fn is_for_bot(message: &BotMessage, bot: &BotName<'_>) -> bool {
    let answers =
        message.replied_to().and_then(|replied| replied.from.as_ref()).is_some_and(|from| from.id == bot.id);
    let (text, entities) = message.words();
    let units: Vec<u16> = text.encode_utf16().collect();
    let names = |entity: &TextEntity| {
        let end = entity.offset.checked_add(entity.length).filter(|end| *end <= units.len());
        let words = end.map(|end| String::from_utf16_lossy(&units[entity.offset..end]));
        words.is_some_and(|words| {
            names_bot(entity, &words, bot) || strip_command(entity, &words, bot).is_some()
        })
    };
    answers || entities.iter().any(names)
}

/// Whether it can't be told without our name whether it is for us.
pub(super) fn needs_username(message: &BotMessage) -> bool {
    let (text, entities) = message.words();
    text.contains('@')
        && entities.iter().any(|entity| matches!(entity.kind.as_str(), "mention" | "bot_command"))
}

pub(super) fn list_files(message: &BotMessage) -> Vec<ArrivedFile> {
    let file = |file: &BotFile, usual: &str| ArrivedFile {
        reference: file.file_id.clone(),
        media_type: file.mime_type.clone().unwrap_or_else(|| usual.to_owned()),
        name: file.file_name.clone(),
        size: file.file_size,
    };
    let largest = message
        .photo
        .iter()
        .max_by_key(|size| (u64::from(size.width) * u64::from(size.height), size.file_size));
    // A moving picture comes as a document, too.
    let document = message.document.as_ref().filter(|_| message.animation.is_none());
    let found = [
        largest.map(|one| file(one, "image/jpeg")),
        message.animation.as_ref().map(|one| file(one, "video/mp4")),
        document.map(|one| file(one, "application/octet-stream")),
        message.voice.as_ref().map(|one| file(one, "audio/ogg")),
        message.audio.as_ref().map(|one| file(one, "audio/mpeg")),
        message.video.as_ref().map(|one| file(one, "video/mp4")),
        message.video_note.as_ref().map(|one| file(one, "video/mp4")),
    ];
    found.into_iter().flatten().filter(|file| !file.reference.is_empty()).collect()
}
