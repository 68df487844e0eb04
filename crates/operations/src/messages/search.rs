//! Messages by their words, in all conversations that the caller reaches, newest first. The audit hears who searched and whose
//! conversations were shown; it never hears for which words.

use std::collections::BTreeSet;

use munshi_conversations::search::{MessageHit, MessageSearch, PAGE_SEARCHES, SearchQuery, search_messages};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_identity::persons;
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_store::{Cursor, ListCursor, SortOrder, Tx};
use munshi_types::{BindingId, Id, MessageId, PersonId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{HouseCall, HouseServices};

/// What is looked for, and where.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchMessagesInput {
    /// Words that must all be in one message; words that follow each other in double quotes. Spellings and scripts of a word
    /// find each other.
    #[schema(max_length = 200, example = "ramesh \"to pay\"")]
    pub q: String,
    /// Only conversations of this person, and of everybody who turned out to be them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    /// Only messages from this moment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only messages before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// The `next` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub after: Option<ListCursor>,
    /// Page size; default 25. A page may have fewer, or none, and not be the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

/// A message that has the words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = MessageHit)]
pub struct MessageHitView {
    #[schema(value_type = String, format = DateTime)]
    pub said_at: Timestamp,
    /// `person`, `persona`, or `colleague` for a person of the business.
    #[schema(example = "person")]
    pub speaker: String,
    /// What stands around the first word.
    #[schema(example = "Ramesh wants to pay on Saturday")]
    pub excerpt: String,
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// Position in the session, from 1.
    pub number: i64,
    #[schema(value_type = uuid::Uuid)]
    pub id: MessageId,
    #[schema(value_type = uuid::Uuid)]
    pub person: PersonId,
    #[schema(value_type = uuid::Uuid)]
    pub binding: BindingId,
    #[schema(value_type = uuid::Uuid)]
    pub run: RunId,
    #[schema(example = "whatsapp")]
    pub channel: String,
}

impl From<MessageHit> for MessageHitView {
    fn from(hit: MessageHit) -> Self {
        Self {
            said_at: hit.said_at,
            speaker: hit.speaker.as_str().to_owned(),
            excerpt: hit.excerpt,
            session: hit.session,
            number: hit.number,
            id: hit.message,
            person: hit.person,
            binding: hit.binding,
            run: hit.run,
            channel: hit.channel.as_str().to_owned(),
        }
    }
}

pub struct SearchMessages;

impl Operation<HouseServices> for SearchMessages {
    type Input = SearchMessagesInput;
    type View = ListView<MessageHitView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "messages",
        noun: "message",
        command: "messages",
        verb: "search",
        about: "Search messages by their words, newest first. Archived messages are not found. The audit notes who searched, \
                and whose conversations were shown.",
        needs: CallerClass::Member(Area::Sessions, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["messages.searched"]),
        method: RouteMethod::Get,
        path: "/v1/messages/search",
    };

    async fn run(
        call: &HouseCall,
        input: SearchMessagesInput,
    ) -> Result<ListView<MessageHitView>, OperationError> {
        let person = input.person;
        let wanted = build_search(call, &input)?;
        // On a reader: nobody's message waits while messages are opened.
        let slot = PAGE_SEARCHES.wait(call.tenant.id).await;
        let found = call.read(move |tx| {
            let _slot = slot;
            let persons = person.map(|person| list_persons(tx, person)).transpose()?;
            Ok(search_messages(tx, &MessageSearch { persons, ..wanted })?)
        });
        let found = found.await?;
        note_search(call, person, &found.hits).await?;
        let next = found.next.map(|position| ListCursor { order: SortOrder::Descending, position });
        Ok(ListView {
            items: found.hits.into_iter().map(MessageHitView::from).collect(),
            next: next.map(|next| next.to_string()),
        })
    }
}

fn build_search(call: &HouseCall, input: &SearchMessagesInput) -> Result<MessageSearch, OperationError> {
    let query = SearchQuery::parse(&input.q);
    let query = query.map_err(|problem| OperationError::field("q", &problem.to_string()))?;
    let page = ListInput { after: input.after, limit: input.limit, order: None };
    let after = page.page_request()?.after;
    let until = input.until.map(|until| Cursor { time: until, id: Uuid::nil() });
    Ok(MessageSearch {
        bindings: call.caller.bindings().cloned(),
        since: input.since.unwrap_or(Timestamp::EPOCH),
        before: until.map_or(after, |until| until.min(after)),
        ..MessageSearch::new(query, page.page_size()? as usize, call.now)
    })
}

fn list_persons(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<PersonId>, OperationError> {
    let living = persons::find_living(tx, person)?.map_or(person, |living| living.id);
    Ok(persons::list_group(tx, living)?)
}

/// Before anything is shown. Whoever looks through their own conversations alone is not noted.
async fn note_search(
    call: &HouseCall,
    person: Option<PersonId>,
    hits: &[MessageHit],
) -> Result<(), OperationError> {
    let own = call.caller.person();
    if own.is_some() && own == person && hits.iter().all(|hit| Some(hit.person) == own) {
        return Ok(());
    }
    let shown = hits.iter().filter(|hit| Some(hit.person) != own).map(|hit| hit.session.as_uuid());
    let payload = json!({ "person": person, "sessions": shown.collect::<BTreeSet<_>>() });
    let subject = person.map_or_else(|| "everybody".to_owned(), |person| person.to_string());
    call.read_audited(move |tx| {
        tx.note("messages.searched", subject, payload);
        Ok(())
    })
    .await
}
