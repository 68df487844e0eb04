//! Who can come in: accounts nobody has proved, and keys that were never asked for whom they talk.

use munshi_identity::keys::{self, KEYS, KeySpeaker};
use munshi_identity::operators::{self, OPERATORS};
use munshi_store::{Db, PlatformTx, tenants};
use munshi_types::Timestamp;

use super::finding::DoctorFinding;
use crate::failure::Result;
use crate::output::shown::count;

/// More are not named in a line.
const MOST_NAMED: usize = 20;

pub(super) async fn examine(db: &Db, now: Timestamp) -> Vec<DoctorFinding> {
    match found(db, now).await {
        Ok(findings) => findings,
        Err(failure) => vec![DoctorFinding::of("accounts", failure)],
    }
}

async fn found(db: &Db, now: Timestamp) -> Result<Vec<DoctorFinding>> {
    let accounts = unproved(db).await?;
    let mut findings = Vec::new();
    if !accounts.is_empty() {
        let many = count(accounts.len() as u64, "account");
        let detail =
            format!("{many} in several tenants whose e-mail nobody has proved: {}", named(&accounts));
        let hint =
            "`munshi operator prove EMAIL` if you know it is theirs, or `munshi operator remove EMAIL`";
        findings.push(DoctorFinding::warn("accounts", detail, hint));
    }
    let talking = [
        (
            KeySpeaker::Person,
            "where a program uses one, make another with `munshi key add --speaks-as program` and revoke it",
        ),
        (
            KeySpeaker::Program,
            "where somebody types what is sent with one, as at a till, make another with `munshi key add --speaks-as person` \
             and revoke it: until then their yes grants nothing",
        ),
    ];
    for (speaks_as, hint) in talking {
        let keys = assumed(db, speaks_as, now).await?;
        if !keys.is_empty() {
            let many = count(keys.len() as u64, "key");
            let detail =
                format!("{many} from before keys said so talk as a {}: {}", speaks_as.as_str(), named(&keys));
            findings.push(DoctorFinding::warn("keys", detail, hint));
        }
    }
    Ok(findings)
}

async fn unproved(db: &Db) -> Result<Vec<String>> {
    let found = db.platform(OPERATORS).read(operators::unproved_in_several).await?;
    Ok(found.into_iter().map(|operator| operator.email).collect())
}

async fn assumed(db: &Db, speaks_as: KeySpeaker, now: Timestamp) -> Result<Vec<String>> {
    let read = move |tx: &mut PlatformTx<'_>| -> munshi_store::Result<Vec<String>> {
        let mut names = Vec::new();
        for (tenant, key) in keys::assumed(tx, speaks_as, now)? {
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
