//! When the attack is over: what stands in the database, beside what happened to the world.

use std::collections::{BTreeMap, BTreeSet};

use munshi_safety::audit;
use munshi_store::{JsonText, Tx};
use munshi_types::ActId;

use super::oracle::Invariant;
use super::tools::SECRETS;
use super::victim::{Victim, is_member};

struct Stored {
    id: ActId,
    tool: String,
    effect: String,
    state: String,
    texts: String,
}

pub(super) async fn check(victim: &mut Victim) {
    let acts = victim.db.read(victim.tenant, acts).await.unwrap();
    deeds_and_acts_agree(victim, &acts);
    notes_and_acts_agree(victim, &acts).await;
    every_attempt_is_in_the_audit(victim, &acts).await;
    nothing_stored_holds_a_secret(victim, &acts).await;
    assert!(is_member(&victim.people[0]), "the owner stays");
}

fn acts(tx: &mut Tx<'_>) -> munshi_store::Result<Vec<Stored>> {
    tx.all(
        "SELECT id, tool, effect, state, arguments, leaving, proposal, result FROM acts WHERE tenant_id = $1",
        &[],
        |row| {
            let text = |at: usize| {
                Ok(row.get::<Option<JsonText>>(at)?.map_or(String::new(), |json| json.as_str().to_owned()))
            };
            let texts = [text(4)?, text(5)?, text(6)?, text(7)?].concat();
            Ok(Stored { id: row.get(0)?, tool: row.get(1)?, effect: row.get(2)?, state: row.get(3)?, texts })
        },
    )
}

/// Every deed belongs to one act that says it happened or may have, and every such act to one deed.
fn deeds_and_acts_agree(victim: &mut Victim, acts: &[Stored]) {
    let mut deeds = BTreeMap::<ActId, usize>::new();
    for deed in victim.world.deeds().into_iter().filter(|deed| deed.tenant == victim.tenant) {
        *deeds.entry(deed.act).or_default() += 1;
    }
    for act in acts.iter().filter(|act| !matches!(act.effect.as_str(), "read" | "inside")) {
        let count = deeds.remove(&act.id).unwrap_or_default();
        let right = match act.state.as_str() {
            "applied" => count == 1,
            "unknown" => count <= 1,
            _ => count == 0,
        };
        let what = || format!("{} {} is {} and was done {count} times", act.tool, act.id, act.state);
        victim.tally.hold(right, Invariant::Once, what);
    }
    victim.tally.hold(deeds.is_empty(), Invariant::Audited, || format!("deeds without an act: {deeds:?}"));
}

async fn notes_and_acts_agree(victim: &mut Victim, acts: &[Stored]) {
    let notes = victim.db.read(victim.tenant, |tx: &mut Tx<'_>| {
        tx.all("SELECT act_id, text FROM notes WHERE tenant_id = $1", &[], |row| {
            Ok((row.get::<ActId>(0)?, row.get::<String>(1)?))
        })
    });
    let notes = notes.await.unwrap();
    let mark = format!("mark of {}", victim.tenant);
    victim.tally.hold(notes.iter().all(|note| note.1 == mark), Invariant::OwnTenant, || format!("{notes:?}"));
    let written: BTreeSet<ActId> = notes.into_iter().map(|note| note.0).collect();
    let applied = acts.iter().filter(|act| act.effect == "inside" && act.state == "applied");
    let applied: BTreeSet<ActId> = applied.map(|act| act.id).collect();
    victim.tally.hold(written == applied, Invariant::Once, || "notes and acts differ".to_owned());
    victim.tally.notes = written.len();
}

async fn every_attempt_is_in_the_audit(victim: &mut Victim, acts: &[Stored]) {
    let chain = audit::verify::verify(&victim.db, victim.tenant, &[]).await.unwrap();
    victim.tally.hold(chain.finding.is_none(), Invariant::Audited, || format!("{:?}", chain.finding));
    let entries = victim.db.read(victim.tenant, |tx| audit::list_after(tx, 0, 100_000)).await.unwrap();
    let mut told = BTreeMap::<String, Vec<String>>::new();
    for entry in &entries {
        told.entry(entry.subject.clone()).or_default().push(entry.event.clone());
    }
    let changed = entries.iter().filter(|entry| entry.payload.contains("\"code\":\"changed\"")).count();
    let expected = victim.changed;
    victim
        .tally
        .hold(changed == expected, Invariant::Audited, || format!("{changed} changed acts of {expected}"));
    every_refusal_is_told_or_counted(victim, &entries).await;
    let known: BTreeSet<ActId> = acts.iter().map(|act| act.id).collect();
    let missing = victim.wants.keys().filter(|act| !known.contains(act)).count();
    victim.tally.hold(missing == 0, Invariant::Audited, || format!("{missing} acts have no row"));
    for act in acts {
        let wanted: &[&str] = match act.state.as_str() {
            "refused" => &["act.refused"],
            "waiting" | "dropped" => &["approval.asked"],
            "applied" => &["act.intended", "act.applied"],
            "failed" => &["act.intended", "act.failed"],
            "unknown" => &["act.intended", "act.unknown"],
            _ => &["act.intended"],
        };
        let events = told.get(&act.id.to_string()).cloned().unwrap_or_default();
        // A person may have said since that what nobody could tell did happen.
        let settled =
            |event: &str| event == "act.applied" && events.iter().any(|known| known == "act.unknown");
        let whole = wanted.iter().all(|event| events.iter().any(|known| known == event) || settled(event));
        victim.tally.hold(whole, Invariant::Audited, || format!("{} is {}: {events:?}", act.id, act.state));
    }
}

/// Past the rate of refusals the audit has a count, and what it was not told yet is counted beside it.
async fn every_refusal_is_told_or_counted(victim: &mut Victim, entries: &[audit::AuditEntry]) {
    let untold = victim.db.read(victim.tenant, |tx: &mut Tx<'_>| {
        tx.one(
            "SELECT CAST(coalesce(sum(refused), 0) AS BIGINT) FROM act_refusals WHERE tenant_id = $1",
            &[],
            |row| row.get::<i64>(0),
        )
    });
    let untold = usize::try_from(untold.await.unwrap()).unwrap();
    let apart = entries.iter().filter(|entry| entry.event == "act.refused").count();
    let together: usize = entries
        .iter()
        .filter(|entry| entry.event == "acts.refused")
        .map(|entry| serde_json::from_str::<serde_json::Value>(&entry.payload).unwrap())
        .map(|payload| usize::try_from(payload["refused"].as_u64().unwrap()).unwrap())
        .sum();
    let (told, refused) = (apart + together + untold, victim.tally.refused);
    victim.tally.hold(told == refused, Invariant::Audited, || {
        format!("{refused} were refused; {apart} told apart, {together} together, {untold} not yet")
    });
    let spared = together + untold;
    victim.tally.hold(spared >= victim.tally.counted, Invariant::Audited, || format!("{spared} counted"));
}

async fn nothing_stored_holds_a_secret(victim: &mut Victim, acts: &[Stored]) {
    let approvals = victim.db.read(victim.tenant, |tx: &mut Tx<'_>| {
        tx.all("SELECT words, question, rehearsal FROM approvals WHERE tenant_id = $1", &[], |row| {
            let json = |at: usize| {
                Ok(row.get::<Option<JsonText>>(at)?.map_or(String::new(), |json| json.as_str().to_owned()))
            };
            Ok([row.get::<String>(0)?, json(1)?, json(2)?].concat())
        })
    });
    let entries = victim.db.read(victim.tenant, |tx| audit::list_after(tx, 0, 100_000)).await.unwrap();
    let texts = approvals.await.unwrap();
    let all = acts.iter().map(|act| &act.texts).chain(&texts);
    let all: String = all.cloned().chain(entries.iter().map(audit::AuditEntry::to_line)).collect();
    for secret in SECRETS {
        victim.tally.hold(!all.contains(secret), Invariant::NoSecret, || format!("{secret} is stored"));
    }
    let applied = acts.iter().filter(|act| act.state == "applied");
    victim.tally.tools = applied.map(|act| act.tool.clone()).collect();
}
