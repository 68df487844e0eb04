//! How much work waits.

use std::time::Duration;

use munshi_store::{PlatformTx, Result as StoreResult, Tx, across_tenants, params};
use munshi_types::Timestamp;

use crate::runs::RunLane;

/// Where more wait in a lane than this, what a kind of work declares optional is left out.
pub const BUSY_ABOVE: usize = 50;
/// The pace is that of so many runs at most, of the newest.
const PACE: i64 = 200;

/// How one lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneLoad {
    pub lane: RunLane,
    /// Runs that nobody has begun on.
    pub waiting: usize,
    /// Since when the oldest of them waits.
    pub oldest: Option<Timestamp>,
    /// Runs that somebody works on now.
    pub running: usize,
    /// How long one that came now would wait, at the pace of late; none where nothing has ended lately.
    pub expected_wait: Option<Duration>,
}

/// What waits in each lane of all tenants that are not at rest, and since when.
pub fn count_all(tx: &mut PlatformTx<'_>) -> StoreResult<Vec<(RunLane, usize, Option<Timestamp>)>> {
    let chat = tx.one(
        across_tenants(
            "SELECT count(*), min(began_at) FROM runs WHERE state = 'created' AND lease_until IS NULL AND lane = 'chat'
               AND EXISTS (SELECT 1 FROM tenants t WHERE t.id = runs.tenant_id AND t.status = 'active')",
        ),
        params![],
        |row| Ok((RunLane::Chat, to_count(row.get(0)?), row.get(1)?)),
    )?;
    let background = tx.one(
        across_tenants(
            "SELECT count(*), min(began_at) FROM runs WHERE lane = 'background' AND state = 'created' AND lease_until IS NULL
               AND EXISTS (SELECT 1 FROM tenants t WHERE t.id = runs.tenant_id AND t.status = 'active')",
        ),
        params![],
        |row| Ok((RunLane::Background, to_count(row.get(0)?), row.get(1)?)),
    )?;
    Ok(vec![chat, background])
}

/// How a tenant's own lanes stand.
pub fn read_tenant(tx: &mut Tx<'_>, now: Timestamp) -> StoreResult<Vec<LaneLoad>> {
    [RunLane::Chat, RunLane::Background].into_iter().map(|lane| read_lane(tx, lane, now)).collect()
}

fn read_lane(tx: &mut Tx<'_>, lane: RunLane, now: Timestamp) -> StoreResult<LaneLoad> {
    let (waiting, oldest, running) = tx.one(
        "SELECT count(*) FILTER (WHERE state = 'created' AND lease_until IS NULL),
                min(began_at) FILTER (WHERE state = 'created' AND lease_until IS NULL),
                count(*) FILTER (WHERE lease_until > $3)
         FROM runs WHERE tenant_id = $1 AND lane = $2 AND ended_at IS NULL",
        params![lane.as_str(), now],
        |row| Ok((to_count(row.get(0)?), row.get(1)?, to_count(row.get(2)?))),
    )?;
    let (ended, since) = tx.one(
        "SELECT count(*), min(ended_at) FROM (
           SELECT ended_at, lane FROM runs WHERE tenant_id = $1 ORDER BY began_at DESC LIMIT $3) AS newest
         WHERE lane = $2 AND ended_at IS NOT NULL",
        params![lane.as_str(), PACE],
        |row| Ok((to_count(row.get(0)?), row.get::<Option<Timestamp>>(1)?)),
    )?;
    let expected_wait =
        since.filter(|_| ended > 0).map(|since| expect_wait(waiting, ended, now.since(since)));
    let expected_wait = if waiting == 0 { Some(Duration::ZERO) } else { expected_wait };
    Ok(LaneLoad { lane, waiting, oldest, running, expected_wait })
}

/// So many wait, and so many have ended within a time.
fn expect_wait(waiting: usize, ended: usize, within: Duration) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let ratio = waiting as f64 / ended.max(1) as f64;
    Duration::try_from_secs_f64(within.as_secs_f64() * ratio).unwrap_or(Duration::MAX)
}

fn to_count(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_what_the_pace_of_late_makes_of_it() {
        let minute = Duration::from_secs(60);
        assert_eq!(expect_wait(30, 60, minute), Duration::from_secs(30));
        assert_eq!(expect_wait(0, 60, minute), Duration::ZERO);
    }
}
