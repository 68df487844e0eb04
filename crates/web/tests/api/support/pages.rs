//! A pack with two pages and two operations.

use std::sync::Arc;

use askama::Template;
use async_trait::async_trait;
use munshi_identity::Role;
use munshi_identity::keys::ApiAccess;
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, PackCall, PackServices,
    RouteMethod,
};
use munshi_pack::{
    InvalidPack, NextStep, Pack, PackForm, PackFormOutcome, PackInstaller, PackPageContent, PackPageHandler,
    PackPageRequest, PackRegistry, RunHistory, RunKind,
};
use munshi_store::{AdminTx, Result, Tx, params};
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
        room.add_page(Write)?;
        room.add_webhook(super::webhooks::NotesHook)?;
        room.add_run_kind(CountRun)?;
        room.add_operation::<CountNotes>()?;
        room.add_operation::<ForgetNotes>()
    }
}

/// Looks how many notes there are.
struct CountRun;

#[async_trait]
impl RunKind for CountRun {
    fn name(&self) -> &'static str {
        "count"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["shop.*"]
    }

    async fn next_step(&self, history: &RunHistory) -> std::result::Result<NextStep, String> {
        Ok(match history.outcomes.len() {
            0 => NextStep::Call { tool: "count".to_owned(), arguments: json!({}) },
            _ => NextStep::End(json!({ "counted": true })),
        })
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

/// Writes a note down.
struct Write;

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<form method="post">{{ fields|safe }}<p>{{ wrong }}</p><input name="text"></form>"#
)]
struct WriteForm<'a> {
    fields: &'a str,
    wrong: &'a str,
}

impl PackPageHandler for Write {
    fn path(&self) -> &'static str {
        "write"
    }

    fn scope(&self) -> &'static str {
        "notes.note.read"
    }

    fn allows_link_access(&self, _: &mut Tx<'_>, visit: &PackPageRequest) -> Result<bool> {
        Ok(visit.rest == PAGE_KEY)
    }

    fn show(&self, _: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>> {
        let form = WriteForm { fields: &visit.render_form_fields()?, wrong: "" };
        PackPageContent::html("Write", &form).map(Some)
    }

    fn write_scope(&self) -> Option<&'static str> {
        Some("notes.note.add")
    }

    fn submit(
        &self,
        tx: &mut AdminTx<'_, '_>,
        visit: &PackPageRequest,
        form: &PackForm,
    ) -> Result<PackFormOutcome> {
        if visit.rest == "gone" {
            return Ok(PackFormOutcome::Gone);
        }
        let id = visit.now.as_micros();
        let text = form.get("text");
        tx.execute(
            "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, $3)",
            params![uuid::Uuid::from_u128(u128::try_from(id).unwrap_or_default() + text.len() as u128), text],
        )?;
        if text.is_empty() {
            let again = WriteForm { fields: &visit.render_form_fields()?, wrong: "Nothing <b>written</b>." };
            return PackPageContent::html("Write", &again).map(PackFormOutcome::Invalid);
        }
        if text != "unsaid" {
            tx.note("notes.written", "note", json!({ "text": text }));
        }
        Ok(PackFormOutcome::Redirect(format!("list/{text}")))
    }
}

pub(super) fn house() -> PackRegistry {
    PackRegistry::install_all(&[Arc::new(Notes)]).unwrap()
}
