//! What stands for an address, and for what a message is about, where neither is readable: keyed hashes.

use munshi_identity::ContactAddress;
use munshi_store::{Result, Tx};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, ReplyAddress};
use uuid::Uuid;

/// By which rules know a recipient again, however their address was written.
pub(crate) fn hash_recipient(tx: &Tx<'_>, to: &ReplyAddress) -> Result<Uuid> {
    hash(tx, "outbox.recipient", &[to.channel.as_str(), &normalize_address(to)])
}

/// The order of what leaves to one address outside of a conversation: one lane an address and binding.
pub(super) fn hash_lane(tx: &Tx<'_>, to: &ReplyAddress, binding: Option<BindingId>) -> Result<Uuid> {
    let binding = binding.map(|binding| binding.to_string()).unwrap_or_default();
    hash(tx, "outbox.lane", &[to.channel.as_str(), &normalize_address(to), &binding])
}

/// What a message is about, such as `ledger/contact/ID`.
pub(super) fn hash_about(tx: &Tx<'_>, about: &str) -> Result<Uuid> {
    hash(tx, "outbox.about", &[about])
}

/// By which a receipt finds what it is about.
pub(super) fn hash_outside_id(tx: &Tx<'_>, channel: Channel, outside_id: &str) -> Result<Uuid> {
    hash(tx, "outbox.receipt", &[channel.as_str(), outside_id])
}

fn normalize_address(to: &ReplyAddress) -> String {
    let known = match to.channel {
        Channel::Email => ContactAddress::email(&to.address),
        Channel::Whatsapp | Channel::Voice | Channel::Sms => ContactAddress::phone(&to.address),
        _ => return to.address.trim().to_owned(),
    };
    known.map_or_else(|_| to.address.trim().to_lowercase(), |address| address.as_str().to_owned())
}

fn hash(tx: &Tx<'_>, purpose: &str, words: &[&str]) -> Result<Uuid> {
    let hashed = tx.hash(purpose, words.join("\0").as_bytes())?;
    let mut half = [0; 16];
    half.copy_from_slice(&hashed[..16]);
    Ok(Uuid::from_bytes(half))
}
