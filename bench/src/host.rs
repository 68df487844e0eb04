//! A connector's tool called by our host, with everything decided and written down before and after, beside the official
//! Python client that calls the same tool of the same server and does nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use munshi_connectors::{
    AllowedHosts, Confinement, ConnectorHost, ConnectorHostParts, ConnectorTimings, entries, rows,
};
use munshi_identity::{Person, Principal, Role, persons};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::{BudgetGovernor, BudgetSettings};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ProposalMode, Taint};
use munshi_safety::policy::{self, Policy, ToolRateLimits};
use munshi_test_support::{DatabaseEngine, TestDb};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest, ToolDispatcher, ToolRegistry};
use munshi_types::{Autonomy, Clock, Conduct, IdGenerator, SystemClock, TenantId, Zone};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::contest::median_of;
use crate::report::{Table, render_count};

const RUN: &str = "import mcp_server_time; mcp_server_time.main()";
const TOOL: &str = "clock_get_current_time";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let packages = packages()?;
    let runtime = Runtime::new()?;
    let shop = runtime.block_on(Shop::open(&packages))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds.max(1) {
        ours.push(runtime.block_on(shop.round(arguments))?);
        theirs.push(python(&packages, arguments)?);
    }
    runtime.block_on(shop.host.stop());
    let (ours, theirs) = (median_of(ours), median_of(theirs));
    let mut table = Table::new(["", "median µs"]);
    table.add_row(["ours, decided and written down, SQLite".to_owned(), render_count(ours)]);
    table.add_row(["the official Python client".to_owned(), render_count(theirs)]);
    table.print("one call of mcp-server-time's get_current_time over standard streams, one caller");
    Ok(())
}

/// Where the script has put servers and client.
fn packages() -> Result<PathBuf> {
    let told =
        Command::new("scripts/connectors.sh").output().context("run this from the repository's root")?;
    if !told.status.success() {
        bail!("scripts/connectors.sh failed: {}", String::from_utf8_lossy(&told.stderr));
    }
    Ok(PathBuf::from(String::from_utf8(told.stdout)?.trim()).join("python"))
}

fn python(packages: &std::path::Path, arguments: &Arguments) -> Result<f64> {
    let seconds = arguments.window.as_secs_f64().to_string();
    let told = Command::new("python3")
        .args(["-B", "bench/clients/mcp_round_trip.py", &seconds, "python3", "-c", RUN])
        .env("PYTHONPATH", packages)
        .output()?;
    let text = String::from_utf8(told.stdout)?;
    text.trim().parse().with_context(|| String::from_utf8_lossy(&told.stderr).into_owned())
}

#[allow(clippy::disallowed_methods, reason = "a connector's program is found by PATH")]
fn path() -> Vec<(OsString, OsString)> {
    std::env::var_os("PATH").map(|path| ("PATH".into(), path)).into_iter().collect()
}

struct Shop {
    // Its folder goes with it.
    _test: TestDb,
    host: ConnectorHost,
    dispatcher: ToolDispatcher,
    owner: Principal,
}

impl Shop {
    async fn open(packages: &std::path::Path) -> Result<Self> {
        let migrations = [
            munshi_store::MIGRATIONS,
            munshi_identity::MIGRATIONS,
            munshi_safety::MIGRATIONS,
            munshi_connectors::MIGRATIONS,
        ];
        let test = TestDb::open(DatabaseEngine::Sqlite, &migrations).await;
        let tenant = test.add_tenant("shop").await;
        let file = format!(
            "[clock]\ncommand = [\"python3\", \"-c\", \"{RUN}\"]\nenvironment = {{ PYTHONPATH = \"{}\" }}\n\
             [clock.tools.get_current_time]\neffect = \"read\"\n",
            packages.display()
        );
        let owner = declare(&test, tenant, &file).await?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (registry, ids) = (Arc::new(ToolRegistry::default()), IdGenerator::system());
        let host = ConnectorHost::new(ConnectorHostParts {
            db: test.db.clone(),
            vault: None,
            logins: None,
            base: None,
            random: Arc::new(munshi_types::SystemRandom),
            ids: ids.clone(),
            clock: clock.clone(),
            registry: registry.clone(),
            folder: test.place.folder().join("connectors"),
            basics: path(),
            confinement: Confinement::default(),
            allowed: AllowedHosts::default(),
            inside: BTreeMap::new(),
            pace: ConnectorTimings::default(),
        });
        host.start_tenant(tenant).await?;
        let act_services =
            Arc::new(ActServices::new(ids.clone(), BudgetGovernor::new(BudgetSettings::default(), ids)));
        let dispatcher = ToolDispatcher::new(test.db.clone(), act_services, registry, clock)
            .with_connectors(Arc::new(host.clone()));
        Ok(Self { _test: test, host, dispatcher, owner })
    }

    async fn round(&self, arguments: &Arguments) -> Result<f64> {
        let (began, mut took) = (Instant::now(), Vec::new());
        while began.elapsed() < arguments.window {
            let one = Instant::now();
            let answer = self.dispatcher.call(self.build_request()?, Arc::new(NoActJournal)).await?;
            if !matches!(answer, ToolAnswer::Done(_)) {
                bail!("it was not done: {answer:?}");
            }
            took.push(one.elapsed().as_secs_f64() * 1e6);
        }
        Ok(median_of(took))
    }

    fn build_request(&self) -> Result<ToolCallRequest> {
        let everything = vec!["*".parse()?];
        let agent = Conduct { autonomy: Autonomy::Act, read: everything, ..Conduct::default() };
        Ok(ToolCallRequest {
            act: IdGenerator::system().next(),
            name: TOOL.to_owned(),
            arguments: json!({ "timezone": "Asia/Kolkata" }),
            offered: true,
            wanted: ProposalMode::Act,
            caller: ActCaller {
                principal: self.owner.clone(),
                door: CallerAudience::Private,
                binding: None,
                run: None,
                session: None,
                zone: Zone::default(),
                language: None,
                background: false,
                key: None,
                ceiling: None,
            },
            agent: Arc::new(agent),
            taint: Taint::from_own_words(""),
            concerns: Vec::new(),
        })
    }
}

/// As a shop has it, but for the rates: nobody is to wait here.
async fn declare(test: &TestDb, tenant: TenantId, file: &str) -> Result<Principal> {
    let declared = entries::parse(file)?;
    let rates = ToolRateLimits {
        calls_per_minute: u32::MAX,
        writes_per_minute: u32::MAX,
        ..ToolRateLimits::default()
    };
    let open = Conduct { autonomy: Autonomy::Act, read: vec!["*".parse()?], ..Conduct::default() };
    let kept = Policy { connectors: [("clock".to_owned(), open)].into(), rates, ..Policy::default() };
    let now = SystemClock.now();
    let made = test.db.write(tenant, move |tx| -> munshi_connectors::Result<Principal> {
        policy::apply(tx, &kept, "bench", "", now)?;
        rows::save_entries(tx, &declared, "bench", "", now)?;
        let owner = Person { role: Some(Role::Owner), ..Person::new(&IdGenerator::system(), "Farid", now) };
        persons::upsert(tx, &owner)?;
        Ok(owner.principal(tx))
    });
    Ok(made.await?)
}
