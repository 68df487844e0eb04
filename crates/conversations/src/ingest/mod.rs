//! A message comes in: stored with its run, once, before anybody is told that it came.

mod draft;
mod hold;
mod outcome;
mod rejection;
mod routed_message;
mod services;
mod subscription;

pub use self::outcome::{IngestOutcome, IngestStatus, TurnStart};
pub use self::routed_message::{Admission, FixedReply, RoutedMessage, SubscriptionRequest};
pub use self::services::IngestServices;

use std::sync::Arc;

use munshi_blobs::references::parse_reference;
use munshi_identity::persons::seal_by_person;
use munshi_identity::{ContactAddress, Person};
use munshi_safety::budget::{BudgetAccount, BudgetLane, BudgetMeasure};
use munshi_safety::rate_limits;
use munshi_store::{Db, Tx};
use munshi_types::{AttachedFile, PersonId, ReservationId, TenantId};

use self::draft::IngestDraft;
use self::rejection::{FixedAnswer, ReplyDelivery, reject_message};
use crate::error::{Error, Result, Rollback};
use crate::messages::{self, Message, MessageStatus};
use crate::runs::{self, NewRun, RunLease};
use crate::sessions::{self, MessageArrival, Session};
use crate::state::HaltReason;
use crate::{client_context, inbound, sender_identity};

/// How often a twin may come at the very same moment before something else must be wrong.
const TRIES: u32 = 4;

/// Takes a message in a unit of its own, once it is seen that it can be taken.
pub async fn receive(
    db: &Db,
    tenant: TenantId,
    ingest_services: &IngestServices,
    incoming: Arc<RoutedMessage>,
) -> Result<IngestOutcome> {
    inbound::validate(&incoming.inbound)?;
    let mut tries = 1;
    loop {
        let (ingest_services, incoming) = (ingest_services.clone(), incoming.clone());
        match db.write(tenant, move |tx| ingest(tx, &ingest_services, &incoming)).await {
            // A twin was quicker between two statements; it has committed, so the next look finds it.
            Err(Error::Store(munshi_store::Error::Conflict { .. })) if tries < TRIES => tries += 1,
            outcome => return outcome,
        }
    }
}

/// Takes a message in one transaction: the same message again gives the same ids and changes nothing. For
/// somebody known this is one statement for the rate limits, one for the person, two for the quota, and one each for session, run and message.
///
/// A [`Conflict`](munshi_store::Error::Conflict) means that the same message came twice at the very same moment: do it
/// again.
fn ingest(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
) -> Result<IngestOutcome> {
    let ingested = ingest_once(tx, ingest_services, incoming)?;
    // What was taken before is counted no second time. Last, so that those who write to one tenant wait for its row as
    // briefly as can be.
    if ingested.status != IngestStatus::SeenBefore {
        rate_limits::consume(tx, &incoming.limits, incoming.now)?;
    }
    Ok(ingested)
}

fn ingest_once(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
) -> Result<IngestOutcome> {
    let inbound = &incoming.inbound;
    let addresses = sender_identity::addresses(inbound)?;
    if let Some(person) = sender_identity::lock_known(tx, inbound, &addresses)? {
        return match try_ingest(tx, ingest_services, incoming, person)? {
            Some(ingested) => Ok(ingested),
            None => load_duplicate(tx, incoming, &addresses),
        };
    }
    if runs::find_duplicate(tx, incoming.binding, inbound.channel, &inbound.outside_id)?.is_some() {
        return load_duplicate(tx, incoming, &addresses);
    }
    let outcome = tx.attempt(|tx| {
        let person =
            sender_identity::find_or_add(tx, &ingest_services.ids, inbound, &addresses, incoming.now)?;
        try_ingest(tx, ingest_services, incoming, person)?.ok_or(Rollback::Because(Twin))
    });
    match outcome {
        Ok(ingested) => Ok(ingested),
        Err(Rollback::Because(Twin)) => load_duplicate(tx, incoming, &addresses),
        Err(Rollback::Failed(error)) => Err(error),
    }
}

/// Another took the message while this waited; nobody new is left behind for it.
struct Twin;

/// The ids of then, for whoever sent it then: nobody learns of another's run by guessing its id.
fn load_duplicate(
    tx: &mut Tx<'_>,
    incoming: &RoutedMessage,
    addresses: &[ContactAddress],
) -> Result<IngestOutcome> {
    let inbound = &incoming.inbound;
    let seen = runs::find_duplicate(tx, incoming.binding, inbound.channel, &inbound.outside_id)?
        .ok_or(Error::NoRun)?;
    if sender_identity::is_same_sender(tx, inbound, addresses, seen.person)? {
        return Ok(seen.into());
    }
    let what = "another sender already used this message id: give each message its own id";
    Err(Error::Unfit(what.to_owned()))
}

/// Why a message goes no further, and what is said about it.
type Shut = (HaltReason, FixedReply);

/// None where the message was taken before; nothing is changed then.
fn try_ingest(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    person: Person,
) -> Result<Option<IngestOutcome>> {
    let shut = match &incoming.door {
        Admission::Open => None,
        Admission::Shut(halt, said) => Some((halt.clone(), said.clone())),
    };
    // What is turned away is not read for anything else.
    let subscription = match shut {
        Some(_) => None,
        None => subscription::find_request(tx, incoming, &person)?,
    };
    let (reservation, shut) = match shut {
        Some(shut) => (None, Some(shut)),
        None if subscription.is_some() => (None, None),
        None => reserve(tx, ingest_services, incoming, &person)?,
    };
    let Some((session, person)) = assign_session(tx, ingest_services, incoming, person)? else {
        if let Some(id) = reservation {
            ingest_services.governor.release(tx, id)?;
        }
        return Ok(None);
    };
    let new = IngestDraft {
        run: ingest_services.ids.next(),
        message: ingest_services.ids.next(),
        session,
        person,
        reservation,
    };
    if let Some(request) = subscription {
        return subscription::apply(tx, ingest_services, incoming, &new, &request).map(Some);
    }
    // What is not kept is said, whoever has the conversation in hand.
    let is_held = new.session.hold.is_some() && incoming.door == Admission::Open;
    if is_held && !hold::takes_back_consent(tx, incoming, &new)? {
        return hold::store_unanswered(tx, ingest_services, incoming, &new).map(Some);
    }
    match shut {
        Some((halt, said)) => {
            let said = FixedAnswer { reply: &said, delivery: ReplyDelivery::Sent };
            reject_message(tx, ingest_services, incoming, &new, halt, said).map(Some)
        }
        None => begin_run(tx, ingest_services, incoming, new).map(Some),
    }
}

/// Sets aside what the turn may use, or as little as a free answer needs. A limit that is reached shuts the door.
fn reserve(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    person: &Person,
) -> Result<(Option<ReservationId>, Option<Shut>)> {
    let account = BudgetAccount {
        binding: Some(incoming.binding),
        person: Some(person.id),
        lane: BudgetLane::People,
        zone: incoming.zone.clone(),
    };
    let mut reserved = ingest_services.governor.reserve(tx, &account, &incoming.max_budget, incoming.now);
    if let (Err(munshi_safety::Error::OverBudget(refused)), Some(least)) = (&reserved, &incoming.min_budget)
        && refused.on.measure != BudgetMeasure::Interactions
    {
        reserved = ingest_services.governor.reserve(tx, &account, least, incoming.now);
    }
    match reserved {
        Ok(reserved) => Ok((Some(reserved.id), None)),
        Err(munshi_safety::Error::OverBudget(refused)) => {
            let said = (incoming.limit_reached)(&refused);
            Ok((None, Some((HaltReason::OverBudget(refused.to_string()), said))))
        }
        Err(error) => Err(error.into()),
    }
}

/// The session with the message numbered in it, and whose it is. None where the message was taken before.
fn assign_session(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    person: Person,
) -> Result<Option<(Session, Person)>> {
    let inbound = &incoming.inbound;
    let mut arrival = MessageArrival {
        binding: incoming.binding,
        person: person.id,
        channel: inbound.channel,
        outside_id: &inbound.outside_id,
        reply_to: inbound.reply_to.as_ref(),
        is_said_for_them: incoming.client_context.is_some()
            || incoming.key_use.as_ref().is_some_and(|key_use| key_use.program_key().is_some()),
        now: incoming.now,
    };
    if let Some(session) = sessions::record_arrival(tx, &arrival)? {
        return Ok(Some((session, person)));
    }
    if runs::find_duplicate(tx, incoming.binding, inbound.channel, &inbound.outside_id)?.is_some() {
        return Ok(None);
    }
    // They may have become one with somebody else since they were found.
    let person = munshi_identity::persons::lock_living(tx, person.id)?.unwrap_or(person);
    arrival.person = person.id;
    let session = sessions::upsert(tx, ingest_services.ids.next(), &arrival)?;
    Ok(Some((session, person)))
}

/// What the message carries. Files of ours must be its sender's, and hang on it from here on.
fn attach_files(
    tx: &mut Tx<'_>,
    message: &Message,
    sender: PersonId,
    incoming: &RoutedMessage,
) -> Result<Vec<AttachedFile>> {
    let attach = |attached: &AttachedFile| match parse_reference(&attached.reference) {
        None => Ok(attached.clone()),
        Some(blob) => {
            munshi_blobs::attach(tx, blob, (sender, message.id), incoming.now).map_err(|error| match error {
                munshi_blobs::Error::Database(error) => Error::Store(error),
                refused => Error::Unfit(refused.to_string()),
            })
        }
    };
    message.attached.iter().map(attach).collect()
}

fn begin_run(
    tx: &mut Tx<'_>,
    ingest_services: &IngestServices,
    incoming: &RoutedMessage,
    new: IngestDraft,
) -> Result<IngestOutcome> {
    let epoch = runs::add(tx, &NewRun { holder: ingest_services.holder, ..new.build_run(incoming) })?;
    let by = seal_by_person(tx, new.person.id)?;
    let message = new.build_message(incoming, MessageStatus::Whole);
    let attached = attach_files(tx, &message, new.person.id, incoming)?;
    messages::add(tx, by, &Message { attached, ..message })?;
    if let Some(client_context) = &incoming.client_context {
        client_context::add(tx, (new.run, by), client_context, incoming.now)?;
    }
    if epoch == 0 {
        let behind = runs::find_preceding(tx, new.session.id, new.session.messages)?;
        return Ok(new.build_outcome(IngestStatus::Queued { behind }));
    }
    let ingested = new.build_outcome(IngestStatus::Begun);
    let until = incoming.now.plus(runs::LEASE);
    let lease = RunLease { tenant: tx.tenant(), run: new.run, epoch, until };
    let IngestDraft { session, person, reservation, .. } = new;
    Ok(IngestOutcome { begun: Some(Box::new(TurnStart { lease, session, person, reservation })), ..ingested })
}
