//! Rules that replies broke, as they are stored with their turn.

use munshi_store::{Cursor, Page, PageRequest, Result, Tx, params, sql_in_both_orders};
use munshi_types::{BindingId, RunId, Timestamp};
use uuid::Uuid;

/// A rule that a reply broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub id: Uuid,
    pub run: RunId,
    pub binding: BindingId,
    pub rule: String,
    pub tier: String,
    pub severity: String,
    /// In a few words; never the text itself.
    pub what: String,
    pub at: Timestamp,
}

/// A tenant's, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<Violation>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, run_id, binding_id, rule, tier, severity, what, at FROM guardrail_violations
             WHERE tenant_id = $1 AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        |row| {
            Ok(Violation {
                id: row.get("id")?,
                run: row.get("run_id")?,
                binding: row.get("binding_id")?,
                rule: row.get("rule")?,
                tier: row.get("tier")?,
                severity: row.get("severity")?,
                what: row.get("what")?,
                at: row.get("at")?,
            })
        },
    )?;
    Ok(Page::from_rows(rows, request, |one| Cursor { time: one.at, id: one.id }))
}

/// The rules that the reply of a run broke, in their order.
pub fn list_rules_of_run(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<String>> {
    tx.all(
        "SELECT rule FROM guardrail_violations WHERE tenant_id = $1 AND run_id = $2 ORDER BY at, id",
        params![run],
        |row| row.get(0),
    )
}
