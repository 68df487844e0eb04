//! What the earlier version stored plain is sealed while it is served.

use std::time::{Duration, Instant};

use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, Tx, params};
use munshi_types::TenantId;

use super::fixture::{UpgradedInstallation, UpgradedServer};

/// How many values of a tenant stand plain in columns that are sealed.
const PLAIN: [&str; 15] = [
    "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND text <> '' AND text NOT LIKE 'sealed:1:%'",
    "SELECT COUNT(*) FROM sessions WHERE tenant_id = $1 AND summary <> '' AND summary NOT LIKE 'sealed:1:%'",
    "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND CAST(snapshot AS TEXT) NOT LIKE '%sealed:1:%'
       AND CAST(snapshot AS TEXT) NOT IN ('{}', '[]', 'null')",
    "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND outside_id NOT LIKE 'h1:%'",
    "SELECT COUNT(*) FROM run_steps WHERE tenant_id = $1 AND CAST(body AS TEXT) NOT LIKE '%sealed:1:%'
       AND CAST(body AS TEXT) NOT IN ('{}', '[]', 'null')",
    "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND CAST(arguments AS TEXT) NOT LIKE '%sealed:1:%'
       AND CAST(arguments AS TEXT) NOT IN ('{}', '[]', 'null')",
    "SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND words <> '' AND words NOT LIKE 'sealed:1:%'",
    "SELECT COUNT(*) FROM persons WHERE tenant_id = $1 AND name <> '' AND name NOT LIKE 'sealed:1:%'",
    "SELECT COUNT(*) FROM person_addresses WHERE tenant_id = $1 AND shown IS NULL",
    // What a schedule makes holds the program's own words.
    "SELECT COUNT(*) FROM jobs WHERE tenant_id = $1 AND coalesce(unique_key, '') NOT LIKE 'schedule %'
       AND CAST(payload AS TEXT) NOT LIKE '%sealed:1:%' AND CAST(payload AS TEXT) NOT IN ('{}', '[]', 'null')",
    "SELECT COUNT(*) FROM pack_deliveries WHERE tenant_id = $1 AND shown_sender IS NULL",
    "SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1 AND detail NOT LIKE 'sealed:1:%'",
    "SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1 AND prompt_hash NOT LIKE 'h1:%'",
    "SELECT COUNT(*) FROM connector_logins WHERE tenant_id = $1 AND CAST(body AS TEXT) NOT LIKE '%sealed:1:%'
       AND CAST(body AS TEXT) <> 'null'",
    // Not plain, but not told to be done: of all tables the last.
    "SELECT 1 - COUNT(*) FROM sealed_rows WHERE tenant_id = $1 AND table_name = 'llm_calls.prompt_hash' AND done_at IS NOT NULL",
];

async fn count_plain(db: &Db) -> Vec<(usize, i64)> {
    let everybody = |tx: &mut munshi_store::PlatformTx<'_>| tenants::list(tx, &PageRequest::new(None, 100));
    let listed = db.platform(TENANTS).read(everybody).await.unwrap();
    let mut found = Vec::new();
    for tenant in listed.items.iter().map(|tenant| tenant.id).chain([TenantId::PLATFORM]) {
        for (at, sql) in PLAIN.into_iter().enumerate() {
            let count = move |tx: &mut Tx<'_>| tx.one(sql, params![], |row| row.get::<i64>(0));
            let plain = db.read(tenant, count).await.unwrap();
            found.extend((plain > 0).then_some((at, plain)));
        }
    }
    found
}

pub(super) fn read_plain(upgraded: &UpgradedInstallation) -> Vec<(usize, i64)> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async { count_plain(&upgraded.installation.open().await).await })
}

/// Some of it stood plain before anything was served: otherwise this would prove nothing.
pub(super) fn is_plain_before(upgraded: &UpgradedInstallation) {
    let plain = read_plain(upgraded);
    assert!([0, 2, 5, 7, 8].iter().all(|at| plain.iter().any(|(found, _)| found == at)), "{plain:?}");
}

pub(super) fn is_sealed_while_served(served: &UpgradedServer) {
    let (began, patience) = (Instant::now(), Duration::from_secs(60));
    loop {
        let plain = read_plain(&served.upgraded);
        if plain.is_empty() {
            return;
        }
        assert!(began.elapsed() < patience, "still plain: {plain:?}\n{}", served.server.log());
        std::thread::sleep(Duration::from_millis(200));
    }
}
