//! Whether the clock may be relied on for deleting what is old. A machine whose clock is a year ahead would delete a year too much, and
//! nothing brings it back.

use std::time::Duration;

use munshi_safety::policy::RetentionPeriods;
use munshi_store::{Db, Tx, params};
use munshi_types::{TenantId, Timestamp};

use crate::error::Result;

const DAY: Duration = Duration::from_secs(86_400);
/// It is looked at each night. A longer gap is a server that was off, or a clock that jumped.
const LONGEST_GAP: Duration = Duration::from_secs(14 * 86_400);
/// So long somebody has to notice and to set the clock right.
const HOLD: Duration = Duration::from_secs(3 * 86_400);
/// Clocks of nodes differ by less.
const CLOCK_ERROR: Duration = Duration::from_secs(3600);
/// Looks that follow each other sooner are not all written down.
const SOON: Duration = Duration::from_secs(6 * 3600);

/// When it was last looked.
struct RetentionCheck {
    checked_at: Timestamp,
    held_until: Option<Timestamp>,
}

/// What a tenant keeps no longer, where anything of it may be deleted now: nothing for some days after the clock went further at once than a
/// server is usually off.
pub async fn check_clock(
    db: &Db,
    tenant: TenantId,
    periods: RetentionPeriods,
    now: Timestamp,
) -> Result<RetentionPeriods> {
    let RetentionPeriods { archive_after_days: _, messages_days, files_days, acts_days, prompts_days } =
        periods;
    if [messages_days, files_days, acts_days, prompts_days].iter().all(Option::is_none) {
        return Ok(periods);
    }
    if db.write(tenant, move |tx| is_plausible(tx, now)).await? {
        return Ok(periods);
    }
    tracing::error!(
        %tenant,
        %now,
        "the clock is weeks past the last night; for {} days nothing is deleted as too old. Set the clock right if it is wrong",
        HOLD.as_secs() / DAY.as_secs()
    );
    Ok(RetentionPeriods { archive_after_days: periods.archive_after_days, ..RetentionPeriods::default() })
}

fn is_plausible(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool> {
    let before = find(tx)?;
    let is_first = before.is_none();
    let known = match before {
        Some(known) => known,
        // What was done last tells when it was.
        None => RetentionCheck { checked_at: find_newest_run(tx)?.unwrap_or(now), held_until: None },
    };
    let is_put_back = now.plus(CLOCK_ERROR) < known.checked_at;
    let gap = now.since(known.checked_at);
    let held_until = match known.held_until {
        _ if is_put_back => None,
        _ if gap > LONGEST_GAP => Some(now.plus(HOLD)),
        held_until => held_until.filter(|until| *until > now),
    };
    if is_first || is_put_back || gap > SOON || held_until != known.held_until {
        save(tx, &RetentionCheck { checked_at: now, held_until })?;
    }
    Ok(held_until.is_none())
}

fn find(tx: &mut Tx<'_>) -> munshi_store::Result<Option<RetentionCheck>> {
    tx.optional(
        "SELECT checked_at, held_until FROM retention_checks WHERE tenant_id = $1",
        params![],
        |row| Ok(RetentionCheck { checked_at: row.get(0)?, held_until: row.get(1)? }),
    )
}

fn save(tx: &mut Tx<'_>, check: &RetentionCheck) -> munshi_store::Result<()> {
    tx.execute(
        "INSERT INTO retention_checks (tenant_id, checked_at, held_until) VALUES ($1, $2, $3)
         ON CONFLICT (tenant_id) DO UPDATE SET checked_at = excluded.checked_at, held_until = excluded.held_until",
        params![check.checked_at, check.held_until],
    )?;
    Ok(())
}

fn find_newest_run(tx: &mut Tx<'_>) -> munshi_store::Result<Option<Timestamp>> {
    tx.optional(
        "SELECT began_at FROM runs WHERE tenant_id = $1 ORDER BY began_at DESC, id DESC LIMIT 1",
        params![],
        |row| row.get(0),
    )
}
