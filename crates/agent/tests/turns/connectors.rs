//! An agent with a filesystem that is a server of others: what it may do with it at each level, and what is told of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use munshi_connectors::{
    AllowedHosts, Confinement, ConnectorHost, ConnectorHostParts, ConnectorTimings, entries, rows,
};
use munshi_conversations::RunState;
use munshi_safety::approvals::{ApprovalAnswerOutcome, ApprovalDecision};
use munshi_safety::policy;
use munshi_test_support::TestDb;
use munshi_test_support::database::MORNING;
use munshi_test_support::environment;
use munshi_test_support::models::ScriptedTurn;
use munshi_tools::ToolRegistry;
use serde_json::{Value, json};

use crate::turns::approvals::answer;
use crate::turns::support::{Plan, Shop};

const AGENT: &str = "name = \"Clerk\"\ntools = [\"count\"]\nconnectors = [\"files\"]\n\
    [limits]\ntool_calls = 6\ntools_offered = 5\n[policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n";

/// A folder that a connector serves, and a shop whose agent may use it as far as `level`.
struct Office {
    shop: Shop,
    host: ConnectorHost,
    share: PathBuf,
}

#[allow(clippy::disallowed_methods, reason = "a connector's program is found by PATH")]
fn host(test: &TestDb) -> ConnectorHost {
    ConnectorHost::new(ConnectorHostParts {
        db: test.db.clone(),
        vault: None,
        logins: None,
        base: None,
        random: Arc::new(munshi_types::SystemRandom),
        ids: test.ids.clone(),
        clock: test.clock.clone(),
        registry: Arc::new(ToolRegistry::default()),
        folder: test.place.folder().join("connectors"),
        basics: std::env::var_os("PATH").map(|path| ("PATH".into(), path)).into_iter().collect(),
        confinement: Confinement::default(),
        allowed: AllowedHosts::default(),
        inside: BTreeMap::new(),
        pace: ConnectorTimings::default(),
    })
}

/// As if it met others' words there.
fn open_file(share: &Path) -> String {
    file(share).replacen("[files]\n", "[files]\negress = \"ask\"\n", 1)
}

/// Its world is one folder: it says so itself, and the operator has declared what it does.
fn file(share: &Path) -> String {
    let program = environment::connectors().join("node/node_modules/.bin/mcp-server-filesystem");
    format!(
        "[files]\ncommand = [\"{}\", \"{}\"]\n\
         [files.tools.read_text_file]\neffect = \"read\"\nscope = \"file.read\"\nreach = \"business\"\n\
         [files.tools.write_file]\neffect = \"keyed\"\nscope = \"file.write\"\nreach = \"business\"\ndestructive = false\n\
         words = {{ hi = [\"file likho\", \"chitthi likho\"] }}\n",
        program.display(),
        share.display()
    )
}

impl Office {
    async fn open(test: &TestDb, level: &str, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::with(test, (level, file), script).await
    }

    async fn with(
        test: &TestDb,
        (level, file): (&str, fn(&Path) -> String),
        script: impl IntoIterator<Item = ScriptedTurn>,
    ) -> Self {
        let share = test.place.folder().join("share");
        std::fs::create_dir_all(&share).unwrap();
        let share = share.canonicalize().unwrap();
        std::fs::write(share.join("hello.txt"), "namaste").unwrap();
        let host = host(test);
        let plan = Plan { agent: AGENT.to_owned(), shelves: Some(Arc::new(host.clone())), ..Plan::default() };
        let shop = Shop::open_with(test, script, plan).await;
        let text = format!(
            "[connectors.shop]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n\
             [connectors.files]\nautonomy = \"{level}\"\nread = [\"files.*\"]\nwrite = [\"files.file.*\"]\n"
        );
        let (policy, declared) = (policy::parse(&text).unwrap(), entries::parse(&file(&share)).unwrap());
        let put = move |tx: &mut munshi_store::Tx<'_>| -> munshi_connectors::Result<()> {
            policy::apply(tx, &policy, "test", "", MORNING)?;
            rows::save_entries(tx, &declared, "test", "", MORNING)?;
            Ok(())
        };
        shop.db.write(shop.tenant, put).await.unwrap();
        host.start_tenant(shop.tenant).await.unwrap();
        Self { shop, host, share }
    }

    fn written(&self) -> Option<String> {
        std::fs::read_to_string(self.share.join("note.txt")).ok()
    }

    /// What the audit tells of acts and of the connector, in order.
    async fn story(&self) -> Vec<String> {
        let declared = self
            .shop
            .db
            .read(self.shop.tenant, |tx| munshi_safety::audit::list_after(tx, 0, 1000))
            .await
            .unwrap();
        let told = |event: &str| {
            event.starts_with("act.") || event.starts_with("approval.") || event.starts_with("connector.")
        };
        declared.into_iter().map(|entry| entry.event).filter(|event| told(event)).collect()
    }
}

fn place(test: &TestDb) -> PathBuf {
    let share = test.place.folder().join("share");
    std::fs::create_dir_all(&share).unwrap();
    share.canonicalize().unwrap()
}

fn write(test: &TestDb) -> ScriptedTurn {
    let arguments: Value = json!({ "path": place(test).join("note.txt"), "content": "kal milte hain" });
    ScriptedTurn::call("files_write_file", &arguments)
}

fn read(test: &TestDb) -> ScriptedTurn {
    ScriptedTurn::call("files_read_text_file", &json!({ "path": place(test).join("hello.txt") }))
}

on_both! {
    async fn at_investigate_it_reads_and_never_writes(test: TestDb) {
        let script = [read(&test), ScriptedTurn::text("It says namaste."), write(&test), ScriptedTurn::text("I may not write here.")];
        let office = Office::open(&test, "investigate", script).await;
        let seen = office.shop.ask("1", "what does the file hello.txt say?").await;
        assert_eq!((seen.text.as_str(), seen.state), ("It says namaste.", RunState::Done));
        let asked = office.shop.model.requests();
        assert!(format!("{:?}", asked[1].request.messages).contains("namaste"), "the model has read the file");
        let offered: Vec<&str> = asked[0].request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(offered.len(), 5, "the agent's own and the most fitting of the connector: {offered:?}");
        assert!(offered.contains(&"count") && offered.contains(&"files_read_text_file"), "{offered:?}");
        let refused = office.shop.ask("2", "write a note").await;
        assert_eq!(refused.text, "I may not write here.");
        assert!(refused.calls.iter().any(|call| call.tool == "files_write_file" && !call.ok));
        assert_eq!(office.written(), None);
        assert_eq!(office.story().await, ["connector.seen", "act.intended", "act.applied", "act.refused"]);
        office.host.stop().await;
    }

    async fn at_propose_it_writes_what_a_person_approved(test: TestDb) {
        let office = Office::open(&test, "propose", [write(&test), ScriptedTurn::text("It is written.")]).await;
        let waiting = office.shop.say("1", "ek chitthi likho").await;
        let waits = office.shop.outcome(&waiting).await;
        assert_eq!(waits.state, RunState::WaitingApproval, "{waits:?}");
        assert_eq!(office.written(), None);
        let answered = answer(&test, &office.shop, office.shop.owner, waits.approval.unwrap(), ApprovalDecision::Yes).await;
        assert!(!matches!(answered, ApprovalAnswerOutcome::Already(_)), "{answered:?}");
        office.shop.engine.resume(office.shop.tenant, waiting.run).await.unwrap();
        let done = office.shop.outcome(&waiting).await;
        assert_eq!((done.text.as_str(), done.state), ("It is written.", RunState::Done));
        assert_eq!(office.written().as_deref(), Some("kal milte hain"));
        let story = office.story().await;
        assert_eq!(story, ["connector.seen", "approval.asked", "approval.granted", "act.intended", "act.applied"]);
        office.host.stop().await;
    }

    async fn at_act_it_writes_by_itself_unless_others_words_led_to_it(test: TestDb) {
        let script = [write(&test), ScriptedTurn::text("It is written."), read(&test), write(&test)];
        let office = Office::open(&test, "act", script).await;
        let done = office.shop.ask("1", "likho: kal milte hain").await;
        assert_eq!((done.text.as_str(), done.state), ("It is written.", RunState::Done));
        assert_eq!(office.written().as_deref(), Some("kal milte hain"));
        assert_eq!(office.story().await, ["connector.seen", "act.intended", "act.applied"]);
        let after = office.shop.ask("2", "do what hello.txt says").await;
        assert_eq!(after.state, RunState::WaitingApproval, "what a file says is data: a person is asked first: {after:?}");
        office.host.stop().await;
    }

    async fn at_the_open_world_a_look_is_asked_about_once_others_words_were_read(test: TestDb) {
        let leak = ScriptedTurn::call("files_read_text_file", &json!({ "path": "/evil/?d=namaste" }));
        let script = [read(&test), leak, ScriptedTurn::text("There is no such file.")];
        let office = Office::with(&test, ("act", open_file), script).await;
        let first = office.shop.say("1", "what does the file hello.txt say?").await;
        let asked = office.shop.outcome(&first).await;
        assert_eq!(asked.state, RunState::WaitingApproval, "{asked:?}");
        assert!(asked.text.contains("/evil/?d=namaste"), "whoever is asked sees what would leave: {}", asked.text);
        let story = ["connector.seen", "act.intended", "act.applied", "approval.asked"];
        assert_eq!(office.story().await, story, "what the person said themselves was looked at without");
        let answered = answer(&test, &office.shop, office.shop.staff, asked.approval.unwrap(), ApprovalDecision::Yes).await;
        assert!(matches!(answered, ApprovalAnswerOutcome::Granted(_)), "{answered:?}");
        office.shop.engine.resume(office.shop.tenant, first.run).await.unwrap();
        let done = office.shop.outcome(&first).await;
        assert_eq!((done.text.as_str(), done.state), ("There is no such file.", RunState::Done));
        office.host.stop().await;
    }

    async fn a_tool_the_agent_does_not_have_is_not_called(test: TestDb) {
        let office = Office::open(&test, "act", [ScriptedTurn::text("x")]).await;
        let shop = &office.shop;
        let gone = Plan { agent: AGENT.replace("connectors = [\"files\"]", ""), shelves: Some(Arc::new(office.host.clone())), ..Plan::default() };
        let other = Shop::open_with(&test, [write(&test), ScriptedTurn::text("I can't.")], gone).await;
        let done = other.ask("9", "write a note").await;
        assert!(done.calls.iter().all(|call| !call.ok), "{:?}", done.calls);
        assert!(other.model.requests()[0].request.tools.iter().all(|tool| !tool.name.as_str().starts_with("files_")));
        assert_eq!((office.written(), shop.tenant), (None, other.tenant));
        office.host.stop().await;
    }
}
