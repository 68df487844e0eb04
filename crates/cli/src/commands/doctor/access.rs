//! Who can come in: accounts nobody has proved, members recognised by a browser, and keys that were never asked for whom
//! they talk.

use munshi_identity::keys::{self, KEYS, KeySpeaker};
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::persons;
use munshi_store::tenants::{self, TENANTS};
use munshi_store::{Db, PageRequest, PlatformTx};
use munshi_types::{TenantStatus, Timestamp};
use munshi_wiring::failure::Result;

use super::finding::DoctorFinding;
use crate::output::formatting::format_count;

/// More are not named in a line.
const MOST_NAMED: usize = 20;

pub(super) async fn examine(db: &Db, now: Timestamp) -> Vec<DoctorFinding> {
    match collect_findings(db, now).await {
        Ok(findings) => findings,
        Err(failure) => vec![DoctorFinding::from_failure("accounts", failure)],
    }
}

async fn collect_findings(db: &Db, now: Timestamp) -> Result<Vec<DoctorFinding>> {
    let accounts = list_unproved_accounts(db).await?;
    let mut findings = Vec::new();
    if !accounts.is_empty() {
        let many = format_count(accounts.len() as u64, "account");
        let detail =
            format!("{many} in several tenants with an unverified e-mail: {}", format_names(&accounts));
        let hint =
            "run `munshi operator prove EMAIL` if the e-mail is theirs, else `munshi operator remove EMAIL`";
        findings.push(DoctorFinding::warn("accounts", detail, hint));
    }
    let members = list_browser_members(db).await?;
    if !members.is_empty() {
        let many = format_count(members.len() as u64, "member");
        let detail =
            format!("{many} signed in by a browser that predates their role: {}", format_names(&members));
        let hint = "run `munshi person set PERSON --forget-browsers` unless the browser is theirs";
        findings.push(DoctorFinding::warn("members", detail, hint));
    }
    let talking = [
        (
            KeySpeaker::Person,
            "if a program uses such a key, replace it with `munshi key add --speaks-as program` and revoke it",
        ),
        (
            KeySpeaker::Program,
            "if a person types what such a key sends, as at a till, replace it with `munshi key add --speaks-as person` \
             and revoke it: until then their yes grants nothing",
        ),
    ];
    for (speaks_as, hint) in talking {
        let keys = list_assumed_keys(db, speaks_as, now).await?;
        if !keys.is_empty() {
            let many = format_count(keys.len() as u64, "key");
            let detail = format!(
                "{many} without an explicit --speaks-as act as a {}: {}",
                speaks_as.as_str(),
                format_names(&keys)
            );
            findings.push(DoctorFinding::warn("keys", detail, hint));
        }
    }
    Ok(findings)
}

async fn list_unproved_accounts(db: &Db) -> Result<Vec<String>> {
    let found = db.platform(OPERATORS).read(operators::list_unverified_in_several).await?;
    Ok(found.into_iter().map(|operator| operator.email).collect())
}

/// Lists `tenant/member` for every tenant. An archived tenant lets nobody in.
async fn list_browser_members(db: &Db) -> Result<Vec<String>> {
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

async fn list_assumed_keys(db: &Db, speaks_as: KeySpeaker, now: Timestamp) -> Result<Vec<String>> {
    let read = move |tx: &mut PlatformTx<'_>| -> munshi_store::Result<Vec<String>> {
        let mut names = Vec::new();
        for (tenant, key) in keys::list_assumed_speakers(tx, speaks_as, now)? {
            let tenant = tenants::find(tx, tenant)?.map(|tenant| tenant.name.to_string());
            names.push(format!("{}/{key}", tenant.unwrap_or_default()));
        }
        Ok(names)
    };
    Ok(db.platform(KEYS).read(read).await?)
}

fn format_names(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MOST_NAMED) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
