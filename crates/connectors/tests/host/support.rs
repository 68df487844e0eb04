//! A tenant with connectors, and everything that calls their tools.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use munshi_connectors::conformance::{ConnectorTest, WriteTestMode};
use munshi_connectors::entries::{self, ConnectorEntries};
use munshi_connectors::{
    AllowedHosts, Confinement, ConnectorHost, ConnectorHostParts, ConnectorLoginParts, ConnectorLogins,
    ConnectorState, ConnectorStatus, ConnectorTimings, InProcessConnector, rows,
};
use munshi_identity::{Person, Principal, Role, persons};
use munshi_safety::acts::ActServices;
use munshi_safety::approvals::ApprovalDecision::Yes;
use munshi_safety::approvals::{self, Approval, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage};
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_safety::policy;
use munshi_safety::vault::{MasterKeySource, Vault, VaultAuditContext, VaultSecret};
use munshi_store::Migration;
use munshi_test_support::{PATIENCE, TestDb};
use munshi_tools::{
    NoActJournal, TenantToolSource, TenantTools, ToolAnswer, ToolCallRequest, ToolDispatcher, ToolRegistry,
};
use munshi_types::{Autonomy, Clock, Conduct, SystemRandom, TenantId};
use serde_json::Value;

pub(crate) const MIGRATIONS: [&[Migration]; 5] = [
    munshi_store::MIGRATIONS,
    munshi_jobs::MIGRATIONS,
    munshi_identity::MIGRATIONS,
    munshi_safety::MIGRATIONS,
    munshi_connectors::MIGRATIONS,
];

/// Quick enough for a test, and in the same order as the real one.
pub(crate) const QUICK: ConnectorTimings = ConnectorTimings {
    restarts: 2,
    window: Duration::from_secs(600),
    pause: Duration::from_millis(20),
    longest_pause: Duration::from_millis(50),
    retry: Duration::from_secs(600),
    health: Duration::from_millis(400),
    answer: Duration::from_secs(30),
    relist: 1000,
    grace: Duration::from_secs(2),
    look: Duration::from_millis(100),
};

pub(crate) struct Shop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) owner: Principal,
    pub(crate) host: ConnectorHost,
    pub(crate) dispatcher: ToolDispatcher,
    pub(crate) office: Arc<ActServices>,
    pub(crate) vault: Vault,
    pub(crate) logins: ConnectorLogins,
    pub(crate) folder: PathBuf,
}

pub(crate) fn server(name: &str) -> String {
    format!("{}/tests/servers/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A connector that behaves so; a second word is a file of its own.
pub(crate) fn odd(name: &str, mood: &str, note: Option<&std::path::Path>) -> String {
    let note = note.map(|note| format!(", \"{}\"", note.display())).unwrap_or_default();
    format!("[{name}]\ncommand = [\"{}\", \"{}\", \"{mood}\"{note}]\n", interpreter(), server("odd.py"))
}

/// Python itself: a wrapper that finds it would add variables of its own.
fn interpreter() -> String {
    let asked =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8(asked.unwrap().stdout).unwrap().trim().to_owned()
}

#[allow(clippy::disallowed_methods, reason = "a connector's program is found by PATH")]
pub(crate) fn basics() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::var_os("PATH").map(|path| ("PATH".into(), path)).into_iter().collect()
}

/// One process of the installation.
pub(crate) struct Node {
    pub(crate) host: ConnectorHost,
    pub(crate) dispatcher: ToolDispatcher,
    office: Arc<ActServices>,
    vault: Vault,
    pub(crate) logins: ConnectorLogins,
}

impl Node {
    async fn on(
        test: &TestDb,
        db: munshi_store::Db,
        allowed: AllowedHosts,
        inside: BTreeMap<String, Arc<dyn InProcessConnector>>,
        (pace, confinement): (ConnectorTimings, Confinement),
    ) -> Self {
        let (clock, ids, folder) = (test.clock.clone(), test.ids.clone(), test.place.folder());
        let source = MasterKeySource::File(folder.join("vault.key"));
        let vault = Vault::start(db.clone(), source, Arc::new(SystemRandom), ids.clone(), test.clock.now())
            .await
            .unwrap();
        let logins = ConnectorLogins::new(ConnectorLoginParts {
            db: db.clone(),
            vault: vault.clone(),
            allowed: allowed.clone(),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
            ids: ids.clone(),
            timeout: PATIENCE,
        })
        .unwrap();
        let registry = Arc::new(ToolRegistry::default());
        let host = ConnectorHost::new(ConnectorHostParts {
            db: db.clone(),
            vault: Some(vault.clone()),
            logins: Some(logins.clone()),
            base: Some("http://munshi.example".to_owned()),
            random: Arc::new(SystemRandom),
            ids: ids.clone(),
            clock: clock.clone(),
            registry: registry.clone(),
            folder: folder.join("connectors"),
            basics: basics(),
            confinement,
            allowed,
            inside,
            pace,
        });
        let act_services = Arc::new(ActServices::new(
            ids.clone(),
            BudgetGovernor::new(BudgetSettings::default(), ids.clone()),
        ));
        let dispatcher = ToolDispatcher::new(db.clone(), act_services.clone(), registry, clock)
            .with_connectors(Arc::new(host.clone()));
        Self { host, dispatcher, office: act_services, vault, logins }
    }
}

impl Shop {
    pub(crate) async fn open(test: TestDb, file: &str) -> Self {
        Self::with(test, file, AllowedHosts::default(), BTreeMap::new()).await
    }

    pub(crate) async fn with(
        test: TestDb,
        file: &str,
        allowed: AllowedHosts,
        inside: BTreeMap<String, Arc<dyn InProcessConnector>>,
    ) -> Self {
        let node = Node::on(&test, test.db.clone(), allowed, inside, (QUICK, Confinement::default())).await;
        Self::at(node, test, file).await
    }

    /// One whose connectors are looked after at a pace of their own.
    pub(crate) async fn paced(test: TestDb, file: &str, pace: ConnectorTimings) -> Self {
        let manner = (pace, Confinement::default());
        let node = Node::on(&test, test.db.clone(), AllowedHosts::default(), BTreeMap::new(), manner).await;
        Self::at(node, test, file).await
    }

    /// One on a machine that confines nothing, and that counts its tenants.
    pub(crate) async fn unconfined(test: TestDb, file: &str) -> Self {
        let manner = (QUICK, Confinement { db: Some(test.db.clone()), ..Confinement::default() });
        let node = Node::on(&test, test.db.clone(), AllowedHosts::default(), BTreeMap::new(), manner).await;
        Self::at(node, test, file).await
    }

    async fn at(node: Node, test: TestDb, file: &str) -> Self {
        let tenant = test.add_tenant("shop").await;
        let Node { host, dispatcher, office, vault, logins } = node;
        let (ids, folder) = (test.ids.clone(), test.place.folder());
        let now = test.clock.now();
        let owner = test
            .db
            .write(tenant, move |tx| -> Result<_, munshi_store::Error> {
                let owner = Person { role: Some(Role::Owner), ..Person::new(&ids, "Farid", now) };
                persons::upsert(tx, &owner)?;
                Ok(owner.principal(tx))
            })
            .await
            .unwrap();
        let shop = Self { test, tenant, owner, host, dispatcher, office, vault, logins, folder };
        shop.declare(file).await;
        shop
    }

    /// Puts a file in force.
    pub(crate) async fn declare(&self, file: &str) {
        let (declared, now) = (entries::parse(file).unwrap(), self.test.clock.now());
        let names: Vec<String> = declared.0.keys().map(ToString::to_string).collect();
        let policy: String = names
            .iter()
            .map(|name| format!("[connectors.{name}]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n"))
            .collect();
        let policy = policy::parse(&policy).unwrap();
        let put = move |tx: &mut munshi_store::Tx<'_>| -> munshi_connectors::Result<()> {
            policy::apply(tx, &policy, "test", "", now)?;
            rows::save_entries(tx, &declared, "test", "", now)?;
            Ok(())
        };
        self.test.db.write(self.tenant, put).await.unwrap();
    }

    /// Another process on the same database, with everything started.
    pub(crate) async fn again(&self, allowed: AllowedHosts) -> Node {
        let manner = (QUICK, Confinement::default());
        let node = Node::on(&self.test, self.test.open_again().await, allowed, BTreeMap::new(), manner).await;
        node.host.start_tenant(self.tenant).await.unwrap();
        node
    }

    /// Starts what is declared, and waits until it is what it will be.
    pub(crate) async fn start(&self) {
        self.host.start_tenant(self.tenant).await.unwrap();
    }

    pub(crate) fn shelf(&self) -> Arc<TenantTools> {
        self.host.tenant_tools(self.tenant)
    }

    pub(crate) fn standing(&self, name: &str) -> ConnectorStatus {
        self.host.statuses(self.tenant).remove(&name.parse().unwrap()).unwrap()
    }

    /// Waits until a connector is as wanted.
    pub(crate) async fn until(&self, name: &str, is: impl Fn(&ConnectorStatus) -> bool) -> ConnectorStatus {
        let begun = Instant::now();
        loop {
            let standing = self.standing(name);
            if is(&standing) {
                return standing;
            }
            assert!(begun.elapsed() < PATIENCE, "{name} never became so: {standing:?}");
            self.host.reconcile().await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) async fn until_state(&self, name: &str, state: ConnectorState) -> ConnectorStatus {
        self.until(name, |standing| standing.state == state).await
    }

    pub(crate) async fn secret(&self, name: &str, value: &str) {
        let by = VaultAuditContext {
            actor: munshi_safety::audit::AuditActor::new(
                munshi_safety::audit::AuditActorKind::Operator,
                "test",
            ),
            now: self.test.clock.now(),
        };
        let name = munshi_safety::vault::SecretRef::from_name(name).unwrap();
        self.vault.set(self.tenant, &name, VaultSecret::new(value.to_owned()).unwrap(), by).await.unwrap();
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolAnswer {
        let want = self.want(name, arguments, Autonomy::Act);
        self.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap()
    }

    /// Says yes as the owner, and goes on.
    pub(crate) async fn approve(&self, approval: Approval) -> ToolAnswer {
        let (act_services, who, now) = (self.office.clone(), self.owner.clone(), self.test.clock.now());
        let (id, act) = (approval.id, approval.act);
        let yes = move |tx: &mut munshi_store::Tx<'_>| {
            let covers = ApprovalCoverage::Act;
            let said = ApprovalAnswer {
                who: &who,
                answer: Yes,
                shown: None,
                covers,
                via: "test",
                key: None,
                source: munshi_safety::approvals::AnswerSource::Page,
            };
            approvals::answer(tx, &act_services, id, &said, now)
        };
        let answered = self.test.db.write(self.tenant, yes).await.unwrap();
        assert!(matches!(answered, ApprovalAnswerOutcome::Granted(_)), "{answered:?}");
        let want = self.want(&approval.tool, approval.arguments, Autonomy::Propose);
        self.dispatcher.call(ToolCallRequest { act, ..want }, Arc::new(NoActJournal)).await.unwrap()
    }

    pub(crate) fn want(&self, name: &str, arguments: Value, autonomy: Autonomy) -> ToolCallRequest {
        let everything = || vec!["*".parse().unwrap()];
        let agent = Conduct { autonomy, read: everything(), write: everything(), ..Conduct::default() };
        ToolCallRequest {
            act: self.test.ids.next(),
            name: name.to_owned(),
            arguments,
            offered: true,
            wanted: ProposalMode::Act,
            caller: ActCaller {
                principal: self.owner.clone(),
                door: CallerAudience::Private,
                binding: None,
                run: None,
                session: None,
                zone: munshi_types::Zone::default(),
                language: None,
                background: false,
                key: None,
                ceiling: None,
            },
            agent: Arc::new(agent),
            taint: Taint::from_own_words(""),
            concerns: Vec::new(),
        }
    }

    /// The result, or the whole answer where there is none.
    pub(crate) async fn said(&self, name: &str, arguments: Value) -> Value {
        self.call(name, arguments).await.render_for_model()
    }

    pub(crate) async fn events(&self) -> Vec<(String, Value)> {
        let declared = self
            .test
            .db
            .read(self.tenant, |tx| munshi_safety::audit::list_after(tx, 0, 10_000))
            .await
            .unwrap();
        declared
            .into_iter()
            .map(|entry| (entry.event, serde_json::from_str(&entry.payload).unwrap_or_default()))
            .collect()
    }

    pub(crate) fn log(&self, name: &str) -> String {
        let folder = munshi_connectors::build_logs_path(
            &self.folder.join("connectors"),
            self.tenant,
            &name.parse().unwrap(),
        );
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        munshi_connectors::LOGS.iter().map(|file| read(file)).collect()
    }

    pub(crate) fn trial(&self, file: &str, writes: WriteTestMode) -> ConnectorTest {
        let ConnectorEntries(mut all) = entries::parse(file).unwrap();
        let (name, entry) = all.pop_first().unwrap();
        ConnectorTest {
            name,
            entry,
            tenant: self.tenant,
            vault: Some(self.vault.clone()),
            logins: Some(self.logins.clone()),
            folder: self.folder.join("tested"),
            logs: self.folder.join("tested.logs"),
            basics: basics(),
            confinement: Confinement::default(),
            allowed: AllowedHosts::new(["127.0.0.1".to_owned()]),
            inside: BTreeMap::new(),
            clock: self.test.clock.clone(),
            writes,
        }
    }
}
