//! The link in a mail by which somebody ends what they did not ask for: no sign-in, and no word that anybody reads.

use std::fmt;

use munshi_identity::codes::CodeKey;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_safety::consents;
use munshi_store::{Result, Tx, params};
use munshi_types::{Id, IdGenerator, ReplyAddress, TenantId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::outbox::recipient::hash_recipient;

/// What the seal is for: it is good for nothing else.
const PURPOSE: &str = "unsubscribe";

/// What stands in a link. It names nobody: the address is in it as a keyed hash. It has no end, since a mail may be read years later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsubscribeToken {
    tenant: TenantId,
    recipient: Uuid,
    /// That we made it, in hexadecimal digits.
    seal: String,
}

/// Whose mails are to end, from a link that is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsubscribeWish {
    pub tenant: TenantId,
    recipient: Uuid,
}

impl UnsubscribeToken {
    /// For an address that something is sent to. The key is the tenant's, of one-time codes.
    pub fn build(tx: &Tx<'_>, to: &ReplyAddress, key: &CodeKey) -> Result<Self> {
        let (tenant, recipient) = (tx.tenant(), hash_recipient(tx, to)?);
        let words = render_words(tenant, recipient);
        let seal = key.sign(PURPOSE, &words.each_ref().map(String::as_str));
        let seal = seal.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { tenant, recipient, seal })
    }

    /// None for what can't be one. Nothing is proved yet.
    pub fn parse(text: &str) -> Option<Self> {
        let (tenant, rest) = text.split_once('.')?;
        let (recipient, seal) = rest.split_once('.')?;
        Some(Self {
            tenant: TenantId::from_uuid(Uuid::parse_str(tenant).ok()?),
            recipient: Uuid::parse_str(recipient).ok()?,
            seal: seal.to_owned(),
        })
    }

    /// By whose key it is verified.
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// None where it is not ours.
    pub fn verify(&self, key: &CodeKey) -> Option<UnsubscribeWish> {
        let words = render_words(self.tenant, self.recipient);
        let is_ours = key.verify_signature(PURPOSE, &words.each_ref().map(String::as_str), &self.seal);
        is_ours.then_some(UnsubscribeWish { tenant: self.tenant, recipient: self.recipient })
    }
}

impl fmt::Display for UnsubscribeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.tenant.as_uuid().simple(), self.recipient.simple(), self.seal)
    }
}

fn render_words(tenant: TenantId, recipient: Uuid) -> [String; 2] {
    [tenant.to_string(), recipient.to_string()]
}

/// Stores that only answers go to an address from now on, and tells the audit. False where it was so already. Call it last in its
/// transaction, which must be the tenant's.
pub fn unsubscribe(
    tx: &mut Tx<'_>,
    wish: &UnsubscribeWish,
    ids: &IdGenerator,
    now: Timestamp,
) -> Result<bool, munshi_safety::Error> {
    let added = tx.execute(
        "INSERT INTO address_opt_outs (tenant_id, recipient, opted_out_at) VALUES ($1, $2, $3)
         ON CONFLICT (tenant_id, recipient) DO NOTHING",
        params![wish.recipient, now],
    )?;
    if added == 0 {
        return Ok(false);
    }
    // Whoever pressed it is known by nothing but the address.
    let actor = AuditActor::new(AuditActorKind::System, "unsubscribe link");
    let ended = consents::end_messages(tx, wish.recipient, (&actor, "link"), now)?;
    let entry = NewAuditEntry {
        actor,
        event: AuditEvent::RECIPIENT_OPTED_OUT,
        subject: wish.recipient.to_string(),
        payload: json!({ "by": "link" }),
    };
    audit::append(tx, &entry, now, ids)?;
    ended.record_with_ids(tx, ids, now)?;
    Ok(true)
}

/// Opens an address again; says how many were closed.
pub(super) fn withdraw(tx: &mut Tx<'_>, recipient: Uuid) -> Result<u64> {
    tx.execute("DELETE FROM address_opt_outs WHERE tenant_id = $1 AND recipient = $2", params![recipient])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(key: &CodeKey, tenant: TenantId, recipient: Uuid) -> UnsubscribeToken {
        let words = render_words(tenant, recipient);
        let seal = key.sign(PURPOSE, &words.each_ref().map(String::as_str));
        let seal = seal.iter().map(|byte| format!("{byte:02x}")).collect();
        UnsubscribeToken { tenant, recipient, seal }
    }

    #[test]
    fn only_a_link_of_ours_ends_anything() {
        let ids = IdGenerator::system();
        let (key, tenant, other): (_, TenantId, TenantId) = (CodeKey::new(&[7; 32]), ids.next(), ids.next());
        let recipient = Uuid::from_bytes([9; 16]);
        let token = build(&key, tenant, recipient);
        let read = UnsubscribeToken::parse(&token.to_string()).unwrap();
        assert_eq!(read, token);
        assert_eq!(read.verify(&key), Some(UnsubscribeWish { tenant, recipient }));
        assert_eq!(read.verify(&CodeKey::new(&[8; 32])), None, "another key");
        for moved in [
            UnsubscribeToken { tenant: other, ..token.clone() },
            UnsubscribeToken { recipient: Uuid::from_bytes([8; 16]), ..token.clone() },
            UnsubscribeToken { seal: String::new(), ..token.clone() },
            UnsubscribeToken { seal: token.seal.replace(['0', '1', '2'], "3"), ..token.clone() },
        ] {
            assert_eq!(moved.verify(&key), None, "{moved}");
        }
        for text in ["", ".", "..", "a.b.c", &format!("{tenant}.{recipient}")] {
            assert_eq!(UnsubscribeToken::parse(text), None, "{text}");
        }
        assert!(!token.to_string().contains(['/', '?', '#', ' ']), "{token}");
    }
}
