//! A pack with two pages and two operations.

use std::sync::Arc;

use askama::Template;
use munshi_identity::Role;
use munshi_identity::keys::ApiAccess;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, PackCall, PackServices,
    RouteMethod,
};
use munshi_pack::{
    InvalidPack, Pack, PackInstaller, PackPageContent, PackPageHandler, PackPageRequest, PackRegistry,
};
use munshi_store::{Result, Tx, params};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

/// Opens the list to whoever has it.
pub(crate) const PAGE_KEY: &str = "a-key-that-nobody-guesses";

struct Notes;

impl Pack for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> std::result::Result<(), InvalidPack> {
        room.add_page(List)?;
        room.add_page(Count)?;
        room.add_operation::<CountNotes>()?;
        room.add_operation::<ForgetNotes>()
    }
}

/// How many notes the shop has.
struct CountNotes;

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CountNotesInput {}

#[derive(Serialize, Deserialize, ToSchema)]
struct NoteCount {
    count: i64,
}

const COUNT: OperationSpec = OperationSpec {
    resource: "notes-counts",
    noun: "notes count",
    command: "notes count",
    verb: "show",
    about: "Count the notes.",
    needs: CallerClass::Scope { scope: "notes.note.read", access: ApiAccess::Read, least: Role::Viewer },
    effect: OperationEffect::Read,
    method: RouteMethod::Get,
    path: "/v1/packs/notes/count",
};

impl Operation<PackServices> for CountNotes {
    type Input = CountNotesInput;
    type View = NoteCount;

    const SPEC: OperationSpec = COUNT;

    async fn run(call: &PackCall, _: CountNotesInput) -> std::result::Result<NoteCount, OperationError> {
        let count = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1";
        let count = call.read(move |tx| Ok(tx.one(count, &[], |row| row.get(0))?)).await?;
        Ok(NoteCount { count })
    }
}

/// Takes away those of one text.
struct ForgetNotes;

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForgetNotesInput {
    text: String,
}

impl Operation<PackServices> for ForgetNotes {
    type Input = ForgetNotesInput;
    type View = NoteCount;

    const SPEC: OperationSpec = OperationSpec {
        resource: "notes-entries",
        noun: "notes entries",
        command: "notes forget",
        verb: "forget",
        about: "Forget all notes of one text.",
        needs: CallerClass::Scope {
            scope: "notes.note.forget",
            access: ApiAccess::Write,
            least: Role::Staff,
        },
        effect: OperationEffect::Write(&["notes.forgotten"]),
        method: RouteMethod::Post,
        path: "/v1/packs/notes/forget",
    };

    async fn run(call: &PackCall, input: ForgetNotesInput) -> std::result::Result<NoteCount, OperationError> {
        call.write(move |tx| {
            let forget = "DELETE FROM notes WHERE tenant_id = $1 AND text = $2";
            let count = i64::try_from(tx.execute(forget, params![input.text])?).unwrap_or(i64::MAX);
            tx.note("notes.forgotten", "notes".to_owned(), json!({ "count": count }));
            Ok(NoteCount { count })
        })
        .await
    }
}

struct List;

#[derive(Template)]
#[template(ext = "html", source = "<p>{{ rest }} {{ asked }}</p>")]
struct NoteList<'a> {
    rest: &'a str,
    asked: String,
}

impl PackPageHandler for List {
    fn path(&self) -> &'static str {
        "list"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn allows_link_access(&self, _: &mut Tx<'_>, visit: &PackPageRequest) -> Result<bool> {
        Ok(visit.rest == PAGE_KEY)
    }

    fn show(&self, _: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>> {
        let asked: String = visit.query.iter().map(|(_, value)| value.as_str()).collect();
        let page = || PackPageContent::html("Notes", &NoteList { rest: &visit.rest, asked });
        (visit.rest != "gone").then(page).transpose()
    }
}

struct Count;

impl PackPageHandler for Count {
    fn path(&self) -> &'static str {
        "count"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn show(&self, _: &mut Tx<'_>, _: &PackPageRequest) -> Result<Option<PackPageContent>> {
        Ok(Some(PackPageContent::json("Notes", json!({ "count": 2 }))))
    }
}

pub(super) fn house() -> PackRegistry {
    PackRegistry::install_all(&[Arc::new(Notes)]).unwrap()
}
