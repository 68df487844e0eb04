//! Runs: a turn's durable work, who holds it, and which comes next in its session.
//!
//! Whoever works on a run holds it under a lease and an epoch. Taking it up raises the epoch, and every write names the
//! one it was made under, so that a process which was thought dead can write nothing more. Runs of one session follow
//! each other by the number of their message; one that waits for a person stands in nobody's way.

mod cause;
mod end;
mod ended;
mod lease;
mod view;
mod waiting;

pub use cause::{RunCause, RunLane, ServicePrincipal};
pub use end::find_next_claimed;
pub(crate) use end::{EndedRun, LeftSnapshot, RunEndUpdate, end};
pub use ended::COLLEAGUE;
pub(crate) use ended::{add_halted, add_of_colleague};
pub(crate) use lease::advance;
pub use lease::{
    CancelRequestOutcome, RunLeaseRenewal, RunRecoveryScope, claim, claim_bare, claim_due, claim_from_dead,
    claim_from_holder, is_any_due, release, release_of_holder, renew, request_cancel, supersede,
};
pub use view::{RunFilter, RunView, list};
pub use waiting::{claim_waiting, list_waiting, list_waiting_for_person};

use std::str::FromStr;
use std::time::Duration;

use munshi_identity::persons::seal_by_person;
use munshi_pack::RunDelegator;
use munshi_store::{Result, Row, SealedColumn, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, HolderId, KeyId, MessageId, PersonId, ReplyAddress, ReservationId, RunId, SessionId, TenantId,
    Timestamp,
};

use crate::columns::{
    encode_json, read_enum, read_halt, read_optional_json, read_optional_sealed_json, read_sealed_json,
};
use crate::key_use::KeyUse;
use crate::sealing::seal_optional_json;
use crate::snapshot::RunSnapshot;
use crate::state::{HaltReason, RunState};

pub(crate) const SNAPSHOT: SealedColumn = SealedColumn::new("runs", "snapshot");
pub(crate) const REASON: SealedColumn = SealedColumn::new("runs", "reason").forgotten_as_null();
pub(crate) const RESULT: SealedColumn = SealedColumn::new("runs", "result").forgotten_as_null();
pub(crate) const REPLY_TO: SealedColumn = SealedColumn::new("runs", "reply_to").forgotten_as_null();

/// What a hashed id of a message begins with.
const HASHED: &str = "h1:";

/// How long a run is held before somebody else may take it up.
pub const LEASE: Duration = Duration::from_secs(30);

/// The kind of run in which acts are rehearsed and not done.
pub const REHEARSAL: &str = "rehearsal";
/// The kind of run that a message makes.
pub const MESSAGE: &str = "message";

/// The kind of run that the result of an act makes which its turn no longer waited for.
pub const LATE: &str = "late";

/// From when, and by which process, a run is held. A bare time is nobody's in particular.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTerms {
    pub now: Timestamp,
    pub holder: Option<HolderId>,
}

impl From<Timestamp> for LeaseTerms {
    fn from(now: Timestamp) -> Self {
        Self { now, holder: None }
    }
}

/// The proof that somebody works on a run. Written down under an older epoch, nothing counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunLease {
    pub tenant: TenantId,
    pub run: RunId,
    pub epoch: i64,
    /// When it passes unless it is renewed, by the clock of whoever took it.
    pub until: Timestamp,
}

/// A run's part in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConversation {
    pub session: SessionId,
    /// Its message's place in the session.
    pub number: i64,
    pub binding: BindingId,
    pub person: PersonId,
    pub message: MessageId,
    pub channel: Channel,
    /// Where the answer goes when nobody waits for it.
    pub reply_to: Option<ReplyAddress>,
}

/// A run as those who work on it see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub kind: String,
    pub cause: RunCause,
    pub lane: RunLane,
    /// The run that began it.
    pub parent: Option<RunId>,
    /// As whom it acts where nobody typed anything.
    pub principal: Option<ServicePrincipal>,
    /// None for a run that takes part in no conversation.
    pub conversation: Option<RunConversation>,
    pub state: RunState,
    pub halt: Option<HaltReason>,
    pub epoch: i64,
    /// None while nobody works on it.
    pub lease_until: Option<Timestamp>,
    pub snapshot: RunSnapshot,
    pub reservation: Option<ReservationId>,
    pub reply: Option<MessageId>,
    pub cancel_asked: bool,
    pub began_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The API key that its message came through.
    pub key_use: Option<KeyUse>,
}

impl Run {
    /// What it says and hears; an error for a run that takes part in no conversation.
    pub fn conversation(&self) -> crate::error::Result<&RunConversation> {
        self.conversation.as_ref().ok_or(crate::error::Error::NoConversation(self.id))
    }

    pub fn session(&self) -> Option<SessionId> {
        self.conversation.as_ref().map(|conversation| conversation.session)
    }

    pub fn binding(&self) -> Option<BindingId> {
        let own = self.conversation.as_ref().map(|conversation| conversation.binding);
        own.or_else(|| self.delegator()?.binding)
    }

    /// Whose message it answers, or on whose behalf it acts.
    pub fn person(&self) -> Option<PersonId> {
        let own = self.conversation.as_ref().map(|conversation| conversation.person);
        own.or_else(|| Some(self.delegator()?.person))
    }

    /// On whose behalf it acts where nobody typed anything.
    pub fn delegator(&self) -> Option<&RunDelegator> {
        self.principal.as_ref()?.delegator.as_ref()
    }

    /// The key of the program whose words its message has.
    pub fn program_key(&self) -> Option<KeyId> {
        self.key_use.as_ref().and_then(KeyUse::program_key)
    }

    pub fn lease(&self, tenant: TenantId) -> RunLease {
        let until = self.lease_until.unwrap_or(self.began_at);
        RunLease { tenant, run: self.id, epoch: self.epoch, until }
    }
}

impl FromStr for RunState {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| format!("unknown run state `{text}`"))
    }
}

pub fn find(tx: &mut Tx<'_>, id: RunId) -> Result<Option<Run>> {
    tx.optional(
        "SELECT id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason, epoch,
                lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use, cause, parent_id, principal,
                lane
         FROM runs WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

/// Those of a session that have not ended, the oldest first.
pub fn list_open(tx: &mut Tx<'_>, session: SessionId) -> Result<Vec<Run>> {
    tx.all(
        "SELECT id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason, epoch,
                lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use, cause, parent_id, principal,
                lane
         FROM runs WHERE tenant_id = $1 AND session_id = $2 AND number > 0 AND ended_at IS NULL ORDER BY number",
        params![session],
        read,
    )
}

/// So many at most that stand behind a place in the session and wait for nobody's answer, the oldest first.
pub(crate) fn list_under_way_after(
    tx: &mut Tx<'_>,
    session: SessionId,
    behind: i64,
    most: usize,
) -> Result<Vec<Run>> {
    tx.all(
        "SELECT id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason, epoch,
                lease_until, snapshot, reservation, reply_id, cancel_asked, began_at, ended_at, key_use, cause, parent_id, principal,
                lane
         FROM runs
         WHERE tenant_id = $1 AND session_id = $2 AND number > $3 AND ended_at IS NULL AND state <> 'waiting_approval'
         ORDER BY number LIMIT $4",
        params![session, behind, u32::try_from(most).unwrap_or(u32::MAX)],
        read,
    )
}

/// The same without what it carries, for one of which that can't be read.
pub fn find_without_snapshot(tx: &mut Tx<'_>, id: RunId) -> Result<Option<Run>> {
    tx.optional(
        "SELECT id, session_id, number, binding_id, person_id, message_id, kind, channel, reply_to, state, reason, epoch,
                lease_until, reservation, reply_id, cancel_asked, began_at, ended_at, key_use, cause, parent_id, principal, lane
         FROM runs WHERE tenant_id = $1 AND id = $2",
        params![id],
        |row| read_with(row, RunSnapshot::default(), Unreadable::IsNone),
    )
}

/// A run as its message makes it.
pub struct NewRun<'a> {
    pub id: RunId,
    pub session: SessionId,
    pub number: i64,
    pub binding: BindingId,
    pub person: PersonId,
    pub message: MessageId,
    pub kind: &'a str,
    pub key_use: Option<&'a KeyUse>,
    pub channel: Channel,
    pub outside_id: &'a str,
    pub reply_to: Option<&'a ReplyAddress>,
    pub reservation: Option<ReservationId>,
    pub holder: Option<HolderId>,
    /// Whether somebody here has a place for it.
    pub may_begin: bool,
    pub now: Timestamp,
}

/// Stores a run. Where nothing is before it in its session and there is a place for it, it is held at once and the epoch is
/// 1; else it waits, 0. The
/// session is held by the caller, so that nobody ends the run before it meanwhile. Nothing begins for somebody who was forgotten
/// since they were looked up.
pub fn add(tx: &mut Tx<'_>, run: &NewRun<'_>) -> Result<i64> {
    let outside_id = hash_outside_id(tx, run.channel, run.outside_id)?;
    let by = seal_by_person(tx, run.person)?;
    let reply_to = seal_optional_json(tx, by, REPLY_TO.cell(run.id), run.reply_to)?;
    let epoch = tx.optional(
        (
            "INSERT INTO runs (tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel,
               outside_id, reply_to, reservation, began_at, state, epoch, lease_until, snapshot, cancel_asked, key_use, holder)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'created', ahead.of_it IS NULL AND $17,
                    CASE WHEN ahead.of_it IS NULL AND $17 THEN $14 END, '{}', FALSE, $15, $16
             FROM (SELECT max(r.number) AS of_it FROM runs r WHERE r.tenant_id = $1 AND r.session_id = $3
                     AND r.number > 0 AND r.ended_at IS NULL AND r.state <> 'waiting_approval') AS ahead
             WHERE NOT EXISTS (SELECT 1 FROM persons p
                               WHERE p.tenant_id = $1 AND p.id = $6 AND p.forgotten_at IS NOT NULL)
             RETURNING epoch",
            "INSERT INTO runs (tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel,
               outside_id, reply_to, reservation, began_at, state, epoch, lease_until, snapshot, cancel_asked, key_use, holder)
             SELECT $1, $2::uuid, $3::uuid, $4::bigint, $5::uuid, $6::uuid, $7::uuid, $8::text, $9::text, $10::text,
                    $11::jsonb, $12::uuid, $13::timestamptz, 'created',
                    CASE WHEN ahead.of_it IS NULL AND $17::boolean THEN 1 ELSE 0 END,
                    CASE WHEN ahead.of_it IS NULL AND $17::boolean THEN $14::timestamptz END, '{}', FALSE, $15::jsonb, $16::uuid
             FROM (SELECT max(r.number) AS of_it FROM runs r WHERE r.tenant_id = $1 AND r.session_id = $3::uuid
                     AND r.number > 0 AND r.ended_at IS NULL AND r.state <> 'waiting_approval') AS ahead
             WHERE NOT EXISTS (SELECT 1 FROM persons p
                               WHERE p.tenant_id = $1 AND p.id = $6::uuid AND p.forgotten_at IS NOT NULL)
             RETURNING epoch",
        ),
        params![
            run.id,
            run.session,
            run.number,
            run.binding,
            run.person,
            run.message,
            run.kind,
            run.channel.as_str(),
            outside_id,
            reply_to,
            run.reservation,
            run.now,
            run.now.plus(LEASE),
            encode_json(run.key_use)?,
            run.holder,
            run.may_begin
        ],
        |row| row.get(0),
    )?;
    epoch.ok_or_else(forgotten)
}

/// Whoever looks them up again finds somebody new, or nobody.
fn forgotten() -> munshi_store::Error {
    munshi_store::Error::Conflict { constraint: "persons.forgotten_at".to_owned() }
}

/// Stores a run that nobody has begun on and anybody may: at once, or behind what is before it in its session.
pub fn add_unclaimed(tx: &mut Tx<'_>, run: &NewRun<'_>, snapshot: &RunSnapshot) -> Result<()> {
    add(tx, run)?;
    let by = seal_by_person(tx, run.person)?;
    let snapshot = tx.seal_json(by, SNAPSHOT.cell(run.id), snapshot)?;
    tx.execute(
        "UPDATE runs SET snapshot = $3, lease_until = CASE WHEN lease_until IS NULL THEN lease_until ELSE $4 END
         WHERE tenant_id = $1 AND id = $2",
        params![run.id, snapshot, run.now],
    )?;
    Ok(())
}

/// The run right before a number in its session that is still under way.
pub(crate) fn find_preceding(tx: &mut Tx<'_>, session: SessionId, number: i64) -> Result<Option<RunId>> {
    tx.optional(
        "SELECT id FROM runs WHERE tenant_id = $1 AND session_id = $2 AND number < $3 AND ended_at IS NULL
           AND state <> 'waiting_approval' ORDER BY number DESC LIMIT 1",
        params![session, number],
        |row| row.get(0),
    )
}

pub(crate) fn find_session(tx: &mut Tx<'_>, run: RunId) -> Result<Option<SessionId>> {
    tx.optional("SELECT session_id FROM runs WHERE tenant_id = $1 AND id = $2", params![run], |row| {
        row.get(0)
    })
}

/// What stands for the id that a channel gave a message: such ids may hold a phone number or an address. By it a message is
/// known when it comes again, and it says nothing to whoever reads it.
pub(crate) fn hash_outside_id(tx: &Tx<'_>, channel: Channel, id: &str) -> Result<String> {
    let value = [channel.as_str(), id].join("\0");
    let hash = tx.keyring()?.hash(tx.tenant(), "runs.outside_id", value.as_bytes())?;
    Ok(hash.iter().fold(HASHED.to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

/// Whether it is such a hash, or the id as it stood before.
pub(crate) fn is_hashed(id: &str) -> bool {
    id.starts_with(HASHED)
}

/// A message that was taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DuplicateMessage {
    pub run: RunId,
    pub session: SessionId,
    pub message: MessageId,
    pub person: PersonId,
}

pub(crate) fn find_duplicate(
    tx: &mut Tx<'_>,
    binding: BindingId,
    channel: Channel,
    outside_id: &str,
) -> Result<Option<DuplicateMessage>> {
    // Rows from before ids were hashed hold them as they came.
    let hashed = hash_outside_id(tx, channel, outside_id)?;
    tx.optional(
        "SELECT id, session_id, message_id, person_id FROM runs
         WHERE tenant_id = $1 AND binding_id = $2 AND channel = $3 AND outside_id IN ($4, $5)",
        params![binding, channel.as_str(), outside_id, hashed],
        |row| {
            Ok(DuplicateMessage {
                run: row.get(0)?,
                session: row.get(1)?,
                message: row.get(2)?,
                person: row.get(3)?,
            })
        },
    )
}

/// Who has sent a message of this id before, if somebody has.
pub fn find_sender(
    tx: &mut Tx<'_>,
    binding: BindingId,
    channel: Channel,
    outside_id: &str,
) -> Result<Option<PersonId>> {
    Ok(find_duplicate(tx, binding, channel, outside_id)?.map(|taken| taken.person))
}

/// What becomes of a sealed value that can't be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unreadable {
    IsError,
    /// For a run that is only to be ended.
    IsNone,
}

impl Unreadable {
    fn settle<T>(self, value: Result<Option<T>>) -> Result<Option<T>> {
        match value {
            Err(error) if self == Self::IsNone && error.is_unreadable() => Ok(None),
            value => value,
        }
    }
}

fn read(row: &Row<'_>) -> Result<Run> {
    let id: RunId = row.get("id")?;
    read_with(row, read_sealed_json(row, "snapshot", SNAPSHOT.cell(id))?, Unreadable::IsError)
}

fn read_with(row: &Row<'_>, snapshot: RunSnapshot, unreadable: Unreadable) -> Result<Run> {
    let id: RunId = row.get("id")?;
    Ok(Run {
        id,
        kind: row.get("kind")?,
        cause: read_enum(row, "cause")?,
        lane: read_enum(row, "lane")?,
        parent: row.get("parent_id")?,
        principal: read_optional_json(row, "principal")?,
        conversation: read_conversation(row, unreadable)?,
        state: read_enum(row, "state")?,
        halt: unreadable.settle(read_halt(row, REASON.cell(id)))?,
        epoch: row.get("epoch")?,
        lease_until: row.get("lease_until")?,
        snapshot,
        reservation: row.get("reservation")?,
        reply: row.get("reply_id")?,
        cancel_asked: row.get("cancel_asked")?,
        began_at: row.get("began_at")?,
        ended_at: row.get("ended_at")?,
        key_use: read_optional_json(row, "key_use")?,
    })
}

fn read_conversation(row: &Row<'_>, unreadable: Unreadable) -> Result<Option<RunConversation>> {
    let reply_to = REPLY_TO.cell(row.get::<RunId>("id")?);
    let Some(session) = row.get("session_id")? else { return Ok(None) };
    Ok(Some(RunConversation {
        session,
        number: row.get("number")?,
        binding: row.get("binding_id")?,
        person: row.get("person_id")?,
        message: row.get("message_id")?,
        channel: read_enum(row, "channel")?,
        reply_to: unreadable.settle(read_optional_sealed_json(row, "reply_to", reply_to))?,
    }))
}
