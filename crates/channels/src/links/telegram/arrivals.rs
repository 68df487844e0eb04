//! What Telegram tells, as everything that arrives.

use munshi_types::Timestamp;

use super::message_text::{BotName, is_for_bot, list_files, needs_username, read_text};
use super::outgoing::parse_button;
use super::update::{BotChat, BotMessage, BotUpdate, BotUser, ButtonPress, MembershipChange, ReactionChange};
use crate::incoming::{ArrivedChat, ArrivedMessage, ArrivedSender, ChannelEvent, ChannelHappening};

/// An update with what is to be done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadUpdate {
    /// None where it asks nothing of us.
    pub event: Option<ChannelEvent>,
    /// Pictures that were sent together share one.
    pub album: Option<String>,
    /// A press that is to be answered, so that the button stops turning.
    pub pressed: Option<String>,
}

/// Whether nobody can tell without our name whether it is for us.
pub(super) fn is_unsure(update: &BotUpdate) -> bool {
    let said = update.message.as_deref().or(update.edited_message.as_deref());
    said.is_some_and(|said| said.chat.is_group() && needs_username(said))
}

pub(super) fn read_update(update: &BotUpdate, bot: &BotName<'_>) -> ReadUpdate {
    let event = |lane: i64, at: Option<i64>, what| ChannelEvent {
        id: format!("{}:{}", bot.id, update.update_id),
        lane: lane.to_string(),
        happened_at: at.and_then(read_time),
        what,
    };
    if let Some(said) = &update.message {
        let message = read_message(said, bot);
        return ReadUpdate {
            event: message.map(|message| {
                event(said.chat.id, Some(said.date), ChannelHappening::Message(Box::new(message)))
            }),
            album: said.media_group_id.clone(),
            pressed: None,
        };
    }
    if let Some(said) = &update.edited_message {
        let at = said.edit_date.unwrap_or(said.date);
        let message = read_message(said, bot);
        let event =
            message.map(|message| event(said.chat.id, Some(at), ChannelHappening::Edited(Box::new(message))));
        return ReadUpdate { event, ..ReadUpdate::default() };
    }
    if let Some(press) = &update.callback_query {
        let message = read_press(press, bot);
        let event =
            message.map(|(chat, message)| event(chat, None, ChannelHappening::Message(Box::new(message))));
        return ReadUpdate { event, album: None, pressed: Some(press.id.clone()) };
    }
    let event = if let Some(change) = &update.my_chat_member {
        read_membership(change).map(|what| event(change.chat.id, Some(change.date), what))
    } else if let Some(change) = &update.message_reaction {
        read_reaction(change, bot).map(|what| event(change.chat.id, Some(change.date), what))
    } else {
        None
    };
    ReadUpdate { event, ..ReadUpdate::default() }
}

/// Pictures that were sent together and heard together are one message.
pub(super) fn join_albums(read: Vec<ReadUpdate>) -> Vec<ChannelEvent> {
    let mut joined: Vec<(Option<String>, ChannelEvent)> = Vec::new();
    for ReadUpdate { event, album, .. } in read {
        let Some(event) = event else { continue };
        let before = joined
            .last_mut()
            .filter(|(known, before)| album.is_some() && *known == album && before.lane == event.lane);
        match (before, event) {
            (Some((_, before)), event) => add_files(before, event),
            (None, event) => joined.push((album, event)),
        }
    }
    joined.into_iter().map(|(_, event)| event).collect()
}

fn add_files(before: &mut ChannelEvent, event: ChannelEvent) {
    if let (ChannelHappening::Message(first), ChannelHappening::Message(more)) =
        (&mut before.what, event.what)
    {
        first.files.extend(more.files);
        if !more.text.is_empty() {
            let between = if first.text.is_empty() { "" } else { "\n" };
            first.text = format!("{}{between}{}", first.text, more.text);
        }
    }
}

/// What we call a message: the numbers of Telegram's messages begin anew in each chat of each bot.
pub(super) fn name_message(bot: i64, chat: i64, message: i64) -> String {
    format!("{bot}:{chat}:{message}")
}

/// The chat and the number in a name of ours; none for what is no message there.
pub(super) fn parse_message_name(name: &str) -> Option<(i64, i64)> {
    let mut parts = name.split(':');
    let (_, chat, message) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    Some((chat.parse().ok()?, message.parse().ok()?))
}

fn read_message(said: &BotMessage, bot: &BotName<'_>) -> Option<ArrivedMessage> {
    let chat = read_chat(&said.chat)?;
    // What others' programs say is answered by nobody. An administrator who hides speaks through the group.
    let from = said.from.as_ref()?;
    if from.id == bot.id || (from.is_bot && said.sender_chat.is_none()) {
        return None;
    }
    if matches!(chat, ArrivedChat::Group { .. }) && !is_for_bot(said, bot) {
        return None;
    }
    if is_service(said) {
        return None;
    }
    let quoted = said.replied_to().map(|replied| name_message(bot.id, said.chat.id, replied.message_id));
    Some(ArrivedMessage {
        outside_id: name_message(bot.id, said.chat.id, said.message_id),
        from: read_sender(from),
        chat,
        text: read_text(said, bot),
        files: list_files(said),
        locale: from.language_code.clone(),
        quoted,
        sent_at: read_time(said.date),
        reply_to: name_reply_address(said),
        to: bot.username.map(|name| format!("@{name}")),
        ..ArrivedMessage::default()
    })
}

/// What Telegram notes in a chat, such as that somebody joined: nobody said anything.
fn is_service(said: &BotMessage) -> bool {
    let notes = [
        "pinned_message",
        "message_auto_delete_timer_changed",
        "chat_background_set",
        "write_access_allowed",
        "users_shared",
        "chat_shared",
        "connected_website",
        "boost_added",
        "proximity_alert_triggered",
        "group_chat_created",
        "supergroup_chat_created",
        "channel_chat_created",
        "new_chat_members",
        "left_chat_member",
        "new_chat_title",
        "new_chat_photo",
        "delete_chat_photo",
        "migrate_to_chat_id",
        "migrate_from_chat_id",
        "successful_payment",
        "refunded_payment",
    ];
    let families = ["forum_topic_", "general_forum_topic_", "video_chat_", "giveaway_"];
    said.rest.keys().any(|key| notes.contains(&key.as_str()) || families.iter().any(|of| key.starts_with(of)))
}

/// The text of the button, from whoever pressed it in their own chat.
fn read_press(press: &ButtonPress, bot: &BotName<'_>) -> Option<(i64, ArrivedMessage)> {
    let shown = press.message.as_deref()?;
    let chat = read_chat(&shown.chat)?;
    let is_ours = shown.from.as_ref().is_none_or(|from| from.id == bot.id);
    if press.from.is_bot || !is_ours || (shown.chat.is_private() && shown.chat.id != press.from.id) {
        return None;
    }
    // Programs may send whatever they like as a press: only what stands on a button counts.
    let buttons = shown.reply_markup.as_ref()?.inline_keyboard.iter().flatten();
    let pressed = buttons
        .into_iter()
        .find(|button| button.callback_data.is_some() && button.callback_data == press.data)?;
    let message = ArrivedMessage {
        outside_id: format!("{}:press:{}", bot.id, press.id),
        from: read_sender(&press.from),
        chat,
        text: pressed.text.clone(),
        locale: press.from.language_code.clone(),
        quoted: Some(name_message(bot.id, shown.chat.id, shown.message_id)),
        answered: press.data.as_deref().and_then(parse_button),
        reply_to: name_reply_address(shown),
        to: bot.username.map(|name| format!("@{name}")),
        ..ArrivedMessage::default()
    };
    Some((shown.chat.id, message))
}

/// Who blocks the bot wants nothing more from it.
fn read_membership(change: &MembershipChange) -> Option<ChannelHappening> {
    let wanted = match (change.old_chat_member.status.as_str(), change.new_chat_member.status.as_str()) {
        (_, "kicked") => false,
        ("kicked", "member") => true,
        _ => return None,
    };
    let is_own = change.chat.is_private() && change.chat.id == change.from.id;
    is_own.then(|| ChannelHappening::Subscription { from: read_sender(&change.from), wanted, reply_to: None })
}

fn read_reaction(change: &ReactionChange, bot: &BotName<'_>) -> Option<ChannelHappening> {
    let user = change.user.as_ref().filter(|user| !user.is_bot && change.chat.is_private())?;
    Some(ChannelHappening::Reacted {
        message: name_message(bot.id, change.chat.id, change.message_id),
        sign: change.new_reaction.iter().find_map(|sign| sign.emoji.clone()),
        from: read_sender(user),
    })
}

/// None where it is neither between two nor among several, such as a channel that many read.
fn read_chat(chat: &BotChat) -> Option<ArrivedChat> {
    if chat.is_private() {
        return Some(ArrivedChat::Direct);
    }
    chat.is_group().then(|| ArrivedChat::Group {
        id: chat.id.to_string(),
        title: chat.title.clone().unwrap_or_default(),
    })
}

fn read_sender(user: &BotUser) -> ArrivedSender {
    ArrivedSender { channel_id: user.id.to_string(), name: user.full_name(), ..ArrivedSender::default() }
}

/// The chat, and the topic in it where there are several.
fn name_reply_address(said: &BotMessage) -> String {
    match said.message_thread_id.filter(|_| said.is_topic_message) {
        Some(topic) => format!("{}/{topic}", said.chat.id),
        None => said.chat.id.to_string(),
    }
}

fn read_time(seconds: i64) -> Option<Timestamp> {
    (seconds > 0).then(|| seconds.checked_mul(1_000_000)).flatten().map(Timestamp::from_micros)
}
