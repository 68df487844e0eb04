//! Who can come in: accounts nobody has proved, and keys that were never asked for whom they talk.

use munshi_identity::keys::{self, KEYS};
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_types::Timestamp;

use super::finding::Finding;
use crate::failure::Result;
use crate::output::shown::count;

/// More are not named in a line.
const MOST_NAMED: usize = 20;

pub(super) async fn examine(db: &Db, now: Timestamp) -> Vec<Finding> {
    let (accounts, keys) = match (unproved(db).await, assumed(db, now).await) {
        (Ok(accounts), Ok(keys)) => (accounts, keys),
        (Err(failure), _) | (_, Err(failure)) => return vec![Finding::of("accounts", failure)],
    };
    let mut findings = Vec::new();
    if !accounts.is_empty() {
        let many = count(accounts.len() as u64, "account");
        let detail =
            format!("{many} in several tenants whose e-mail nobody has proved: {}", named(&accounts));
        let hint =
            "`munshi operator prove EMAIL` if you know it is theirs, or `munshi operator remove EMAIL`";
        findings.push(Finding::warn("accounts", detail, hint));
    }
    if !keys.is_empty() {
        let many = count(keys.len() as u64, "key");
        let detail = format!("{many} from before keys said so talk as a person: {}", named(&keys));
        let hint =
            "where a program uses one, make another with `munshi key add --speaks-as program` and revoke it";
        findings.push(Finding::warn("keys", detail, hint));
    }
    findings
}

async fn unproved(db: &Db) -> Result<Vec<String>> {
    let found = db.platform(OPERATORS).read(operators::unproved_in_several).await?;
    Ok(found.into_iter().map(|operator| operator.email).collect())
}

async fn assumed(db: &Db, now: Timestamp) -> Result<Vec<String>> {
    let read = move |tx: &mut PlatformTx<'_>| -> munshi_store::Result<Vec<String>> {
        let mut names = Vec::new();
        for (tenant, key) in keys::assumed(tx, now)? {
            let tenant = tenants::find(tx, tenant)?.map(|tenant| tenant.name.to_string());
            names.push(format!("{}/{key}", tenant.unwrap_or_default()));
        }
        Ok(names)
    };
    Ok(db.platform(KEYS).read(read).await?)
}

fn named(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MOST_NAMED) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
