//! What turns came to, day by day: counts, cost, and how long each stage took, in a form that adds up exactly.
//!
//! Days that are over are counted once by a nightly job and kept in `turn_days`. What has changed since, and the running
//! day, is counted from the rows of [`decisions`](crate::decisions) when it is asked for: an answer is always whole.
//!
//! # Layout
//! - [`Histogram`]: values in buckets whose bounds are fixed, so that any two add up; [`TurnTally`]: one of each measure
//! - `days`: which days must be counted again; `rows`: decisions in, tallies in and out
//! - [`read`]: a range of days; [`refresh`]: the counting; [`job`]: at night
//! - [`report`]: percentiles beside their targets

mod days;
mod histogram;
pub mod job;
mod measure;
pub mod report;
mod rows;
mod tally;

pub use histogram::Histogram;
pub use measure::TurnMeasure;
pub use report::TurnStatsReport;
pub use tally::{TurnTally, TurnTallyLine};

use jiff::civil::Date;
use munshi_store::{Db, Tx};
use munshi_types::{TenantId, Timestamp, Zone};

use crate::error::Result;

/// Counts every day that is over and has changed since it was counted. Done again it changes nothing.
pub async fn refresh(db: &Db, tenant: TenantId, zone: &Zone, now: Timestamp) -> Result<usize> {
    let today = days::day_of(now, zone);
    let due = {
        let zone = zone.clone();
        db.read(tenant, move |tx| days::list_uncounted(tx, &zone)).await?
    };
    let due: Vec<Date> = due.into_iter().filter(|day| *day < today).collect();
    let count = due.len();
    for day in due {
        let (from, to) = days::bounds(day, zone)?;
        let lines = db.read(tenant, move |tx| rows::tally_turns(tx, from, to)).await?;
        db.write(tenant, move |tx| rows::replace(tx, day, &lines, now)).await?;
    }
    db.write(tenant, move |tx| rows::set_refreshed_at(tx, now)).await?;
    Ok(count)
}

/// The turns from a day to another, both with: one line for each binding and channel.
pub fn read(tx: &mut Tx<'_>, zone: &Zone, first: Date, last: Date) -> Result<Vec<TurnTallyLine>> {
    let fresh: Vec<Date> =
        days::list_uncounted(tx, zone)?.into_iter().filter(|day| (first..=last).contains(day)).collect();
    let mut lines = tally::TurnTallyLines::default();
    for (day, line) in rows::list_days(tx, first, last)? {
        if !fresh.contains(&day) {
            lines.add(&line);
        }
    }
    for day in fresh {
        let (from, to) = days::bounds(day, zone)?;
        rows::tally_turns(tx, from, to)?.iter().for_each(|line| lines.add(line));
    }
    Ok(lines.into_vec())
}
