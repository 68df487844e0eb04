//! One row a turn: what was decided and what it took.

use munshi_store::{Result, Tx, params};
use munshi_tiers::BindingResolution;
use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{BindingId, RunId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::columns::read_count;

/// What the row says beside whose it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TurnDecision {
    pub binding_version: u32,
    pub human_version: u32,
    pub team_version: u32,
    pub agent_version: u32,
    pub slice: Option<String>,
    pub language: Option<LanguageCode>,
    /// `done`, or why it was halted, in a word.
    pub outcome: String,
    /// The model that gave the answer.
    pub target: Option<String>,
    pub is_degraded: bool,
    pub model_calls: u32,
    pub tool_calls: u32,
    pub violations: u32,
    pub tokens: TierTokens,
    pub output_tokens: u32,
    /// In millionths of a dollar; none where nobody knows the price.
    pub cost: Option<i64>,
    pub micros: TurnTimings,
}

impl TurnDecision {
    /// Of a turn of which no more is known than who was to answer, and in which language.
    pub fn of_binding(binding: &BindingResolution, language: &LanguageCode) -> Self {
        Self {
            binding_version: binding.binding_version,
            human_version: binding.human.version,
            team_version: binding.team.version,
            agent_version: binding.agent.version,
            slice: binding.slice.clone(),
            language: Some(language.clone()),
            ..Self::default()
        }
    }

    /// Of a turn that goes no further than the door: nobody was asked and nothing was spent. Its outcome is why.
    pub fn for_rejection(binding: &BindingResolution, language: &LanguageCode) -> Self {
        Self { is_degraded: true, cost: Some(0), ..Self::of_binding(binding, language) }
    }
}

/// Of the prompt, by who brought them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TierTokens {
    pub human: u32,
    pub team: u32,
    pub agent: u32,
    pub dynamic: u32,
}

/// How long each stage took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTimings {
    pub ingest: i64,
    pub prepare: i64,
    pub think: i64,
    pub act: i64,
    pub check: i64,
    pub respond: i64,
    /// Until the first word was shown, from when the message came.
    pub first_word: Option<i64>,
    pub total: i64,
}

/// How long a turn took; none while it goes on.
pub fn find_timings(tx: &mut Tx<'_>, run: RunId) -> Result<Option<TurnTimings>> {
    tx.optional(
        "SELECT ingest_micros, prepare_micros, think_micros, act_micros, check_micros, respond_micros,
                first_word_micros, total_micros
         FROM decisions WHERE tenant_id = $1 AND run_id = $2",
        params![run],
        |row| {
            Ok(TurnTimings {
                ingest: row.get(0)?,
                prepare: row.get(1)?,
                think: row.get(2)?,
                act: row.get(3)?,
                check: row.get(4)?,
                respond: row.get(5)?,
                first_word: row.get(6)?,
                total: row.get(7)?,
            })
        },
    )
}

/// What a turn's prompt was made of; none while it goes on.
pub fn find_prompt_tokens(tx: &mut Tx<'_>, run: RunId) -> Result<Option<TierTokens>> {
    tx.optional(
        "SELECT human_tokens, team_tokens, agent_tokens, dynamic_tokens FROM decisions
         WHERE tenant_id = $1 AND run_id = $2",
        params![run],
        |row| {
            Ok(TierTokens {
                human: read_count(row, 0)?,
                team: read_count(row, 1)?,
                agent: read_count(row, 2)?,
                dynamic: read_count(row, 3)?,
            })
        },
    )
}

/// Who answered a turn, and as which versions; none while it goes on, and none of a turn that no model answered.
pub fn find_provenance(tx: &mut Tx<'_>, run: RunId) -> Result<Option<ReplyProvenance>> {
    tx.optional(
        "SELECT target, human_version, team_version, agent_version FROM decisions WHERE tenant_id = $1 AND run_id = $2",
        params![run],
        |row| {
            Ok(ReplyProvenance {
                target: row.get(0)?,
                human: read_count(row, 1)?,
                team: read_count(row, 2)?,
                agent: read_count(row, 3)?,
            })
        },
    )
}

/// The model, and the versions of the tiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplyProvenance {
    pub target: Option<String>,
    pub human: u32,
    pub team: u32,
    pub agent: u32,
}

/// Whose turn it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnSubject {
    pub run: RunId,
    pub session: SessionId,
    pub binding: BindingId,
    pub channel: Channel,
}

/// A run that goes on after it waited for a person has one row too: the last one counts, on the day of the first.
pub fn add(tx: &mut Tx<'_>, about: TurnSubject, decision: &TurnDecision, at: Timestamp) -> Result<()> {
    let (tokens, micros) = (&decision.tokens, &decision.micros);
    tx.send(
        "INSERT INTO decisions (tenant_id, run_id, session_id, binding_id, binding_version, human_version, team_version,
           agent_version, slice, channel, language, outcome, target, is_degraded, model_calls, tool_calls, violations,
           human_tokens, team_tokens, agent_tokens, dynamic_tokens, output_tokens, cost, ingest_micros, prepare_micros,
           think_micros, act_micros, check_micros, respond_micros, first_word_micros, total_micros, at,
           changed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
           $24, $25, $26, $27, $28, $29, $30, $31, $32, $32)
         ON CONFLICT (tenant_id, run_id) DO UPDATE SET outcome = excluded.outcome, target = excluded.target,
           language = excluded.language, is_degraded = excluded.is_degraded, model_calls = excluded.model_calls,
           tool_calls = excluded.tool_calls, violations = excluded.violations, human_tokens = excluded.human_tokens,
           team_tokens = excluded.team_tokens, agent_tokens = excluded.agent_tokens,
           dynamic_tokens = excluded.dynamic_tokens, output_tokens = excluded.output_tokens, cost = excluded.cost,
           prepare_micros = excluded.prepare_micros, think_micros = excluded.think_micros,
           act_micros = excluded.act_micros, check_micros = excluded.check_micros,
           respond_micros = excluded.respond_micros, first_word_micros = excluded.first_word_micros,
           total_micros = excluded.total_micros, changed_at = excluded.changed_at",
        params![
            about.run,
            about.session,
            about.binding,
            decision.binding_version,
            decision.human_version,
            decision.team_version,
            decision.agent_version,
            decision.slice,
            about.channel.as_str(),
            decision.language.as_ref().map(LanguageCode::as_str),
            decision.outcome,
            decision.target,
            decision.is_degraded,
            decision.model_calls,
            decision.tool_calls,
            decision.violations,
            tokens.human,
            tokens.team,
            tokens.agent,
            tokens.dynamic,
            decision.output_tokens,
            decision.cost,
            micros.ingest,
            micros.prepare,
            micros.think,
            micros.act,
            micros.check,
            micros.respond,
            micros.first_word,
            micros.total,
            at
        ],
    )?;
    Ok(())
}
