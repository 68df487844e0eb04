//! A small real pack: a shop's notice board. `docs/packs.md` walks through it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use async_trait::async_trait;
use munshi_http::{AllowedHosts, GuardedHttpClients};
use munshi_identity::Role;
use munshi_identity::keys::ApiAccess;
use munshi_jobs::{JobFailure, JobKind};
use munshi_lang::{fold, phrase_files};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, PackCall, PackServices,
    RouteMethod,
};
use munshi_pack::{
    Alert, AlertSeverity, ContextSource, Heartbeat, HeartbeatTick, InvalidPack, NewPackRun, NextStep,
    Objection, Pack, PackArgument, PackArgumentKind, PackCheck, PackCommand, PackCommandCall,
    PackCommandError, PackForm, PackFormOutcome, PackInstaller, PackJob, PackJobCall, PackPageContent,
    PackPageHandler, PackPageRequest, PackReader, PackReading, PackRunCause, PackScheduleTime,
    PackTurnContext, PromptContribution, RunHistory, RunKind, StepOutcome, TenantTemplate, ToolRuns,
    ready_files,
};
use munshi_safety::acts::Permit;
use munshi_safety::pipeline::ActConcern;
use munshi_store::{AdminTx, Migration, Result, Row, Tx, params};
use munshi_tiers::prompt::UntrustedText;
use munshi_tools::{ChoiceOption, ReadToolHandler, ToolFailure, ToolHandler, ToolOutput, WriteToolHandler};
use munshi_types::{
    ActId, Autonomy, Clock, Conduct, Effect, FallbackSearch, IdGenerator, Language, Reach, SystemRandom,
    Timestamp, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::doors::{BoardCount, Counted, Digest, MakeRoom, NoticeFeed, NoticeHook, NoticesOf};
use super::rounds::{self, Announce, RemindAll, Society};

pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    name: "9101_notices",
    text: "CREATE TENANT TABLE notices (
             tenant_id UUID NOT NULL REFERENCES tenants (id),
             id UUID NOT NULL,
             title TEXT NOT NULL,
             text TEXT NOT NULL,
             pinned_at TIMESTAMP NOT NULL,
             PRIMARY KEY (tenant_id, id)
           );",
}];

pub(crate) struct Board {
    pub(crate) clock: Arc<dyn Clock>,
    /// Where it asks for notices.
    pub(crate) feed: String,
    pub(crate) society: Society,
}

impl Board {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let clients = GuardedHttpClients::new(AllowedHosts::default()).expect("a client");
        let society = Society { clients, address: "https://society.example".to_owned() };
        Self { clock, feed: "https://feed.example".to_owned(), society }
    }
}

impl Pack for Board {
    fn name(&self) -> &'static str {
        "board"
    }

    fn migrations(&self) -> &'static [Migration] {
        MIGRATIONS
    }

    fn conduct(&self) -> Conduct {
        let own: Vec<_> = "board.*".parse().into_iter().collect();
        Conduct { autonomy: Autonomy::Act, read: own.clone(), write: own, ..Conduct::default() }
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        room.add_phrases(&phrase_files!("phrases"))?;
        room.add_tool(pin_spec(), ToolHandler::Write(Arc::new(Pin { clock: self.clock.clone() })))?;
        room.add_tool(read_spec(), ToolHandler::Read(Arc::new(Read)))?;
        room.add_tool(find_spec(), ToolHandler::Read(Arc::new(Find)))?;
        let runs = room.tool_runs();
        room.add_tool(remind_spec(), ToolHandler::Write(Arc::new(RemindMe { runs: runs.clone() })))?;
        room.add_tool(rounds::remind_all_spec(), ToolHandler::Write(Arc::new(RemindAll { runs })))?;
        let circular = rounds::circular_handler(&self.society);
        room.add_foreign_tool(rounds::circular_spec(), rounds::society_connector(), circular)?;
        room.add_context_source(Waiting);
        room.add_reader(Forwarded);
        room.add_check(Sober);
        room.add_job(Sweep)?;
        let night = PackScheduleTime::Daily { hour: 2, minute: 30 };
        room.add_schedule::<Sweep>("sweep", night, &SweepPayload { days: 90 })?;
        room.add_heartbeat(Stale)?;
        room.add_run_kind(Remind)?;
        room.add_run_kind(Announce)?;
        room.add_webhook(NoticeHook)?;
        room.add_poll(NoticeFeed { address: self.feed.clone() })?;
        room.add_job(Digest)?;
        room.add_turn_hook(MakeRoom);
        room.add_subject_records(NoticesOf)?;
        room.offer_interface::<dyn BoardCount>("count", Arc::new(Counted))?;
        let ids = IdGenerator::new(self.clock.clone(), Arc::new(SystemRandom));
        room.add_page(Notices { ids })?;
        room.add_command(Count)?;
        room.add_operation::<Unpin>()?;
        room.add_tenant_template(TenantTemplate {
            name: "board",
            about: "A caretaker with a notice board",
            files: ready_files!("tenants/board", "humans/caretaker.md"),
        })
    }
}

pub(crate) struct Notice {
    pub(crate) id: ActId,
    pub(crate) title: String,
    pub(crate) text: String,
    pinned_at: Timestamp,
}

impl Notice {
    fn of(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            title: row.get("title")?,
            text: row.get("text")?,
            pinned_at: row.get("pinned_at")?,
        })
    }
}

pub(crate) fn all(tx: &mut Tx<'_>) -> Result<Vec<Notice>> {
    tx.all(
        "SELECT id, title, text, pinned_at FROM notices WHERE tenant_id = $1 ORDER BY pinned_at, id LIMIT 500",
        &[],
        Notice::of,
    )
}

/// Those whose title has these words, in whatever script either was written.
fn called(tx: &mut Tx<'_>, words: &str) -> Result<Vec<Notice>> {
    let wanted = fold::key(words);
    let mut found = all(tx)?;
    found.retain(|notice| !wanted.is_empty() && fold::key(&notice.title).contains(&wanted));
    Ok(found)
}

fn pin_spec() -> ToolSpec {
    ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": { "title": { "type": "string" }, "text": { "type": "string" } },
            "required": ["title", "text"],
        }),
        effect: Effect::Inside,
        least_autonomy: Autonomy::Propose,
        phrases: BTreeMap::from([
            (Language::English, vec!["put up a notice".to_owned()]),
            (Language::Hindi, vec!["सूचना लगाओ".to_owned(), "suchna lagao".to_owned()]),
        ]),
        follow_ups: "find_notice".parse().into_iter().collect(),
        reply: Some("board-pinned".to_owned()),
        ..spec("pin_notice", "Puts a notice up on the board.", "board.notice.add")
    }
}

struct Pin {
    clock: Arc<dyn Clock>,
}

impl WriteToolHandler for Pin {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let [title, text] =
            ["title", "text"].map(|name| permit.arguments()[name].as_str().unwrap_or_default());
        tx.execute(
            "INSERT INTO notices (tenant_id, id, title, text, pinned_at) VALUES ($1, $2, $3, $4, $5)",
            params![permit.act(), title, text, self.clock.now()],
        )?;
        Ok(ToolOutput::new(json!({ "notice": { "id": permit.act(), "title": title }, "title": title })))
    }

    fn read_back(
        &self,
        permit: &Permit,
        _: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let is_there = all(tx)?.iter().any(|notice| notice.id == permit.act());
        Ok((!is_there).then(|| "the notice is not on the board".to_owned()))
    }
}

fn remind_spec() -> ToolSpec {
    let about = "Puts a notice up, and a reminder of it a day later.";
    ToolSpec {
        parameters: pin_spec().parameters,
        effect: Effect::Inside,
        least_autonomy: Autonomy::Propose,
        ..spec("remind_me", about, "board.notice.remind")
    }
}

/// Hands it over to a run that acts on behalf of whoever asked.
struct RemindMe {
    runs: ToolRuns,
}

impl WriteToolHandler for RemindMe {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let new = NewPackRun {
            kind: "board.remind".to_owned(),
            cause: PackRunCause::Operation,
            cause_key: None,
            input: permit.arguments().clone(),
        };
        let run = self.runs.delegate(tx, permit, &new)?;
        Ok(ToolOutput::new(json!({ "run": run })))
    }
}

fn read_spec() -> ToolSpec {
    ToolSpec {
        parameters: words("title"),
        search: "find_notice".parse().ok().map(|tool| FallbackSearch { tool, argument: "words".to_owned() }),
        ..spec("read_notice", "Reads one notice, by its title or id.", "board.notice.read")
    }
}

struct Read;

impl ReadToolHandler for Read {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let wanted = permit.arguments()["title"].as_str().unwrap_or_default();
        let known = all(tx)?;
        let mut exact: Vec<&Notice> = known.iter().filter(|one| one.id.to_string() == wanted).collect();
        if exact.is_empty() {
            exact = known.iter().filter(|one| fold::key(&one.title) == fold::key(wanted)).collect();
        }
        match exact.as_slice() {
            [] => Err(ToolFailure::not_found(wanted)),
            [one] => Ok(ToolOutput::new(json!({ "id": one.id, "title": one.title, "text": one.text }))),
            several => {
                let choices = several
                    .iter()
                    .map(|one| ChoiceOption::new(one.id.to_string(), &one.title).with_detail(&one.text));
                Err(ToolFailure::ambiguous("title", choices.collect()))
            }
        }
    }
}

fn find_spec() -> ToolSpec {
    ToolSpec {
        parameters: words("words"),
        phrases: BTreeMap::from([
            (Language::English, vec!["look for a notice".to_owned()]),
            (Language::Hindi, vec!["सूचना ढूँढिए".to_owned(), "suchna dhoondhiye".to_owned()]),
        ]),
        ..spec("find_notice", "Finds notices by words of their titles.", "board.notice.find")
    }
}

struct Find;

impl ReadToolHandler for Find {
    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let found = called(tx, permit.arguments()["words"].as_str().unwrap_or_default())?;
        let notices: Vec<Value> =
            found.iter().map(|one| json!({ "id": one.id, "title": one.title })).collect();
        Ok(ToolOutput::new(json!({ "count": notices.len(), "notices": notices })))
    }
}

pub(crate) fn spec(name: &str, what: &str, scope: &str) -> ToolSpec {
    let spec = ToolSpec::read_only(name.parse().expect("a plain name"), what, scope);
    ToolSpec { reach: Reach::Business, ..spec }
}

fn words(argument: &str) -> Value {
    json!({ "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument] })
}

/// The prompt is told how full the board is.
struct Waiting;

impl ContextSource for Waiting {
    fn gather(&self, tx: &mut Tx<'_>, _scene: &PackTurnContext) -> Result<PromptContribution> {
        let count = all(tx)?.len();
        Ok(PromptContribution {
            profile: vec![UntrustedText::new(&format!("Notices on the board: {count}"))],
            ..PromptContribution::default()
        })
    }
}

/// `NOTICE: title: text`, as a housing society forwards it.
struct Forwarded;

impl PackReader for Forwarded {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let rest = scene.message.strip_prefix("NOTICE:")?;
        let Some((title, text)) = rest.split_once(':') else {
            return Some(PackReading::Say { phrase: "board-unreadable".to_owned(), slots: Vec::new() });
        };
        let arguments = json!({ "title": title.trim(), "text": text.trim() });
        Some(PackReading::Call { tool: "pin_notice".to_owned(), arguments })
    }
}

/// Nothing is put up twice, and nobody is told it was when it was not.
struct Sober;

impl PackCheck for Sober {
    fn check_before_act(
        &self,
        tx: &mut Tx<'_>,
        _: &PackTurnContext,
        tool: &str,
        arguments: &Value,
    ) -> Result<Vec<ActConcern>> {
        let title = arguments["title"].as_str().unwrap_or_default();
        let is_again = tool == "pin_notice" && all(tx)?.iter().any(|notice| notice.title == title);
        let concern = || ActConcern {
            phrase: "board-again".to_owned(),
            slots: vec![("title".to_owned(), title.to_owned())],
        };
        Ok(is_again.then(concern).into_iter().collect())
    }

    fn check_after_act(
        &self,
        tx: &mut Tx<'_>,
        _: &PackTurnContext,
        tool: &str,
        result: &Value,
    ) -> Result<Option<Objection>> {
        let id = result["notice"]["id"].as_str().unwrap_or_default();
        let is_missing = tool == "pin_notice" && !all(tx)?.iter().any(|notice| notice.id.to_string() == id);
        let (what, phrase) = ("the notice is no longer there".to_owned(), "board-unreadable".to_owned());
        Ok(is_missing.then(|| Objection { what, phrase, slots: Vec::new(), replaces: false }))
    }

    fn check_reply(&self, _: &PackTurnContext, draft: &str, results: &[Value]) -> Vec<Objection> {
        let is_pinned = results.iter().any(|result| result.get("notice").is_some());
        if is_pinned || !draft.to_lowercase().contains("on the board now") {
            return Vec::new();
        }
        let (what, phrase) =
            ("it says that a notice is up, and none is".to_owned(), "board-unreadable".to_owned());
        vec![Objection { what, phrase, slots: Vec::new(), replaces: true }]
    }
}

/// Takes down what has been up for long.
pub(crate) struct Sweep;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SweepPayload {
    /// Notices that have been up for more days than this go.
    pub(crate) days: u32,
}

impl PackJob for Sweep {
    const KIND: JobKind = JobKind::new("board.sweep").limit(1);
    type Payload = SweepPayload;

    async fn run(&self, call: PackJobCall<SweepPayload>) -> Result<(), JobFailure> {
        let before = call.now.minus(Duration::from_secs(u64::from(call.payload.days) * 86_400));
        call.finish(move |tx| {
            tx.execute("DELETE FROM notices WHERE tenant_id = $1 AND pinned_at < $2", params![before])?;
            Ok(())
        })
        .await
    }
}

/// A notice that hangs for more than thirty days.
struct Stale;

/// Puts a notice up, and again a day later.
struct Remind;

#[async_trait]
impl RunKind for Remind {
    fn name(&self) -> &'static str {
        "remind"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["board.notice.*"]
    }

    fn autonomy(&self) -> Autonomy {
        Autonomy::Act
    }

    async fn next_step(&self, history: &RunHistory) -> Result<NextStep, String> {
        let pin = |title: String| NextStep::Call {
            tool: "pin_notice".to_owned(),
            arguments: json!({ "title": title, "text": history.input["text"] }),
        };
        let title = history.input["title"].as_str().ok_or("a reminder needs a title")?;
        Ok(match history.outcomes.as_slice() {
            [] => pin(title.to_owned()),
            [StepOutcome::Called { ok: false, result }, ..] => NextStep::Fail(result.to_string()),
            [_] => NextStep::WaitUntil(history.now.plus(Duration::from_secs(86_400))),
            [_, _] => pin(format!("Reminder: {title}")),
            _ => NextStep::End(json!({ "reminded": title })),
        })
    }
}

impl Heartbeat for Stale {
    fn name(&self) -> &'static str {
        "stale"
    }

    fn schedule(&self) -> PackScheduleTime {
        PackScheduleTime::every_hours(1)
    }

    fn collect_alerts(&self, tx: &mut Tx<'_>, beat: &HeartbeatTick) -> Result<Vec<Alert>> {
        const MONTH: i64 = 30 * 86_400 * 1_000_000;
        let stale =
            all(tx)?.into_iter().filter(|one| beat.now.as_micros() - one.pinned_at.as_micros() > MONTH);
        let alert = |notice: Notice| Alert {
            key: notice.id.to_string(),
            severity: AlertSeverity::Notice,
            phrase: "board-stale".to_owned(),
            slots: vec![("title".to_owned(), notice.title)],
        };
        Ok(stale.map(alert).collect())
    }
}

struct Notices {
    ids: IdGenerator,
}

#[derive(Template)]
#[template(
    ext = "html",
    source = "<ul>{% for notice in notices %}<li>{{ notice.title }}</li>{% endfor %}</ul>"
)]
struct NoticeList<'a> {
    notices: &'a [Notice],
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<form method="post">{{ fields|safe }}<p>{{ wrong }}</p><input name="title"><input name="text"><button>Pin</button></form>"#
)]
struct NoticeForm<'a> {
    fields: &'a str,
    wrong: &'a str,
}

#[derive(Template)]
#[template(ext = "html", source = "<p>{{ text }}</p>")]
struct NoticeText<'a> {
    text: &'a str,
}

impl PackPageHandler for Notices {
    fn path(&self) -> &'static str {
        "notices"
    }

    fn scope(&self) -> &'static str {
        "board.notice.read"
    }

    fn show(&self, tx: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>> {
        let known = all(tx)?;
        if visit.rest.is_empty() {
            return PackPageContent::html("Notices", &NoticeList { notices: &known }).map(Some);
        }
        if visit.rest == "new" {
            let form = NoticeForm { fields: &visit.render_form_fields()?, wrong: "" };
            return PackPageContent::html("A new notice", &form).map(Some);
        }
        let one = known.iter().find(|notice| notice.id.to_string() == visit.rest);
        one.map(|one| PackPageContent::html(&one.title, &NoticeText { text: &one.text })).transpose()
    }

    fn write_scope(&self) -> Option<&'static str> {
        Some("board.notice.add")
    }

    fn submit(
        &self,
        tx: &mut AdminTx<'_, '_>,
        visit: &PackPageRequest,
        form: &PackForm,
    ) -> Result<PackFormOutcome> {
        let (title, text) = (form.get("title"), form.get("text"));
        if title.is_empty() {
            let again = NoticeForm { fields: &visit.render_form_fields()?, wrong: "A notice needs a title." };
            return PackPageContent::html("A new notice", &again).map(PackFormOutcome::Invalid);
        }
        let id: ActId = self.ids.next();
        tx.execute(
            "INSERT INTO notices (tenant_id, id, title, text, pinned_at) VALUES ($1, $2, $3, $4, $5)",
            params![id, title, text, visit.now],
        )?;
        tx.note("board.pinned", id.to_string(), json!({ "title": title }));
        Ok(PackFormOutcome::Redirect(format!("notices/{id}")))
    }
}

/// `munshi board count [WORDS…]`
struct Count;

#[async_trait]
impl PackCommand for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn about(&self) -> &'static str {
        "Count the notices on the board"
    }

    fn arguments(&self) -> &'static [PackArgument] {
        &[PackArgument {
            name: "words",
            about: "Only those with these words in their titles",
            kind: PackArgumentKind::Rest,
        }]
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let words = call.given.all("words").join(" ");
        let count = call.db.read(call.tenant, move |tx| -> Result<usize> {
            Ok(if words.is_empty() { all(tx)? } else { called(tx, &words)? }.len())
        });
        let count = count.await?;
        call.out.print_result(&json!({ "count": count }), &format!("Notices: {count}"))
    }
}

/// `munshi board unpin ID`, and `POST /v1/packs/board/notices/{id}/unpin`
struct Unpin;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UnpinInput {
    /// The notice.
    #[schema(value_type = uuid::Uuid)]
    id: ActId,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
struct UnpinView {
    title: String,
}

impl Operation<PackServices> for Unpin {
    type Input = UnpinInput;
    type View = UnpinView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "board-notices",
        noun: "board notice",
        command: "board unpin",
        verb: "unpin",
        about: "Take a notice down.",
        needs: CallerClass::Scope {
            scope: "board.notice.unpin",
            access: ApiAccess::Write,
            least: Role::Staff,
        },
        effect: OperationEffect::Write(&["board.unpinned"]),
        method: RouteMethod::Post,
        path: "/v1/packs/board/notices/{id}/unpin",
    };

    async fn run(call: &PackCall, input: UnpinInput) -> Result<UnpinView, OperationError> {
        call.write(move |tx| {
            let title: Option<String> = tx.optional(
                "DELETE FROM notices WHERE tenant_id = $1 AND id = $2 RETURNING title",
                params![input.id],
                |row| row.get(0),
            )?;
            let missing = || OperationError::not_found("notice", &input.id.to_string());
            let title = title.ok_or_else(missing)?;
            tx.note("board.unpinned", input.id.to_string(), json!({ "title": title }));
            Ok(UnpinView { title })
        })
        .await
    }
}
