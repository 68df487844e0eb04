//! Sealing what stood plain before: table by table, a few rows in each unit of work, from where it stopped last time.
//!
//! Whatever is written meanwhile is sealed as it is written, so one walk through each table is enough. A walk that is cut short, or that
//! two nodes make at once, finds sealed rows and passes them.

mod codes;
mod contacts;

use munshi_store::{PlatformTx, Result, RowMark, SealedTable, Tx, across_tenants, params};
use munshi_types::{PersonId, Timestamp};

use crate::persons::seal_by_owner;

/// Rows in one unit of work.
const BATCH: u32 = 50;

/// Seals what is plain in the next rows, so many at most, and says up to where; none when there are no more.
pub type SealNext = fn(&mut Tx<'_>, RowMark, u32) -> Result<Option<RowMark>>;

/// Persons, with how they are reached.
pub const CONTACTS: RowsOfBefore = RowsOfBefore::Own { name: "persons", seal_next: contacts::seal_next };

/// One-time codes, with who asked for them.
pub const CODES: RowsOfBefore = RowsOfBefore::Own { name: "one_time_codes", seal_next: codes::seal_next };

/// Rows that were there before their text was sealed.
#[derive(Clone, Copy, Debug)]
pub enum RowsOfBefore {
    Table(&'static SealedTable),
    /// Rows that are sealed in a way of their own.
    Own {
        name: &'static str,
        seal_next: SealNext,
    },
}

/// How far a tenant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealingStep {
    /// There may be more in this table.
    More,
    /// Nothing plain is left in it.
    Done,
}

impl RowsOfBefore {
    pub fn name(self) -> &'static str {
        match self {
            Self::Table(table) => table.name,
            Self::Own { name, .. } => name,
        }
    }

    /// Seals the next rows.
    pub fn seal_next(self, tx: &mut Tx<'_>, now: Timestamp) -> Result<SealingStep> {
        let Some(after) = find_mark(tx, self.name())? else { return Ok(SealingStep::Done) };
        let before = tx.count_protected();
        let reached = match self {
            Self::Own { seal_next, .. } => seal_next(tx, after, BATCH)?,
            Self::Table(table) => table.seal_next(tx, after, BATCH, &mut |tx, person| {
                seal_by_owner(tx, person.map(PersonId::from_uuid))
            })?,
        };
        let done = reached.is_none().then_some(now);
        let mark = reached.unwrap_or(after);
        let changed = (tx.count_protected() > before).then_some(now);
        tx.execute(
            "INSERT INTO sealed_rows (tenant_id, table_name, row_id, row_number, done_at, changed_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (tenant_id, table_name)
             DO UPDATE SET row_id = excluded.row_id, row_number = excluded.row_number,
               done_at = COALESCE(sealed_rows.done_at, excluded.done_at),
               changed_at = COALESCE(excluded.changed_at, sealed_rows.changed_at)",
            params![self.name(), mark.id, mark.number, done, changed],
        )?;
        Ok(if done.is_some() { SealingStep::Done } else { SealingStep::More })
    }
}

/// After which row to go on; none where the table is done.
fn find_mark(tx: &mut Tx<'_>, table: &str) -> Result<Option<RowMark>> {
    let found = tx.optional(
        "SELECT row_id, row_number, done_at FROM sealed_rows WHERE tenant_id = $1 AND table_name = $2",
        params![table],
        |row| Ok((RowMark { id: row.get(0)?, number: row.get(1)? }, row.get::<Option<Timestamp>>(2)?)),
    )?;
    Ok(match found {
        None => Some(RowMark::START),
        Some((mark, None)) => Some(mark),
        Some((_, Some(_))) => None,
    })
}

/// The tables of a tenant that were walked through to their end.
pub fn list_done(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    tx.all(
        "SELECT table_name FROM sealed_rows WHERE tenant_id = $1 AND done_at IS NOT NULL",
        params![],
        |row| row.get(0),
    )
}

/// When something that stood plain was sealed last, of all tenants.
pub fn find_last_change(tx: &mut PlatformTx<'_>) -> Result<Option<Timestamp>> {
    tx.one(across_tenants("SELECT max(changed_at) FROM sealed_rows"), &[], |row| row.get(0))
}
