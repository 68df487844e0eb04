//! Which days must be counted, and where a day begins and ends.

use std::time::Duration;

use jiff::civil::Date;
use munshi_store::{Result, Tx, params};
use munshi_types::{Timestamp, Zone};

use super::rows;
use crate::error::Error;

/// A unit that took its time commits after others that began later; so far back is looked again.
const SLACK: Duration = Duration::from_secs(15 * 60);

pub(super) fn day_of(at: Timestamp, zone: &Zone) -> Date {
    at.to_jiff().to_zoned(zone.to_jiff()).date()
}

/// Its first moment, and the first of the next.
pub(super) fn bounds(day: Date, zone: &Zone) -> Result<(Timestamp, Timestamp), Error> {
    let begin = |day: Date| {
        let zoned = day.to_zoned(zone.to_jiff()).map_err(|error| Error::Unfit(error.to_string()))?;
        Ok::<_, Error>(Timestamp::from_micros(zoned.timestamp().as_microsecond()))
    };
    let next = day.tomorrow().map_err(|error| Error::Unfit(error.to_string()))?;
    Ok((begin(day)?, begin(next)?))
}

/// Every day with turns that are not, or not as they are now, in the days that were counted: the oldest first.
pub(super) fn list_uncounted(tx: &mut Tx<'_>, zone: &Zone) -> Result<Vec<Date>, Error> {
    // The day on which was counted last was not over then: all of it is new.
    let since = match rows::find_refreshed_at(tx)? {
        Some(made) => bounds(day_of(made, zone), zone)?.0.min(made.minus(SLACK)),
        None => Timestamp::EPOCH,
    };
    let (mut days, mut from) = (Vec::new(), Timestamp::EPOCH);
    while let Some(at) = first_changed(tx, since, from)? {
        let day = day_of(at, zone);
        days.push(day);
        from = bounds(day, zone)?.1;
    }
    Ok(days)
}

/// The first turn from a moment on that was written since another.
fn first_changed(tx: &mut Tx<'_>, since: Timestamp, from: Timestamp) -> Result<Option<Timestamp>> {
    let changed: Option<Timestamp> = tx.one(
        "SELECT MIN(at) FROM decisions WHERE tenant_id = $1 AND changed_at >= $2 AND at >= $3",
        params![since, from],
        |row| row.get(0),
    )?;
    // Rows from before changes were noted have not changed since.
    let old: Option<Timestamp> = tx.one(
        "SELECT MIN(at) FROM decisions WHERE tenant_id = $1 AND changed_at IS NULL AND at >= $2 AND at >= $3",
        params![since, from],
        |row| row.get(0),
    )?;
    Ok([changed, old].into_iter().flatten().min())
}
