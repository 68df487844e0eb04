//! How often: so many times in a span, evenly or at once, counted in the caller's own transaction.
//!
//! A bucket that fills up again at an even pace, kept as the moment at which it will be full. One statement takes from
//! it, if there is something in it.

use std::time::Duration;

use munshi_store::{Tx, params};
use munshi_types::Timestamp;
use serde::Serialize;

use crate::error::Result;

/// So many in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RateQuota {
    pub limit: u32,
    pub per: Duration,
}

impl RateQuota {
    pub const fn per_minute(limit: u32) -> Self {
        Self { limit, per: Duration::from_secs(60) }
    }
}

/// Whether it may be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    Taken,
    /// Not before so long has passed.
    Wait(Duration),
}

/// A full moment further off than two spans and this was set by a clock that was wrong.
const CLOCK_ERROR: Duration = Duration::from_secs(120);

/// Takes one from the bucket of this name, which is the tenant's own, such as `tool send_message`. Full, it gives
/// `limit` at once, and one more each `per / limit`. A limit of nothing gives nothing.
pub fn consume(tx: &mut Tx<'_>, name: &str, rate: RateQuota, now: Timestamp) -> Result<RateDecision> {
    if rate.limit == 0 {
        return Ok(RateDecision::Wait(Duration::MAX));
    }
    let pace = rate.per / rate.limit;
    let (now_micros, pace_micros) = (now.as_micros(), micros(pace));
    let last = now.plus(rate.per).minus(pace).as_micros();
    let wrong = now.plus(rate.per * 2).plus(CLOCK_ERROR).as_micros();
    let taken = tx.execute(
        "INSERT INTO usage_rates (tenant_id, name, full_at) VALUES ($1, $2, CAST($3 AS BIGINT) + CAST($4 AS BIGINT))
         ON CONFLICT (tenant_id, name) DO UPDATE SET full_at =
           CASE WHEN usage_rates.full_at < $3 OR usage_rates.full_at > $6 THEN $3 ELSE usage_rates.full_at END + $4
         WHERE usage_rates.full_at <= $5 OR usage_rates.full_at > $6",
        params![name, now_micros, pace_micros, last, wrong],
    )?;
    if taken > 0 {
        return Ok(RateDecision::Taken);
    }
    let full_at =
        tx.one("SELECT full_at FROM usage_rates WHERE tenant_id = $1 AND name = $2", params![name], |row| {
            row.get::<i64>(0)
        })?;
    Ok(RateDecision::Wait(Timestamp::from_micros(full_at).since(Timestamp::from_micros(last))))
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
