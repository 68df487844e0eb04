//! A small business with a tool of every effect, and a world outside that remembers what was done to it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_identity::{Person, Principal, Role, persons};
use munshi_safety::acts::{self, Act, ActServices, Permit};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_safety::policy::{self, Policy};
use munshi_store::{Db, Migration, Tx, params};
use munshi_test_support::TestDb;
use munshi_tools::{
    ConnectorOrigin, LookupOutcome, NoActJournal, ReadToolHandler, RemoteToolHandler, ToolAnswer,
    ToolCallRequest, ToolConnector, ToolDispatcher, ToolFailure, ToolHandler, ToolOutput, ToolRegistry,
    UndoCall, WriteToolHandler,
};
use munshi_types::{
    ActId, Clock, Conduct, Effect, IdGenerator, Money, Reach, SendArguments, TenantId, ToolName, ToolSpec,
};
use serde_json::{Value, json};

/// Where the tool that writes in our own transaction leaves its effect.
pub(crate) const NOTES: &[Migration] = &[Migration {
    name: "9001_notes",
    text: "CREATE TENANT TABLE notes (tenant_id UUID NOT NULL, act_id UUID NOT NULL, text TEXT NOT NULL,
           PRIMARY KEY (tenant_id, act_id));",
}];

pub(crate) const MIGRATIONS: [&[Migration]; 5] = [
    munshi_store::MIGRATIONS,
    munshi_jobs::MIGRATIONS,
    munshi_identity::MIGRATIONS,
    munshi_safety::MIGRATIONS,
    NOTES,
];

/// Where a process is to die: before or after its effect on the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    Never,
    Before,
    After,
}

/// The world outside: a file with a line for each effect.
#[derive(Clone, Debug)]
pub(crate) struct World {
    file: PathBuf,
    death: Death,
    /// Once the file is there, calls answer instead of dying.
    keyed: bool,
}

impl World {
    pub(crate) fn at(folder: &Path, death: Death, keyed: bool) -> Self {
        Self { file: folder.join(if keyed { "keyed.txt" } else { "plain.txt" }), death, keyed }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn happened(&self, key: &str) -> bool {
        self.lines().iter().any(|line| line == key)
    }

    fn act(&self, key: &str) {
        if self.death == Death::Before {
            die();
        }
        if !(self.keyed && self.happened(key)) {
            let mut file = std::fs::File::options().append(true).create(true).open(&self.file).unwrap();
            writeln!(file, "{key}").unwrap();
            file.sync_all().unwrap();
        }
        if self.death == Death::After {
            die();
        }
    }
}

/// As if the power went: nothing is cleaned up.
pub(crate) fn die() -> ! {
    let id = std::process::id().to_string();
    let _ = std::process::Command::new("kill").args(["-9", &id]).status();
    std::process::abort()
}

struct Outside {
    world: World,
    can_look: bool,
    calls: std::sync::atomic::AtomicU32,
}

#[async_trait]
impl RemoteToolHandler for Outside {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        match permit.arguments().get("mood").and_then(Value::as_str) {
            Some("refuses") => return Err(ToolFailure::permanent("refused_there", "the other side said no")),
            Some("breaks") => panic!("a tool that breaks"),
            Some("hangs") => tokio::time::sleep(Duration::from_secs(60)).await,
            Some("waits") => tokio::time::sleep(Duration::from_millis(300)).await,
            // First it breaks off, then it says that it can't just now.
            Some("fades") => {
                let earlier = self.calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let first = ToolFailure::uncertain("cut", "the line broke");
                return Err(if earlier == 0 { first } else { ToolFailure::transient("busy", "not now") });
            }
            Some("talks") => return Ok(ToolOutput::new(json!({ "text": "x".repeat(400_000) }))),
            _ => {}
        }
        self.world.act(&permit.idempotency_key());
        Ok(ToolOutput::new(json!({ "key": permit.idempotency_key(), "given": permit.arguments() })))
    }

    async fn look_up(&self, permit: &Permit) -> Result<LookupOutcome, ToolFailure> {
        if !self.can_look {
            return Ok(LookupOutcome::CanNotTell);
        }
        let found = self.world.happened(&permit.idempotency_key());
        Ok(if found {
            LookupOutcome::Happened(ToolOutput::new(json!({ "found": true })))
        } else {
            LookupOutcome::DidNot
        })
    }

    async fn rehearse(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({ "would": permit.arguments() })))
    }
}

/// Writes a note into a table of ours.
struct Notes {
    death: Death,
}

impl WriteToolHandler for Notes {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        if self.death == Death::Before {
            die();
        }
        let text = permit.arguments()["text"].as_str().unwrap_or_default();
        let kept = if text == "altered on its way" { "something else" } else { text };
        tx.execute(
            "INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, $3)",
            params![permit.act(), kept],
        )?;
        if self.death == Death::After {
            die();
        }
        if text == "break after writing" {
            panic!("a tool that breaks in our own transaction");
        }
        if text == "fail after writing" {
            return Err(ToolFailure::permanent("no", "changed its mind"));
        }
        let undo = UndoCall::new("drop_note".parse().unwrap(), json!({ "text": text }));
        Ok(ToolOutput { undo: Some(undo), ..ToolOutput::new(json!({ "noted": text })) })
    }

    fn read_back(
        &self,
        permit: &Permit,
        _done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let kept: String = tx.one(
            "SELECT text FROM notes WHERE tenant_id = $1 AND act_id = $2",
            params![permit.act()],
            |row| row.get(0),
        )?;
        Ok((kept != permit.arguments()["text"]).then(|| "the text differs".to_owned()))
    }
}

struct Count;

#[async_trait]
impl ReadToolHandler for Count {
    async fn prepare(&self, permit: &Permit, _db: &Db) -> Result<Value, ToolFailure> {
        match permit.arguments()["mood"].as_str() {
            Some("hangs") => std::future::pending().await,
            Some("fails") => Err(ToolFailure::permanent("no_vector", "nobody made one")),
            Some("breaks") => panic!("a tool that breaks while it prepares"),
            _ => Ok(json!("ready")),
        }
    }

    fn read_prepared(
        &self,
        permit: &Permit,
        prepared: &Value,
        tx: &mut Tx<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        assert_eq!(*prepared, json!("ready"));
        self.read(permit, tx)
    }

    fn read(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        if permit.arguments()["text"] == "break after writing" {
            panic!("a tool that breaks while it looks");
        }
        let count: i64 =
            tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))?;
        Ok(ToolOutput::new(json!({ "count": count })))
    }
}

fn spec(name: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        parameters: json!({
            "type": "object",
            "properties": {
                "text": { "type": "string" }, "mood": { "type": "string" }, "to": { "type": "string" },
                "phone": { "type": "string" },
            },
        }),
        effect,
        reach: Reach::Business,
        timeout: Duration::from_millis(500),
        ..ToolSpec::read_only(name.parse().unwrap(), format!("Does {name}."), format!("shop.{name}"))
    }
}

pub(crate) fn house() -> ToolConnector {
    ToolConnector { name: "shop".to_owned(), origin: ConnectorOrigin::BuiltIn, declares: true, conduct: None }
}

pub(crate) fn foreign() -> ToolConnector {
    ToolConnector {
        name: "elsewhere".to_owned(),
        origin: ConnectorOrigin::Foreign,
        declares: true,
        conduct: None,
    }
}

/// A tool of each effect. `death` says where the process dies in each of them.
pub(crate) fn registry(folder: &Path, death: Death) -> ToolRegistry {
    let mut registry = ToolRegistry::default();
    let plain = World::at(folder, death, false);
    let far = |world: &World, can_look| {
        ToolHandler::Remote(Arc::new(Outside { world: world.clone(), can_look, calls: Default::default() }))
    };
    let add =
        |registry: &mut ToolRegistry, spec, connector, body| registry.add(spec, connector, body).unwrap();
    add(&mut registry, spec("count", Effect::Read), house(), ToolHandler::Read(Arc::new(Count)));
    add(&mut registry, spec("note", Effect::Inside), house(), ToolHandler::Write(Arc::new(Notes { death })));
    add(
        &mut registry,
        spec("drop_note", Effect::Inside),
        house(),
        ToolHandler::Write(Arc::new(Notes { death: Death::Never })),
    );
    let paid = ToolSpec { cost: Some(Money::from_paise(850)), ..spec("paid", Effect::Inside) };
    add(&mut registry, paid, house(), ToolHandler::Write(Arc::new(Notes { death: Death::Never })));
    add(&mut registry, spec("fetch", Effect::Read), foreign(), far(&plain, false));
    add(&mut registry, spec("book", Effect::Keyed), foreign(), far(&World::at(folder, death, true), false));
    add(&mut registry, spec("order", Effect::Checked), foreign(), far(&plain, true));
    add(&mut registry, spec("fax", Effect::Once), foreign(), far(&plain, false));
    let danger = ToolSpec { dangerous: true, dry_run: true, ..spec("wipe", Effect::Keyed) };
    add(&mut registry, danger, foreign(), far(&World::at(folder, death, true), false));
    let sending = SendArguments { to: "to".to_owned(), template: Some("text".to_owned()), audience: None };
    let mut message = ToolSpec { sends: Some(sending), ..spec("message", Effect::Keyed) };
    message.parameters["required"] = json!(["to"]);
    message.parameters["properties"]["mood"] = json!({ "enum": ["hangs"] });
    message.parameters["properties"]["phone"] = json!({ "enum": ["+91 98123 45678"] });
    add(&mut registry, message, foreign(), far(&World::at(folder, death, true), false));
    registry
}

/// Everything open and acting by itself: what stops an act is then its own nature.
pub(crate) fn open_policy() -> Policy {
    let text = "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
                [connectors.elsewhere]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
    policy::parse(text).unwrap()
}

pub(crate) fn open_conduct() -> Arc<Conduct> {
    let all = || vec!["*".parse().unwrap()];
    Arc::new(Conduct {
        autonomy: munshi_types::Autonomy::Act,
        read: all(),
        write: all(),
        ..Conduct::default()
    })
}

pub(crate) struct Shop {
    pub(crate) tenant: TenantId,
    pub(crate) owner: Principal,
    pub(crate) staff: Principal,
    pub(crate) dispatcher: ToolDispatcher,
    pub(crate) act_services: Arc<ActServices>,
    pub(crate) ids: IdGenerator,
    pub(crate) folder: PathBuf,
}

impl Shop {
    pub(crate) async fn open(test: &TestDb) -> Self {
        let tenant = test.add_tenant("shop").await;
        Self::of(
            test.db.clone(),
            tenant,
            test.clock.clone(),
            test.ids.clone(),
            &test.place.folder(),
            Death::Never,
        )
        .await
    }

    /// The shop in a database that has its tenant already.
    pub(crate) async fn of(
        db: Db,
        tenant: TenantId,
        clock: Arc<dyn Clock>,
        ids: IdGenerator,
        folder: &Path,
        death: Death,
    ) -> Self {
        let (now, made) = (clock.now(), ids.clone());
        let people = db
            .write(tenant, move |tx| -> Result<_, munshi_safety::Error> {
                policy::apply(tx, &open_policy(), "test", "", now)?;
                let members = persons::list_members(tx)?;
                if members.len() == 2 {
                    return Ok((members[0].principal(tx), members[1].principal(tx)));
                }
                let owner = Person { role: Some(Role::Owner), ..Person::new(&made, "Farid", now) };
                let staff = Person { role: Some(Role::Staff), ..Person::new(&made, "Asha", now) };
                persons::upsert(tx, &owner)?;
                persons::upsert(tx, &staff)?;
                Ok((owner.principal(tx), staff.principal(tx)))
            })
            .await
            .unwrap();
        let act_services = Arc::new(ActServices::new(
            ids.clone(),
            BudgetGovernor::new(BudgetSettings::default(), ids.clone()),
        ));
        let registry = Arc::new(registry(folder, death));
        let dispatcher = ToolDispatcher::new(db, act_services.clone(), registry, clock);
        let (owner, staff) = people;
        Self { tenant, owner, staff, dispatcher, act_services, ids, folder: folder.to_owned() }
    }

    pub(crate) fn want(&self, name: &str, arguments: Value) -> ToolCallRequest {
        ToolCallRequest {
            act: self.ids.next(),
            name: name.to_owned(),
            arguments,
            offered: true,
            wanted: ProposalMode::Act,
            caller: ActCaller {
                principal: self.staff.clone(),
                door: CallerAudience::Work,
                binding: None,
                run: None,
                session: None,
                zone: munshi_types::Zone::default(),
                language: None,
                background: false,
                key: None,
                ceiling: None,
            },
            agent: open_conduct(),
            taint: Taint::from_own_words(""),
            concerns: Vec::new(),
        }
    }

    pub(crate) async fn call(&self, want: ToolCallRequest) -> ToolAnswer {
        self.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
    }

    pub(crate) async fn resume(&self, act: ActId) -> ToolAnswer {
        let (agent, tools) = (open_conduct(), self.tools());
        let resumed = self.dispatcher.resume(self.tenant, act, agent, &tools, Arc::new(NoActJournal));
        resumed.await.unwrap().unwrap()
    }

    /// All there are.
    pub(crate) fn tools(&self) -> Vec<ToolName> {
        self.dispatcher.registry().all().map(|tool| tool.known.spec.name.clone()).collect()
    }

    pub(crate) async fn act(&self, db: &Db, id: ActId) -> Option<Act> {
        db.read(self.tenant, move |tx| acts::find(tx, id)).await.unwrap()
    }

    pub(crate) async fn set_policy(&self, db: &Db, text: &str, now: munshi_types::Timestamp) {
        let policy = policy::parse(text).unwrap();
        db.write(self.tenant, move |tx| policy::apply(tx, &policy, "test", "", now)).await.unwrap();
    }
}

pub(crate) async fn notes(db: &Db, tenant: TenantId) -> i64 {
    let count = |tx: &mut Tx<'_>| {
        tx.one("SELECT COUNT(*) FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))
    };
    db.read(tenant, count).await.unwrap()
}

/// How many acts are under way.
pub(crate) async fn begun(db: &Db, tenant: TenantId) -> i64 {
    let count = |tx: &mut Tx<'_>| {
        let sql = "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND state = 'intended'";
        tx.one(sql, params![], |row| row.get(0))
    };
    db.read(tenant, count).await.unwrap()
}

/// The events of the audit, oldest first.
pub(crate) async fn events(db: &Db, tenant: TenantId) -> Vec<String> {
    let entries = db.read(tenant, |tx| munshi_safety::audit::list_after(tx, 0, 10_000)).await.unwrap();
    entries.into_iter().map(|entry| entry.event).collect()
}
