//! `search_messages`: what was said before about something, for the agent that is asked.
//!
//! It looks in the conversation of the person who asks with the binding that answers, and nowhere else: also in what has left
//! the prompt, and in what was said before somebody turned out to be them. What was made with words of a kind that the run has
//! not read is not shown, nor is what stays on this machine. Whose words the rest was made with the run has read from then on.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use munshi_identity::persons;
use munshi_safety::acts::{self, Permit};
use munshi_safety::pipeline::{InvalidTool, TaintSource};
use munshi_store::{Cursor, Db, Tx};
use munshi_tools::{ReadToolHandler, ToolFailure, ToolHandler, ToolOutput, ToolRegistry, builtin};
use munshi_types::{
    ActId, BindingId, Clock, Id, MessageId, PersonId, Reach, RunId, Timestamp, ToolNameError, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::find::{MessageHit, MessageSearch, search_shown};
use super::limits::TOOL_SEARCHES;
use super::opening::list_present;
use super::{SearchLimits, SearchQuery, SearchQueryError};
use crate::{messages, sessions, taint_bits};

const NAME: &str = "search_messages";
const USUAL: u64 = 5;
const MOST: u64 = 20;

struct SearchMessagesTool {
    clock: Arc<dyn Clock>,
}

/// Installs it among the tools that every installation has.
pub fn install(registry: &mut ToolRegistry, clock: Arc<dyn Clock>) -> Result<(), InvalidTool> {
    let misnamed = |error: ToolNameError| InvalidTool { tool: NAME.to_owned(), what: error.to_string() };
    let handler = ToolHandler::Read(Arc::new(SearchMessagesTool { clock }));
    registry.add_of_pack(builtin::NAME, spec().map_err(misnamed)?, builtin::connector(), handler)
}

fn spec() -> Result<ToolSpec, ToolNameError> {
    let what = "Searches what was said earlier in this conversation, by you or by the person, also long ago. Use it when \
                they refer to something said before that you don't see. All words must be in one message; put words that \
                follow each other in double quotes. Spelling and script don't matter, so use the few words that matter most. Where \
                there is `next`, more may be found: give it as `before`.";
    Ok(ToolSpec {
        reach: Reach::Person,
        // An act is kept longer than messages may be.
        transient: true,
        needs_conversation: true,
        parameters: json!({
            "type": "object",
            "properties": {
                "words": { "type": "string", "minLength": 1, "maxLength": 200 },
                "before": { "type": "string", "description": "Only what was said before: a moment, as 2026-11-19T10:00:00Z, or `next` as it was given." },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST },
            },
            "required": ["words"],
            "additionalProperties": false,
        }),
        ..ToolSpec::read_only(NAME.parse()?, what, "house.messages.search")
    })
}

#[async_trait]
impl ReadToolHandler for SearchMessagesTool {
    /// On a reader: nobody's message waits while messages are opened.
    async fn prepare(&self, permit: &Permit, db: &Db) -> Result<Value, ToolFailure> {
        let request = SearchRequest::parse(permit, self.clock.now())?;
        let slot = TOOL_SEARCHES.wait(permit.tenant()).await;
        let search = move |tx: &mut Tx<'_>| -> Result<FoundMessages, ToolFailure> {
            let _slot = slot;
            request.run(tx)
        };
        let found = db.read(permit.tenant(), search).await?;
        serde_json::to_value(found).map_err(|error| ToolFailure::permanent("broke", error.to_string()))
    }

    fn read(&self, _permit: &Permit, _tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        Err(ToolFailure::permanent("broke", "the search was not prepared"))
    }

    /// What went meanwhile, as when somebody is forgotten, is not shown.
    fn read_prepared(
        &self,
        _permit: &Permit,
        prepared: &Value,
        tx: &mut Tx<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let mut found = FoundMessages::deserialize(prepared)
            .map_err(|error| ToolFailure::permanent("broke", error.to_string()))?;
        let ids: Vec<Uuid> = found.shown.iter().map(|shown| shown.id.as_uuid()).collect();
        let present: HashSet<Uuid> = list_present(tx, &ids)?.into_iter().collect();
        found.shown.retain(|shown| present.contains(&shown.id.as_uuid()));
        Ok(found.into_output())
    }
}

/// What is looked for, and for which act.
struct SearchRequest {
    act: ActId,
    query: SearchQuery,
    before: Option<Cursor>,
    limit: usize,
    now: Timestamp,
}

impl SearchRequest {
    fn parse(permit: &Permit, now: Timestamp) -> Result<Self, ToolFailure> {
        let arguments = permit.arguments();
        let words = arguments["words"].as_str().unwrap_or_default();
        let unsearchable = |error: SearchQueryError| ToolFailure::permanent("bad_words", error.to_string());
        let what = "`before` is no moment, nor what `next` was: write it as 2026-11-19T10:00:00Z";
        let no_moment = || ToolFailure::permanent("bad_time", what);
        let before = arguments["before"].as_str().map(|before| parse_position(before).ok_or_else(no_moment));
        let limit = arguments["limit"].as_u64().unwrap_or(USUAL).clamp(1, MOST);
        Ok(Self {
            act: permit.act(),
            query: SearchQuery::parse(words).map_err(unsearchable)?,
            before: before.transpose()?,
            limit: usize::try_from(limit).unwrap_or_default(),
            now,
        })
    }

    fn run(self, tx: &mut Tx<'_>) -> Result<FoundMessages, ToolFailure> {
        let asker = Asker::load(tx, self.act)?;
        let wanted = asker.build_search(tx, self)?;
        let (mut withheld, mut sources) = (0, BTreeSet::new());
        let found = search_shown(tx, &wanted, |tx, hit| {
            let Some(read) = list_sources(tx, hit)? else { return Ok(false) };
            let is_shown = read.is_subset(&asker.sources);
            match is_shown {
                true => sources.extend(read),
                false => withheld += 1,
            }
            Ok(is_shown)
        })?;
        let shown = found.hits.iter().map(ShownMessage::from_hit).collect();
        Ok(FoundMessages { shown, next: found.next, withheld, sources })
    }
}

/// For whom it is looked, and what the run that asks has read.
struct Asker {
    person: PersonId,
    binding: BindingId,
    run: Option<RunId>,
    sources: BTreeSet<TaintSource>,
}

impl Asker {
    fn load(tx: &mut Tx<'_>, act: ActId) -> Result<Self, ToolFailure> {
        let unread = |error: munshi_safety::Error| ToolFailure::transient("store", error.to_string());
        let basis = acts::find(tx, act).map_err(unread)?.map(|act| act.rests_on);
        let nobody = || ToolFailure::permanent("no_conversation", "there is no conversation to search in");
        let basis = basis.ok_or_else(nobody)?;
        // A program that calls tools by itself, with a key that need not open conversations.
        if basis.caller.run.is_none() && basis.caller.session.is_none() {
            return Err(nobody());
        }
        let (Some(person), Some(binding)) = (basis.caller.principal.person, basis.caller.binding) else {
            return Err(nobody());
        };
        Ok(Self { person, binding, run: basis.caller.run, sources: basis.taint.sources })
    }

    fn build_search(&self, tx: &mut Tx<'_>, request: SearchRequest) -> Result<MessageSearch, ToolFailure> {
        let living = persons::find_living(tx, self.person)?.map_or(self.person, |person| person.id);
        let wanted = MessageSearch::new(request.query, request.limit, request.now);
        Ok(MessageSearch {
            persons: Some(persons::list_group(tx, living)?),
            bindings: Some(vec![self.binding]),
            // The message that is being answered among them.
            except_run: self.run,
            before: request.before.unwrap_or(wanted.before),
            limits: SearchLimits::TOOL,
            ..wanted
        })
    }
}

/// Whose words a message was made with; none where nobody may see it, since it is gone, can't be read or stays on this machine.
fn list_sources(tx: &mut Tx<'_>, hit: &MessageHit) -> munshi_store::Result<Option<BTreeSet<TaintSource>>> {
    match read_sources(tx, hit) {
        Err(error) if error.is_unreadable() => Ok(None),
        read => read,
    }
}

fn read_sources(tx: &mut Tx<'_>, hit: &MessageHit) -> munshi_store::Result<Option<BTreeSet<TaintSource>>> {
    let (Some(message), Some(session)) = (messages::find(tx, hit.message)?, sessions::find(tx, hit.session)?)
    else {
        return Ok(None);
    };
    let of_run = messages::list_by_run(tx, hit.run)?;
    if !messages::collect_local_only_runs(&of_run).is_empty() {
        return Ok(None);
    }
    Ok(Some(taint_bits::sources(taint_bits::read_message_bits(&message, &session))))
}

/// Where a search goes on, as a model is told it: the moment of a message and its id, since several may bear one moment.
fn render_position(position: Cursor) -> String {
    format!("{}/{}", position.time, position.id.simple())
}

/// The same back, or a moment alone: what was said before it.
fn parse_position(text: &str) -> Option<Cursor> {
    let (time, id) = match text.split_once('/') {
        Some((time, id)) => (time, Uuid::try_parse(id).ok()?),
        None => (text, Uuid::nil()),
    };
    Some(Cursor { time: time.parse().ok()?, id })
}

/// What was found, between the reader and the transaction in which the act ends.
#[derive(Serialize, Deserialize)]
struct FoundMessages {
    shown: Vec<ShownMessage>,
    next: Option<Cursor>,
    withheld: u32,
    /// Of those that are shown.
    sources: BTreeSet<TaintSource>,
}

#[derive(Serialize, Deserialize)]
struct ShownMessage {
    id: MessageId,
    said_at: Timestamp,
    by: String,
    number: i64,
    text: String,
}

impl FoundMessages {
    fn into_output(self) -> ToolOutput {
        let shown: Vec<Value> = self.shown.iter().map(ShownMessage::describe).collect();
        let mut value = json!({ "messages": shown });
        if let Some(next) = self.next {
            value["next"] = json!(render_position(next));
        }
        if self.withheld > 0 {
            value["withheld"] = json!(self.withheld);
        }
        ToolOutput { sources: self.sources, ..ToolOutput::new(value) }
    }
}

impl ShownMessage {
    fn from_hit(hit: &MessageHit) -> Self {
        Self {
            id: hit.message,
            said_at: hit.said_at,
            by: hit.speaker.as_str().to_owned(),
            number: hit.number,
            text: hit.excerpt.clone(),
        }
    }

    fn describe(&self) -> Value {
        json!({ "said_at": self.said_at, "by": self.by, "number": self.number, "text": self.text })
    }
}
