//! Text that is sealed at rest: which cell a value belongs to, and how it stands in its column.
//!
//! A sealed value stands in the TEXT or JSON column that its plain form would stand in, as a text that begins with
//! [`MARK`]. What is stored plain from before is read as it is, so a database is sealed row by row while it is used. The
//! cipher and the keys are the keyring's, which a floor above fills in.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use munshi_types::{DataKeyId, ErasureId, Id, TenantId};
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::value::{Column, FromColumn, JsonText, Param, ToParam};

/// What a sealed text begins with; `1` is this way of writing it.
const MARK: &str = "sealed:1:";

/// What a keyring makes of a value has at least so many bytes: the key's id, the form, the nonce and the tag. What is shorter is
/// somebody's words from before text was sealed.
const SHORTEST: usize = 16 + 1 + 12 + 16;

/// Values that say nothing. They stay as they are: statements compare with them, and most rows have some.
const EMPTY: [&str; 5] = ["", "{}", "[]", "null", "\"\""];

/// The cipher and its keys. Called from within a unit, so it may wait for the key store and for nothing else.
pub trait Keyring: Send + Sync + fmt::Debug {
    /// Seals a value for the place that `context` names. The answer names its key. [`Error::Decode`] where a key that is said to be a
    /// person's is none.
    fn seal(&self, tenant: TenantId, by: SealedBy, context: &[u8], plain: &[u8]) -> Result<Vec<u8>>;

    /// Opens what [`seal`](Self::seal) made for the same tenant and place. [`Error::Forgotten`] when its key was destroyed.
    fn open(&self, tenant: TenantId, context: &[u8], sealed: &[u8]) -> Result<Vec<u8>>;

    /// A keyed hash, by which an address is found without being readable. The same for as long as the tenant lives.
    fn hash(&self, tenant: TenantId, purpose: &str, value: &[u8]) -> Result<[u8; 32]>;

    /// A keyed hash within one key: equal values under two keys have nothing in common, and once a person's key is destroyed
    /// nobody can confirm a guess.
    fn hash_by(&self, tenant: TenantId, by: SealedBy, purpose: &str, value: &[u8]) -> Result<[u8; 32]>;

    /// The same by a key of the tenant's search index. [`Error::UnknownKey`] where it is none: such an index gets another.
    fn hash_by_index_key(
        &self,
        tenant: TenantId,
        key: DataKeyId,
        purpose: &str,
        value: &[u8],
    ) -> Result<[u8; 32]>;

    /// A key that no one has yet, safely in the key store.
    fn take_new_key(&self, tenant: TenantId) -> Result<DataKeyId>;

    /// The key of a person, or of a conversation of theirs, where this process knows it.
    fn find_known_key(&self, tenant: TenantId, owner: Uuid) -> Option<DataKeyId>;

    /// Remembers such a key. Only what is committed.
    fn remember_key(&self, tenant: TenantId, owner: Uuid, key: DataKeyId);

    /// Destroys persons' keys for good and writes down what for, both or neither. Again it changes nothing. [`Error::ErasureRefused`]
    /// where one of them is no person's. It waits for the key store.
    fn destroy_keys(&self, entry: &KeyErasure) -> Result<()>;

    /// A key for the tenant's search index, safely in the key store.
    fn make_index_key(&self, tenant: TenantId) -> Result<DataKeyId>;

    /// Destroys every such key of the tenant but this one, for good. Again it changes nothing. It waits for the key store.
    fn destroy_other_index_keys(&self, tenant: TenantId, kept: DataKeyId) -> Result<()>;

    /// What keys were destroyed for, in the order of tenants and ids. It waits for the key store.
    fn list_erasures(&self, after: Option<(TenantId, ErasureId)>, limit: u32) -> Result<Vec<KeyErasure>>;

    /// Lets go of keys that another process has destroyed, and says how many. It waits for the key store; where that has not answered for
    /// too long, it lets go of every person's key.
    fn drop_destroyed(&self) -> Result<usize>;

    /// Grows whenever this process destroys keys of the tenant, learns that others did, or can't learn it any longer. Whoever keeps what
    /// they opened asks before it opens anything, and opens all of it again once this has grown.
    fn count_destructions(&self, tenant: TenantId) -> u64;

    /// Fetches those of these keys that are not in memory yet, all in one request. At most [`prefetch_limit`](Self::prefetch_limit).
    fn prefetch_keys(&self, tenant: TenantId, keys: &[DataKeyId]) -> Result<()>;

    /// How many keys stay in memory beside one another for sure; at least one.
    fn prefetch_limit(&self) -> usize;
}

/// Keys that are destroyed together, and what for: written down in the key store, which older copies of the main database do not touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyErasure {
    pub tenant: TenantId,
    pub id: ErasureId,
    pub keys: Vec<DataKeyId>,
    /// As whoever erases wrote it: ids of the main database.
    pub body: Value,
}

/// Whose key a value is sealed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedBy {
    /// A person's: destroyed when they are forgotten.
    Person(DataKeyId),
    /// The tenant's own, for what belongs to no one person.
    Tenant,
}

/// A column whose values are sealed. A constant beside the statements that use it; `make lint` holds these and the
/// declarations of columns against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedColumn {
    table: &'static str,
    column: &'static str,
    forgotten: ForgottenValue,
}

/// What is read where the key of a value was destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForgottenValue {
    /// Nothing: whoever reads it must not go on without it.
    Error,
    Null,
    Text(&'static str),
}

/// One value of a sealed column: what is sealed for one opens in no other, nor in that of another tenant.
#[derive(Clone, Copy, Debug)]
pub struct SealedCell {
    column: SealedColumn,
    row: RowId,
}

/// What a row is known by within its tenant: its primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowId {
    bytes: [u8; 32],
    length: usize,
}

/// A text ready for its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedText(String);

impl SealedColumn {
    pub const fn new(table: &'static str, column: &'static str) -> Self {
        Self { table, column, forgotten: ForgottenValue::Error }
    }

    /// The same column, read as this text where somebody was forgotten: lists go on without what they said. Not for what
    /// somebody acts by.
    #[must_use]
    pub const fn forgotten_as(self, text: &'static str) -> Self {
        Self { forgotten: ForgottenValue::Text(text), ..self }
    }

    /// The same, read as NULL.
    #[must_use]
    pub const fn forgotten_as_null(self) -> Self {
        Self { forgotten: ForgottenValue::Null, ..self }
    }

    pub(crate) fn name(self) -> &'static str {
        self.column
    }

    /// The value of this column in a row.
    pub fn cell(self, row: impl Into<RowId>) -> SealedCell {
        SealedCell { column: self, row: row.into() }
    }
}

impl fmt::Display for SealedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

impl SealedCell {
    /// The place in bytes. Names hold no NUL and rows of one table are of one length, so no two places read alike.
    fn context(&self) -> Vec<u8> {
        let SealedColumn { table, column, .. } = self.column;
        [table.as_bytes(), b"\0", column.as_bytes(), b"\0", &self.row.bytes[..self.row.length]].concat()
    }

    pub(crate) fn seal(
        &self,
        (tenant, by): (TenantId, SealedBy),
        text: &str,
        keyring: &dyn Keyring,
    ) -> Result<SealedText> {
        if EMPTY.contains(&text) {
            return Ok(SealedText(text.to_owned()));
        }
        if text.contains('\0') {
            return Err(Error::Refused("text can't contain a NUL character".to_owned()));
        }
        let sealed = keyring.seal(tenant, by, &self.context(), text.as_bytes())?;
        let mut written = String::with_capacity(MARK.len() + sealed.len().div_ceil(3) * 4);
        written.push_str(MARK);
        URL_SAFE_NO_PAD.encode_string(&sealed, &mut written);
        Ok(SealedText(written))
    }

    /// Bytes stand in their column without a mark: the row says by another column that they are sealed.
    pub(crate) fn seal_bytes(
        &self,
        (tenant, by): (TenantId, SealedBy),
        bytes: &[u8],
        keyring: &dyn Keyring,
    ) -> Result<Vec<u8>> {
        keyring.seal(tenant, by, &self.context(), bytes)
    }

    pub(crate) fn open_bytes(
        &self,
        tenant: TenantId,
        sealed: &[u8],
        keyring: &dyn Keyring,
    ) -> Result<Vec<u8>> {
        keyring.open(tenant, &self.context(), sealed)
    }

    fn open(&self, tenant: TenantId, sealed: &[u8], keyring: &dyn Keyring) -> Result<String> {
        let plain = keyring.open(tenant, &self.context(), sealed)?;
        String::from_utf8(plain).map_err(|_| Error::Decode(format!("{} holds no text", self.column)))
    }
}

impl<T: Id> From<T> for RowId {
    fn from(id: T) -> Self {
        Self::of_uuid(id.as_uuid())
    }
}

impl RowId {
    /// A row that is one of several of something, by its number.
    pub fn numbered(id: impl Id, number: i64) -> Self {
        Self::of_numbered(id.as_uuid(), number)
    }

    pub(crate) fn of_uuid(id: Uuid) -> Self {
        Self::of(&[id.as_bytes()])
    }

    pub(crate) fn of_numbered(id: Uuid, number: i64) -> Self {
        Self::of(&[id.as_bytes(), &number.to_be_bytes()])
    }

    /// A row that is known by texts.
    pub fn named(names: &[&str]) -> Self {
        let mut digest = Sha256::new();
        for name in names {
            digest.update((name.len() as u64).to_be_bytes());
            digest.update(name.as_bytes());
        }
        Self { bytes: digest.finalize().into(), length: 32 }
    }

    fn of(parts: &[&[u8]]) -> Self {
        let (mut bytes, mut length) = ([0; 32], 0);
        for part in parts {
            bytes[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        Self { bytes, length }
    }
}

impl SealedText {
    /// For a place other than a column.
    pub fn into_text(self) -> String {
        self.0
    }

    /// The same for a column of JSON, which it was made of: a text as JSON writes it. Nothing in it needs escaping.
    pub(crate) fn into_json(self) -> JsonText {
        let is_sealed = self.0.starts_with(MARK);
        JsonText::from_checked(if is_sealed { format!("\"{}\"", self.0) } else { self.0 })
    }
}

impl ToParam for SealedText {
    fn to_param(&self) -> Param<'_> {
        Param::Text(&self.0)
    }
}

/// A column's value with what is sealed in it opened. Anything else is what was stored before.
pub(crate) fn open_column<T: FromColumn>(
    column: Column<'_>,
    cell: SealedCell,
    (tenant, keyring): (Option<TenantId>, Option<&dyn Keyring>),
) -> Result<T> {
    let Column::Text(text) = column else { return T::from_column(column) };
    let Some(sealed) = parse_sealed(text) else { return T::from_column(column) };
    let tenant = require_tenant(tenant, cell)?;
    match (cell.open(tenant, &sealed, require_keyring(keyring)?), cell.column.forgotten) {
        (Err(Error::Forgotten(_)), ForgottenValue::Null) => T::from_column(Column::Null),
        (Err(Error::Forgotten(_)), ForgottenValue::Text(text)) => T::from_column(Column::Text(text)),
        (opened, _) => T::from_column(Column::Text(&opened?)),
    }
}

pub(crate) fn require_tenant(tenant: Option<TenantId>, cell: SealedCell) -> Result<TenantId> {
    tenant.ok_or_else(|| Error::Misuse(format!("{} is read across tenants", cell.column)))
}

pub(crate) fn require_keyring(keyring: Option<&dyn Keyring>) -> Result<&dyn Keyring> {
    keyring.ok_or_else(no_keyring)
}

pub(crate) fn no_keyring() -> Error {
    Error::Misuse("this database was opened without its keys".to_owned())
}

/// The key that a stored text names; none where it stands plain.
pub fn find_named_key(text: &str) -> Option<DataKeyId> {
    let sealed = parse_sealed(text)?;
    Uuid::from_slice(sealed.get(..16)?).ok().map(DataKeyId::from_uuid)
}

/// Whether a stored text is sealed, as the job that seals what is left asks.
pub fn is_sealed(text: &str) -> bool {
    parse_sealed(text).is_some()
}

/// Whether a stored text is to be sealed still. What says nothing stays as it is.
pub(crate) fn is_plain(text: &str) -> bool {
    !EMPTY.contains(&text) && !is_sealed(text)
}

/// The sealed bytes of a stored text, be its column TEXT or JSON.
fn parse_sealed(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let sealed = URL_SAFE_NO_PAD.decode(inner.strip_prefix(MARK)?).ok()?;
    (sealed.len() >= SHORTEST).then_some(sealed)
}
