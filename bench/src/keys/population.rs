//! Persons who have written a few times, each with a key of their own.

use std::time::Duration;

use munshi_identity::ContactAddress;
use munshi_identity::persons;
use munshi_store::{Db, Error, Result, Tx};
use munshi_types::{BindingId, Clock, IdGenerator, SystemClock, TenantId, Timestamp};

use crate::planted_thread::PlantedThread;

/// What each has said.
pub(super) const MESSAGES: usize = 4;
/// Persons in one transaction.
const AT_ONCE: usize = 1_000;
const SAID: &str = "Rajan took 2 kg of atta and 1 litre of oil on credit, will pay on Saturday.";

pub(super) async fn plant(db: &Db, tenant: TenantId, count: usize) -> Result<()> {
    let binding = IdGenerator::system().next();
    for from in (0..count).step_by(AT_ONCE) {
        let (mut numbers, now) = (from..(from + AT_ONCE).min(count), SystemClock.now());
        let add = move |tx: &mut Tx<'_>| numbers.try_for_each(|number| add_person(tx, binding, number, now));
        db.write(tenant, add).await?;
    }
    Ok(())
}

/// Theirs by their number.
pub(super) fn phone_of(number: usize) -> Result<ContactAddress> {
    ContactAddress::phone(&format!("+9198{number:08}")).map_err(|error| Error::Refused(error.to_string()))
}

/// As their first message makes them.
fn add_person(tx: &mut Tx<'_>, binding: BindingId, number: usize, now: Timestamp) -> Result<()> {
    let ids = IdGenerator::system();
    let found = persons::find_or_add(tx, &ids, &[phone_of(number)?], &format!("Customer {number}"), now)?;
    let thread = PlantedThread::add(tx, found.person.id, binding, now)?;
    for message in 1..=MESSAGES {
        let at = now.plus(Duration::from_secs(message as u64));
        thread.add_message(tx, &ids, (message, at), SAID.to_owned())?;
    }
    Ok(())
}
