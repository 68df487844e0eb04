//! Every transition of a run, in order.

use munshi_store::{JsonText, Result, RowId, SealedBy, SealedCell, SealedColumn, Tx, params};
use munshi_types::{PersonId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::{read_enum, read_sealed_json};
use crate::runs::RunLease;
use crate::sealing::seal_by;
use crate::state::RunState;

const BODY: SealedColumn = SealedColumn::new("run_steps", "body");

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewRunStep {
    pub state: RunState,
    pub body: Value,
    /// How long it took.
    pub micros: i64,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunStep {
    pub number: i64,
    pub epoch: i64,
    pub state: RunState,
    pub body: Value,
    pub micros: i64,
    pub at: Timestamp,
}

/// As the statement takes them: times are whole microseconds.
#[derive(Serialize)]
struct Row {
    number: i64,
    state: &'static str,
    /// Sealed.
    body: Value,
    micros: i64,
    at: i64,
}

/// Whoever numbers steps of a run waits for others who do, until their transaction ends. SQLite has one writer.
fn lock_numbers(tx: &mut Tx<'_>, run: RunId) -> Result<()> {
    if tx.engine() == "postgres" {
        let lock =
            "SELECT 1 FROM pg_advisory_xact_lock(uuid_hash_extended($2, 17)) WHERE $1::uuid IS NOT NULL";
        tx.send(lock, params![run])?;
    }
    Ok(())
}

/// Those of a run of the background, into whose record another may write [beside](add_beside) its holder.
pub fn add_shared(tx: &mut Tx<'_>, (lease, by): (RunLease, SealedBy), steps: &[NewRunStep]) -> Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    lock_numbers(tx, lease.run)?;
    let last = tx.one(
        "SELECT coalesce(max(number), 0) FROM run_steps WHERE tenant_id = $1 AND run_id = $2",
        params![lease.run],
        |row| row.get(0),
    )?;
    add(tx, (lease, by), last, steps)
}

/// All of them in one statement, numbered after the `last` that is there. The run is held by the caller, and nobody else
/// writes.
pub fn add(
    tx: &mut Tx<'_>,
    (lease, by): (RunLease, SealedBy),
    last: i64,
    steps: &[NewRunStep],
) -> Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let rows = (last + 1..).zip(steps).map(|(number, step)| -> Result<Row> {
        Ok(Row {
            number,
            state: step.state.as_str(),
            body: tx.seal_json(by, body_of(lease.run, number), &step.body)?.read()?,
            micros: step.micros,
            at: step.at.as_micros(),
        })
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    tx.send(
        (
            "INSERT INTO run_steps (tenant_id, run_id, number, epoch, state, body, micros, at)
             SELECT $1, $2, new.value ->> '$.number', $3, new.value ->> '$.state', new.value -> '$.body', new.value ->> '$.micros', new.value ->> '$.at'
             FROM json_each($4) AS new",
            "INSERT INTO run_steps (tenant_id, run_id, number, epoch, state, body, micros, at)
             SELECT $1, $2::uuid, (new.value ->> 'number')::bigint, $3::bigint, new.value ->> 'state',
                    new.value -> 'body', (new.value ->> 'micros')::bigint,
                    timestamptz 'epoch' + (new.value ->> 'at')::bigint * interval '1 microsecond'
             FROM jsonb_array_elements($4::jsonb) AS new (value)",
        ),
        params![lease.run, lease.epoch, JsonText::of(&rows)?],
    )?;
    Ok(())
}

/// In their order; a run has few.
pub fn list(tx: &mut Tx<'_>, run: RunId) -> Result<Vec<RunStep>> {
    tx.all(
        "SELECT number, epoch, state, body, micros, at FROM run_steps WHERE tenant_id = $1 AND run_id = $2
         ORDER BY number",
        params![run],
        |row| read(row, run),
    )
}

/// Those behind a number, in their order, so many at most.
pub fn list_after(tx: &mut Tx<'_>, run: RunId, after: i64, limit: i64) -> Result<Vec<RunStep>> {
    tx.all(
        "SELECT number, epoch, state, body, micros, at FROM run_steps WHERE tenant_id = $1 AND run_id = $2 AND number > $3
         ORDER BY number LIMIT $4",
        params![run, after, limit],
        |row| read(row, run),
    )
}

/// Writes into the record of a run that somebody else may hold: what became of another run that it waits for. Nothing is written where
/// it has ended. Its caller may hold the other run's row, and takes no row of a run after this.
pub fn add_beside(tx: &mut Tx<'_>, run: RunId, step: &NewRunStep) -> Result<()> {
    lock_numbers(tx, run)?;
    let open: Option<(i64, i64, Option<PersonId>)> = tx.optional(
        "SELECT r.epoch, coalesce(max(s.number), 0) + 1, r.person_id
         FROM runs r LEFT JOIN run_steps s ON s.tenant_id = $1 AND s.run_id = r.id
         WHERE r.tenant_id = $1 AND r.id = $2 AND r.ended_at IS NULL
         GROUP BY r.epoch, r.person_id",
        params![run],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let Some((epoch, number, person)) = open else { return Ok(()) };
    let by = seal_by(tx, person)?;
    let body = tx.seal_json(by, body_of(run, number), &step.body)?;
    tx.execute(
        "INSERT INTO run_steps (tenant_id, run_id, number, epoch, state, body, micros, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        params![run, number, epoch, step.state.as_str(), body, step.micros, step.at],
    )?;
    Ok(())
}

fn body_of(run: RunId, number: i64) -> SealedCell {
    BODY.cell(RowId::numbered(run, number))
}

fn read(row: &munshi_store::Row<'_>, run: RunId) -> Result<RunStep> {
    let number = row.get(0)?;
    Ok(RunStep {
        number,
        epoch: row.get(1)?,
        state: read_enum(row, 2)?,
        body: read_sealed_json(row, 3, body_of(run, number))?,
        micros: row.get(4)?,
        at: row.get(5)?,
    })
}
