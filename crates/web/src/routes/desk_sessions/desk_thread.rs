//! A conversation as the desk shows it: what was said in its order, what was whispered, and what tools did for an answer.

use std::collections::{BTreeMap, HashMap};

use munshi_conversations::outbox::OutboxState;
use munshi_operations::messages::{MessageDeliveryView, MessageView};
use munshi_operations::runs::{RunInput, ShowRun};
use munshi_operations::whispers::WhisperView;
use munshi_operations::{HouseCall, execute};
use munshi_pack::operation::OperationErrorCode;
use munshi_server::account::frame::AccountFrame;
use munshi_server::error::ApiError;
use munshi_store::Tx;
use munshi_types::{BlobId, MessageId, PersonId, RunId};
use serde_json::Value;

use crate::views::file::{AddressTerms, FileView, list_files_of};

/// Of so many answers, the newest, it is shown what tools did for them.
const MOST_RUNS: usize = 20;

pub(super) struct ThreadItem {
    /// Of the message or the whisper.
    pub(super) id: String,
    pub(super) number: i64,
    pub(super) who: String,
    pub(super) at: String,
    pub(super) text: String,
    /// Told to the agent, and not said in the conversation.
    pub(super) is_whisper: bool,
    pub(super) acts: Vec<ThreadAct>,
    /// What was sent along.
    pub(super) files: Vec<FileView>,
    /// That it has not left yet, or was refused; empty where there is nothing to say.
    pub(super) delivery: String,
}

/// A call of a tool.
pub(super) struct ThreadAct {
    pub(super) tool: String,
    pub(super) ok: bool,
    pub(super) arguments: String,
    pub(super) result: String,
}

/// What is shown of a thread.
pub(super) struct DeskThread<'a> {
    /// The oldest first.
    pub(super) messages: &'a [MessageView],
    pub(super) whispers: &'a [WhisperView],
    pub(super) names: &'a BTreeMap<PersonId, String>,
    pub(super) acts: HashMap<RunId, Vec<ThreadAct>>,
    pub(super) files: HashMap<MessageId, Vec<FileView>>,
}

/// What tools did for the newest answers, as whoever looks may see it of a run.
pub(super) async fn load_acts(
    call: &HouseCall,
    messages: &[MessageView],
) -> Result<HashMap<RunId, Vec<ThreadAct>>, ApiError> {
    let mut acts = HashMap::new();
    for message in messages.iter().rev().filter(|message| is_answer(message)) {
        if acts.len() >= MOST_RUNS || acts.contains_key(&message.run) {
            continue;
        }
        let shown = match execute::<ShowRun>(call, RunInput { id: message.run }).await {
            Ok(shown) => shown,
            // Old ones are gone, and some are of bindings that they do not reach.
            Err(error) if error.code == OperationErrorCode::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        acts.insert(message.run, shown.steps.iter().filter_map(|step| ThreadAct::read(&step.body)).collect());
    }
    Ok(acts)
}

/// The files of messages, with addresses that work for a while.
pub(super) async fn load_files(
    call: &HouseCall,
    messages: &[MessageView],
    terms: AddressTerms,
) -> Result<HashMap<MessageId, Vec<FileView>>, ApiError> {
    let with_files = messages.iter().filter(|message| !message.attachments.is_empty());
    let name = |message: &MessageView| (message.id, message.attachments.iter().map(|file| file.id).collect());
    let wanted: Vec<(MessageId, Vec<BlobId>)> = with_files.map(name).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let read = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let mut files = HashMap::new();
        for (message, ids) in wanted {
            files.insert(message, list_files_of(tx, message, ids.into_iter(), terms)?);
        }
        Ok(files)
    };
    call.db.read(call.tenant.id, read).await
}

/// What was said, and what came with it that nobody could fetch.
fn write_text(message: &MessageView) -> String {
    let lost = message.lost_files.iter();
    let lost =
        lost.map(|file| format!("📎 {} ✗ {}", file.name.as_deref().unwrap_or(&file.media_type), file.why));
    let parts = std::iter::once(message.text.clone()).chain(lost);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn is_answer(message: &MessageView) -> bool {
    message.speaker != "person" && message.colleague.is_none()
}

impl ThreadAct {
    fn read(step: &Value) -> Option<Self> {
        let render = |part: &Value| serde_json::to_string_pretty(part).unwrap_or_default();
        Some(Self {
            tool: step["tool"].as_str()?.to_owned(),
            ok: step["ok"] == true,
            arguments: render(&step["arguments"]),
            result: render(&step["result"]),
        })
    }
}

/// The phrase that says how far a message has come; none for one that has left.
const fn find_phrase(state: OutboxState, is_timed: bool) -> Option<&'static str> {
    match state {
        OutboxState::Sent => None,
        OutboxState::Waiting if is_timed => Some("desk-leaves"),
        OutboxState::Waiting | OutboxState::Sending => Some("desk-waits"),
        OutboxState::Unknown => Some("desk-maybe-sent"),
        OutboxState::Failed => Some("desk-not-sent"),
        OutboxState::Cancelled => Some("desk-taken-back"),
    }
}

fn describe_delivery(delivery: &MessageDeliveryView, frame: &AccountFrame) -> String {
    let time = delivery.not_before.map(|at| frame.format_time(at)).unwrap_or_default();
    let phrase = find_phrase(delivery.state, delivery.not_before.is_some());
    let said = phrase.map(|phrase| frame.words.render_with(phrase, "time", &time)).unwrap_or_default();
    match (delivery.state, &delivery.detail) {
        (OutboxState::Failed, Some(why)) => format!("{said} {why}"),
        _ => said,
    }
}

/// The same phrases for the script, which fills in the time and the reason.
pub(super) fn list_delivery_phrases(frame: &AccountFrame) -> BTreeMap<&'static str, String> {
    let mut phrases = BTreeMap::new();
    for state in OutboxState::ALL {
        if let Some(phrase) = find_phrase(state, false) {
            phrases.insert(state.as_str(), frame.words.render_with(phrase, "time", "{time}"));
        }
    }
    phrases.insert("leaves", frame.words.render_with("desk-leaves", "time", "{time}"));
    phrases
}

impl DeskThread<'_> {
    /// Messages in their order, each whisper behind the message it was whispered after.
    pub(super) fn list_items(mut self, frame: &AccountFrame) -> Vec<ThreadItem> {
        let words = frame.words;
        let name_of = |person: PersonId| self.names.get(&person).cloned().unwrap_or_default();
        let mut placed: Vec<((i64, bool), ThreadItem)> = Vec::new();
        for message in self.messages {
            let who = match (message.speaker.as_str(), message.colleague) {
                (_, Some(colleague)) => name_of(colleague),
                ("person", None) => words.render("desk-visitor"),
                _ => words.render("desk-persona"),
            };
            let (at, text) = (frame.format_time(message.said_at), write_text(message));
            // Of several messages of a run the first has what was done for them.
            let acts = match is_answer(message) {
                true => self.acts.remove(&message.run).unwrap_or_default(),
                false => Vec::new(),
            };
            let (id, number) = (message.id.to_string(), message.number);
            let delivery = message.delivery.as_ref().map(|delivery| describe_delivery(delivery, frame));
            let delivery = delivery.unwrap_or_default();
            let files = self.files.remove(&message.id).unwrap_or_default();
            let item = ThreadItem { id, number, who, at, text, is_whisper: false, acts, files, delivery };
            placed.push(((number, false), item));
        }
        for whisper in self.whispers {
            let (at, text, number) = (frame.format_time(whisper.at), whisper.text.clone(), whisper.number);
            let (id, who) = (whisper.id.to_string(), name_of(whisper.author));
            let item = ThreadItem {
                id,
                number,
                who,
                at,
                text,
                is_whisper: true,
                acts: Vec::new(),
                files: Vec::new(),
                delivery: String::new(),
            };
            placed.push(((number, true), item));
        }
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, item)| item).collect()
    }
}
