//! What must be true after all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use munshi_conversations::outbox;
use munshi_safety::audit;
use munshi_safety::budget::{BudgetSettings, sweep};
use munshi_store::{Db, Result, SealedColumn, Tx, params};
use munshi_types::{ActId, MessageId, RunId, SessionId, TenantId, Timestamp};

use crate::killed::outside::World;
use crate::killed::people::{Message, Sent};

#[derive(Debug)]
struct Run {
    id: RunId,
    outside_id: String,
    state: String,
    reason: Option<String>,
    epoch: i64,
    has_ended: bool,
    reply: Option<MessageId>,
    /// Whether nobody typed it.
    is_work: bool,
}

#[derive(Debug)]
struct Reply {
    id: MessageId,
    run: RunId,
    session: SessionId,
    text: String,
}

#[derive(Debug)]
struct Act {
    id: ActId,
    tool: String,
    state: String,
    attempt: i64,
}

/// Everything the database says in the end.
#[derive(Debug)]
pub(crate) struct Seen {
    runs: Vec<Run>,
    /// In the order they were said.
    replies: Vec<Reply>,
    acts: BTreeMap<RunId, Vec<Act>>,
    /// Acts of which a person is asked whether they happened.
    asked: BTreeSet<ActId>,
    /// What was written inside, as often as it stands there.
    notes: BTreeMap<String, usize>,
    /// What is set aside for messages, and for calls of models.
    held: i64,
    held_for_calls: i64,
    /// What was set aside for calls of models whose process died, and let go by whoever took the run up.
    let_go: i64,
    leased: i64,
    unsent: i64,
    /// The runs that a run began.
    children: BTreeMap<RunId, Vec<RunId>>,
    /// Work on somebody's behalf that came to its end.
    delegated: i64,
    /// Replies that count, and those that were counted.
    whole: i64,
    billed: i64,
}

impl Seen {
    pub(crate) fn unfinished(&self) -> Vec<String> {
        let open = self.runs.iter().filter(|run| !run.has_ended).map(|run| format!("{run:?}"));
        open.chain([format!("{} acts, {} unsent", self.leased, self.unsent)]).collect()
    }
}

pub(crate) async fn look(db: &Db, tenant: TenantId) -> Seen {
    db.read(tenant, read).await.unwrap()
}

/// Which messages came to no answer of their own, and why.
pub(crate) fn set_aside(seen: &Seen) -> Vec<(&str, &str)> {
    let halted = seen.runs.iter().filter(|run| run.state == "halted");
    halted.map(|run| (run.outside_id.as_str(), run.reason.as_deref().unwrap_or_default())).collect()
}

/// What was noted, each once.
pub(crate) fn notes(seen: &Seen) -> BTreeSet<String> {
    assert!(seen.notes.values().all(|times| *times == 1), "{:?}", seen.notes);
    seen.notes.keys().cloned().collect()
}

/// Waits until every run has ended, whatever is still on its way to people.
pub(crate) async fn until_ended(db: &Db, tenant: TenantId) {
    while number(db, tenant, "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL").await > 0
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until nothing is under way.
pub(crate) async fn until_quiet(db: &Db, tenant: TenantId) {
    let open = "SELECT (SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL)
                     + (SELECT COUNT(*) FROM outbox WHERE tenant_id = $1 AND state IN ('waiting', 'sending'))
                     + (SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND state = 'intended')";
    while number(db, tenant, open).await > 0 {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn number(db: &Db, tenant: TenantId, sql: &'static str) -> i64 {
    let read = move |tx: &mut Tx<'_>| -> Result<i64> { tx.one(sql, params![], |row| row.get(0)) };
    db.read(tenant, read).await.unwrap()
}

fn read(tx: &mut Tx<'_>) -> Result<Seen> {
    let runs = tx.all(
        "SELECT r.id, m.outside_id, r.state, r.reason, r.epoch, r.ended_at IS NOT NULL, r.reply_id, r.lane = 'background', m.id
         FROM runs r LEFT JOIN messages m ON m.tenant_id = $1 AND m.id = r.message_id WHERE r.tenant_id = $1",
        params![],
        |row| {
            let (id, message): (RunId, Option<MessageId>) = (row.get(0)?, row.get(8)?);
            let outside_id = SealedColumn::new("messages", "outside_id");
            let outside_id = message.map(|message| row.get_sealed(1, outside_id.cell(message))).transpose()?;
            Ok(Run {
                id,
                outside_id: outside_id.unwrap_or_default(),
                state: row.get(2)?,
                reason: row.get_sealed(3, SealedColumn::new("runs", "reason").cell(id))?,
                epoch: row.get(4)?,
                has_ended: row.get(5)?,
                reply: row.get(6)?,
                is_work: row.get(7)?,
            })
        },
    )?;
    let replies = tx.all(
        "SELECT id, run_id, session_id, text FROM messages WHERE tenant_id = $1 AND speaker = 'persona'
         ORDER BY session_id, number",
        params![],
        |row| {
            let id: MessageId = row.get(0)?;
            let text = row.get_sealed(3, SealedColumn::new("messages", "text").cell(id))?;
            Ok(Reply { id, run: row.get(1)?, session: row.get(2)?, text })
        },
    )?;
    let mut acts: BTreeMap<RunId, Vec<Act>> = BTreeMap::new();
    let rows: Vec<(RunId, Act)> =
        tx.all("SELECT run_id, id, tool, state, attempt FROM acts WHERE tenant_id = $1", params![], |row| {
            let act = Act { id: row.get(1)?, tool: row.get(2)?, state: row.get(3)?, attempt: row.get(4)? };
            Ok((row.get(0)?, act))
        })?;
    rows.into_iter().for_each(|(run, act)| acts.entry(run).or_default().push(act));
    let mut children: BTreeMap<RunId, Vec<RunId>> = BTreeMap::new();
    let of_parents = "SELECT parent_id, id FROM runs WHERE tenant_id = $1 AND parent_id IS NOT NULL";
    let rows: Vec<(RunId, RunId)> = tx.all(of_parents, params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.into_iter().for_each(|(parent, child)| children.entry(parent).or_default().push(child));
    let asked =
        "SELECT act_id FROM approvals WHERE tenant_id = $1 AND kind = 'outcome' AND state = 'pending'";
    let asked: Vec<ActId> = tx.all(asked, params![], |row| row.get(0))?;
    let texts: Vec<String> =
        tx.all("SELECT text FROM notes WHERE tenant_id = $1", params![], |row| row.get(0))?;
    let mut notes = BTreeMap::new();
    texts.into_iter().for_each(|text| *notes.entry(text).or_default() += 1);
    let mut count = |sql| tx.one(sql, params![], |row| row.get::<i64>(0));
    Ok(Seen {
        runs,
        replies,
        acts,
        asked: asked.into_iter().collect(),
        notes,
        held: count("SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1 AND interactions > 0")?,
        held_for_calls: count(
            "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1 AND interactions = 0 AND state = 'held'",
        )?,
        let_go: count("SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1 AND state = 'expired'")?,
        children,
        delegated: count(
            "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND lane = 'background' AND parent_id IS NULL AND person_id IS NOT NULL
               AND state = 'done'",
        )?,
        leased: count("SELECT COUNT(*) FROM act_leases WHERE tenant_id = $1")?,
        unsent: count("SELECT COUNT(*) FROM outbox WHERE tenant_id = $1 AND state <> 'sent'")?,
        whole: count(
            "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona' AND standing = 'whole'",
        )?,
        billed: count(
            "SELECT CAST(COALESCE(SUM(used_interactions), 0) AS BIGINT) FROM usage_counters
             WHERE tenant_id = $1 AND scope = 'tenant' AND period = 'month'",
        )?,
    })
}

/// What the long run tells.
#[derive(Default)]
pub(crate) struct Figures {
    messages: usize,
    sent_again: usize,
    taken_up: usize,
    most_epochs: i64,
    effects: BTreeMap<String, usize>,
    repeated: usize,
    acts_taken_up: usize,
    asked_about: usize,
    replies_repeated: usize,
    let_go: i64,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} messages acknowledged ({} sent again), none lost; {} runs taken up by another process (one {} times); \
             effects {:?}, none doubled ({} repeats under their key, {} acts taken up, {} asked about); no excuse; \
             replies sent again under their key {}; let go of what was set aside for calls that died {}",
            self.messages,
            self.sent_again,
            self.taken_up,
            self.most_epochs - 1,
            self.effects,
            self.repeated,
            self.acts_taken_up,
            self.asked_about,
            self.replies_repeated,
            self.let_go,
        )
    }
}

pub(crate) fn judge(seen: &Seen, sent: &Sent, world: &World) -> Figures {
    let mut figures = Figures { messages: sent.messages.len(), sent_again: sent.again, ..Figures::default() };
    assert!(!sent.messages.is_empty());
    let typed = seen.runs.iter().filter(|run| !run.is_work).count();
    assert_eq!(typed, sent.messages.len(), "one run a message");
    let runs: BTreeMap<RunId, &Run> = seen.runs.iter().map(|run| (run.id, run)).collect();
    let mut replies: BTreeMap<RunId, Vec<&Reply>> = BTreeMap::new();
    seen.replies.iter().for_each(|reply| replies.entry(reply.run).or_default().push(reply));
    for message in &sent.messages {
        let run = runs.get(&message.run).unwrap_or_else(|| panic!("lost: {message:?}"));
        assert_eq!(run.outside_id, message.parcel);
        answered(run, replies.get(&run.id).map_or(&[][..], Vec::as_slice), message, &mut figures);
        done_once(seen, run, message, world, &mut figures);
    }
    delivered(seen, world, &mut figures);
    let open = (seen.held, seen.held_for_calls, seen.leased, seen.unsent);
    assert_eq!(open, (0, 0, 0, 0), "set aside for messages and for calls, leased, unsent");
    assert_eq!(
        seen.billed,
        seen.whole + seen.delegated,
        "every reply that counts is billed, once, and so is work on somebody's behalf"
    );
    figures.let_go = seen.let_go;
    figures
}

/// Work that nobody typed, and its children: each has ended as it should, and did everything once.
pub(crate) fn judge_work(seen: &Seen, work: &[Message], world: &World) {
    let mut figures = Figures::default();
    for errand in work {
        let ends: Vec<&Run> = seen.runs.iter().filter(|run| run.id == errand.run).collect();
        let [run] = ends[..] else { panic!("lost: {errand:?}") };
        assert_eq!((run.state.as_str(), &run.reason), ("done", &None), "{run:?}");
        let own = seen.acts.get(&run.id).into_iter().flatten();
        let children = seen.children.get(&run.id).into_iter().flatten();
        let theirs = children.flat_map(|child| seen.acts.get(child).into_iter().flatten());
        let acts: Vec<&Act> = own.chain(theirs).collect();
        done_once_of(seen, &acts, errand, world, &mut figures);
    }
}

fn answered(run: &Run, replies: &[&Reply], message: &Message, figures: &mut Figures) {
    assert!(run.has_ended, "{run:?}");
    let [reply] = replies else { panic!("{} replies to {message:?}: {replies:?}", replies.len()) };
    assert_eq!(Some(reply.id), run.reply);
    match (run.state.as_str(), &run.reason) {
        ("done", None) => assert_eq!(reply.text, format!("It is done: {}.", message.parcel)),
        _ => panic!("{run:?} ends with an excuse: {}", reply.text),
    }
    figures.taken_up += usize::from(run.epoch > 1);
    figures.most_epochs = figures.most_epochs.max(run.epoch);
}

/// Every tool that a message named did its work once; where nobody can tell, a person is asked.
fn done_once(seen: &Seen, run: &Run, message: &Message, world: &World, figures: &mut Figures) {
    let acts: Vec<&Act> = seen.acts.get(&run.id).into_iter().flatten().collect();
    done_once_of(seen, &acts, message, world, figures);
}

fn done_once_of(seen: &Seen, acts: &[&Act], message: &Message, world: &World, figures: &mut Figures) {
    let ledger = world.ledger.lock().unwrap();
    for tool in &message.tools {
        let about = (tool.to_string(), message.parcel.clone());
        let times = match *tool {
            "note" => seen.notes.get(&message.parcel).copied().unwrap_or_default(),
            _ => ledger.effects.get(&about).map_or(0, Vec::len),
        };
        assert!(times <= 1, "{tool} of {} happened {times} times", message.parcel);
        *figures.effects.entry(about.0).or_default() += times;
        let mut of_tool = acts.iter().filter(|act| act.tool == *tool);
        let (Some(act), None) = (of_tool.next(), of_tool.next()) else {
            panic!("{tool} of {message:?}: {acts:?}");
        };
        figures.acts_taken_up += usize::from(act.attempt > 1);
        let is_write = !matches!(*tool, "count" | "fetch");
        match act.state.as_str() {
            "applied" => assert_eq!(times, usize::from(is_write), "{act:?} of {message:?}"),
            "unknown" => {
                assert!(is_write && seen.asked.contains(&act.id), "nobody is asked about {act:?}");
                figures.asked_about += 1;
            }
            _ => panic!("{act:?} of {message:?}"),
        }
    }
    figures.repeated = ledger.repeats;
}

/// Each reply reached the person it was for, in order, under one key.
fn delivered(seen: &Seen, world: &World, figures: &mut Figures) {
    let ledger = world.ledger.lock().unwrap();
    let mut arrived: Vec<&(String, String, String)> = Vec::new();
    for reply in &ledger.replies {
        match arrived.iter().find(|known| known.0 == reply.0) {
            None => arrived.push(reply),
            Some(known) => assert_eq!(*known, reply, "another message under the same key"),
        }
    }
    figures.replies_repeated = ledger.replies.len() - arrived.len();
    let mut by_session: BTreeMap<SessionId, Vec<String>> = BTreeMap::new();
    seen.replies
        .iter()
        .for_each(|reply| by_session.entry(reply.session).or_default().push(reply.id.to_string()));
    assert_eq!(arrived.len(), seen.replies.len(), "every reply is delivered");
    for keys in by_session.values() {
        let of_session = arrived.iter().filter(|(key, _, _)| keys.contains(key));
        assert_eq!(of_session.map(|(key, _, _)| key.clone()).collect::<Vec<_>>(), *keys, "in order");
    }
}

/// The audit holds together, nothing stands in the outbox, and nothing is held in any counter: what was set aside for calls
/// of models whose process died was let go.
pub(crate) async fn books(db: &Db, tenant: TenantId, seen: &Seen, later: Timestamp) {
    let chain = audit::verify::verify(db, tenant, &[]).await.unwrap();
    assert_eq!(chain.finding, None);
    let acts = seen.acts.values().flatten().count();
    assert!(chain.entries >= i64::try_from(acts).unwrap(), "{} entries of {acts} acts", chain.entries);
    let page = munshi_store::PageRequest::new(None, 10);
    let unsent = db.read(tenant, move |tx| outbox::list_unsent(tx, &page)).await.unwrap();
    assert!(unsent.items.is_empty(), "{unsent:?}");
    let settings = BudgetSettings::default();
    let swept = sweep(db, &settings, later.plus(settings.hold)).await.unwrap();
    assert_eq!(swept.expired, 0);
    let held =
        "SELECT CAST(COALESCE(SUM(held_interactions + held_jobs + held_tokens + held_money), 0) AS BIGINT)
                FROM usage_counters WHERE tenant_id = $1";
    assert_eq!(number(db, tenant, held).await, 0);
}
