//! Rows from before they were sealed, for those who seal them.

use munshi_identity::row_sealing::RowsOfBefore;
use munshi_store::{PlainColumn, Result, RowMark, SealedKey, SealedTable, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{Id, RunId};

use crate::columns::read_enum;
use crate::{client_context, handoffs, messages, outbox, runs, sessions, steps};

pub const ROWS_OF_BEFORE: &[RowsOfBefore] = &[
    RowsOfBefore::Table(&SESSIONS),
    RowsOfBefore::Table(&MESSAGES),
    RowsOfBefore::Table(&RUNS),
    RowsOfBefore::Own { name: "runs.outside_id", seal_next: hash_outside_ids },
    RowsOfBefore::Table(&STEPS),
    RowsOfBefore::Table(&OUTBOX),
    RowsOfBefore::Table(&BROUGHT),
    RowsOfBefore::Table(&HANDOFFS),
];

const SESSIONS: SealedTable = SealedTable {
    name: "sessions",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, person_id AS person, reply_to, summary, entities, masked, aside, active FROM sessions
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, person_id AS person, reply_to, summary, entities, masked, aside, active FROM sessions
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE sessions SET reply_to = $3, summary = $4, entities = $5, masked = $6, aside = $7, active = $8
             WHERE tenant_id = $1 AND id = $2",
    columns: &[
        PlainColumn::Json(sessions::REPLY_TO),
        PlainColumn::Text(sessions::SUMMARY),
        PlainColumn::Json(sessions::ENTITIES),
        PlainColumn::Json(sessions::MASKED),
        PlainColumn::Text(sessions::ASIDE),
        PlainColumn::Json(sessions::ACTIVE),
    ],
};

const MESSAGES: SealedTable = SealedTable {
    name: "messages",
    key: SealedKey::Id,
    next: (
        "SELECT m.id AS row_id, s.person_id AS person, m.outside_id, m.text, m.attached, m.marks, m.suggestions
         FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
         WHERE m.tenant_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3",
        "SELECT m.id AS row_id, s.person_id AS person, m.outside_id, m.text, m.attached, m.marks, m.suggestions
         FROM messages m JOIN sessions s ON s.tenant_id = $1 AND s.id = m.session_id
         WHERE m.tenant_id = $1 AND m.id > $2 ORDER BY m.id LIMIT $3 FOR NO KEY UPDATE OF m",
    ),
    update: "UPDATE messages SET outside_id = $3, text = $4, attached = $5, marks = $6, suggestions = $7
             WHERE tenant_id = $1 AND id = $2",
    columns: &[
        PlainColumn::Text(messages::OUTSIDE_ID),
        PlainColumn::Text(messages::TEXT),
        PlainColumn::Json(messages::ATTACHED),
        PlainColumn::Json(messages::MARKS),
        PlainColumn::Json(messages::SUGGESTIONS),
    ],
};

const RUNS: SealedTable = SealedTable {
    name: "runs",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, person_id AS person, reply_to, reason, snapshot, result FROM runs
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, person_id AS person, reply_to, reason, snapshot, result FROM runs
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE runs SET reply_to = $3, reason = $4, snapshot = $5, result = $6 WHERE tenant_id = $1 AND id = $2",
    columns: &[
        PlainColumn::Json(runs::REPLY_TO),
        PlainColumn::Text(runs::REASON),
        PlainColumn::Json(runs::SNAPSHOT),
        PlainColumn::Json(runs::RESULT),
    ],
};

const STEPS: SealedTable = SealedTable {
    name: "run_steps",
    key: SealedKey::Numbered,
    next: (
        "SELECT t.run_id AS row_id, t.number AS row_number, r.person_id AS person, t.body
         FROM run_steps t LEFT JOIN runs r ON r.tenant_id = $1 AND r.id = t.run_id
         WHERE t.tenant_id = $1 AND (t.run_id, t.number) > ($2, $3) ORDER BY t.run_id, t.number LIMIT $4",
        "SELECT t.run_id AS row_id, t.number AS row_number, r.person_id AS person, t.body
         FROM run_steps t LEFT JOIN runs r ON r.tenant_id = $1 AND r.id = t.run_id
         WHERE t.tenant_id = $1 AND (t.run_id, t.number) > ($2, $3) ORDER BY t.run_id, t.number LIMIT $4
         FOR NO KEY UPDATE OF t",
    ),
    update: "UPDATE run_steps SET body = $4 WHERE tenant_id = $1 AND run_id = $2 AND number = $3",
    columns: &[PlainColumn::Json(steps::BODY)],
};

/// The address stands in the body; where it stood by itself before, nothing reads it.
const OUTBOX: SealedTable = SealedTable {
    name: "outbox",
    key: SealedKey::Id,
    next: (
        "SELECT o.message_id AS row_id, COALESCE(s.person_id, o.person_id) AS person, o.body, o.detail, o.outside_id
         FROM outbox o LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
         WHERE o.tenant_id = $1 AND o.message_id > $2 ORDER BY o.message_id LIMIT $3",
        "SELECT o.message_id AS row_id, COALESCE(s.person_id, o.person_id) AS person, o.body, o.detail, o.outside_id
         FROM outbox o LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = o.session_id
         WHERE o.tenant_id = $1 AND o.message_id > $2 ORDER BY o.message_id LIMIT $3 FOR NO KEY UPDATE OF o",
    ),
    update: "UPDATE outbox SET body = $3, detail = $4, outside_id = $5, address = '' WHERE tenant_id = $1 AND message_id = $2",
    columns: &[
        PlainColumn::Json(outbox::BODY),
        PlainColumn::Text(outbox::DETAIL),
        PlainColumn::Text(outbox::OUTSIDE_ID),
    ],
};

const BROUGHT: SealedTable = SealedTable {
    name: "brought",
    key: SealedKey::Id,
    next: (
        "SELECT b.run_id AS row_id, r.person_id AS person, b.body, b.carried
         FROM brought b LEFT JOIN runs r ON r.tenant_id = $1 AND r.id = b.run_id
         WHERE b.tenant_id = $1 AND b.run_id > $2 ORDER BY b.run_id LIMIT $3",
        "SELECT b.run_id AS row_id, r.person_id AS person, b.body, b.carried
         FROM brought b LEFT JOIN runs r ON r.tenant_id = $1 AND r.id = b.run_id
         WHERE b.tenant_id = $1 AND b.run_id > $2 ORDER BY b.run_id LIMIT $3 FOR NO KEY UPDATE OF b",
    ),
    update: "UPDATE brought SET body = $3, carried = $4 WHERE tenant_id = $1 AND run_id = $2",
    columns: &[PlainColumn::Json(client_context::BODY), PlainColumn::Json(client_context::CARRIED)],
};

/// By the key of the customer, whoever handed them over.
const HANDOFFS: SealedTable = SealedTable {
    name: "handoffs",
    key: SealedKey::Id,
    next: (
        "SELECT h.id AS row_id, s.person_id AS person, h.reason, h.summary, h.open_questions, h.entities
         FROM handoffs h LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = h.session_id
         WHERE h.tenant_id = $1 AND h.id > $2 ORDER BY h.id LIMIT $3",
        "SELECT h.id AS row_id, s.person_id AS person, h.reason, h.summary, h.open_questions, h.entities
         FROM handoffs h LEFT JOIN sessions s ON s.tenant_id = $1 AND s.id = h.session_id
         WHERE h.tenant_id = $1 AND h.id > $2 ORDER BY h.id LIMIT $3 FOR NO KEY UPDATE OF h",
    ),
    update: "UPDATE handoffs SET reason = $3, summary = $4, open_questions = $5, entities = $6
             WHERE tenant_id = $1 AND id = $2",
    columns: &[
        PlainColumn::Text(handoffs::REASON),
        PlainColumn::Text(handoffs::SUMMARY),
        PlainColumn::Json(handoffs::OPEN_QUESTIONS),
        PlainColumn::Json(handoffs::ENTITIES),
    ],
};

struct TakenMessage {
    run: RunId,
    channel: Channel,
    outside_id: String,
}

/// The ids that channels gave messages stood plain in runs, and may hold a phone number.
fn hash_outside_ids(tx: &mut Tx<'_>, after: RowMark, limit: u32) -> Result<Option<RowMark>> {
    let taken = tx.all(
        (
            "SELECT id, channel, outside_id FROM runs
             WHERE tenant_id = $1 AND id > $2 AND outside_id IS NOT NULL ORDER BY id LIMIT $3",
            "SELECT id, channel, outside_id FROM runs
             WHERE tenant_id = $1 AND id > $2 AND outside_id IS NOT NULL ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
        ),
        params![after.id, limit],
        |row| {
            let (run, channel) = (row.get("id")?, read_enum(row, "channel")?);
            Ok(TakenMessage { run, channel, outside_id: row.get("outside_id")? })
        },
    )?;
    for TakenMessage { run, channel, outside_id } in &taken {
        if !runs::is_hashed(outside_id) {
            let hashed = runs::hash_outside_id(tx, *channel, outside_id)?;
            tx.execute(
                "UPDATE runs SET outside_id = $3 WHERE tenant_id = $1 AND id = $2",
                params![*run, hashed],
            )?;
        }
    }
    Ok(taken.last().map(|last| RowMark { id: last.run.as_uuid(), number: 0 }))
}
