//! What Slack tells of conversations (its Events API), in our shape.

use munshi_types::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::place::{SlackPlace, is_direct, name_message};
use super::text::{list_mentioned, read_call, read_text};
use crate::incoming::{
    ArrivedChat, ArrivedFile, ArrivedMessage, ArrivedSender, ChannelEvent, ChannelHappening,
};
use crate::links::json::describe_fault;

/// What Slack's own helper writes is for no program.
const SLACKBOT: &str = "USLACKBOT";
/// The kinds of messages that people write; others are joins, topics and the like.
const WRITTEN: [&str; 4] = ["", "file_share", "thread_broadcast", "me_message"];
/// More files are not looked at.
const MOST_FILES: usize = 20;

/// What a request holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SlackEnvelope {
    #[serde(rename = "type")]
    pub kind: String,
    pub challenge: Option<String>,
    team_id: String,
    event_id: String,
    minute_rate_limited: Option<i64>,
    authorizations: Vec<SlackAuthorization>,
    event: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackAuthorization {
    user_id: Option<String>,
    is_bot: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackMessage {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    channel: Option<String>,
    user: Option<String>,
    bot_id: Option<String>,
    text: Option<String>,
    ts: Option<String>,
    thread_ts: Option<String>,
    deleted_ts: Option<String>,
    edited: Option<SlackEdit>,
    files: Vec<SlackFile>,
    message: Option<Box<SlackMessage>>,
    previous_message: Option<Box<SlackMessage>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackEdit {
    ts: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackFile {
    id: String,
    name: Option<String>,
    title: Option<String>,
    mimetype: Option<String>,
    size: Option<u64>,
    mode: Option<String>,
    file_access: Option<String>,
    external_url: Option<String>,
    url_private: Option<String>,
    url_private_download: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackReaction {
    user: Option<String>,
    reaction: String,
    item: SlackItem,
    event_ts: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SlackItem {
    channel: Option<String>,
    ts: Option<String>,
}

/// Whose conversation an event is of, and who we are there.
struct SlackReader<'a> {
    envelope: &'a SlackEnvelope,
    /// None where Slack does not say it and nobody has asked yet.
    own: Option<&'a str>,
}

/// A message with what is around it.
struct SlackTalk<'a> {
    channel: &'a str,
    ts: &'a str,
    user: &'a str,
    thread: Option<&'a str>,
    text: &'a str,
    files: &'a [SlackFile],
}

/// How a message reaches us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Addressing {
    /// It is written to us.
    Ours,
    /// It stands in a thread, and is ours if we take part in that.
    Followed,
    /// Others talk among themselves.
    Theirs,
}

/// What an event is; none where there is nothing in it for us. `own` is our user there, where it is known.
pub(super) fn read_event(envelope: &SlackEnvelope, own: Option<&str>) -> Result<Vec<ChannelEvent>, String> {
    let told = envelope.authorizations.iter().find(|one| one.is_bot).and_then(|one| one.user_id.as_deref());
    let reader = SlackReader { envelope, own: told.or(own) };
    let found = match envelope.kind.as_str() {
        "event_callback" => reader.read()?,
        "app_rate_limited" => {
            let minute = envelope.minute_rate_limited.unwrap_or_default();
            let what = "Slack leaves out events: more than 30,000 came within an hour".to_owned();
            Some(reader.note(format!("rate:{minute}"), what))
        }
        _ => None,
    };
    Ok(found.into_iter().collect())
}

impl SlackReader<'_> {
    fn read(&self) -> Result<Option<ChannelEvent>, String> {
        let kind = self.envelope.event["type"].as_str().unwrap_or_default();
        Ok(match kind {
            "message" | "app_mention" => self.read_message(&self.parse()?),
            "reaction_added" | "reaction_removed" => self.read_reaction(kind, &self.parse()?),
            "app_uninstalled" => {
                let what = "the app was removed from the Slack workspace: nothing comes or goes any more";
                Some(self.note(self.envelope.event_id.clone(), what.to_owned()))
            }
            "tokens_revoked" => {
                let what = "Slack withdrew the app's token: install the app again and store its new token";
                Some(self.note(self.envelope.event_id.clone(), what.to_owned()))
            }
            _ => None,
        })
    }

    fn parse<T: for<'de> Deserialize<'de>>(&self) -> Result<T, String> {
        let read = T::deserialize(&self.envelope.event);
        read.map_err(|error| format!("an event can't be read: it is {}", describe_fault(&error)))
    }

    fn note(&self, id: String, what: String) -> ChannelEvent {
        ChannelEvent {
            id,
            lane: "account".to_owned(),
            happened_at: None,
            what: ChannelHappening::Notice { what },
        }
    }

    fn read_message(&self, told: &SlackMessage) -> Option<ChannelEvent> {
        let channel = told.channel.as_deref()?;
        match told.subtype.as_deref().unwrap_or_default() {
            "message_changed" => self.read_change(channel, told),
            "message_deleted" => {
                let before = told.previous_message.as_deref()?;
                self.read_deletion(channel, before, told.deleted_ts.as_deref()?)
            }
            subtype if WRITTEN.contains(&subtype) => {
                let talk = self.find_talk(channel, told)?;
                let mut arrived = self.build_message(&talk, self.address(&talk, told))?;
                arrived.sent_at = read_time(talk.ts);
                let id = format!("{}:{}", told.kind, arrived.outside_id);
                let what = ChannelHappening::Message(Box::new(arrived));
                Some(self.build_event(id, &talk, talk.ts, what))
            }
            _ => None,
        }
    }

    /// They changed the words. Slack tells of a preview that it added in the same way: that changes nothing.
    fn read_change(&self, channel: &str, told: &SlackMessage) -> Option<ChannelEvent> {
        let (now, before) = (told.message.as_deref()?, told.previous_message.as_deref());
        if now.subtype.as_deref() == Some("tombstone") {
            return self.read_deletion(channel, before?, now.ts.as_deref()?);
        }
        let edited = now.edited.as_ref()?;
        if before.is_some_and(|before| before.text == now.text) {
            return None;
        }
        let talk = self.find_talk(channel, now)?;
        let mut arrived = self.build_message(&talk, self.address(&talk, now))?;
        arrived.sent_at = read_time(talk.ts);
        let id = format!("edited:{}:{}", arrived.outside_id, edited.ts);
        let what = ChannelHappening::Edited(Box::new(arrived));
        Some(self.build_event(id, &talk, &edited.ts, what))
    }

    fn read_deletion(&self, channel: &str, before: &SlackMessage, ts: &str) -> Option<ChannelEvent> {
        let talk = self.find_talk(channel, before)?;
        let message = name_message(channel, ts);
        let id = format!("deleted:{message}");
        let what = ChannelHappening::Deleted { message, from: self.build_sender(talk.user) };
        Some(ChannelEvent { id, lane: find_lane(&talk), happened_at: None, what })
    }

    fn read_reaction(&self, kind: &str, told: &SlackReaction) -> Option<ChannelEvent> {
        let (user, channel) = (told.user.as_deref()?, told.item.channel.as_deref()?);
        // The sign that we work on a message is one.
        if self.own == Some(user) {
            return None;
        }
        let message = name_message(channel, told.item.ts.as_deref()?);
        let sign = (kind == "reaction_added").then(|| told.reaction.clone());
        let id = format!("{kind}:{message}:{user}:{}:{}", told.reaction, told.event_ts);
        let what = ChannelHappening::Reacted { message, sign, from: self.build_sender(user) };
        let happened_at = read_time(&told.event_ts);
        Some(ChannelEvent { id, lane: channel.to_owned(), happened_at, what })
    }

    /// The message, where a person wrote it: what programs say is answered by nobody, our own first of all.
    fn find_talk<'m>(&self, channel: &'m str, told: &'m SlackMessage) -> Option<SlackTalk<'m>> {
        let user = told.user.as_deref().filter(|user| *user != SLACKBOT && self.own != Some(*user))?;
        let subtype = told.subtype.as_deref().unwrap_or_default();
        if told.bot_id.is_some() || !WRITTEN.contains(&subtype) {
            return None;
        }
        Some(SlackTalk {
            channel,
            ts: told.ts.as_deref()?,
            user,
            thread: told.thread_ts.as_deref(),
            text: told.text.as_deref().unwrap_or_default(),
            files: &told.files,
        })
    }

    fn address(&self, talk: &SlackTalk<'_>, told: &SlackMessage) -> Addressing {
        let mentioned = list_mentioned(talk.text);
        let is_named = self.own.is_some_and(|own| mentioned.contains(&own));
        if is_direct(talk.channel) || told.kind == "app_mention" || is_named {
            return Addressing::Ours;
        }
        match talk.thread {
            Some(thread) if thread != talk.ts && mentioned.is_empty() => Addressing::Followed,
            _ => Addressing::Theirs,
        }
    }

    fn build_message(&self, talk: &SlackTalk<'_>, addressing: Addressing) -> Option<ArrivedMessage> {
        if addressing == Addressing::Theirs {
            return None;
        }
        let (files, notes) = read_files(talk.files);
        let words = read_text(talk.text, self.own);
        let text: Vec<String> = [words].into_iter().chain(notes).filter(|part| !part.is_empty()).collect();
        let text = match text.is_empty() && files.is_empty() {
            true => read_call(talk.text, self.own).unwrap_or_else(|| "[message]".to_owned()),
            false => text.join("\n"),
        };
        Some(ArrivedMessage {
            outside_id: name_message(talk.channel, talk.ts),
            from: self.build_sender(talk.user),
            chat: self.build_chat(talk.channel, talk.thread.unwrap_or(talk.ts)),
            text,
            files,
            reply_to: build_reply_place(talk).write(),
            follows_chat: addressing == Addressing::Followed,
            ..ArrivedMessage::default()
        })
    }

    fn build_chat(&self, channel: &str, thread: &str) -> ArrivedChat {
        build_chat(&self.envelope.team_id, channel, thread)
    }

    fn build_sender(&self, user: &str) -> ArrivedSender {
        build_sender(&self.envelope.team_id, user)
    }

    fn build_event(
        &self,
        id: String,
        talk: &SlackTalk<'_>,
        at: &str,
        what: ChannelHappening,
    ) -> ChannelEvent {
        ChannelEvent { id, lane: find_lane(talk), happened_at: read_time(at), what }
    }
}

/// A thread is a conversation of its own: answers go there, and what is said in two of them has nothing to do with each other.
pub(super) fn build_chat(team: &str, channel: &str, thread: &str) -> ArrivedChat {
    match is_direct(channel) {
        true => ArrivedChat::Direct,
        false => ArrivedChat::Group { id: format!("{team}:{channel}/{thread}"), title: String::new() },
    }
}

/// People's ids are unique within a workspace.
pub(super) fn build_sender(team: &str, user: &str) -> ArrivedSender {
    ArrivedSender { channel_id: format!("{team}:{user}"), ..ArrivedSender::default() }
}

/// A direct message is answered where it stands, anything else in its thread.
fn build_reply_place(talk: &SlackTalk<'_>) -> SlackPlace {
    let conversation = talk.channel.to_owned();
    let thread = talk.thread.map(str::to_owned);
    match is_direct(talk.channel) {
        true => SlackPlace { conversation, thread, person: None },
        false => SlackPlace {
            conversation,
            thread: Some(thread.unwrap_or_else(|| talk.ts.to_owned())),
            person: Some(talk.user.to_owned()),
        },
    }
}

fn find_lane(talk: &SlackTalk<'_>) -> String {
    match is_direct(talk.channel) {
        true => talk.channel.to_owned(),
        false => name_message(talk.channel, talk.thread.unwrap_or(talk.ts)),
    }
}

/// Files that can be fetched, and words for those that can't.
fn read_files(files: &[SlackFile]) -> (Vec<ArrivedFile>, Vec<String>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for file in files.iter().take(MOST_FILES) {
        let name = file.name.clone().or_else(|| file.title.clone()).filter(|name| !name.is_empty());
        let shown = name.as_deref().unwrap_or("file");
        match file.mode.as_deref() {
            Some("tombstone" | "hidden_by_limit") => notes.push("[file that is gone]".to_owned()),
            Some("external") => {
                let url = file.external_url.as_deref().or(file.url_private.as_deref()).unwrap_or_default();
                notes.push(format!("[{shown}] {url}").trim_end().to_owned());
            }
            _ => {
                let url = file.url_private_download.clone().or_else(|| file.url_private.clone());
                let is_told = file.file_access.as_deref() != Some("check_file_info");
                let reference = url.filter(|_| is_told).unwrap_or_else(|| format!("file:{}", file.id));
                let media_type = file.mimetype.clone().unwrap_or_default();
                found.push(ArrivedFile { reference, media_type, name, size: file.size });
            }
        }
    }
    (found, notes)
}

/// `1531420618.000200`: seconds and, behind the dot, what keeps messages apart.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let (seconds, rest) = text.split_once('.').unwrap_or((text, "0"));
    let seconds: i64 = seconds.parse().ok()?;
    let micros: i64 = format!("{rest:0<6}").get(..6)?.parse().ok()?;
    let whole = seconds.checked_mul(1_000_000)?.checked_add(micros)?;
    (whole > 0 && whole < Timestamp::MAX.as_micros()).then(|| Timestamp::from_micros(whole))
}

#[cfg(test)]
mod tests;
