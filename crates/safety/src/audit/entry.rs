//! One entry: who did what to what, and the hash that ties it to the one before.

use std::fmt;
use std::str::FromStr;

use munshi_types::{EntryId, TenantId, Timestamp};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::canonical_json::{to_canonical_json, write_text};
use super::redaction::redact_json;
use crate::error::{Error, Result};

/// Longer names are cut: they come from outside as well.
const LONGEST_NAME: usize = 200;

/// Larger payloads are kept by their size and hash alone.
const LARGEST_PAYLOAD: usize = 64 * 1024;

/// What sort of somebody acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditActorKind {
    /// A model, acting through a binding.
    Agent,
    /// Somebody the tenant knows.
    Person,
    /// Whoever runs the installation.
    Operator,
    /// Munshi itself, by the clock.
    System,
}

impl AuditActorKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
            Self::Operator => "operator",
            Self::System => "system",
        }
    }
}

/// Who acted. The id is a name or an id of theirs, a pseudonym where it would be a phone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditActor {
    pub kind: AuditActorKind,
    pub id: String,
}

impl AuditActor {
    pub fn new(kind: AuditActorKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }
}

/// What happened, as `thing.past`: `act.applied`. The list is open; these are the ones everybody knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AuditEvent(std::borrow::Cow<'static, str>);

impl AuditEvent {
    pub const ACT_INTENDED: Self = Self::from_static("act.intended");
    pub const ACT_APPLIED: Self = Self::from_static("act.applied");
    pub const ACT_REFUSED: Self = Self::from_static("act.refused");
    /// Several at once, past the rate of refusals.
    pub const ACTS_REFUSED: Self = Self::from_static("acts.refused");
    pub const ACT_FAILED: Self = Self::from_static("act.failed");
    pub const ACT_REHEARSED: Self = Self::from_static("act.rehearsed");
    pub const ACT_UNKNOWN: Self = Self::from_static("act.unknown");
    pub const APPROVAL_ASKED: Self = Self::from_static("approval.asked");
    pub const APPROVAL_GRANTED: Self = Self::from_static("approval.granted");
    pub const APPROVAL_REFUSED: Self = Self::from_static("approval.refused");
    pub const APPROVAL_ESCALATED: Self = Self::from_static("approval.escalated");
    pub const APPROVAL_WITHDRAWN: Self = Self::from_static("approval.withdrawn");
    pub const APPROVAL_EXPIRED: Self = Self::from_static("approval.expired");
    /// Somebody agreed to a purpose.
    pub const CONSENT_GIVEN: Self = Self::from_static("consent.given");
    pub const CONSENT_WITHDRAWN: Self = Self::from_static("consent.withdrawn");
    /// Somebody wrote STOP, or a word like it: nothing but answers is sent to them.
    pub const RECIPIENT_OPTED_OUT: Self = Self::from_static("recipient.opted_out");
    /// They may be written to again.
    pub const RECIPIENT_OPTED_IN: Self = Self::from_static("recipient.opted_in");
    /// A pack's heartbeat found something that it had not found before.
    pub const ALERT_RAISED: Self = Self::from_static("alert.raised");
    /// A heartbeat no longer finds it.
    pub const ALERT_CLEARED: Self = Self::from_static("alert.cleared");
    /// Nobody came to somebody who asked for a person.
    pub const HUMAN_REQUEST_EXPIRED: Self = Self::from_static("human_request.expired");
    /// Whoever had a conversation in hand left its person waiting for too long.
    pub const HOLD_EXPIRED: Self = Self::from_static("conversation.hold_expired");
    /// A conversation went on to another team, binding or person.
    pub const CONVERSATION_HANDED_OVER: Self = Self::from_static("conversation.handed_over");
    /// It was to go somewhere that is not allowed.
    pub const HANDOFF_REFUSED: Self = Self::from_static("conversation.handoff_refused");
    pub const PERSON_ADDED: Self = Self::from_static("person.added");
    pub const PERSON_CHANGED: Self = Self::from_static("person.changed");
    pub const PERSON_ROLE_CHANGED: Self = Self::from_static("person.role_changed");
    pub const PERSON_ERASED: Self = Self::from_static("person.erased");
    pub const PERSON_ERASURE_BEGUN: Self = Self::from_static("person.erasure_begun");
    pub const PERSON_LEFT: Self = Self::from_static("person.left");
    pub const PERSON_RETURNED: Self = Self::from_static("person.returned");
    pub const TENANT_ADDED: Self = Self::from_static("tenant.added");
    pub const TENANT_PAUSED: Self = Self::from_static("tenant.paused");
    pub const TENANT_RESUMED: Self = Self::from_static("tenant.resumed");
    pub const TENANT_ARCHIVED: Self = Self::from_static("tenant.archived");
    pub const TIER_CHANGED: Self = Self::from_static("tier.changed");
    pub const BUDGET_CHANGED: Self = Self::from_static("budget.changed");
    pub const POLICY_CHANGED: Self = Self::from_static("policy.changed");
    pub const CONNECTORS_CHANGED: Self = Self::from_static("connectors.changed");
    /// Its first list of tools.
    pub const CONNECTOR_SEEN: Self = Self::from_static("connector.seen");
    /// Another list of tools than the one before.
    pub const CONNECTOR_CHANGED: Self = Self::from_static("connector.changed");
    pub const CONNECTOR_ACCEPTED: Self = Self::from_static("connector.accepted");
    pub const CONNECTOR_DEGRADED: Self = Self::from_static("connector.degraded");
    /// Somebody let us into its service.
    pub const CONNECTOR_LOGGED_IN: Self = Self::from_static("connector.logged_in");
    pub const SECRET_SET: Self = Self::from_static("secret.set");
    pub const SECRET_REMOVED: Self = Self::from_static("secret.removed");
    pub const KEY_ROTATED: Self = Self::from_static("key.rotated");
    pub const KEY_DESTROYED: Self = Self::from_static("key.destroyed");
    pub const AUDIT_ANCHORED: Self = Self::from_static("audit.anchored");
    pub const AUDIT_ANCHORS_RESTARTED: Self = Self::from_static("audit.anchors_restarted");
    pub const AUDIT_VERIFIED: Self = Self::from_static("audit.verified");
    pub const AUDIT_BROKEN: Self = Self::from_static("audit.broken");

    const fn from_static(word: &'static str) -> Self {
        Self(std::borrow::Cow::Borrowed(word))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AuditEvent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(small);
        let words = text.split('.').count();
        if (2..=4).contains(&words) && text.len() <= 60 && text.split('.').all(is_word) {
            return Ok(Self(text.to_owned().into()));
        }
        Err(Error::Invalid(format!(
            "`{}` is not an event: use lowercase words separated by dots, like act.applied",
            clean_name(text)
        )))
    }
}

impl fmt::Display for AuditEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something to be remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAuditEntry {
    pub actor: AuditActor,
    pub event: AuditEvent,
    /// What it was about, such as a tool's name or an act's id.
    pub subject: String,
    /// What else matters. Secrets and phones in it are hidden.
    pub payload: Value,
}

impl NewAuditEntry {
    /// The payload as it is kept.
    pub(super) fn render_payload(&self) -> String {
        let text = to_canonical_json(&redact_json(&self.payload));
        if text.len() <= LARGEST_PAYLOAD {
            return text;
        }
        let hash = ChainHash(Sha256::digest(text.as_bytes()).into());
        to_canonical_json(&json!({ "left_out": { "bytes": text.len(), "sha256": hash } }))
    }
}

/// A link of the chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// Before the first entry.
    pub const START: Self = Self([0; 32]);

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 64];
        for (byte, pair) in self.0.iter().zip(digits.chunks_exact_mut(2)) {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ChainHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a hash: a hash has 64 hexadecimal digits");
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ChainHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An entry as it is stored. What a row holds is kept as it stands there, so that whatever was done to it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub tenant: TenantId,
    /// Counts from 1, without gaps.
    pub seq: i64,
    pub id: EntryId,
    pub made_at: Timestamp,
    pub actor_kind: String,
    pub actor_id: String,
    pub event: String,
    pub subject: String,
    /// Canonical JSON.
    pub payload: String,
    pub prev: ChainHash,
    pub hash: ChainHash,
}

impl AuditEntry {
    /// SHA-256 of the hash before and the canonical row without its own hash.
    pub fn computed_hash(&self) -> ChainHash {
        let mut digest = Sha256::new();
        digest.update(self.prev.0);
        digest.update(self.canonical_row(None).as_bytes());
        ChainHash(digest.finalize().into())
    }

    /// The entry as one line of JSON, canonical, its hash among the fields.
    pub fn to_line(&self) -> String {
        self.canonical_row(Some(self.hash))
    }

    /// Written field by field in the order of the keys: this runs with every act.
    fn canonical_row(&self, hash: Option<ChainHash>) -> String {
        let mut out = String::with_capacity(480 + self.payload.len());
        out.push_str("{\"actor\":{\"id\":");
        write_text(&self.actor_id, &mut out);
        out.push_str(",\"kind\":");
        write_text(&self.actor_kind, &mut out);
        out.push_str("},\"at\":");
        write_text(&self.made_at.to_string(), &mut out);
        out.push_str(",\"event\":");
        write_text(&self.event, &mut out);
        if let Some(hash) = hash {
            out.push_str(",\"hash\":");
            write_text(&hash.to_string(), &mut out);
        }
        out.push_str(",\"id\":");
        write_text(&self.id.to_string(), &mut out);
        out.push_str(",\"payload\":");
        out.push_str(&self.payload);
        out.push_str(",\"prev\":");
        write_text(&self.prev.to_string(), &mut out);
        out.push_str(",\"seq\":");
        out.push_str(&self.seq.to_string());
        out.push_str(",\"subject\":");
        write_text(&self.subject, &mut out);
        out.push_str(",\"tenant\":");
        write_text(&self.tenant.to_string(), &mut out);
        out.push('}');
        out
    }
}

/// A name as it is kept: without signs that drive a terminal or that a column can't hold, and not endless.
pub(super) fn clean_name(text: &str) -> String {
    text.chars()
        .take(LONGEST_NAME)
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> AuditEntry {
        AuditEntry {
            tenant: TenantId::PLATFORM,
            seq: 7,
            id: "01a1dd41-32c0-704f-b28c-400adb3d8fd2".parse().unwrap(),
            made_at: "2026-11-15T03:30:00.25Z".parse().unwrap(),
            actor_kind: "agent".to_owned(),
            actor_id: "meera \"the\" clerk".to_owned(),
            event: "act.applied".to_owned(),
            subject: "ledger.add".to_owned(),
            payload: "{\"a\":1,\"b\":[true]}".to_owned(),
            prev: ChainHash([0xab; 32]),
            hash: ChainHash([1; 32]),
        }
    }

    #[test]
    fn a_line_is_canonical_and_its_hash_can_be_made_by_anybody() {
        let entry = entry();
        let line: Value = serde_json::from_str(&entry.to_line()).unwrap();
        assert_eq!(to_canonical_json(&line), entry.to_line());
        // What docs/safety.md tells people to do with an exported line.
        let mut row = line.clone();
        row.as_object_mut().unwrap().remove("hash");
        let mut digest = Sha256::new();
        digest.update([0xab; 32]);
        digest.update(to_canonical_json(&row).as_bytes());
        assert_eq!(entry.computed_hash(), ChainHash(digest.finalize().into()));
    }

    #[test]
    fn every_field_counts() {
        let first = entry();
        let others = [
            AuditEntry { tenant: TenantId::from_uuid(uuid::Uuid::from_u128(1)), ..first.clone() },
            AuditEntry { seq: 8, ..first.clone() },
            AuditEntry { id: EntryId::from_uuid(uuid::Uuid::from_u128(1)), ..first.clone() },
            AuditEntry { made_at: Timestamp::EPOCH, ..first.clone() },
            AuditEntry { actor_kind: "person".to_owned(), ..first.clone() },
            AuditEntry { actor_id: String::new(), ..first.clone() },
            AuditEntry { event: "act.refused".to_owned(), ..first.clone() },
            AuditEntry { subject: "ledger.drop".to_owned(), ..first.clone() },
            AuditEntry { payload: "{\"a\":1,\"b\":[false]}".to_owned(), ..first.clone() },
            AuditEntry { prev: ChainHash::START, ..first.clone() },
        ];
        for other in others {
            assert_ne!(other.computed_hash(), first.computed_hash(), "{other:?}");
        }
    }

    #[test]
    fn events_are_words_with_dots() {
        assert_eq!("pack.ledger_closed".parse::<AuditEvent>().unwrap().as_str(), "pack.ledger_closed");
        for bad in ["", "act", "Act.applied", "act.", "a b.c", "a.b.c.d.e", "act.ap\u{0}plied"] {
            assert!(bad.parse::<AuditEvent>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_payload_too_large_is_kept_by_its_hash() {
        let entry = |text: String| NewAuditEntry {
            actor: AuditActor::new(AuditActorKind::System, "x"),
            event: AuditEvent::ACT_APPLIED,
            subject: String::new(),
            payload: json!({ "text": text }),
        };
        let (small, large) =
            (entry("a".repeat(1000)).render_payload(), entry("a".repeat(100_000)).render_payload());
        assert_eq!(small.len(), 1011);
        assert!(
            large.starts_with("{\"left_out\":{\"bytes\":100011,\"sha256\":\"") && large.len() < 200,
            "{large}"
        );
    }

    #[test]
    fn a_hash_survives_text() {
        let hash = entry().computed_hash();
        assert_eq!(hash.to_string().parse::<ChainHash>().unwrap(), hash);
        for bad in ["", "ab", &"g".repeat(64), &"é".repeat(32)] {
            assert!(bad.parse::<ChainHash>().is_err(), "{bad}");
        }
    }
}
