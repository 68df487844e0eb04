//! `search_messages`: what was said before about something, for the agent that is asked.
//!
//! It looks in the conversation of the person who asks with the binding that answers, and nowhere else: also in what has left
//! the prompt, and in what was said before somebody turned out to be them. What was made with words that the run has not read
//! itself is not shown, since the result of a built-in tool does not taint; nor is what stays on this machine.

use std::sync::Arc;

use munshi_identity::persons;
use munshi_safety::acts::{self, Permit};
use munshi_safety::pipeline::{InvalidTool, TaintSource};
use munshi_store::Tx;
use munshi_tools::{ReadToolHandler, ToolFailure, ToolHandler, ToolOutput, ToolRegistry, builtin};
use munshi_types::{BindingId, Clock, PersonId, Reach, RunId, Timestamp, ToolNameError, ToolSpec};
use serde_json::{Value, json};

use super::find::{MessageHit, MessageSearch, search_messages};
use super::{SearchQuery, SearchQueryError};
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
                follow each other in double quotes. Spelling and script don't matter, so use the few words that matter most.";
    Ok(ToolSpec {
        reach: Reach::Person,
        parameters: json!({
            "type": "object",
            "properties": {
                "words": { "type": "string", "minLength": 1, "maxLength": 200 },
                "before": { "type": "string", "description": "Only what was said before this moment, as 2026-11-19T10:00:00Z." },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST },
            },
            "required": ["words"],
            "additionalProperties": false,
        }),
        ..ToolSpec::read_only(NAME.parse()?, what, "house.messages.search")
    })
}

impl ReadToolHandler for SearchMessagesTool {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let asker = Asker::load(tx, permit)?;
        let wanted = asker.build_search(tx, permit.arguments(), self.clock.now())?;
        let found = search_messages(tx, &wanted)?;
        let (mut shown, mut withheld) = (Vec::new(), 0);
        for hit in &found.hits {
            match asker.may_see(tx, hit)? {
                true => shown.push(describe(hit)),
                false => withheld += 1,
            }
        }
        let mut value = json!({ "messages": shown, "more": found.next.is_some() });
        if withheld > 0 {
            value["withheld"] = json!(withheld);
        }
        Ok(ToolOutput::new(value))
    }
}

/// For whom it is looked, and what the run that asks has read.
struct Asker {
    person: PersonId,
    binding: BindingId,
    run: Option<RunId>,
    sources: std::collections::BTreeSet<TaintSource>,
}

impl Asker {
    fn load(tx: &mut Tx<'_>, permit: &Permit) -> Result<Self, ToolFailure> {
        let unread = |error: munshi_safety::Error| ToolFailure::transient("store", error.to_string());
        let basis = acts::find(tx, permit.act()).map_err(unread)?.map(|act| act.rests_on);
        let nobody = || ToolFailure::permanent("no_conversation", "there is no conversation to search in");
        let basis = basis.ok_or_else(nobody)?;
        let (Some(person), Some(binding)) = (basis.caller.principal.person, basis.caller.binding) else {
            return Err(nobody());
        };
        Ok(Self { person, binding, run: basis.caller.run, sources: basis.taint.sources })
    }

    fn build_search(
        &self,
        tx: &mut Tx<'_>,
        arguments: &Value,
        now: Timestamp,
    ) -> Result<MessageSearch, ToolFailure> {
        let words = arguments["words"].as_str().unwrap_or_default();
        let unsearchable = |error: SearchQueryError| ToolFailure::permanent("bad_words", error.to_string());
        let query = SearchQuery::parse(words).map_err(unsearchable)?;
        let limit = arguments["limit"].as_u64().unwrap_or(USUAL).clamp(1, MOST);
        let living = persons::find_living(tx, self.person)?.map_or(self.person, |person| person.id);
        let mut wanted = MessageSearch::new(query, usize::try_from(limit).unwrap_or_default(), now);
        wanted.persons = Some(persons::list_group(tx, living)?);
        wanted.bindings = Some(vec![self.binding]);
        if let Some(before) = arguments["before"].as_str() {
            let before: Timestamp = before.parse().map_err(|_| {
                ToolFailure::permanent("bad_time", "`before` is no moment: write it as 2026-11-19T10:00:00Z")
            })?;
            wanted.before.time = wanted.before.time.min(before);
            wanted.before.id = uuid::Uuid::nil();
        }
        Ok(wanted)
    }

    /// Not the message that is being answered; not words of others that the run has not read.
    fn may_see(&self, tx: &mut Tx<'_>, hit: &MessageHit) -> Result<bool, ToolFailure> {
        if Some(hit.run) == self.run {
            return Ok(false);
        }
        let (Some(message), Some(session)) =
            (messages::find(tx, hit.message)?, sessions::find(tx, hit.session)?)
        else {
            return Ok(false);
        };
        let read = taint_bits::sources(taint_bits::read_message_bits(&message, &session));
        let of_run = messages::list_by_run(tx, hit.run)?;
        Ok(read.is_subset(&self.sources) && messages::collect_local_only_runs(&of_run).is_empty())
    }
}

fn describe(hit: &MessageHit) -> Value {
    json!({
        "said_at": hit.said_at,
        "by": hit.speaker.as_str(),
        "number": hit.number,
        "text": hit.excerpt,
    })
}
