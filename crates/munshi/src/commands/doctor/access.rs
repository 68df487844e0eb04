//! Who can come in: accounts nobody has proved, members recognised by a browser, and keys that were never asked for whom
//! they talk.

use munshi_identity::keys::{self, KEYS, KeySpeaker};
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::persons;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx};
use munshi_types::{TenantStatus, Timestamp};

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
    let members = known_by_browser(db).await?;
    if !members.is_empty() {
        let many = count(members.len() as u64, "member");
        let detail =
            format!("{many} recognised by a browser from before they had a role: {}", named(&members));
        let hint = "`munshi person set PERSON --forget-browsers`, unless you know that the browser is theirs";
        findings.push(DoctorFinding::warn("members", detail, hint));
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

/// Lists `tenant/member` for every tenant. An archived tenant lets nobody in.
async fn known_by_browser(db: &Db) -> Result<Vec<String>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let request = PageRequest::new(after, PageRequest::LARGEST);
        let page = db.platform(TENANTS).read(move |tx| tenants::list(tx, &request)).await?;
        for tenant in page.items.iter().filter(|tenant| tenant.status != TenantStatus::Archived) {
            let members = db.read(tenant.id, persons::members_known_by_browser).await?;
            found.extend(members.into_iter().map(|member| format!("{}/{}", tenant.name, member.name)));
        }
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
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
