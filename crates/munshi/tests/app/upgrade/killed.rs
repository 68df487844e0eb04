//! A server is killed with -9 while it seals what an older version stored plain, and while it writes the file anew: every row is readable
//! after each, and the last one comes to the end of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use munshi_store::tenants::{self, TENANTS};
use munshi_store::{JsonText, PageRequest, PlatformTx, SealedColumn, Tx, params};
use munshi_test_support::environment::is_long_run;
use munshi_test_support::{DatabaseEngine, PATIENCE, shim};
use munshi_types::{ActId, MessageId, PersonId};

use super::fixture::UpgradedInstallation;
use super::sealed;

/// At which moments servers are killed one after another. Each goes on where the one before was killed.
fn moments_of_sealing() -> Vec<u32> {
    match is_long_run() {
        true => (1..120).map(|at| at * 3).collect(),
        false => vec![24, 45, 90],
    }
}

/// And of the next starts, which begin by writing the file anew.
fn moments_of_rewriting() -> Vec<u32> {
    match is_long_run() {
        true => (1..60).collect(),
        false => vec![3, 8],
    }
}

/// What people said, are called and had done, by the ids of the rows.
type Texts = BTreeMap<String, String>;

fn read_texts(tx: &mut Tx<'_>) -> munshi_store::Result<Texts> {
    const TEXT: SealedColumn = SealedColumn::new("messages", "text");
    const NAME: SealedColumn = SealedColumn::new("persons", "name");
    const ARGUMENTS: SealedColumn = SealedColumn::new("acts", "arguments");
    let messages = tx.all("SELECT id, text FROM messages WHERE tenant_id = $1", params![], |row| {
        let id: MessageId = row.get(0)?;
        Ok((format!("message {id}"), row.get_sealed::<String>("text", TEXT.cell(id))?))
    })?;
    let persons = tx.all("SELECT id, name FROM persons WHERE tenant_id = $1", params![], |row| {
        let id: PersonId = row.get(0)?;
        Ok((format!("person {id}"), row.get_sealed::<String>("name", NAME.cell(id))?))
    })?;
    let acts = tx.all("SELECT id, arguments FROM acts WHERE tenant_id = $1", params![], |row| {
        let id: ActId = row.get(0)?;
        let arguments: serde_json::Value =
            row.get_sealed::<JsonText>("arguments", ARGUMENTS.cell(id))?.read()?;
        Ok((format!("act {id}"), arguments.to_string()))
    })?;
    Ok(messages.into_iter().chain(persons).chain(acts).collect())
}

fn read_all(upgraded: &UpgradedInstallation) -> Texts {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db = upgraded.installation.open().await;
        let list = |tx: &mut PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, 100));
        let mut texts = Texts::new();
        for tenant in db.platform(TENANTS).read(list).await.unwrap().items {
            texts.extend(db.read(tenant.id, read_texts).await.unwrap());
        }
        texts
    })
}

/// All that was there is there as it was; runs that go on say more.
fn is_all_there(before: &Texts, upgraded: &UpgradedInstallation, when: &str) {
    let after = read_all(upgraded);
    for (row, text) in before {
        assert_eq!(after.get(row), Some(text), "{when}: {row}");
    }
}

/// Serves until it is killed at this moment, or for so long that there is no such moment any more.
fn serve_until(upgraded: &UpgradedInstallation, library: &Path, at: u32) -> bool {
    let mut command = upgraded.installation.command(&["serve", "--json"]);
    command.env("LD_PRELOAD", library).env("DISK_SHIM_KILL_AT", at.to_string());
    let log = std::fs::File::create(upgraded.installation.folder().join("killed.log")).unwrap();
    let mut server = KilledOnDrop(command.stdout(Stdio::null()).stderr(log).spawn().unwrap());
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if server.0.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

fn sealing_is_never_half(engine: DatabaseEngine) {
    let upgraded = UpgradedInstallation::copy(engine);
    let library = shim::build(&upgraded.installation.folder());
    upgraded.installation.json(&["migrate"]);
    sealed::is_plain_before(&upgraded);
    let before = read_all(&upgraded);
    assert!(before.values().any(|text| !text.is_empty()), "{before:?}");
    for at in moments_of_sealing() {
        assert!(serve_until(&upgraded, &library, at), "there is always something to store");
        is_all_there(&before, &upgraded, &format!("sealing killed at moment {at}"));
    }
    let served = upgraded.serve();
    sealed::is_sealed_while_served(&served);
    drop(served.server);
    let upgraded = served.upgraded;
    for at in moments_of_rewriting() {
        serve_until(&upgraded, &library, at);
        is_all_there(&before, &upgraded, &format!("rewriting killed at moment {at}"));
    }
    drop(upgraded.installation.serve());
    is_all_there(&before, &upgraded, "in the end");
    assert_eq!(sealed::read_plain(&upgraded), []);
}

#[test]
fn sealing_is_never_half_on_sqlite() {
    sealing_is_never_half(DatabaseEngine::Sqlite);
}

#[test]
fn sealing_is_never_half_on_postgres() {
    sealing_is_never_half(DatabaseEngine::Postgres);
}
