//! What a unit of work holds while it runs: a transaction, seen by one tenant or through one platform scope.

use munshi_types::{DataKeyId, TenantId};
use serde::Serialize;
use uuid::Uuid;

use crate::announcement::Announcement;
use crate::error::{Error, Result};
use crate::row::Row;
use crate::sealed_batch::open_all;
use crate::sealing::{Keyring, SealedBy, SealedCell, SealedText, open_column};
use crate::session::UnitSession;
use crate::sql::{PlatformSql, Sql};
use crate::value::{Column, JsonText, Param, ToParam};

/// A transaction of one tenant. Every statement gets the tenant as `$1`; on Postgres row-level security
/// holds it to that tenant a second time.
pub struct Tx<'u> {
    pub(crate) session: &'u mut UnitSession,
    pub(crate) tenant: TenantId,
}

/// The reason a unit may see every tenant. Each is a constant beside the tables it opens, so there are few
/// and all can be found; on Postgres it opens only the tables declared `VIA` its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlatformScope(&'static str);

impl PlatformScope {
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// A transaction that belongs to the installation, not to a tenant, opened through a [`PlatformScope`].
pub struct PlatformTx<'u> {
    pub(crate) session: &'u mut UnitSession,
    pub(crate) scope: PlatformScope,
}

impl Tx<'_> {
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// `sqlite` or `postgres`: for the few who save a round trip where one statement can do what takes two elsewhere.
    pub fn engine(&self) -> &'static str {
        self.session.engine_name()
    }

    /// Runs a statement and says how many rows it touched. Parameters begin at `$2`.
    pub fn execute(&mut self, sql: impl Into<Sql>, params: &[Param<'_>]) -> Result<u64> {
        self.session.execute(sql.into(), Some(self.tenant.to_param()), params)
    }

    /// Runs a statement whose count nobody wants to know: on Postgres it travels with the next statement or the end of
    /// the unit, which also bring what is wrong with it. Not for what another answer depends on, nor for an error that
    /// somebody looks for.
    pub fn send(&mut self, sql: impl Into<Sql>, params: &[Param<'_>]) -> Result<()> {
        self.session.execute_pipelined(sql.into(), Some(self.tenant.to_param()), params)
    }

    pub fn all<T>(
        &mut self,
        sql: impl Into<Sql>,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.session.query(sql.into(), Some(self.tenant.to_param()), params, map)
    }

    /// The first row, if there is one.
    pub fn optional<T>(
        &mut self,
        sql: impl Into<Sql>,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(sql, params, map)?.into_iter().next())
    }

    /// The one row that must be there, such as a count.
    pub fn one<T>(
        &mut self,
        sql: impl Into<Sql>,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.optional(sql, params, map)?.ok_or_else(no_row)
    }

    /// Opens what was sealed for a cell and is kept elsewhere than in a row, such as in a file.
    pub fn open(&self, cell: SealedCell, text: &str) -> Result<String> {
        open_column(Column::Text(text), cell, (Some(self.tenant), Some(self.session.keyring()?)))
    }

    /// The same of JSON that was read where no unit of this tenant could open it.
    pub fn open_json(&self, cell: SealedCell, json: &JsonText) -> Result<JsonText> {
        open_column(Column::Text(json.as_str()), cell, (Some(self.tenant), Some(self.session.keyring()?)))
    }

    /// Opens many values, the keys of all of them fetched together. One that can't be opened is an error in its place.
    pub fn open_all(&self, values: &[(SealedCell, &str)]) -> Result<Vec<Result<String>>> {
        open_all(values, self.tenant, self.session.keyring()?)
    }

    /// Seals a text for its cell, to be bound in the same unit.
    pub fn seal(&self, by: SealedBy, cell: SealedCell, text: &str) -> Result<SealedText> {
        self.session.note_protected();
        cell.seal((self.tenant, by), text, self.session.keyring()?)
    }

    /// The same for a column of JSON.
    pub fn seal_json(&self, by: SealedBy, cell: SealedCell, value: &impl Serialize) -> Result<JsonText> {
        self.seal(by, cell, JsonText::of(value)?.as_str()).map(SealedText::into_json)
    }

    /// The same of JSON that is written already.
    pub fn seal_written(&self, by: SealedBy, cell: SealedCell, json: &JsonText) -> Result<JsonText> {
        self.seal(by, cell, json.as_str()).map(SealedText::into_json)
    }

    /// Bytes for a column of bytes, where another column of the row says that they are sealed.
    pub fn seal_bytes(&self, by: SealedBy, cell: SealedCell, bytes: &[u8]) -> Result<Vec<u8>> {
        self.session.note_protected();
        cell.seal_bytes((self.tenant, by), bytes, self.session.keyring()?)
    }

    /// The cipher and its keys, for those who find or make a person's.
    pub fn keyring(&self) -> Result<&dyn Keyring> {
        self.session.keyring()
    }

    /// A keyed hash, by which a value is found where it is not readable.
    pub fn hash(&self, purpose: &str, value: &[u8]) -> Result<[u8; 32]> {
        self.session.note_protected();
        self.session.keyring()?.hash(self.tenant, purpose, value)
    }

    /// How many values this unit has sealed or hashed so far: whoever seals what stood plain tells by it whether there was any.
    pub fn count_protected(&self) -> u64 {
        self.session.count_protected()
    }

    /// The same by a key of a search index, which may be destroyed: then nobody can confirm a guess.
    pub fn hash_by_key(&self, key: DataKeyId, purpose: &str, value: &[u8]) -> Result<[u8; 32]> {
        self.session.keyring()?.hash_by_index_key(self.tenant, key, purpose, value)
    }

    /// The key of a person or of a conversation of theirs, where this unit or this process knows it.
    pub fn find_owner_key(&self, owner: Uuid) -> Result<Option<DataKeyId>> {
        let known = self.session.find_owner_key(owner);
        Ok(known.or(self.session.keyring()?.find_known_key(self.tenant, owner)))
    }

    /// Remembers such a key: in this unit at once, elsewhere once it is committed.
    pub fn remember_owner_key(&mut self, owner: Uuid, key: DataKeyId) -> Result<()> {
        let (tenant, keyring) = (self.tenant, self.session.shared_keyring()?);
        self.session.remember_owner_key(owner, key);
        self.session.after_commit(Box::new(move || keyring.remember_key(tenant, owner, key)));
        Ok(())
    }

    /// Does something once this unit is safely on disk; it is forgotten if the unit rolls back.
    /// For wake-ups and cache drops only: it runs on the store's thread and must not wait.
    pub fn after_commit(&mut self, act: impl FnOnce() + Send + 'static) {
        self.session.after_commit(Box::new(act));
    }

    /// Tells everybody in this process who listens to [`Db::announcements`](crate::Db::announcements) that something has
    /// changed, once this unit is safely on disk; nobody is told of what is rolled back. No statement.
    pub fn announce(&mut self, subject: Uuid) {
        self.session.announce(Announcement { tenant: self.tenant, subject });
    }

    /// Tries something that may fail and goes on with the unit if it does; what it wrote is undone then.
    /// Without this, a failed statement ends its unit, on both engines alike.
    pub fn attempt<T, E: From<Error>>(
        &mut self,
        try_it: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let tenant = self.tenant;
        self.session.attempt(|session| try_it(&mut Tx { session, tenant }))
    }
}

impl PlatformTx<'_> {
    pub fn execute(&mut self, sql: PlatformSql, params: &[Param<'_>]) -> Result<u64> {
        self.session.execute(sql.0, None, params)
    }

    pub fn all<T>(
        &mut self,
        sql: PlatformSql,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.session.query(sql.0, None, params, map)
    }

    pub fn optional<T>(
        &mut self,
        sql: PlatformSql,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(sql, params, map)?.into_iter().next())
    }

    pub fn one<T>(
        &mut self,
        sql: PlatformSql,
        params: &[Param<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.optional(sql, params, map)?.ok_or_else(no_row)
    }

    pub fn after_commit(&mut self, act: impl FnOnce() + Send + 'static) {
        self.session.after_commit(Box::new(act));
    }

    /// Acts as one tenant inside this transaction, such as filling a tenant that was just made. The platform
    /// scope is closed meanwhile.
    pub fn as_tenant<T, E: From<Error>>(
        &mut self,
        tenant: TenantId,
        act: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.session.enter_tenant(tenant)?;
        let outcome = act(&mut Tx { session: self.session, tenant });
        self.session.leave_tenant(self.scope)?;
        outcome
    }
}

fn no_row() -> Error {
    Error::Decode("a required row is missing".to_owned())
}
