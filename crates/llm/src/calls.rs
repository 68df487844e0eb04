//! The record of every attempt, as the store keeps it.

use std::collections::BTreeMap;
use std::time::Duration;

use munshi_store::{
    Cursor, Db, JsonText, Migration, Page, PageRequest, PlainColumn, PlatformScope, PlatformTx, Result, Row,
    RowMark, SealedBy, SealedColumn, SealedKey, SealedTable, Tx, across_tenants, migration, params,
    sql_in_both_orders,
};
use munshi_types::{CallId, Id, Timestamp};
use serde::Serialize;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::chat::TokenUsage;
use crate::error;
use crate::gateway::{CallRecord, CallRecorder, CallSpend, CircuitBreaker, HealthSignal};
use crate::pricing::Cost;

/// Why the installation may look at all tenants' calls: to know how its models are.
pub const MODELS: PlatformScope = PlatformScope::new("models");

pub const MIGRATIONS: &[Migration] =
    &[migration!("0004_models"), migration!("0054_call_prompts"), migration!("0173_sealed_vectors")];

/// What went wrong, in a provider's words: they may repeat what was sent.
const DETAIL: SealedColumn = SealedColumn::new("llm_calls", "detail");

/// What a keyed hash begins with; `1` is this way of hashing.
const HASHED: &str = "h1:";

/// Details from before they were sealed.
pub const CALLS_OF_BEFORE: SealedTable = SealedTable {
    name: "llm_calls",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, NULL AS person, detail FROM llm_calls
         WHERE tenant_id = $1 AND id > $2 AND detail IS NOT NULL ORDER BY id LIMIT $3",
        "SELECT id AS row_id, NULL AS person, detail FROM llm_calls
         WHERE tenant_id = $1 AND id > $2 AND detail IS NOT NULL ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE llm_calls SET detail = $3 WHERE tenant_id = $1 AND id = $2",
    columns: &[PlainColumn::Text(DETAIL)],
};

/// Writes an attempt down in the caller's own transaction.
pub fn record(tx: &mut Tx<'_>, call: &CallRecord) -> Result<()> {
    let (usage, about) = (&call.usage, call.about);
    let detail = call.ending.fault().map(|fault| fault.to_string().replace('\0', "\u{fffd}"));
    let request_id = call.request_id.as_deref().map(|id| id.replace('\0', "\u{fffd}"));
    let sections = call.prompt.as_ref().and_then(|prompt| prompt.sections.as_ref());
    let sections = sections.map(JsonText::of).transpose()?;
    let is_failure = detail.is_some();
    let detail = detail.map(|text| tx.seal(SealedBy::Tenant, DETAIL.cell(call.id), &text)).transpose()?;
    let prompt_hash = call.prompt.as_ref().map(|prompt| key_hash(tx, &prompt.hash)).transpose()?;
    tx.send(
        "INSERT INTO llm_calls (tenant_id, id, run_id, binding_id, purpose, target, provider, model, attempt, outcome,
           is_failure, detail, request_id, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens,
           cache_write_1h_tokens, thinking_tokens, is_estimated, cost, first_token_micros, total_micros, started_at, sections,
           prompt_hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
           $23, $24, $25, $26)",
        params![
            call.id,
            about.run,
            about.binding,
            call.purpose.as_str(),
            call.target,
            call.provider,
            call.model,
            i64::from(call.attempt),
            call.ending.code().replace('\0', "\u{fffd}"),
            is_failure,
            detail,
            request_id,
            clamp_tokens(usage.input),
            clamp_tokens(usage.output),
            clamp_tokens(usage.cache_read),
            clamp_tokens(usage.cache_write_5m),
            clamp_tokens(usage.cache_write_1h),
            clamp_tokens(usage.thinking),
            usage.estimated,
            call.cost.map(|cost| cost.as_micros().min(1 << 50)),
            call.first_token.map(micros),
            micros(call.total),
            call.started_at,
            sections,
            prompt_hash
        ],
    )?;
    Ok(())
}

/// The hash of a prompt as it is kept: still the same for the same prompt, and nobody can confirm a guess by it.
fn key_hash(tx: &Tx<'_>, hash: &str) -> Result<String> {
    let keyed = tx.hash("llm_calls.prompt_hash", hash.as_bytes())?;
    Ok(keyed.iter().fold(HASHED.to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

/// Keys the hashes of prompts from before they were keyed.
pub fn key_hashes_of_before(tx: &mut Tx<'_>, after: RowMark, limit: u32) -> Result<Option<RowMark>> {
    let calls: Vec<(CallId, String)> = tx.all(
        (
            "SELECT id, prompt_hash FROM llm_calls
             WHERE tenant_id = $1 AND id > $2 AND prompt_hash IS NOT NULL ORDER BY id LIMIT $3",
            "SELECT id, prompt_hash FROM llm_calls
             WHERE tenant_id = $1 AND id > $2 AND prompt_hash IS NOT NULL ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
        ),
        params![after.id, limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (id, hash) in calls.iter().filter(|(_, hash)| !hash.starts_with(HASHED)) {
        let keyed = key_hash(tx, hash)?;
        tx.execute(
            "UPDATE llm_calls SET prompt_hash = $3 WHERE tenant_id = $1 AND id = $2",
            params![*id, keyed],
        )?;
    }
    Ok(calls.last().map(|(id, _)| RowMark { id: id.as_uuid(), number: 0 }))
}

/// An attempt as it is read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCallView {
    pub id: CallId,
    pub purpose: String,
    pub target: String,
    pub provider: String,
    pub model: String,
    pub attempt: i64,
    pub outcome: String,
    pub detail: Option<String>,
    pub request_id: Option<String>,
    pub usage: TokenUsage,
    /// None where nobody knows the price.
    pub cost: Option<Cost>,
    pub first_token_micros: Option<i64>,
    pub total_micros: i64,
    pub started_at: Timestamp,
    /// What its prompt was made of: tokens of each section, what was cut and why.
    pub sections: Option<Value>,
    /// Of its prompt's text.
    pub prompt_hash: Option<String>,
}

impl ModelCallView {
    fn read(row: &Row<'_>) -> Result<Self> {
        let tokens = |name: &str| row.get::<i64>(name).map(|count| u64::try_from(count).unwrap_or(0));
        let id = row.get("id")?;
        let hash: Option<String> = row.get("prompt_hash")?;
        Ok(Self {
            id,
            purpose: row.get("purpose")?,
            target: row.get("target")?,
            provider: row.get("provider")?,
            model: row.get("model")?,
            attempt: row.get("attempt")?,
            outcome: row.get("outcome")?,
            detail: row.get_sealed("detail", DETAIL.cell(id))?,
            request_id: row.get("request_id")?,
            usage: TokenUsage {
                input: tokens("input_tokens")?,
                output: tokens("output_tokens")?,
                cache_read: tokens("cache_read_tokens")?,
                cache_write_5m: tokens("cache_write_5m_tokens")?,
                cache_write_1h: tokens("cache_write_1h_tokens")?,
                thinking: tokens("thinking_tokens")?,
                estimated: row.get("is_estimated")?,
            },
            cost: row.get::<Option<i64>>("cost")?.map(Cost::from_micros),
            first_token_micros: row.get("first_token_micros")?,
            total_micros: row.get("total_micros")?,
            started_at: row.get("started_at")?,
            sections: row.get::<Option<JsonText>>("sections")?.map(|text| text.read()).transpose()?,
            prompt_hash: hash.map(|hash| hash.strip_prefix(HASHED).unwrap_or(&hash).to_owned()),
        })
    }
}

/// A tenant's attempts, newest first or the other way round.
pub fn list_newest(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<ModelCallView>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, purpose, target, provider, model, attempt, outcome, detail, request_id, input_tokens,
                    output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, thinking_tokens,
                    is_estimated, cost, first_token_micros, total_micros, started_at, sections, prompt_hash
             FROM llm_calls WHERE tenant_id = $1 AND (started_at, id) < ($2, $3)
             ORDER BY started_at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        ModelCallView::read,
    )?;
    Ok(Page::from_rows(rows, request, |call| Cursor { time: call.started_at, id: call.id.as_uuid() }))
}

/// The attempts that one run made, in their order.
pub fn list_of_run(tx: &mut Tx<'_>, run: Uuid) -> Result<Vec<ModelCallView>> {
    tx.all(
        "SELECT id, purpose, target, provider, model, attempt, outcome, detail, request_id, input_tokens,
                output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, thinking_tokens,
                is_estimated, cost, first_token_micros, total_micros, started_at, sections, prompt_hash
         FROM llm_calls WHERE tenant_id = $1 AND run_id = $2 ORDER BY started_at, attempt, id",
        params![run],
        ModelCallView::read,
    )
}

/// What a tenant has used since a moment. The cost is none where the price of any of it is unknown.
pub fn sum_spend_since(tx: &mut Tx<'_>, since: Timestamp) -> Result<CallSpend> {
    tx.one(
        "SELECT CAST(coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_5m_tokens
                  + cache_write_1h_tokens), 0) AS BIGINT) AS tokens,
                CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output,
                CAST(coalesce(sum(cost), 0) AS BIGINT) AS cost,
                count(*) - count(cost) AS unpriced
         FROM llm_calls WHERE tenant_id = $1 AND started_at >= $2",
        params![since],
        read_spend,
    )
}

/// What the calls of a run have used, in the same way.
pub fn sum_spend_of_run(tx: &mut Tx<'_>, run: Uuid) -> Result<CallSpend> {
    tx.one(
        "SELECT CAST(coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_5m_tokens
                  + cache_write_1h_tokens), 0) AS BIGINT) AS tokens,
                CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output,
                CAST(coalesce(sum(cost), 0) AS BIGINT) AS cost,
                count(*) - count(cost) AS unpriced
         FROM llm_calls WHERE tenant_id = $1 AND run_id = $2",
        params![run],
        read_spend,
    )
}

/// Empties what the calls of a run tell of their words: somebody was forgotten. What they cost stays.
pub fn erase_words(tx: &mut Tx<'_>, run: Uuid) -> Result<u64> {
    tx.execute(
        "UPDATE llm_calls SET detail = NULL, prompt_hash = NULL
         WHERE tenant_id = $1 AND run_id = $2 AND (detail IS NOT NULL OR prompt_hash IS NOT NULL)",
        params![run],
    )
}

fn read_spend(row: &Row<'_>) -> Result<CallSpend> {
    let is_known = row.get::<i64>("unpriced")? == 0;
    let tokens = u64::try_from(row.get::<i64>("tokens")?).unwrap_or(0);
    let output = u64::try_from(row.get::<i64>("output")?).unwrap_or(0);
    let cost = Cost::from_micros(row.get("cost")?);
    Ok(CallSpend { tokens, output, cost: is_known.then_some(cost) })
}

/// How a target has been, as all processes have found it.
#[derive(Clone, Debug, Default)]
pub struct TargetHealth {
    pub breaker: CircuitBreaker,
    /// Why the last attempt ended, and whether that was a failure.
    pub last: Option<(String, bool)>,
}

/// How the targets have been since a moment, by name: for a look from outside. Pauses that providers asked for, and
/// which call was a trial, are known only to the process that heard it.
pub fn load_health_since(
    tx: &mut PlatformTx<'_>,
    since: Timestamp,
) -> Result<BTreeMap<String, TargetHealth>> {
    let rows = tx.all(
        across_tenants(
            "SELECT target, outcome, is_failure, started_at, total_micros FROM llm_calls
             WHERE started_at >= $1 ORDER BY started_at, id",
        ),
        params![since],
        |row| {
            let started: Timestamp = row.get("started_at")?;
            let took = Duration::from_micros(u64::try_from(row.get::<i64>("total_micros")?).unwrap_or(0));
            let outcome: String = row.get("outcome")?;
            Ok((row.get::<String>("target")?, outcome, row.get::<bool>("is_failure")?, started.plus(took)))
        },
    )?;
    let mut seen: BTreeMap<String, TargetHealth> = BTreeMap::new();
    for (target, outcome, is_failure, ended) in rows {
        let target = seen.entry(target).or_default();
        let finding = match (is_failure, error::code_blames_target(&outcome)) {
            (false, _) => HealthSignal::Success,
            (true, true) => HealthSignal::Failure,
            (true, false) => HealthSignal::Neutral,
        };
        let permission = target.breaker.try_acquire(ended);
        target.breaker.record_outcome(finding, permission, ended);
        target.last = Some((outcome, is_failure));
    }
    Ok(seen)
}

/// A tab that writes each attempt by itself, for callers with no transaction of their own.
#[derive(Clone, Debug)]
pub struct StoredCallLog {
    db: Db,
    tasks: TaskTracker,
}

impl StoredCallLog {
    pub fn new(db: Db) -> Self {
        Self { db, tasks: TaskTracker::new() }
    }

    /// Waits until everything added is on disk, or was given up loudly.
    pub async fn flush(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }
}

impl CallRecorder for StoredCallLog {
    fn add(&self, call: CallRecord) {
        let Ok(runtime) = Handle::try_current() else {
            tracing::error!(call = %call.id, "model call not recorded: no async runtime");
            return;
        };
        let db = self.db.clone();
        let writing = async move {
            let (id, tenant) = (call.id, call.tenant);
            if let Err(fault) = db.write(tenant, move |tx| record(tx, &call)).await {
                tracing::error!(call = %id, %fault, "failed to record model call");
            }
        };
        self.tasks.spawn_on(writing, &runtime);
    }
}

/// Bounded, so that a server that lies about its counts can't make a tenant's sums overflow.
fn clamp_tokens(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX).min(1 << 40)
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
