//! The conversations of somebody who is forgotten. What was said goes; that there was a conversation, when, and what it cost
//! stays, under ids that lead to nobody.

use munshi_blobs::BlobHolder;
use munshi_identity::{PersonalData, codes};
use munshi_store::{Result, Tx, params};
use munshi_types::{MessageId, PersonId, RunId, SessionId, Timestamp};
use uuid::Uuid;

use crate::{human_requests, linking, outbox, personal_records, presence, reach, stored_prompts, whispers};

pub const PERSONAL_DATA: &[PersonalData] = &[
    PersonalData {
        name: "messages",
        list_next: list_messages,
        show: personal_records::show_message,
        erase: erase_messages,
    },
    PersonalData {
        name: "handovers",
        list_next: list_handoffs,
        show: personal_records::show_handoff,
        erase: erase_handoffs,
    },
    PersonalData {
        name: "whispers",
        list_next: whispers::list_of_person,
        show: whispers::show,
        erase: whispers::erase,
    },
    PersonalData {
        name: "requests for a human",
        list_next: human_requests::list_of_person,
        show: human_requests::show,
        erase: human_requests::erase,
    },
    outbox::NOTICE_DATA,
    outbox::opt_outs::OPT_OUT_DATA,
    reach::REACH_DATA,
    PersonalData { name: "runs", list_next: list_runs, show: personal_records::show_run, erase: erase_runs },
    PersonalData {
        name: "conversations",
        list_next: list_sessions,
        show: personal_records::show_session,
        erase: erase_sessions,
    },
];

/// Somebody's runs that have not ended.
pub fn list_open_runs(tx: &mut Tx<'_>, person: PersonId) -> Result<Vec<RunId>> {
    tx.all(
        "SELECT id FROM runs WHERE tenant_id = $1 AND person_id = $2 AND ended_at IS NULL ORDER BY id",
        params![person],
        |row| row.get(0),
    )
}

/// Whether somebody works on a run of theirs.
pub fn has_held_run(tx: &mut Tx<'_>, person: PersonId) -> Result<bool> {
    let found = tx.optional(
        "SELECT 1 FROM runs WHERE tenant_id = $1 AND person_id = $2 AND ended_at IS NULL AND lease_until IS NOT NULL
         LIMIT 1",
        params![person],
        |_| Ok(()),
    )?;
    Ok(found.is_some())
}

/// Ends somebody's runs where they are. Whoever holds one holds an older epoch from here on, and can write nothing more.
pub fn end_open_runs(tx: &mut Tx<'_>, person: PersonId, now: Timestamp) -> Result<u64> {
    tx.execute(
        "UPDATE runs SET state = 'halted', epoch = epoch + 1, lease_until = NULL, holder = NULL, due_at = NULL,
                ended_at = $3
         WHERE tenant_id = $1 AND person_id = $2 AND ended_at IS NULL",
        params![person, now],
    )
}

/// How far they have read, and that they type, in other people's conversations too: a colleague's signs stand there.
pub fn forget_presence(tx: &mut Tx<'_>, person: PersonId) -> Result<()> {
    presence::forget_person(tx, person)
}

/// As many as leave the index together, too.
fn list_messages(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    let mut messages = tx.all(
        "SELECT m.id FROM sessions s JOIN messages m ON m.tenant_id = $1 AND m.session_id = s.id
         WHERE s.tenant_id = $1 AND s.person_id = $2 AND m.id > $3 ORDER BY m.id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )?;
    messages.truncate(munshi_index::count_removable(tx, &messages)?);
    Ok(messages)
}

fn erase_messages(tx: &mut Tx<'_>, messages: &[Uuid]) -> Result<u64> {
    // First: see the index's own rule.
    munshi_index::remove(tx, messages)?;
    outbox::delete_delivery_alerts(tx, messages)?;
    let mut erased = 0;
    for &id in messages {
        munshi_blobs::release(tx, BlobHolder::Message(MessageId::from_uuid(id)))?;
        tx.send("DELETE FROM outbox WHERE tenant_id = $1 AND message_id = $2", params![id])?;
        erased += tx.execute("DELETE FROM messages WHERE tenant_id = $1 AND id = $2", params![id])?;
    }
    Ok(erased)
}

fn list_handoffs(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT h.id FROM sessions s JOIN handoffs h ON h.tenant_id = $1 AND h.session_id = s.id
         WHERE s.tenant_id = $1 AND s.person_id = $2 AND h.id > $3 ORDER BY h.id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

fn erase_handoffs(tx: &mut Tx<'_>, handoffs: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for id in handoffs {
        erased += tx.execute("DELETE FROM handoffs WHERE tenant_id = $1 AND id = $2", params![*id])?;
    }
    Ok(erased)
}

fn list_runs(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM runs WHERE tenant_id = $1 AND id > $3 AND person_id = $2 ORDER BY id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

/// A run stays as what was spent on it; that its message was taken stays too, as a keyed hash, or a late retry of the channel's would
/// begin it anew. See [`remove_outside_ids`].
pub(crate) fn erase_runs(tx: &mut Tx<'_>, runs: &[Uuid]) -> Result<u64> {
    let mut erased = 0;
    for id in runs {
        tx.send("DELETE FROM run_steps WHERE tenant_id = $1 AND run_id = $2", params![*id])?;
        tx.send("DELETE FROM brought WHERE tenant_id = $1 AND run_id = $2", params![*id])?;
        tx.send("DELETE FROM late_acts WHERE tenant_id = $1 AND run_id = $2", params![*id])?;
        stored_prompts::erase_of_run(tx, *id)?;
        munshi_llm::calls::erase_words(tx, *id)?;
        erased += tx.execute(
            (
                "UPDATE runs SET reply_to = NULL, reason = NULL, snapshot = '{}', result = NULL, emptied = TRUE
                 WHERE tenant_id = $1 AND id = $2
                   AND (NOT emptied OR reply_to IS NOT NULL OR reason IS NOT NULL OR snapshot <> '{}' OR result IS NOT NULL)",
                "UPDATE runs SET reply_to = NULL, reason = NULL, snapshot = '{}'::jsonb, result = NULL, emptied = TRUE
                 WHERE tenant_id = $1 AND id = $2
                   AND (NOT emptied OR reply_to IS NOT NULL OR reason IS NOT NULL OR snapshot <> '{}'::jsonb
                        OR result IS NOT NULL)",
            ),
            params![*id],
        )?;
    }
    Ok(erased)
}

/// Takes from somebody's runs the keyed hashes of what channels called their messages, and says from how many. For when no channel sends one
/// of them again: whoever has the key of hashes could try ids out on them.
pub fn remove_outside_ids(tx: &mut Tx<'_>, person: PersonId, limit: u32) -> Result<u64> {
    tx.execute(
        "UPDATE runs SET outside_id = NULL WHERE tenant_id = $1 AND id IN (
           SELECT id FROM runs WHERE tenant_id = $1 AND person_id = $2 AND outside_id IS NOT NULL AND ended_at IS NOT NULL
           ORDER BY id LIMIT $3)",
        params![person, limit],
    )
}

fn list_sessions(tx: &mut Tx<'_>, person: PersonId, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM sessions WHERE tenant_id = $1 AND person_id = $2 AND id > $3 ORDER BY id LIMIT $4",
        params![person, after, limit],
        |row| row.get(0),
    )
}

/// Has the search index get another key, which destroys every other one that there is of it: an older copy of the store of keys may have
/// brought one back that was destroyed after somebody was forgotten.
pub fn expire_search_key(tx: &mut Tx<'_>) -> Result<()> {
    munshi_index::expire_key(tx)
}

/// Behind their messages. Whatever they ever wrote may stand in older copies of the search index, also what was archived since.
fn erase_sessions(tx: &mut Tx<'_>, sessions: &[Uuid]) -> Result<u64> {
    munshi_index::expire_key(tx)?;
    let mut erased = 0;
    for id in sessions {
        codes::delete_of_asker(tx, &linking::asker(SessionId::from_uuid(*id)))?;
        presence::forget_reads(tx, SessionId::from_uuid(*id))?;
        erased += tx.execute(
            (
                "UPDATE sessions SET reply_to = NULL, summary = NULL, entities = '{}', masked = NULL, aside = NULL, active = NULL,
                        draft = NULL
                 WHERE tenant_id = $1 AND id = $2
                   AND (reply_to IS NOT NULL OR summary IS NOT NULL OR entities <> '{}' OR masked IS NOT NULL
                        OR aside IS NOT NULL OR active IS NOT NULL OR draft IS NOT NULL)",
                "UPDATE sessions SET reply_to = NULL, summary = NULL, entities = '{}'::jsonb, masked = NULL, aside = NULL,
                        active = NULL, draft = NULL
                 WHERE tenant_id = $1 AND id = $2
                   AND (reply_to IS NOT NULL OR summary IS NOT NULL OR entities <> '{}'::jsonb OR masked IS NOT NULL
                        OR aside IS NOT NULL OR active IS NOT NULL OR draft IS NOT NULL)",
            ),
            params![*id],
        )?;
    }
    Ok(erased)
}
