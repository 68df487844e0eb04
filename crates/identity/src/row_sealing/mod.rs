//! Sealing what stood plain before: table by table, a few rows in each unit of work, from where it stopped last time.
//!
//! Whatever is written meanwhile is sealed as it is written, so one walk through each table is enough. A walk that is cut short, or that
//! two nodes make at once, finds sealed rows and passes them.

mod contacts;

use munshi_store::{Result, RowMark, SealedTable, Tx, params};
use munshi_types::{PersonId, Timestamp};

use crate::persons::seal_by_owner;

/// Rows in one unit of work.
const BATCH: u32 = 50;

/// Rows that were there before their text was sealed.
#[derive(Clone, Copy, Debug)]
pub enum RowsOfBefore {
    /// Persons, with how they are reached.
    Contacts,
    Table(&'static SealedTable),
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
    pub fn table(self) -> &'static str {
        match self {
            Self::Contacts => "persons",
            Self::Table(table) => table.name,
        }
    }

    /// Seals the next rows.
    pub fn seal_next(self, tx: &mut Tx<'_>, now: Timestamp) -> Result<SealingStep> {
        let Some(after) = find_mark(tx, self.table())? else { return Ok(SealingStep::Done) };
        let reached = match self {
            Self::Contacts => contacts::seal_next(tx, after, BATCH)?,
            Self::Table(table) => table.seal_next(tx, after, BATCH, &mut |tx, person| {
                seal_by_owner(tx, person.map(PersonId::from_uuid))
            })?,
        };
        let done = reached.is_none().then_some(now);
        let mark = reached.unwrap_or(after);
        tx.execute(
            "INSERT INTO sealed_rows (tenant_id, table_name, row_id, row_number, done_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id, table_name)
             DO UPDATE SET row_id = excluded.row_id, row_number = excluded.row_number, done_at = excluded.done_at",
            params![self.table(), mark.id, mark.number, done],
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
