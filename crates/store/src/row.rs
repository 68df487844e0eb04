//! One row of a result, read by position or by name.

use munshi_types::TenantId;

use crate::error::{Error, Result};
use crate::postgres::column_of as postgres_column;
use crate::sealing::{Keyring, SealedCell, open_column, require_keyring, require_tenant};
use crate::sqlite::column_of as sqlite_column;
use crate::value::{Column, FromColumn};

/// A row, alive only inside the function that maps it.
pub struct Row<'r> {
    pub(crate) engine: EngineRow<'r>,
    /// Whose unit reads it; none where it reads across tenants.
    pub(crate) tenant: Option<TenantId>,
    pub(crate) keyring: Option<&'r dyn Keyring>,
}

pub(crate) enum EngineRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

/// A column by position (quick) or by name (clear).
pub trait ColumnIndex: Copy {
    fn position(self, row: &Row<'_>) -> Result<usize>;
    fn label(self) -> String;
}

impl ColumnIndex for usize {
    fn position(self, _row: &Row<'_>) -> Result<usize> {
        Ok(self)
    }

    fn label(self) -> String {
        format!("column {self}")
    }
}

impl ColumnIndex for &str {
    fn position(self, row: &Row<'_>) -> Result<usize> {
        let position = match &row.engine {
            EngineRow::Sqlite(row) => row.as_ref().column_index(self).ok(),
            EngineRow::Postgres(row) => row.columns().iter().position(|column| column.name() == self),
        };
        position.ok_or_else(|| Error::Decode(format!("the result has no column `{self}`")))
    }

    fn label(self) -> String {
        format!("column `{self}`")
    }
}

fn name_column(error: Error, at: impl ColumnIndex) -> Error {
    match error {
        Error::Decode(what) => Error::Decode(format!("{}: {what}", at.label())),
        other => other,
    }
}

impl Row<'_> {
    pub fn get<T: FromColumn>(&self, at: impl ColumnIndex) -> Result<T> {
        let position = at.position(self)?;
        self.column(position).and_then(T::from_column).map_err(|error| name_column(error, at))
    }

    /// Whose unit reads the row.
    pub fn tenant(&self) -> Result<TenantId> {
        self.tenant.ok_or_else(|| Error::Misuse("a row read across tenants is nobody's own".to_owned()))
    }

    /// What is sealed in a column, opened. What was stored before it was sealed comes as it is.
    pub fn get_sealed<T: FromColumn>(&self, at: impl ColumnIndex, cell: SealedCell) -> Result<T> {
        self.open_for(self.tenant, at, cell)
    }

    /// The same where a unit reads across tenants and the row says whose it is.
    pub fn get_sealed_of<T: FromColumn>(
        &self,
        tenant: TenantId,
        at: impl ColumnIndex,
        cell: SealedCell,
    ) -> Result<T> {
        self.open_for(Some(tenant), at, cell)
    }

    fn open_for<T: FromColumn>(
        &self,
        tenant: Option<TenantId>,
        at: impl ColumnIndex,
        cell: SealedCell,
    ) -> Result<T> {
        let position = at.position(self)?;
        let opened =
            self.column(position).and_then(|column| open_column(column, cell, (tenant, self.keyring)));
        opened.map_err(|error| name_column(error, at))
    }

    /// Bytes that are sealed, opened. Not for those of a row from before they were: nothing tells them apart.
    pub fn get_sealed_bytes(&self, at: impl ColumnIndex, cell: SealedCell) -> Result<Option<Vec<u8>>> {
        let Some(sealed) = self.get::<Option<Vec<u8>>>(at)? else { return Ok(None) };
        let (tenant, keyring) = (require_tenant(self.tenant, cell)?, require_keyring(self.keyring)?);
        cell.open_bytes(tenant, &sealed, keyring).map(Some).map_err(|error| name_column(error, at))
    }

    fn column(&self, position: usize) -> Result<Column<'_>> {
        match &self.engine {
            EngineRow::Sqlite(row) => sqlite_column(row, position),
            EngineRow::Postgres(row) => postgres_column(row, position),
        }
    }
}
