//! What can't work is refused when the packs are installed, by name and with what to do.

use std::sync::Arc;

use munshi_identity::Role;
use munshi_identity::keys::ApiAccess;
use munshi_jobs::{JobFailure, JobKind};
use munshi_lang::{Language, Locale, ScriptForm, phrase_files};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, PackCall, PackServices,
    RouteMethod,
};
use munshi_pack::{
    InvalidPack, Pack, PackArgument, PackArgumentKind, PackCommand, PackCommandCall, PackCommandError,
    PackInstaller, PackJob, PackJobCall, PackRegistry, PackScheduleTime, TenantTemplate, TenantTemplateFile,
};
use munshi_safety::acts::Permit;
use munshi_store::{Migration, Tx};
use munshi_tools::{ConnectorOrigin, ReadToolHandler, ToolConnector, ToolFailure, ToolHandler, ToolOutput};
use munshi_types::{FakeClock, FallbackSearch, TenantPacks, Timestamp, ToolSpec};
use serde_json::json;

use crate::pack::Board;

pub(crate) type Install = fn(&mut PackInstaller<'_>) -> Result<(), InvalidPack>;

pub(crate) struct Odd {
    name: &'static str,
    migrations: &'static [Migration],
    install: Install,
}

impl Pack for Odd {
    fn name(&self) -> &'static str {
        self.name
    }

    fn migrations(&self) -> &'static [Migration] {
        self.migrations
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        (self.install)(room)
    }
}

struct Nothing;

impl ReadToolHandler for Nothing {
    fn read(&self, _: &Permit, _: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({})))
    }
}

/// An operation that shows something, under a spec that a test gives it.
macro_rules! odd_operation {
    ($name:ident, $($field:ident: $value:expr),*) => {
        struct $name;

        impl Operation<PackServices> for $name {
            type Input = Nowhere;
            type View = Nowhere;

            const SPEC: OperationSpec = OperationSpec { $($field: $value,)* ..PLAIN };

            async fn run(_: &PackCall, input: Nowhere) -> Result<Nowhere, OperationError> {
                Ok(input)
            }
        }
    };
}

#[derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
struct Nowhere {}

const PLAIN: OperationSpec = OperationSpec {
    resource: "odd-things",
    noun: "odd thing",
    command: "odd thing",
    verb: "show",
    about: "",
    needs: CallerClass::Scope { scope: "odd.thing", access: ApiAccess::Read, least: Role::Viewer },
    effect: OperationEffect::Read,
    method: RouteMethod::Get,
    path: "/v1/packs/odd/thing",
};

odd_operation!(Plain, verb: "show");
odd_operation!(OtherCommand, command: "jobs thing");
odd_operation!(OtherNoun, noun: "person");
odd_operation!(OtherPath, path: "/v1/keys");
odd_operation!(OtherScope, needs: CallerClass::Scope { scope: "board.notice", access: ApiAccess::Read, least: Role::Viewer });
odd_operation!(Open, needs: CallerClass::Keeper);
odd_operation!(Hidden, effect: OperationEffect::Write(&["odd.done"]));
odd_operation!(OtherEvent, needs: CallerClass::Scope { scope: "odd.thing", access: ApiAccess::Write, least: Role::Staff },
    effect: OperationEffect::Write(&["key.made"]), method: RouteMethod::Post);

struct Typed;

#[async_trait::async_trait]
impl PackCommand for Typed {
    fn name(&self) -> &'static str {
        "typed"
    }

    fn about(&self) -> &'static str {
        ""
    }

    fn arguments(&self) -> &'static [PackArgument] {
        &[PackArgument { name: "tenant", about: "", kind: PackArgumentKind::Value }]
    }

    async fn run(&self, _: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        Ok(())
    }
}

fn board() -> Arc<dyn Pack> {
    Arc::new(Board::new(Arc::new(FakeClock::new(Timestamp::from_micros(0)))))
}

pub(crate) fn odd(install: Install) -> Odd {
    Odd { name: "odd", migrations: &[], install }
}

fn spec(name: &str, scope: &str) -> ToolSpec {
    ToolSpec::read_only(name.parse().unwrap(), "Looks.", scope)
}

fn look() -> ToolHandler {
    ToolHandler::Read(Arc::new(Nothing))
}

pub(crate) fn refusal(odd: Odd) -> String {
    match PackRegistry::install_all(&[board(), Arc::new(odd)]) {
        Ok(_) => panic!("it was installed"),
        Err(bad) => bad.to_string(),
    }
}

#[test]
fn a_pack_alone_and_beside_another_is_installed() {
    let house = PackRegistry::install_all(&[
        board(),
        Arc::new(odd(|room| room.add_tool(spec("look", "odd.x"), look()))),
    ])
    .unwrap();
    assert_eq!(house.tools.all().count(), 7);
    assert_eq!((house.tenants[0].1.name, house.tenants[0].1.files[0].path), ("board", "humans/caretaker.md"));
    assert!(house.book.names().any(|name| name == "ask-name"), "the core's phrases are there too");
    house.book.check().unwrap();
}

#[test]
fn two_packs_may_have_a_tool_of_one_name() {
    let twin: Arc<dyn Pack> = Arc::new(odd(|room| room.add_tool(spec("find_notice", "odd.x"), look())));
    let tools = PackRegistry::install_all(&[board(), twin]).unwrap().tools;
    let pack = |tool: Option<&munshi_tools::Tool>| tool.map(|tool| tool.known.identity());
    assert_eq!(pack(tools.get("find_notice")), None, "which of them is not said");
    assert_eq!(pack(tools.get("odd.find_notice")).as_deref(), Some("odd.find_notice"));
    assert_eq!(pack(tools.get("board.find_notice")).as_deref(), Some("board.find_notice"));
    assert_eq!(pack(tools.get("odd.pin_notice")), None);
    for own in ["odd", "board"] {
        let packs = TenantPacks::only([own.to_owned()]);
        assert_eq!(pack(tools.find(&packs, "find_notice")), Some(format!("{own}.find_notice")));
    }
    assert_eq!(pack(tools.find(&TenantPacks::only([]), "find_notice")), None);
    assert_eq!(pack(tools.get("pin_notice")).as_deref(), Some("board.pin_notice"));
}

#[test]
fn clashes_between_packs_are_refused() {
    let twin = |name| Odd { name, ..odd(|_| Ok(())) };
    assert_eq!(refusal(twin("board")), "duplicate pack board: remove one");
    let mut beside = munshi_tools::ToolRegistry::default();
    munshi_tools::builtin::install(&mut beside, Arc::new(FakeClock::new(Timestamp::from_micros(0)))).unwrap();
    assert!(
        PackRegistry::install_with_tools(beside.clone(), &[board()]).unwrap().tools.get("today").is_some()
    );
    let house: Arc<dyn Pack> = Arc::new(twin("house"));
    assert!(matches!(PackRegistry::install_with_tools(beside.clone(), &[house]), Err(InvalidPack::Twice(_))));
    let today: Arc<dyn Pack> = Arc::new(odd(|room| room.add_tool(spec("today", "odd.x"), look())));
    assert!(
        PackRegistry::install_with_tools(beside, &[today]).is_err(),
        "every tenant has the tools of the house"
    );
    assert!(refusal(twin("Odd Pack")).contains("lowercase letters"));
    let clash = refusal(odd(|room| {
        room.add_tool(spec("look", "odd.x"), look())?;
        room.add_tool(spec("look", "odd.y"), look())
    }));
    assert_eq!(clash, "pack odd: the tool look can't be installed: odd already provides a tool of that name");
    const TAKEN: &[Migration] = &[Migration { name: "9101_other", text: "" }];
    let number = refusal(Odd { migrations: TAKEN, ..odd(|_| Ok(())) });
    assert_eq!(
        number,
        "pack odd: migrations 9101_other and 9101_notices have the same number: use the next free one"
    );
    const NONE: &[Migration] = &[Migration { name: "other", text: "" }];
    assert!(refusal(Odd { migrations: NONE, ..odd(|_| Ok(())) }).contains("must begin with its number"));
}

#[test]
fn phrases_are_whole_and_the_packs_own() {
    let english = "odd-hello = Hello.";
    let one_voice: Install = |room| {
        let english = Locale::new(Language::English, ScriptForm::Latin);
        room.add_phrases(&[(english, "odd-hello = Hello.")]).map(drop)
    };
    assert_eq!(refusal(odd(one_voice)), "pack odd: the phrase `odd-hello` has no hi text");
    let all_voices: Install = |room| {
        let files: Vec<(Locale, &str)> = Locale::all().map(|voice| (voice, "odd-hello = Hello.")).collect();
        room.add_phrases(&files).map(drop)
    };
    assert!(
        PackRegistry::install_all(&[Arc::new(odd(all_voices))])
            .unwrap()
            .book
            .names()
            .any(|name| english.starts_with(name))
    );
    let anothers: Install = |room| room.add_phrases(&phrase_files!("phrases")).map(drop);
    assert!(refusal(odd(anothers)).contains("must start with `odd-`"));
    let unsaid: Install = |room| {
        room.add_tool(ToolSpec { reply: Some("odd-gone".to_owned()), ..spec("look", "odd.x") }, look())
    };
    assert!(refusal(odd(unsaid)).contains("the phrase `odd-gone`, which does not exist"));
}

#[test]
fn what_a_pack_may_not_or_can_not_is_refused() {
    let cases: [(Install, &str); 22] = [
        (|room| room.add_tool(spec("look", "board.notice.read"), look()), "must start with `odd.`"),
        (
            |room| {
                let connector = ToolConnector {
                    name: "far".to_owned(),
                    origin: ConnectorOrigin::BuiltIn,
                    declares: true,
                    conduct: None,
                };
                room.add_foreign_tool(spec("look", "odd.x"), connector, look())
            },
            "is not foreign",
        ),
        (|room| room.add_tool(searching("nowhere", "words"), look()), "which is not installed"),
        (|room| room.add_tool(searching("pin_notice", "title"), look()), "is not read-only"),
        (|room| room.add_tool(searching("find_notice", "title"), look()), "has no argument `title`"),
        (|room| room.add_command(Typed), "is reserved: every command has it"),
        (|room| room.add_operation::<OtherCommand>(), "its command must be `odd` and a word"),
        (|room| room.add_operation::<OtherNoun>(), "its noun must begin with `odd `"),
        (|room| room.add_operation::<OtherPath>(), "its path must begin with `/v1/packs/odd/`"),
        (|room| room.add_operation::<OtherScope>(), "must start with `odd.`"),
        (|room| room.add_operation::<Open>(), "it must need a scope of the pack"),
        (|room| room.add_operation::<Hidden>(), "do not go together"),
        (|room| room.add_operation::<OtherEvent>(), "its event `key.made` must begin with `odd.`"),
        (
            |room| {
                room.add_operation::<Plain>()?;
                room.add_operation::<Plain>()
            },
            "another has its name, its path or its command",
        ),
        (|room| room.add_job(OtherKind), "job kind `board.sweep` must be `odd.` and a plain word"),
        (
            |room| {
                room.add_job(OwnKind)?;
                room.add_job(OwnKind)
            },
            "duplicate job kind odd.work",
        ),
        (
            |room| room.add_schedule::<OwnKind>("work", PackScheduleTime::every_hours(1), &()),
            "add its job odd.work first",
        ),
        (|room| add_work(room, PackScheduleTime::every_minutes(0)), "more than once a minute"),
        (|room| add_work(room, PackScheduleTime::Daily { hour: 24, minute: 0 }), "invalid cron"),
        (|room| add_work(room, PackScheduleTime::Monthly { day: 31, hour: 9, minute: 0 }), "use 1 to 28"),
        (|room| room.add_tenant_template(ready("board")), "board already has a tenant template board"),
        (|room| room.add_tenant_template(ready("No Name")), "is not a valid tenant name"),
    ];
    for (install, word) in cases {
        let said = refusal(odd(install));
        assert!(said.contains("odd") && said.contains(word), "{said}");
    }
}

fn searching(tool: &str, argument: &str) -> ToolSpec {
    let search = FallbackSearch { tool: tool.parse().unwrap(), argument: argument.to_owned() };
    ToolSpec { search: Some(search), ..spec("look", "odd.x") }
}

fn ready(name: &'static str) -> TenantTemplate {
    TenantTemplate { name, about: "", files: &[TenantTemplateFile { path: "humans/a.md", text: "" }] }
}

struct OtherKind;

impl PackJob for OtherKind {
    const KIND: JobKind = JobKind::new("board.sweep");
    type Payload = ();

    async fn run(&self, _: PackJobCall<()>) -> Result<(), JobFailure> {
        Ok(())
    }
}

struct OwnKind;

impl PackJob for OwnKind {
    const KIND: JobKind = JobKind::new("odd.work");
    type Payload = ();

    async fn run(&self, _: PackJobCall<()>) -> Result<(), JobFailure> {
        Ok(())
    }
}

fn add_work(room: &mut PackInstaller<'_>, time: PackScheduleTime) -> Result<(), InvalidPack> {
    room.add_job(OwnKind)?;
    room.add_schedule::<OwnKind>("work", time, &())
}
