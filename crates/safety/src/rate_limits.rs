//! How often something may happen, counted in the database: all nodes count in the same rows, so n nodes are one.
//!
//! Counting is one statement for all limits of a message, in the transaction that stores it; a message that is refused is
//! counted for nothing. Whoever asks keeps floods away from here by counting in memory first.

use std::fmt;
use std::time::Duration;

use munshi_store::{JsonText, PlatformScope, PlatformTx, Tx, across_tenants, params};
use munshi_types::Timestamp;
use serde::Serialize;

use crate::error::{Error, Result};

/// Opens the rows of all tenants, for sweeping.
pub const LIMITS: PlatformScope = PlatformScope::new("limits");

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSubject {
    /// Messages of the tenant.
    Tenant,
    /// Messages of one person.
    Person,
    /// Messages of somebody anonymous with one binding.
    Visit,
    /// Messages of those who have proved nothing, by the address they come from.
    AddressMinute,
    AddressDay,
    /// Messages of an address as somebody new, for which no work is asked.
    Newcomer,
}

impl LimitSubject {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Person => "person",
            Self::Visit => "visit",
            Self::AddressMinute => "address-minute",
            Self::AddressDay => "address-day",
            Self::Newcomer => "newcomer",
        }
    }
}

/// When what was used is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitRefill {
    /// Each use after its share of the period: a leaky bucket.
    Steady,
    /// All at once, after a silence as long as the period.
    AfterSilence,
}

/// `most` uses in each `period`; a burst may use all of them at once.
#[derive(Clone, PartialEq, Eq)]
pub struct RateLimit {
    pub subject: LimitSubject,
    pub most: u32,
    pub period: Duration,
    refill: LimitRefill,
    whose: String,
}

/// Without whose it is, which may be an address.
impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, most, period, refill, .. } = self;
        f.debug_struct("RateLimit")
            .field("subject", subject)
            .field("most", most)
            .field("period", period)
            .field("refill", refill)
            .finish_non_exhaustive()
    }
}

/// Which limit was reached, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitHit {
    pub subject: LimitSubject,
    pub most: u32,
    pub period: Duration,
    pub wait: Duration,
}

impl fmt::Display for RateLimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, most, period, .. } = self;
        write!(f, "rate limit of {most} in {} s reached ({})", period.as_secs(), subject.as_str())
    }
}

impl RateLimit {
    /// `whose` tells apart those who have a limit each; it is stored as a keyed hash: nobody who reads the rows can
    /// confirm a guess of an address.
    pub fn new(
        subject: LimitSubject,
        whose: &str,
        (most, period): (u32, Duration),
        refill: LimitRefill,
    ) -> Self {
        Self { subject, most: most.max(1), period, refill, whose: whose.to_owned() }
    }

    /// What it is counted under.
    fn bucket(&self, tx: &Tx<'_>) -> Result<String> {
        let hash = tx.hash("rate_limits.bucket", self.whose.as_bytes())?;
        let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{}:{hash}", self.subject.as_str()))
    }

    /// How long one use takes to be free again.
    fn micros_per_use(&self) -> i64 {
        match self.refill {
            LimitRefill::Steady => micros(self.period) / i64::from(self.most),
            LimitRefill::AfterSilence => micros(self.period),
        }
    }

    fn build_hit(&self, free_at: i64, now: Timestamp) -> RateLimitHit {
        let until = match self.refill {
            LimitRefill::Steady => free_at + self.micros_per_use() - micros(self.period),
            LimitRefill::AfterSilence => free_at,
        };
        let wait = u64::try_from(until - now.as_micros()).unwrap_or(0);
        // A clock that was set back must not shut anybody out for longer than the period.
        let wait = Duration::from_micros(wait).min(self.period);
        RateLimitHit { subject: self.subject, most: self.most, period: self.period, wait }
    }
}

fn micros(period: Duration) -> i64 {
    i64::try_from(period.as_micros()).unwrap_or(i64::MAX)
}

/// A row as the statement takes it.
#[derive(Serialize)]
struct LimitRow<'a> {
    bucket: &'a str,
    most: u32,
    period: i64,
    after_silence: bool,
    free_at: i64,
}

/// Counts one use of each limit, or says which is reached: of several the one that was named first. The unit is to be
/// undone then.
pub fn consume(tx: &mut Tx<'_>, limits: &[RateLimit], now: Timestamp) -> Result<()> {
    if limits.is_empty() {
        return Ok(());
    }
    let limits: Vec<(&RateLimit, String)> =
        limits.iter().map(|limit| Ok((limit, limit.bucket(tx)?))).collect::<Result<_>>()?;
    let counted = add_uses(tx, &limits, now)?;
    match limits.iter().find(|(_, bucket)| !counted.contains(bucket)) {
        None => Ok(()),
        Some((limit, bucket)) => {
            let free_at = find_free_at(tx, bucket)?.unwrap_or_default();
            Err(Error::RateLimited(limit.build_hit(free_at, now)))
        }
    }
}

/// Adds a use to each bucket that has room, and returns those. A bucket that would stay full for more than two periods was
/// filled by a clock that ran ahead; it starts anew. Rows are locked in one order, so that no two units deadlock.
fn add_uses(tx: &mut Tx<'_>, limits: &[(&RateLimit, String)], now: Timestamp) -> Result<Vec<String>> {
    let mut rows: Vec<LimitRow<'_>> = limits
        .iter()
        .map(|(limit, bucket)| LimitRow {
            bucket,
            most: limit.most,
            period: micros(limit.period),
            after_silence: limit.refill == LimitRefill::AfterSilence,
            free_at: now.as_micros().saturating_add(limit.micros_per_use()),
        })
        .collect();
    rows.sort_by(|one, other| one.bucket.cmp(other.bucket));
    let counted = tx.all(
        (
            "INSERT INTO rate_limits (tenant_id, bucket, most, period, after_silence, uses, free_at)
             SELECT $1, new.value ->> '$.bucket', new.value ->> '$.most', new.value ->> '$.period',
                    new.value ->> '$.after_silence', 1, new.value ->> '$.free_at'
             FROM json_each($3) AS new WHERE true
             ON CONFLICT (tenant_id, bucket) DO UPDATE SET
               most = excluded.most, period = excluded.period, after_silence = excluded.after_silence,
               uses = CASE WHEN (rate_limits.free_at <= $2 OR rate_limits.free_at > $2 + 2 * excluded.period) THEN 1 ELSE rate_limits.uses + 1 END,
               free_at = CASE WHEN excluded.after_silence OR (rate_limits.free_at <= $2 OR rate_limits.free_at > $2 + 2 * excluded.period) THEN excluded.free_at
                              ELSE rate_limits.free_at + excluded.free_at - $2 END
             WHERE CASE WHEN (rate_limits.free_at <= $2 OR rate_limits.free_at > $2 + 2 * excluded.period) THEN true
                        WHEN excluded.after_silence THEN rate_limits.uses < excluded.most
                        ELSE rate_limits.free_at + excluded.free_at - $2 <= $2 + excluded.period END
             RETURNING bucket",
            "INSERT INTO rate_limits (tenant_id, bucket, most, period, after_silence, uses, free_at)
             SELECT $1, new.value ->> 'bucket', (new.value ->> 'most')::bigint, (new.value ->> 'period')::bigint,
                    (new.value ->> 'after_silence')::boolean, 1, (new.value ->> 'free_at')::bigint
             FROM jsonb_array_elements($3::jsonb) AS new (value)
             ON CONFLICT (tenant_id, bucket) DO UPDATE SET
               most = excluded.most, period = excluded.period, after_silence = excluded.after_silence,
               uses = CASE WHEN (rate_limits.free_at <= $2::bigint OR rate_limits.free_at > $2::bigint + 2 * excluded.period) THEN 1 ELSE rate_limits.uses + 1 END,
               free_at = CASE WHEN excluded.after_silence OR (rate_limits.free_at <= $2::bigint OR rate_limits.free_at > $2::bigint + 2 * excluded.period) THEN excluded.free_at
                              ELSE rate_limits.free_at + excluded.free_at - $2::bigint END
             WHERE CASE WHEN (rate_limits.free_at <= $2::bigint OR rate_limits.free_at > $2::bigint + 2 * excluded.period) THEN true
                        WHEN excluded.after_silence THEN rate_limits.uses < excluded.most
                        ELSE rate_limits.free_at + excluded.free_at - $2::bigint <= $2::bigint + excluded.period END
             RETURNING bucket",
        ),
        params![now.as_micros(), JsonText::of(&rows)?],
        |row| row.get(0),
    )?;
    Ok(counted)
}

fn find_free_at(tx: &mut Tx<'_>, bucket: &str) -> Result<Option<i64>> {
    let sql = "SELECT free_at FROM rate_limits WHERE tenant_id = $1 AND bucket = $2";
    Ok(tx.optional(sql, params![bucket], |row| row.get(0))?)
}

/// Removes what is free again, for all tenants; says how many rows that were.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let sql = across_tenants("DELETE FROM rate_limits WHERE free_at <= $1");
    Ok(tx.execute(sql, params![now.as_micros()])?)
}
