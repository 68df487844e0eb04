//! Administrative changes that a program asked for and a person decides on.

use std::time::Duration;

use munshi_store::{
    AdminTx, Cursor, JsonText, Page, PageRequest, PlainColumn, PlatformScope, PlatformTx, Row, SealedBy,
    SealedColumn, SealedKey, SealedTable, Tx, across_tenants, params, sql_in_both_orders,
};
use munshi_types::{Id, KeyId, ProposalId, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::audit::to_canonical_json;
use crate::error::{Error, Result};

/// So long somebody may still decide.
pub const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// So many of one key may wait at once: people read them one by one.
const MOST_WAITING: usize = 20;
/// So long nobody else goes on with what somebody granted: it may still be under way.
pub const LEASE: Duration = Duration::from_secs(10 * 60);
/// So long it is told what was asked for and what came of it; the audit knows it longer.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Letting go of what was asked for long ago.
pub const PROPOSALS: PlatformScope = PlatformScope::new("proposals");

/// Where a proposal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    Waiting,
    /// Somebody said yes; it is being done, or was cut short.
    Granted,
    Done,
    Failed,
    /// It was begun and cut short: how far it came is not known here.
    Interrupted,
    Refused,
}

impl ProposalState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Granted => "granted",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Refused => "refused",
        }
    }

    fn parse(text: &str) -> munshi_store::Result<Self> {
        let all = [Self::Waiting, Self::Granted, Self::Done, Self::Failed, Self::Interrupted, Self::Refused];
        let found = all.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| munshi_store::Error::Decode(format!("unknown state of a proposal: {text}")))
    }
}

const INPUT: SealedColumn = SealedColumn::new("proposed_operations", "input");
const OUTCOME: SealedColumn = SealedColumn::new("proposed_operations", "outcome");

/// Proposals from before they were sealed.
pub(crate) const PROPOSALS_OF_BEFORE: SealedTable = SealedTable {
    name: "proposed_operations",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, NULL AS person, input, outcome FROM proposed_operations
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, NULL AS person, input, outcome FROM proposed_operations
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE proposed_operations SET input = $3, outcome = $4 WHERE tenant_id = $1 AND id = $2",
    columns: &[PlainColumn::Json(INPUT), PlainColumn::Json(OUTCOME)],
};

#[derive(Clone, Debug, PartialEq)]
pub struct ProposedOperation {
    pub id: ProposalId,
    /// The operation's id.
    pub operation: String,
    pub input: Value,
    pub asked_by: String,
    pub asked_key: KeyId,
    pub asked_at: Timestamp,
    pub ends_at: Timestamp,
    pub state: ProposalState,
    pub decided_by: Option<String>,
    pub decided_at: Option<Timestamp>,
    pub outcome: Option<Value>,
}

impl ProposedOperation {
    /// Of what would be done: whoever grants it says by it what they have seen.
    pub fn digest(&self) -> String {
        let whole = json!({ "operation": self.operation, "input": self.input });
        let digest = Sha256::digest(to_canonical_json(&whole).as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a key asked for and nobody decided on.
pub fn list_waiting(tx: &mut Tx<'_>, key: KeyId, now: Timestamp) -> Result<Vec<ProposedOperation>> {
    Ok(tx.all(
        "SELECT id, operation, input, asked_by, asked_key, asked_at, ends_at, state, decided_by, decided_at, outcome
         FROM proposed_operations
         WHERE tenant_id = $1 AND asked_key = $2 AND state = 'waiting' AND ends_at > $3",
        params![key, now],
        read,
    )?)
}

/// Stores what a program asks for.
pub fn add(tx: &mut AdminTx<'_, '_>, proposal: &ProposedOperation) -> Result<()> {
    let count = list_waiting(tx, proposal.asked_key, proposal.asked_at)?.len();
    if count >= MOST_WAITING {
        return Err(Error::Invalid(format!("{count} proposals of this key wait for a person already")));
    }
    let input = tx.seal_json(SealedBy::Tenant, INPUT.cell(proposal.id), &proposal.input)?;
    tx.execute(
        "INSERT INTO proposed_operations (tenant_id, id, operation, input, asked_by, asked_key, asked_at, ends_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting')",
        params![
            proposal.id,
            &proposal.operation,
            input,
            &proposal.asked_by,
            proposal.asked_key,
            proposal.asked_at,
            proposal.ends_at
        ],
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: ProposalId) -> Result<Option<ProposedOperation>> {
    Ok(tx.optional(
        "SELECT id, operation, input, asked_by, asked_key, asked_at, ends_at, state, decided_by, decided_at, outcome
         FROM proposed_operations WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// Newest first, or the other way round.
pub fn list(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<ProposedOperation>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, operation, input, asked_by, asked_key, asked_at, ends_at, state, decided_by, decided_at, outcome
             FROM proposed_operations WHERE tenant_id = $1 AND (asked_at, id) < ($2, $3)
             ORDER BY asked_at DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |one| Cursor { time: one.asked_at, id: Id::as_uuid(one.id) }))
}

/// Decides on one that waits, or takes up one whose work was cut short. False where somebody was first.
pub fn decide(
    tx: &mut AdminTx<'_, '_>,
    id: ProposalId,
    state: ProposalState,
    by: &str,
    now: Timestamp,
) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE proposed_operations SET state = $3, decided_by = $4, decided_at = $5
         WHERE tenant_id = $1 AND id = $2
           AND (state = 'waiting' OR (state = 'granted' AND $3 = 'granted' AND decided_at <= $6))",
        params![id, state.as_str(), by, now, now.minus(LEASE)],
    )?;
    Ok(changed > 0)
}

/// Lets one wait again whose operation would not have whoever granted it just now.
pub fn reopen(tx: &mut AdminTx<'_, '_>, id: ProposalId, decided_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE proposed_operations SET state = 'waiting', decided_by = NULL, decided_at = NULL
         WHERE tenant_id = $1 AND id = $2 AND state = 'granted' AND decided_at = $3",
        params![id, decided_at],
    )?;
    Ok(())
}

/// Keeps what came of one that was granted; false where it is not under way. That it was done stands above all that others who tried at the same time say.
pub fn keep_outcome(
    tx: &mut AdminTx<'_, '_>,
    id: ProposalId,
    state: ProposalState,
    outcome: &Value,
) -> Result<bool> {
    let outcome = tx.seal_json(SealedBy::Tenant, OUTCOME.cell(id), outcome)?;
    let changed = tx.execute(
        "UPDATE proposed_operations SET state = $3, outcome = $4
         WHERE tenant_id = $1 AND id = $2
           AND (state = 'granted' OR ($3 = 'done' AND state IN ('failed', 'interrupted')))",
        params![id, state.as_str(), outcome],
    )?;
    Ok(changed > 0)
}

/// Lets go of what was asked for long ago.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let old = now.minus(KEPT);
    Ok(tx.execute(across_tenants("DELETE FROM proposed_operations WHERE asked_at < $1"), params![old])?)
}

fn read(row: &Row<'_>) -> munshi_store::Result<ProposedOperation> {
    let id: ProposalId = row.get(0)?;
    Ok(ProposedOperation {
        id,
        operation: row.get(1)?,
        input: row.get_sealed::<JsonText>(2, INPUT.cell(id))?.read()?,
        asked_by: row.get(3)?,
        asked_key: row.get(4)?,
        asked_at: row.get(5)?,
        ends_at: row.get(6)?,
        state: ProposalState::parse(&row.get::<String>(7)?)?,
        decided_by: row.get(8)?,
        decided_at: row.get(9)?,
        outcome: row
            .get_sealed::<Option<JsonText>>(10, OUTCOME.cell(id))?
            .map(|json| json.read())
            .transpose()?,
    })
}
