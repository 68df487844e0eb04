//! What waits of somebody who is forgotten.

use munshi_identity::ContactAddress;
use munshi_identity::persons::AddressHash;
use munshi_jobs::JobQueue;
use munshi_store::{JsonText, Tx, params};
use munshi_types::Timestamp;
use munshi_types::tier::Channel;
use uuid::Uuid;

use super::event::{ArrivedChat, ChannelEvent, ChannelHappening};
use super::route::build_sender;
use super::rows::{enqueue_job, lock_lane};

/// Empties what waits of whoever is reached so, and what of theirs could not be taken in. That it came stays, under a hash that leads to
/// nobody: a provider that tells it again begins nothing. Nothing is opened for it, so an older copy forgets as well. Says how many there
/// were.
pub fn forget_senders(
    tx: &mut Tx<'_>,
    queue: &JobQueue,
    addresses: &[AddressHash],
    now: Timestamp,
) -> munshi_jobs::Result<u64> {
    if addresses.is_empty() {
        return Ok(0);
    }
    let addresses = JsonText::of(&addresses)?;
    let lanes: Vec<Uuid> = tx.all(
        (
            "SELECT DISTINCT lane FROM channel_arrivals
             WHERE tenant_id = $1 AND senders IS NOT NULL AND ended_at IS NULL
               AND EXISTS (SELECT 1 FROM json_each(senders) AS one WHERE one.value IN (SELECT value FROM json_each($2)))
             ORDER BY lane",
            "SELECT DISTINCT lane FROM channel_arrivals
             WHERE tenant_id = $1 AND senders IS NOT NULL AND ended_at IS NULL
               AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(senders) AS one (value)
                           WHERE one.value IN (SELECT jsonb_array_elements_text($2::jsonb)))
             ORDER BY lane",
        ),
        params![addresses],
        |row| row.get(0),
    )?;
    for lane in &lanes {
        lock_lane(tx, *lane)?;
    }
    let forgotten = empty_arrivals(tx, &addresses, now)?;
    // What others said in the same chats waited behind it.
    for lane in lanes {
        if let Some(next) = lock_lane(tx, lane)?.first() {
            enqueue_job(tx, queue, next.id)?;
        }
    }
    Ok(forgotten)
}

fn empty_arrivals(tx: &mut Tx<'_>, addresses: &JsonText, now: Timestamp) -> munshi_store::Result<u64> {
    tx.execute(
        (
            "UPDATE channel_arrivals
             SET state = CASE WHEN ended_at IS NULL THEN 'passed_over' ELSE state END,
                 ended_at = COALESCE(ended_at, $3), body = NULL, detail = NULL, senders = NULL
             WHERE tenant_id = $1 AND senders IS NOT NULL
               AND EXISTS (SELECT 1 FROM json_each(senders) AS one WHERE one.value IN (SELECT value FROM json_each($2)))",
            "UPDATE channel_arrivals
             SET state = CASE WHEN ended_at IS NULL THEN 'passed_over' ELSE state END,
                 ended_at = COALESCE(ended_at, $3), body = NULL, detail = NULL, senders = NULL
             WHERE tenant_id = $1 AND senders IS NOT NULL
               AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(senders) AS one (value)
                           WHERE one.value IN (SELECT jsonb_array_elements_text($2::jsonb)))",
        ),
        params![addresses, now],
    )
}

/// Every address that whoever it came from may be known by: what the channel calls them, what it has verified, what its ids are made of,
/// and the group that they wrote in.
pub(super) fn list_sender_addresses(channel: Channel, event: &ChannelEvent) -> Vec<ContactAddress> {
    let name = channel.as_str();
    let Some(from) = event.what.sender() else { return Vec::new() };
    let id = from.channel_id.as_str();
    let mut all = Vec::new();
    all.extend(ContactAddress::channel(name, id));
    all.extend(from.phone.as_deref().map(ContactAddress::phone).into_iter().flatten());
    all.extend(from.email.as_deref().map(ContactAddress::email).into_iter().flatten());
    match channel {
        // Numbers are ids with some, with or without their sign.
        Channel::Sms | Channel::Whatsapp => {
            all.extend(ContactAddress::phone(&format!("+{}", id.trim_start_matches('+'))));
        }
        Channel::Email => all.extend(ContactAddress::email(id)),
        _ => {}
    }
    if let ChannelHappening::Message(message) | ChannelHappening::Edited(message) = &event.what
        && matches!(message.chat, ArrivedChat::Group { .. })
    {
        let group = build_sender(message).channel_id;
        all.extend(group.map(|group| ContactAddress::channel(name, &group)).into_iter().flatten());
    }
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incoming::{ArrivedMessage, ArrivedSender};

    fn list(channel: Channel, from: ArrivedSender, chat: ArrivedChat) -> Vec<String> {
        let message = ArrivedMessage { from, chat, ..ArrivedMessage::default() };
        let what = ChannelHappening::Message(Box::new(message));
        let event = ChannelEvent { id: "1".to_owned(), lane: "1".to_owned(), happened_at: None, what };
        let addresses = list_sender_addresses(channel, &event);
        addresses.iter().map(|address| format!("{} {}", address.kind().as_str(), address.as_str())).collect()
    }

    #[test]
    fn whoever_writes_is_known_by_all_that_they_are_reached_by() {
        let sender = |id: &str| ArrivedSender { channel_id: id.to_owned(), ..ArrivedSender::default() };
        let telegram = list(Channel::Telegram, sender("8812345"), ArrivedChat::Direct);
        assert_eq!(telegram, ["channel telegram:8812345"]);
        let whatsapp = list(Channel::Whatsapp, sender("919812345678"), ArrivedChat::Direct);
        assert_eq!(whatsapp, ["phone +919812345678", "channel whatsapp:919812345678"]);
        let text = list(Channel::Sms, sender("+919812345678"), ArrivedChat::Direct);
        assert_eq!(text, ["phone +919812345678", "channel sms:+919812345678"]);
        let mail = list(Channel::Email, sender("meera@shop.example"), ArrivedChat::Direct);
        assert_eq!(mail, ["email meera@shop.example", "channel email:meera@shop.example"]);
        let proved = ArrivedSender { phone: Some("+919812345678".to_owned()), ..sender("7") };
        let group = ArrivedChat::Group { id: "-100".to_owned(), title: String::new() };
        let group = list(Channel::Telegram, proved, group);
        assert_eq!(group, ["phone +919812345678", "channel telegram:7", "channel telegram:group:-100"]);
    }
}
