//! Tools that nobody is offered, since the policy does not declare what people would have to agree to.

use munshi_store::Db;
use munshi_types::Timestamp;
use munshi_wiring::consents;

use super::finding::DoctorFinding;
use crate::output::formatting::format_count;

/// More are not named in a line.
const MOST_NAMED: usize = 10;

pub(super) async fn examine(db: &Db, now: Timestamp) -> Option<DoctorFinding> {
    const NAME: &str = "consents";
    let found = match consents::list_undeclared(db, now).await {
        Ok(found) if found.is_empty() => return None,
        Ok(found) => found,
        Err(failure) => return Some(DoctorFinding::from_failure(NAME, failure)),
    };
    let named = found.iter().take(MOST_NAMED);
    let named = named.map(|(tenant, one)| format!("{}/{} ({})", tenant.name, one.tool, one.purpose));
    let mut detail = format!(
        "{} not offered, for want of a declared purpose: {}",
        format_count(found.len() as u64, "tool"),
        named.collect::<Vec<_>>().join(", ")
    );
    if let Some(more) = found.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        detail.push_str(&format!(" and {more} more"));
    }
    Some(DoctorFinding::warn(
        NAME,
        detail,
        "declare it in policy.toml: [consent.purposes.NAME] with days and words",
    ))
}
