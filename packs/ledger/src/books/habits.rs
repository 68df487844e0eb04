//! What is usual for a contact, kept current by each entry.

use munshi_store::{Row, Tx, params};
use munshi_types::{Money, Timestamp};
use serde::Serialize;

use super::contacts;
use super::day::LedgerDay;
use super::ids::ContactId;
use super::stored_enums::HabitSide;
use crate::error::Result;

/// Of how many of the latest entries the usual is made.
const LATEST: usize = 20;
/// Fewer than this are no habit.
const ENOUGH: i64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ContactHabit {
    /// How many entries stand.
    pub seen: i64,
    pub last_at: Option<Timestamp>,
    /// The median of the latest.
    pub usual: Option<Money>,
    /// Half of the latest lie between these.
    pub low: Option<Money>,
    pub high: Option<Money>,
    /// The median of days between two of the latest that were on different days.
    pub rhythm: Option<i64>,
}

impl ContactHabit {
    const NONE: Self = Self { seen: 0, last_at: None, usual: None, low: None, high: None, rhythm: None };

    /// Whether an amount is far from what is usual: more than three times the upper, or less than a third of the lower.
    /// Without enough entries nothing is.
    pub fn is_unusual(&self, amount: Money) -> bool {
        let (Some(low), Some(high)) = (self.low, self.high) else { return false };
        let (low, high, amount) = (low.as_paise(), high.as_paise(), amount.as_paise());
        self.seen >= ENOUGH && (amount / 3 > high || amount < low / 3)
    }
}

/// The habit of a contact; somebody merged has that of the other.
pub fn get(tx: &mut Tx<'_>, contact: ContactId, side: HabitSide) -> Result<ContactHabit> {
    let habit = tx.optional(
        "SELECT seen, last_at, usual, low, high, rhythm FROM ledger_habits
         WHERE tenant_id = $1 AND side = $3 AND contact_id
           = coalesce((SELECT merged_into FROM ledger_contacts WHERE tenant_id = $1 AND id = $2), $2)",
        params![contact, side],
        read,
    )?;
    Ok(habit.unwrap_or(ContactHabit::NONE))
}

fn read(row: &Row<'_>) -> munshi_store::Result<ContactHabit> {
    Ok(ContactHabit {
        seen: row.get(0)?,
        last_at: row.get(1)?,
        usual: row.get(2)?,
        low: row.get(3)?,
        high: row.get(4)?,
        rhythm: row.get(5)?,
    })
}

/// What a contact usually takes, and what they usually pay.
pub fn get_both(tx: &mut Tx<'_>, root: ContactId) -> Result<[(HabitSide, ContactHabit); 2]> {
    let kept = tx.all(
        "SELECT seen, last_at, usual, low, high, rhythm, side FROM ledger_habits
         WHERE tenant_id = $1 AND contact_id = $2",
        params![root],
        |row| Ok((row.get::<HabitSide>(6)?, read(row)?)),
    )?;
    let of = |side: HabitSide| {
        kept.iter().find(|(one, _)| *one == side).map_or(ContactHabit::NONE, |(_, habit)| *habit)
    };
    Ok([HabitSide::Trade, HabitSide::Payment].map(|side| (side, of(side))))
}

/// Works the habit of a contact out again from its latest entries, of which `change` more stand.
pub(super) fn refresh(tx: &mut Tx<'_>, root: ContactId, side: HabitSide, change: i64) -> Result<()> {
    let mut latest = Vec::new();
    for contact in contacts::list_group(tx, root)? {
        latest.extend(list_latest(tx, contact, side)?);
    }
    latest.sort_unstable_by_key(|one| std::cmp::Reverse((one.at, one.number)));
    latest.truncate(LATEST);
    upsert(tx, root, side, &compute(&latest, change))
}

/// Somebody merged has no habits of their own.
pub(super) fn clear(tx: &mut Tx<'_>, contact: ContactId, side: HabitSide) -> Result<()> {
    tx.send(
        "UPDATE ledger_habits SET seen = 0, last_at = NULL, usual = NULL, low = NULL, high = NULL, rhythm = NULL
         WHERE tenant_id = $1 AND contact_id = $2 AND side = $3",
        params![contact, side],
    )?;
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    at: Timestamp,
    number: i64,
    day: LedgerDay,
    amount: Money,
}

fn list_latest(tx: &mut Tx<'_>, contact: ContactId, side: HabitSide) -> Result<Vec<Latest>> {
    Ok(tx.all(
        "SELECT e.happened_at, e.number, e.day, e.amount FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.contact_id = $2 AND e.side = $3 AND e.reverses IS NULL
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.happened_at DESC, e.number DESC LIMIT 20",
        params![contact, side],
        |row| Ok(Latest { at: row.get(0)?, number: row.get(1)?, day: row.get(2)?, amount: row.get(3)? }),
    )?)
}

fn compute(latest: &[Latest], seen: i64) -> ContactHabit {
    let mut amounts: Vec<Money> = latest.iter().map(|one| one.amount).collect();
    amounts.sort_unstable();
    let mut gaps: Vec<i64> =
        latest.windows(2).map(|pair| pair[0].day.days_since(pair[1].day)).filter(|gap| *gap > 0).collect();
    gaps.sort_unstable();
    let count = amounts.len();
    ContactHabit {
        seen,
        last_at: latest.first().map(|one| one.at),
        usual: nth(&amounts, count.div_ceil(2)),
        low: nth(&amounts, count.div_ceil(4)),
        high: nth(&amounts, (3 * count).div_ceil(4)),
        rhythm: nth(&gaps, gaps.len().div_ceil(2)),
    }
}

/// Counted from one.
fn nth<T: Copy>(sorted: &[T], place: usize) -> Option<T> {
    place.checked_sub(1).and_then(|at| sorted.get(at)).copied()
}

/// What is seen is added to what was; the rest takes its place.
fn upsert(tx: &mut Tx<'_>, contact: ContactId, side: HabitSide, habit: &ContactHabit) -> Result<()> {
    tx.send(
        "INSERT INTO ledger_habits (tenant_id, contact_id, side, seen, last_at, usual, low, high, rhythm)
         VALUES ($1, $2, $3, CASE WHEN CAST($4 AS BIGINT) > 0 THEN CAST($4 AS BIGINT) ELSE 0 END, $5, $6, $7, $8, $9)
         ON CONFLICT (tenant_id, contact_id, side) DO UPDATE
         SET seen = ledger_habits.seen + CAST($4 AS BIGINT), last_at = excluded.last_at, usual = excluded.usual, low = excluded.low, high = excluded.high, rhythm = excluded.rhythm",
        params![contact, side, habit.seen, habit.last_at, habit.usual, habit.low, habit.high, habit.rhythm],
    )?;
    Ok(())
}
