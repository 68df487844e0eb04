//! What came, as the store keeps it until it is taken in.

use munshi_identity::persons::{self, AddressHash};
use munshi_jobs::{JobQueue, NewJob, Priority};
use munshi_store::{JsonText, Result, Row, SealedBy, SealedColumn, SealedText, Tx, params};
use munshi_types::tier::Channel;
use munshi_types::{DeliveryId, IdGenerator, JobId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::event::ChannelEvent;
use super::forget::list_sender_addresses;
use crate::accounts::ChannelAccountName;
use crate::links::json::describe_fault;

/// Takes in what waits; see [`super::take`].
pub const KIND: &str = "channels.take";

/// So often it is tried, over some hours: what one provider's outage holds up is taken in when that ends.
pub(super) const TRIES: u32 = 24;
/// Beyond that the job has some to spare: one that dies at the last try must not leave anything that stands in the way of all that follow.
const SPARE: u32 = 8;

/// Of somebody forgotten it is gone, and ended as such.
const BODY: SealedColumn = SealedColumn::new("channel_arrivals", "body").forgotten_as_null();
const DETAIL: SealedColumn = SealedColumn::new("channel_arrivals", "detail");

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ArrivalPayload {
    pub arrival: DeliveryId,
    #[serde(flatten)]
    pub tries: ArrivalTries,
}

/// What earlier jobs have tried, where one was put off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ArrivalTries {
    /// How often it was tried to take it in.
    pub spent: u32,
    /// How often a file of it could not be had.
    pub files: u32,
}

/// How something that came ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArrivalEnding {
    Taken,
    /// Nothing is to be done with it, and why.
    PassedOver(String),
    /// It can never be taken in, and why.
    Failed(String),
}

/// Something that waits, without what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingArrival {
    pub id: DeliveryId,
    pub account: ChannelAccountName,
    pub lane: Uuid,
    /// The job that began with it.
    pub job: Option<JobId>,
    pub received_at: Timestamp,
}

/// What came of storing what a provider told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredArrivals {
    pub stored: usize,
    /// Told before.
    pub known: usize,
}

/// Stores what a provider told, each event once, with the jobs that take it in.
pub fn store(
    tx: &mut Tx<'_>,
    (queue, ids): (&JobQueue, &IdGenerator),
    account: (&ChannelAccountName, Channel),
    events: &[ChannelEvent],
    now: Timestamp,
) -> munshi_jobs::Result<StoredArrivals> {
    let mut outcome = StoredArrivals::default();
    for event in events {
        match add(tx, ids, account, event, now)? {
            Some(id) => {
                enqueue_job(tx, queue, id)?;
                outcome.stored += 1;
            }
            None => outcome.known += 1,
        }
    }
    Ok(outcome)
}

/// None where it was told before.
fn add(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    (account, channel): (&ChannelAccountName, Channel),
    event: &ChannelEvent,
    now: Timestamp,
) -> Result<Option<DeliveryId>> {
    let id: DeliveryId = ids.next();
    let key = hash(tx, "channel_arrivals.event", &[account.as_str(), &event.id])?;
    let lane = hash(tx, "channel_arrivals.lane", &[account.as_str(), &event.lane])?;
    let addresses = list_sender_addresses(channel, event);
    let senders: Vec<AddressHash> =
        addresses.iter().map(|address| persons::hash_address(tx, address)).collect::<Result<_>>()?;
    // Where somebody is known already, what they say goes with their key, in every copy.
    let by = persons::find_seal_by_address(tx, &senders)?.unwrap_or(SealedBy::Tenant);
    let body = tx.seal_json(by, BODY.cell(id), event)?;
    let senders = if senders.is_empty() { None } else { Some(JsonText::of(&senders)?) };
    let added = tx.execute(
        "INSERT INTO channel_arrivals (tenant_id, id, account, event_key, lane, senders, kind, state, body, happened_at, received_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', $8, $9, $10)
         ON CONFLICT (tenant_id, event_key) DO NOTHING",
        params![
            id,
            account.as_str(),
            key,
            lane,
            senders,
            event.what.kind(),
            body.as_str(),
            event.happened_at,
            now
        ],
    )?;
    Ok((added == 1).then_some(id))
}

pub(super) fn enqueue_job(tx: &mut Tx<'_>, queue: &JobQueue, arrival: DeliveryId) -> munshi_jobs::Result<()> {
    queue.enqueue(tx, &build_job(arrival, ArrivalTries::default())?).map(drop)
}

/// Has it taken in later, by a job of its own: no other takes it meanwhile, and what waits behind it goes on waiting.
pub(super) fn put_off(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    (arrival, tries): (DeliveryId, ArrivalTries),
    until: Timestamp,
) -> munshi_jobs::Result<()> {
    let job = queue.enqueue(tx, &build_job(arrival, tries)?.run_at(until))?;
    Ok(mark_taking(tx, arrival, job.id())?)
}

fn build_job(arrival: DeliveryId, tries: ArrivalTries) -> munshi_jobs::Result<NewJob> {
    let job = NewJob::new(KIND, &ArrivalPayload { arrival, tries })?.priority(Priority::Urgent);
    Ok(job.attempts(TRIES + SPARE))
}

/// What a job is for; none where it was taken in already.
pub(super) fn find_waiting(tx: &mut Tx<'_>, id: DeliveryId) -> Result<Option<WaitingArrival>> {
    tx.optional(
        "SELECT id, account, lane, job, received_at FROM channel_arrivals
         WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL",
        params![id],
        read,
    )
}

/// The first of what waits in a lane, and the one behind it: a chat may have waited long, and each of its messages looks here. Held until the
/// transaction ends, so that whoever just ends one of them is waited for.
pub(super) fn lock_lane(tx: &mut Tx<'_>, lane: Uuid) -> Result<Vec<WaitingArrival>> {
    tx.all(
        (
            "SELECT id, account, lane, job, received_at FROM channel_arrivals
             WHERE tenant_id = $1 AND lane = $2 AND ended_at IS NULL
             ORDER BY CASE state WHEN 'taking' THEN 0 ELSE 1 END, COALESCE(happened_at, received_at), id
             LIMIT 2",
            "SELECT id, account, lane, job, received_at FROM channel_arrivals
             WHERE tenant_id = $1 AND lane = $2 AND ended_at IS NULL
             ORDER BY CASE state WHEN 'taking' THEN 0 ELSE 1 END, COALESCE(happened_at, received_at), id
             LIMIT 2 FOR UPDATE",
        ),
        params![lane],
        read,
    )
}

fn read(row: &Row<'_>) -> Result<WaitingArrival> {
    let account: String = row.get("account")?;
    Ok(WaitingArrival {
        id: row.get("id")?,
        account: account.parse().map_err(|error| munshi_store::Error::Decode(format!("{error}")))?,
        lane: row.get("lane")?,
        job: row.get("job")?,
        received_at: row.get("received_at")?,
    })
}

/// Says which job is at it.
pub(super) fn mark_taking(tx: &mut Tx<'_>, id: DeliveryId, job: JobId) -> Result<()> {
    tx.execute(
        "UPDATE channel_arrivals SET state = 'taking', job = $3 WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL",
        params![id, job],
    )?;
    Ok(())
}

/// What it says; none where that has gone.
pub(super) fn load_event(tx: &mut Tx<'_>, id: DeliveryId) -> Result<Option<ChannelEvent>> {
    let body = tx.optional(
        "SELECT body FROM channel_arrivals WHERE tenant_id = $1 AND id = $2",
        params![id],
        |row| row.get_sealed::<Option<String>>("body", BODY.cell(id)),
    )?;
    let Some(body) = body.flatten() else { return Ok(None) };
    serde_json::from_str(&body).map(Some).map_err(|error| {
        munshi_store::Error::Decode(format!("what a channel told is {}", describe_fault(&error)))
    })
}

/// Ends it, and makes the job of what waits behind it. Whoever calls holds nothing of the lane yet.
pub(super) fn end(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    arrival: &WaitingArrival,
    ending: &ArrivalEnding,
    now: Timestamp,
) -> munshi_jobs::Result<()> {
    lock_lane(tx, arrival.lane)?;
    let (state, why) = match ending {
        ArrivalEnding::Taken => ("taken", None),
        ArrivalEnding::PassedOver(why) => ("passed_over", Some(why)),
        ArrivalEnding::Failed(why) => ("failed", Some(why)),
    };
    let detail = why.map(|why| tx.seal(SealedBy::Tenant, DETAIL.cell(arrival.id), why)).transpose()?;
    let detail = detail.map(SealedText::into_text);
    // What could not be taken in is kept for whoever looks why; of the rest is kept that it came, so that it is not taken again.
    let keeps = matches!(ending, ArrivalEnding::Failed(_));
    tx.execute(
        "UPDATE channel_arrivals
         SET state = $3, detail = $4, ended_at = $5, body = CASE WHEN $6 THEN body ELSE NULL END,
             senders = CASE WHEN $6 THEN senders ELSE NULL END
         WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL",
        params![arrival.id, state, detail, now, keeps],
    )?;
    // Looked at only now: what stood second may be gone, since whoever forgets somebody ends what is theirs.
    match lock_lane(tx, arrival.lane)?.first() {
        Some(next) => enqueue_job(tx, queue, next.id),
        None => Ok(()),
    }
}

fn hash(tx: &Tx<'_>, purpose: &str, words: &[&str]) -> Result<Uuid> {
    let hashed = tx.hash(purpose, words.join("\0").as_bytes())?;
    let mut half = [0; 16];
    half.copy_from_slice(&hashed[..16]);
    Ok(Uuid::from_bytes(half))
}

#[cfg(test)]
mod tests {
    use munshi_test_support::on_both_engines;
    use munshi_types::Clock;

    use super::*;
    use crate::incoming::ChannelHappening;

    fn build_notice(at: i64) -> ChannelEvent {
        let what = ChannelHappening::Notice { what: "a limit".to_owned() };
        // Told in no order.
        let happened_at = Some(Timestamp::from_micros(1_000_000 + (at * 7) % 40));
        ChannelEvent { id: at.to_string(), lane: "account".to_owned(), happened_at, what }
    }

    on_both_engines! {
        with all munshi_test_app::list_migrations(&[crate::MIGRATIONS]);

        async fn two_of_a_long_lane_are_read_and_all_of_it_is_gone_through(test: TestDb) {
            let tenant = test.add_tenant("sharma").await;
            let (queue, ids, now) = (JobQueue::new(test.clock.clone(), test.ids.clone()), test.ids.clone(), test.clock.now());
            let unit = move |tx: &mut Tx<'_>| {
                let account: ChannelAccountName = "bot".parse().unwrap();
                let events: Vec<ChannelEvent> = (0..40).map(build_notice).collect();
                store(tx, (&queue, &ids), (&account, Channel::Telegram), &events, now)?;
                let lane = hash(tx, "channel_arrivals.lane", &["bot", "account"])?;
                let mut seen = Vec::new();
                while let Some(first) = lock_lane(tx, lane)?.first().cloned() {
                    let waiting = lock_lane(tx, lane)?;
                    assert!(waiting.len() <= 2, "{}", waiting.len());
                    let event = load_event(tx, first.id)?.unwrap();
                    seen.push(event.happened_at.unwrap());
                    if let Some(second) = waiting.get(1) {
                        // What was begun goes on before what came earlier.
                        mark_taking(tx, second.id, ids.next())?;
                        assert_eq!(lock_lane(tx, lane)?[0].id, second.id);
                        tx.execute("UPDATE channel_arrivals SET state = 'waiting' WHERE tenant_id = $1 AND id = $2", params![second.id])?;
                    }
                    end(tx, &queue, &first, &ArrivalEnding::Taken, now)?;
                }
                let told: Vec<i64> = (0..40).map(|at| 1_000_000 + at).collect();
                assert_eq!(seen.iter().map(|at| at.as_micros()).collect::<Vec<_>>(), told);
                Ok::<_, munshi_jobs::Error>(())
            };
            test.db.write(tenant, unit).await.unwrap();
        }
    }
}
