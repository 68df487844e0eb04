//! Decisions in, tallies in and out.

use std::collections::BTreeMap;

use jiff::civil::Date;
use munshi_store::{Error as StoreError, JsonText, Result, Row, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, RunId, Timestamp};

use super::measure::TurnMeasure;
use super::tally::{TurnTally, TurnTallyLine, TurnTallyLines};
use crate::columns::{read_enum, read_json};
use crate::runs::MESSAGE;

/// So many turns are read at once.
const STEP: i64 = 2000;

/// What the turns between two moments came to, from their own rows. Rehearsals are no turns.
pub(super) fn tally_turns(tx: &mut Tx<'_>, from: Timestamp, to: Timestamp) -> Result<Vec<TurnTallyLine>> {
    let mut lines = TurnTallyLines::default();
    // Below every id there is.
    let mut after = (from, RunId::from_uuid(uuid::Uuid::nil()));
    loop {
        let turns = list_turns(tx, after, to)?;
        let count = turns.len();
        for turn in turns {
            after = (turn.at, turn.run);
            if turn.is_real {
                turn.count(lines.entry(turn.binding, turn.channel));
            }
        }
        if (count as i64) < STEP {
            return Ok(lines.into_vec());
        }
    }
}

fn list_turns(tx: &mut Tx<'_>, (at, run): (Timestamp, RunId), to: Timestamp) -> Result<Vec<Turn>> {
    let sql = "SELECT d.run_id, d.binding_id, d.channel, d.outcome, d.is_degraded, d.model_calls, d.tool_calls,
                d.violations, d.cost, d.human_tokens, d.team_tokens, d.agent_tokens, d.dynamic_tokens, d.output_tokens,
                d.ingest_micros, d.prepare_micros, d.think_micros, d.act_micros, d.check_micros, d.respond_micros,
                d.first_word_micros, d.total_micros, d.at, r.kind
         FROM decisions d LEFT JOIN runs r ON r.tenant_id = $1 AND r.id = d.run_id
         WHERE d.tenant_id = $1 AND d.at < $2 AND (d.at > $3 OR (d.at = $3 AND d.run_id > $4))
         ORDER BY d.at, d.run_id LIMIT $5";
    tx.all(sql, params![to, at, run, STEP], read_turn)
}

/// One turn as it was written down.
struct Turn {
    run: RunId,
    binding: BindingId,
    channel: Channel,
    at: Timestamp,
    is_real: bool,
    outcome: String,
    is_degraded: bool,
    model_calls: u64,
    tool_calls: u64,
    violations: u64,
    cost: Option<i64>,
    first_word: Option<i64>,
    /// In the order of [`TurnMeasure::SIZES`].
    sizes: [i64; 5],
    /// In the order of [`TurnMeasure::STAGES`], without the first word.
    stages: [(TurnMeasure, i64); 7],
}

impl Turn {
    fn count(&self, tally: &mut TurnTally) {
        tally.turns += 1;
        tally.degraded += u64::from(self.is_degraded);
        tally.model_calls += self.model_calls;
        tally.tool_calls += self.tool_calls;
        tally.violations += self.violations;
        tally.cost = tally.cost.saturating_add(self.cost.unwrap_or(0));
        tally.unpriced += u64::from(self.cost.is_none());
        *tally.outcomes.entry(self.outcome.clone()).or_default() += 1;
        for (measure, value) in self.stages {
            if self.has_measure(measure) {
                tally.record(measure, value);
            }
        }
        if let Some(first) = self.first_word {
            tally.record(TurnMeasure::FirstWord, first);
        }
        if self.model_calls > 0 {
            TurnMeasure::SIZES
                .into_iter()
                .zip(self.sizes)
                .for_each(|(size, tokens)| tally.record(size, tokens));
        }
    }

    /// A stage that a turn did not go through took no time that means anything; nor did one turned away at the door.
    fn has_measure(&self, measure: TurnMeasure) -> bool {
        let went = self.stages.iter().any(|(_, value)| *value > 0);
        went && match measure {
            TurnMeasure::Think => self.model_calls > 0,
            TurnMeasure::Act => self.tool_calls > 0,
            _ => true,
        }
    }
}

fn read_turn(row: &Row<'_>) -> Result<Turn> {
    let count = |name: &'static str| -> Result<u64> { Ok(row.get::<i64>(name)?.max(0).unsigned_abs()) };
    let kind: Option<String> = row.get("kind")?;
    Ok(Turn {
        run: row.get("run_id")?,
        binding: row.get("binding_id")?,
        channel: read_enum(row, "channel")?,
        at: row.get("at")?,
        is_real: kind.is_none_or(|kind| kind == MESSAGE),
        outcome: row.get("outcome")?,
        is_degraded: row.get("is_degraded")?,
        model_calls: count("model_calls")?,
        tool_calls: count("tool_calls")?,
        violations: count("violations")?,
        cost: row.get("cost")?,
        first_word: row.get("first_word_micros")?,
        sizes: [
            row.get("human_tokens")?,
            row.get("team_tokens")?,
            row.get("agent_tokens")?,
            row.get("dynamic_tokens")?,
            row.get("output_tokens")?,
        ],
        stages: [
            (TurnMeasure::Ingest, row.get("ingest_micros")?),
            (TurnMeasure::Prepare, row.get("prepare_micros")?),
            (TurnMeasure::Think, row.get("think_micros")?),
            (TurnMeasure::Act, row.get("act_micros")?),
            (TurnMeasure::Check, row.get("check_micros")?),
            (TurnMeasure::Respond, row.get("respond_micros")?),
            (TurnMeasure::Total, row.get("total_micros")?),
        ],
    })
}

/// When was counted last.
pub(super) fn find_refreshed_at(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    tx.optional("SELECT made_at FROM turn_days_made WHERE tenant_id = $1", params![], |row| row.get(0))
}

pub(super) fn set_refreshed_at(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO turn_days_made (tenant_id, made_at) VALUES ($1, $2)
         ON CONFLICT (tenant_id) DO UPDATE SET made_at = excluded.made_at
         WHERE turn_days_made.made_at < excluded.made_at",
        params![now],
    )?;
    Ok(())
}

/// Puts a day in the place of what was counted for it before.
pub(super) fn replace(tx: &mut Tx<'_>, day: Date, lines: &[TurnTallyLine], now: Timestamp) -> Result<()> {
    let day = day.to_string();
    tx.execute("DELETE FROM turn_days WHERE tenant_id = $1 AND day = $2", params![day])?;
    for TurnTallyLine { binding, channel, tally } in lines {
        tx.execute(
            "INSERT INTO turn_days (tenant_id, day, binding_id, channel, turns, degraded, model_calls, tool_calls,
               violations, cost, unpriced, outcomes, histograms, made_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            params![
                day,
                *binding,
                channel.as_str(),
                number(tally.turns),
                number(tally.degraded),
                number(tally.model_calls),
                number(tally.tool_calls),
                number(tally.violations),
                tally.cost,
                number(tally.unpriced),
                JsonText::of(&tally.outcomes)?,
                JsonText::of(&tally.histograms)?,
                now
            ],
        )?;
    }
    Ok(())
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The days that were counted, both with.
pub(super) fn list_days(tx: &mut Tx<'_>, first: Date, last: Date) -> Result<Vec<(Date, TurnTallyLine)>> {
    tx.all(
        "SELECT day, binding_id, channel, turns, degraded, model_calls, tool_calls, violations, cost, unpriced, outcomes,
                histograms
         FROM turn_days WHERE tenant_id = $1 AND day >= $2 AND day <= $3 ORDER BY day, binding_id, channel",
        params![first.to_string(), last.to_string()],
        |row| {
            let count = |name: &'static str| -> Result<u64> { Ok(row.get::<i64>(name)?.max(0).unsigned_abs()) };
            let day: String = row.get("day")?;
            let outcomes: BTreeMap<String, u64> = read_json(row, "outcomes")?;
            let tally = TurnTally {
                turns: count("turns")?,
                degraded: count("degraded")?,
                model_calls: count("model_calls")?,
                tool_calls: count("tool_calls")?,
                violations: count("violations")?,
                cost: row.get("cost")?,
                unpriced: count("unpriced")?,
                outcomes,
                histograms: read_json(row, "histograms")?,
            };
            let channel = read_enum(row, "channel")?;
            let day = day.parse().map_err(|_| StoreError::Decode(format!("invalid date `{day}`")))?;
            Ok((day, TurnTallyLine { binding: row.get("binding_id")?, channel, tally }))
        },
    )
}
