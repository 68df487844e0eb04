//! What waits of somebody who is forgotten.

use std::collections::BTreeSet;

use munshi_identity::{ContactAddress, ContactAddressKind};
use munshi_jobs::JobQueue;
use munshi_store::{Tx, params};
use munshi_types::Timestamp;
use munshi_types::tier::Channel;
use uuid::Uuid;

use super::rows::{enqueue_job, hash_sender, lock_lane};

/// Empties what waits of whoever is reached so, and what of theirs could not be taken in. That it came stays, under a hash that leads to
/// nobody: a provider that tells it again begins nothing. Says how many there were.
pub fn forget_senders(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    addresses: &[ContactAddress],
    now: Timestamp,
) -> munshi_jobs::Result<u64> {
    let mut senders = BTreeSet::new();
    for (channel, id) in addresses.iter().flat_map(list_channel_ids) {
        senders.insert(hash_sender(tx, channel, &id)?);
    }
    let mut forgotten = 0;
    for sender in senders {
        forgotten += forget_sender(tx, queue, sender, now)?;
    }
    Ok(forgotten)
}

fn forget_sender(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    sender: Uuid,
    now: Timestamp,
) -> munshi_jobs::Result<u64> {
    let lanes: Vec<Uuid> = tx.all(
        "SELECT DISTINCT lane FROM channel_arrivals
         WHERE tenant_id = $1 AND sender = $2 AND ended_at IS NULL ORDER BY lane",
        params![sender],
        |row| row.get(0),
    )?;
    for lane in &lanes {
        lock_lane(tx, *lane)?;
    }
    let forgotten = tx.execute(
        "UPDATE channel_arrivals
         SET state = CASE WHEN ended_at IS NULL THEN 'passed_over' ELSE state END,
             ended_at = COALESCE(ended_at, $3), body = NULL, detail = NULL, sender = NULL
         WHERE tenant_id = $1 AND sender = $2",
        params![sender, now],
    )?;
    // What others said in the same chats waited behind it.
    for lane in lanes {
        if let Some(next) = lock_lane(tx, lane)?.first() {
            enqueue_job(tx, queue, next.id)?;
        }
    }
    Ok(forgotten)
}

/// What channels call whoever is reached so.
fn list_channel_ids(address: &ContactAddress) -> Vec<(Channel, String)> {
    let text = address.as_str();
    match address.kind() {
        ContactAddressKind::Channel => {
            let parts = text.split_once(':');
            let known = parts.and_then(|(channel, id)| Some((channel.parse().ok()?, id.to_owned())));
            known.into_iter().collect()
        }
        // Numbers are ids with some, with or without their sign.
        ContactAddressKind::Phone => {
            let digits = text.trim_start_matches('+').to_owned();
            vec![
                (Channel::Sms, text.to_owned()),
                (Channel::Whatsapp, text.to_owned()),
                (Channel::Whatsapp, digits),
            ]
        }
        ContactAddressKind::Email => vec![(Channel::Email, text.to_owned())],
        ContactAddressKind::Handle => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_reached_by_a_number_is_known_by_it() {
        let channel = ContactAddress::channel("telegram", "8812345").unwrap();
        assert_eq!(list_channel_ids(&channel), [(Channel::Telegram, "8812345".to_owned())]);
        let phone = list_channel_ids(&ContactAddress::phone("+919812345678").unwrap());
        assert!(phone.contains(&(Channel::Whatsapp, "919812345678".to_owned())));
        assert!(phone.contains(&(Channel::Sms, "+919812345678".to_owned())));
    }
}
