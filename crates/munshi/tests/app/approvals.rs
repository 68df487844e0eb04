//! Questions of agents, answered from the command line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use munshi_identity::persons;
use munshi_jobs::{JobQueue, NewJob};
use munshi_safety::acts::{ActServices, Permit};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_store::Db;
use munshi_test_support::{DatabaseEngine, PATIENCE};
use munshi_tools::{
    ConnectorOrigin, NoActJournal, RemoteToolHandler, ToolAnswer, ToolCallRequest, ToolConnector,
    ToolDispatcher, ToolFailure, ToolHandler, ToolOutput, ToolRegistry,
};
use munshi_types::{
    Autonomy, Clock, Conduct, Effect, FakeClock, IdGenerator, Reach, SystemClock, TenantId, ToolSpec, Zone,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::app::support::Installation;

/// Sends a note to nobody, and can say beforehand what it would send.
struct Notes;

#[async_trait]
impl RemoteToolHandler for Notes {
    async fn call(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({ "sent": permit.arguments() })))
    }

    async fn rehearse(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({ "would_send": permit.arguments()["text"] })))
    }
}

struct Shop {
    installation: Installation,
    tenant: TenantId,
    dispatcher: ToolDispatcher,
    db: Db,
    asker: munshi_identity::Principal,
}

impl Shop {
    async fn open(engine: DatabaseEngine, clock: Arc<dyn Clock>) -> Self {
        let installation = Installation::migrated(engine);
        let tenant: TenantId =
            installation.json(&["tenant", "add", "shop"])["id"].as_str().unwrap().parse().unwrap();
        installation.json(&["person", "add", "Asha", "--role", "owner"]);
        installation.json(&["person", "add", "Ravi", "--role", "staff"]);
        let db = installation.open().await;
        let asker = db.read(tenant, |tx| {
            let ravi = persons::list_by_name(tx, "Ravi")?.remove(0);
            Ok::<_, munshi_store::Error>(ravi.principal(tx))
        });
        let asker = asker.await.unwrap();
        let act_services = ActServices::new(
            IdGenerator::system(),
            BudgetGovernor::new(BudgetSettings::default(), IdGenerator::system()),
        );
        let dispatcher = ToolDispatcher::new(db.clone(), Arc::new(act_services), Arc::new(registry()), clock);
        Self { installation, tenant, dispatcher, db, asker }
    }

    fn want(&self, text: &str, autonomy: Autonomy) -> ToolCallRequest {
        let everything: Vec<_> = "*".parse().into_iter().collect();
        ToolCallRequest {
            act: IdGenerator::system().next(),
            name: "note".to_owned(),
            arguments: json!({ "text": text }),
            offered: true,
            wanted: ProposalMode::Act,
            caller: ActCaller {
                principal: self.asker.clone(),
                door: CallerAudience::Work,
                binding: None,
                run: None,
                session: Some(Uuid::from_u128(7)),
                zone: Zone::default(),
                language: None,
                background: false,
                key: None,
                ceiling: None,
            },
            agent: Arc::new(Conduct {
                autonomy,
                read: everything.clone(),
                write: everything,
                ..Conduct::default()
            }),
            taint: Taint::from_own_words(text),
            concerns: Vec::new(),
        }
    }

    async fn call(&self, want: ToolCallRequest) -> ToolAnswer {
        self.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
    }

    /// Asks, and gives the question's id.
    async fn ask(&self, want: &ToolCallRequest) -> String {
        match self.call(want.clone()).await {
            ToolAnswer::Waiting(approval) => approval.id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.installation.json(&[&["approvals"], arguments].concat())
    }

    #[track_caller]
    fn refused(&self, arguments: &[&str], exit: i32, code: &str) -> String {
        let ran = self.installation.run(&[&["approvals"], arguments, &["--json"]].concat());
        ran.refused_as(exit, code)["error"]["message"].as_str().unwrap().to_owned()
    }
}

fn registry() -> ToolRegistry {
    let open: Vec<_> = "note.*".parse().into_iter().collect();
    let conduct = Conduct { autonomy: Autonomy::Act, read: open.clone(), write: open, ..Conduct::default() };
    let connector = ToolConnector {
        name: "notes".to_owned(),
        origin: ConnectorOrigin::Foreign,
        declares: true,
        conduct: Some(conduct),
    };
    let spec = ToolSpec {
        effect: Effect::Keyed,
        reach: Reach::Business,
        dry_run: true,
        parameters: json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }),
        ..ToolSpec::read_only("note".parse().unwrap(), "Sends a note. Use it rarely.", "note.send.add")
    };
    let mut registry = ToolRegistry::default();
    registry.add(spec, connector, ToolHandler::Remote(Arc::new(Notes))).unwrap();
    registry
}

async fn questions_are_shown_and_answered_once(engine: DatabaseEngine) {
    let shop = Shop::open(engine, Arc::new(SystemClock)).await;
    assert_eq!(shop.json(&["list"])["items"], json!([]));
    let want = shop.want("pay\u{202e}the printer", Autonomy::Propose);
    let id = shop.ask(&want).await;
    let listed = shop.json(&["list"]);
    let item = &listed["items"][0];
    assert_eq!((&item["id"], &item["asked_by_name"]), (&id.as_str().into(), &"Ravi".into()));
    assert_eq!(
        (&item["question"]["risk"], &item["question"]["reasons"]),
        (&"low".into(), &json!(["proposes"]))
    );
    let short = &id[..13];
    let shown = shop.json(&["show", short]);
    assert_eq!((&shown["arguments"], &shown["door"]), (&want.arguments, &"work".into()));
    assert_eq!(shown["rehearsal"]["would_send"], want.arguments["text"]);
    let words = shop.installation.run(&["approvals", "show", short]).ok();
    assert!(words.contains("pay\\u202ethe printer") && !words.contains('\u{202e}'), "{words}");
    assert!(words.contains("Ravi, through the work door") && words.contains("dry-run result"), "{words}");
    let words = shop.installation.run(&["approvals", "list"]).ok();
    assert!(words.contains(short) && words.contains("the agent may only propose"), "{words}");

    assert!(
        shop.refused(&["grant", short, "--as", "Ravi"], 7, "forbidden").contains("Ravi may not answer this")
    );
    assert!(
        shop.refused(&["grant", short, "--shown", "000000000000"], 6, "conflict")
            .contains("The act has changed")
    );
    assert!(shop.refused(&["grant", "ffff"], 5, "not_found").contains("ffff"));
    shop.refused(&["grant", "no-hex"], 5, "not_found");
    shop.refused(&["grant", short, "--as", "Nobody"], 5, "not_found");
    let digest = shown["digest"].as_str().unwrap();
    let granted = shop.json(&["grant", short, "--shown", digest, "--author", "ravi"]);
    assert_eq!((&granted["state"], &granted["changed"]), (&"granted".into(), &true.into()));
    assert_eq!(
        (&granted["answered_by_name"], &granted["answered_via"]),
        (&"Asha".into(), &"cli:ravi".into())
    );
    let told = shop.installation.run(&["audit", "export", "--tenant", "shop"]).ok();
    let told = told.lines().find(|line| line.contains("approval.granted")).unwrap();
    assert!(told.contains("\"kind\":\"person\"") && told.contains("\"via\":\"cli:ravi\""), "{told}");
    assert_eq!(shop.json(&["grant", short])["changed"], false, "answering twice answers once");
    assert!(shop.refused(&["refuse", short], 6, "conflict").contains("already granted"));
    assert!(matches!(shop.call(want.clone()).await, ToolAnswer::Done(_)));

    let second = shop.want("buy paper", Autonomy::Propose);
    let id = shop.ask(&second).await;
    let words = shop.installation.run(&["approvals", "refuse", &id]).ok();
    assert!(words.starts_with("Refused by Asha. note is not called."), "{words}");
    assert!(matches!(shop.call(second).await, ToolAnswer::Dropped { .. }));

    let third = shop.want("buy ink", Autonomy::Propose);
    let id = shop.ask(&third).await;
    assert_eq!(shop.json(&["grant", &id, "--session"])["covers"], "session");
    assert!(matches!(shop.call(third).await, ToolAnswer::Done(_)));
    let fourth = shop.want("buy more ink", Autonomy::Propose);
    assert!(matches!(shop.call(fourth).await, ToolAnswer::Done(_)), "it is not asked again");
    assert_eq!(shop.json(&["list"])["items"], json!([]));
    assert_eq!(shop.json(&["list", "--all"])["items"].as_array().unwrap().len(), 3);
    assert_eq!(shop.installation.json(&["audit", "verify"])["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_shown_and_answered_once_on_sqlite() {
    questions_are_shown_and_answered_once(DatabaseEngine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_shown_and_answered_once_on_postgres() {
    questions_are_shown_and_answered_once(DatabaseEngine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_answers_has_to_be_clear() {
    let shop = Shop::open(DatabaseEngine::Sqlite, Arc::new(SystemClock)).await;
    let id = shop.ask(&shop.want("buy paper", Autonomy::Propose)).await;
    shop.installation.json(&["person", "add", "Meera", "--role", "owner"]);
    assert!(shop.refused(&["grant", &id], 2, "invalid").contains("several owners"));
    shop.installation.json(&["tenant", "pause", "shop"]);
    assert_eq!(shop.json(&["grant", &id, "--as", "Meera"])["answered_by_name"], "Meera");
    shop.installation.json(&["tenant", "archive", "shop", "--yes"]);
    shop.refused(&["refuse", &id, "--as", "Meera", "--tenant", "shop"], 7, "forbidden");
}

/// On a server the key says who answers, and what is shown is the same.
#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_on_a_server() {
    let shop = Shop::open(DatabaseEngine::Sqlite, Arc::new(SystemClock)).await;
    let id = shop.ask(&shop.want("buy paper", Autonomy::Propose)).await;
    let key = ["key", "add", "asha", "--speaks-as", "person", "--person", "Asha"];
    let key = shop.installation.json(&key)["text"].as_str().unwrap().to_owned();
    let server = shop.installation.serve();
    let url = format!("http://{}", server.address);
    let remote = |words: &[&str]| {
        let there = ["--server", url.as_str(), "--server-key", key.as_str()];
        shop.installation.run(&[&["approvals"], words, &there].concat())
    };
    for words in [&["list"][..], &["list", "--all", "--limit", "1"], &["show", &id[..13]], &["show", "ffff"]]
    {
        for format in [&[][..], &["--json"]] {
            let words = [words, format].concat();
            let (here, there) =
                (shop.installation.run(&[&["approvals"], &words[..]].concat()), remote(&words));
            assert_eq!((here.code, &here.out, &here.err), (there.code, &there.out, &there.err), "{words:?}");
        }
    }
    remote(&["grant", &id, "--as", "Asha", "--json"]).refused_as(2, "usage");
    remote(&["grant", &id, "--shown", "000000000000", "--json"]).refused_as(6, "conflict");
    assert!(remote(&["grant", &id]).ok().starts_with("Granted by Asha. note may be called once"));
    let shown = shop.json(&["show", &id]);
    assert!(shown["answered_via"].as_str().unwrap().starts_with("api:"), "{shown}");
    assert!(remote(&["grant", &id]).ok().contains("nothing changed"));
    drop(server);
}

impl Shop {
    /// The server sweeps, as its schedule would have it a minute later, until the question is as it should be.
    async fn swept(&self, id: &str, is_so: impl Fn(&Value) -> bool) {
        let queue = JobQueue::new(Arc::new(SystemClock), IdGenerator::system());
        let sweep = NewJob::new("acts.sweep", &()).unwrap();
        self.db.write(TenantId::PLATFORM, move |tx| queue.enqueue(tx, &sweep)).await.unwrap();
        let began = Instant::now();
        while !is_so(&self.json(&["show", id])) {
            assert!(began.elapsed() < PATIENCE, "not swept");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A question asked two days ago: it can't be answered any more, and the server takes it up.
#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_answered_is_dropped_by_the_server() {
    let before = FakeClock::new(SystemClock.now().minus(Duration::from_secs(48 * 3600)));
    let shop = Shop::open(DatabaseEngine::Sqlite, Arc::new(before)).await;
    let id = shop.ask(&shop.want("buy paper", Autonomy::Propose)).await;
    assert!(shop.refused(&["grant", &id], 6, "conflict").contains("has expired"));
    let _server = shop.installation.serve();
    shop.swept(&id, |shown| shown["state"] == "expired").await;
    let tail = shop.installation.json(&["audit", "tail", "--tenant", "shop"]);
    assert!(tail.to_string().contains("approval.expired"), "{tail} {}", shop.tenant);
}

/// With an admin between, the owner is asked before it is dropped, and the lists say so.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_admin_did_not_answer_goes_to_the_owner() {
    let before = FakeClock::new(SystemClock.now().minus(Duration::from_secs(48 * 3600)));
    let shop = Shop::open(DatabaseEngine::Sqlite, Arc::new(before)).await;
    shop.installation.json(&["person", "add", "Meena", "--role", "admin"]);
    let id = shop.ask(&shop.want("buy paper", Autonomy::Propose)).await;
    let _server = shop.installation.serve();
    shop.swept(&id, |shown| shown["escalated_at"].is_string()).await;
    let shown = shop.json(&["show", &id]);
    assert_eq!((&shown["state"], &shown["escalated_to_names"]), (&json!("pending"), &json!(["Asha"])));
    let listed = shop.installation.run(&["approvals", "list"]).ok();
    assert!(listed.contains(", escalated"), "{listed}");
    let words = shop.installation.run(&["approvals", "show", &id]).ok();
    assert!(words.contains("to Asha, because nobody answered"), "{words}");
    assert_eq!(shop.json(&["grant", &id, "--as", "Asha"])["state"], "granted");
}
