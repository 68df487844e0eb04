//! Who wrote: the person behind what a channel proved.

use munshi_identity::{ContactAddress, Person, persons};
use munshi_store::Tx;
use munshi_types::{IdGenerator, InboundMessage, PersonId, Timestamp};

use crate::error::{Error, Result};

/// The addresses that the channel proved, the surest first.
pub(crate) fn addresses(inbound: &InboundMessage) -> Result<Vec<ContactAddress>> {
    let from = &inbound.from;
    let mut found = Vec::new();
    let mut take = |address: Option<
        std::result::Result<ContactAddress, munshi_identity::ContactAddressError>,
    >| { address.map(|address| address.map(|address| found.push(address))).transpose() };
    let unfit =
        |error: munshi_identity::ContactAddressError| Error::Unfit(format!("invalid sender: {error}"));
    take(from.phone.as_deref().map(ContactAddress::phone)).map_err(unfit)?;
    take(from.email.as_deref().map(ContactAddress::email)).map_err(unfit)?;
    take(from.handle.as_deref().map(ContactAddress::handle)).map_err(unfit)?;
    let on_channel = |id: &String| ContactAddress::channel(inbound.channel.as_str(), id);
    take(from.channel_id.as_ref().map(on_channel)).map_err(unfit)?;
    Ok(found)
}

/// Somebody we know already, in one statement; none where that takes a closer look. They are held until the transaction ends: whoever
/// forgets them at that moment waits, and ends what is begun for them here.
pub(crate) fn lock_known(
    tx: &mut Tx<'_>,
    inbound: &InboundMessage,
    addresses: &[ContactAddress],
) -> Result<Option<Person>> {
    if let Some(id) = inbound.from.person {
        let unfit = || Error::Unfit(format!("person {id} not found"));
        return persons::lock_living(tx, id)?.map(Some).ok_or_else(unfit);
    }
    let [address] = addresses else { return Ok(None) };
    let is_named = |person: &Person| !person.name.is_empty() || inbound.from.name.is_none();
    Ok(persons::lock_by_address(tx, address)?.filter(is_named))
}

/// The person, made where nobody has any of the addresses. They are held until the transaction ends.
pub(crate) fn find_or_add(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    inbound: &InboundMessage,
    addresses: &[ContactAddress],
    now: Timestamp,
) -> Result<Person> {
    let name = inbound.from.name.as_deref().unwrap_or_default();
    let met = persons::find_or_add(tx, ids, addresses, name, now)?;
    if !met.others.is_empty() {
        // Whether the two are one is for a person to prove, by a code.
        tracing::info!(person = %met.person.id, others = met.others.len(), "addresses of one message belong to several people");
    }
    Ok(met.person)
}

/// The person behind a message that is on its way in, for what is theirs before it is taken, such as its files.
pub fn meet_sender(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    inbound: &InboundMessage,
    now: Timestamp,
) -> Result<PersonId> {
    let addresses = addresses(inbound)?;
    if let Some(known) = lock_known(tx, inbound, &addresses)? {
        return Ok(known.id);
    }
    Ok(find_or_add(tx, ids, inbound, &addresses, now)?.id)
}

/// Whether a message that was taken before was this sender's. Who is known by nothing has sent only what somebody sent
/// who is known by nothing.
pub(crate) fn is_same_sender(
    tx: &mut Tx<'_>,
    inbound: &InboundMessage,
    addresses: &[ContactAddress],
    taken_from: PersonId,
) -> Result<bool> {
    let Some(sender) = persons::find_living(tx, taken_from)?.map(|person| person.id) else {
        return Ok(false);
    };
    if let Some(id) = inbound.from.person {
        return Ok(persons::find_living(tx, id)?.is_some_and(|person| person.id == sender));
    }
    if addresses.is_empty() {
        return Ok(persons::list_addresses(tx, sender)?.is_empty());
    }
    for address in addresses {
        if persons::find_by_address(tx, address)?.is_some_and(|person| person.id == sender) {
            return Ok(true);
        }
    }
    Ok(false)
}
