//! Rows from before text was sealed: their plain text is sealed a few rows at a time, while everything goes on.

use uuid::Uuid;

use crate::error::{Error, Result};
use crate::row::Row;
use crate::sealing::{RowId, SealedBy, SealedColumn, SealedText, is_sealed};
use crate::tx::Tx;
use crate::value::{JsonText, Param, ToParam};

/// A table whose rows of before may hold plain what is sealed today. A constant beside the table's statements.
#[derive(Clone, Copy, Debug)]
pub struct SealedTable {
    pub name: &'static str,
    pub key: SealedKey,
    /// The next rows in the order of their key: what is in the key, `person` whose text it is, and the columns by their names. On
    /// Postgres they are held.
    pub next: (&'static str, &'static str),
    /// Writes the columns, in their order, to a row.
    pub update: &'static str,
    pub columns: &'static [PlainColumn],
}

/// What a table's rows are known by within a tenant, and how many parameters that makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedKey {
    /// `row_id`: a UUID.
    Id,
    /// `row_id` and `row_number`.
    Numbered,
}

/// A column of it.
#[derive(Clone, Copy, Debug)]
pub enum PlainColumn {
    Text(SealedColumn),
    Json(SealedColumn),
}

/// Where sealing a table has come to: the last row that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMark {
    pub id: Uuid,
    pub number: i64,
}

impl RowMark {
    pub const START: Self = Self { id: Uuid::nil(), number: i64::MIN };
}

/// Gives the key of the person whose text a row is, or the tenant's own.
pub type FindSeal<'f> = dyn FnMut(&mut Tx<'_>, Option<Uuid>) -> Result<SealedBy> + 'f;

enum PlainValue {
    Text(Option<String>),
    Json(Option<JsonText>),
}

struct PlainRow {
    mark: RowMark,
    person: Option<Uuid>,
    values: Vec<PlainValue>,
}

impl SealedTable {
    /// Seals what is plain in the next rows and says up to where; none when there are no more.
    pub fn seal_next(
        &self,
        tx: &mut Tx<'_>,
        after: RowMark,
        limit: u32,
        find_seal: &mut FindSeal<'_>,
    ) -> Result<Option<RowMark>> {
        let by_id = [after.id.to_param(), limit.to_param()];
        let by_number = [after.id.to_param(), after.number.to_param(), limit.to_param()];
        let from: &[Param<'_>] = match self.key {
            SealedKey::Id => &by_id,
            SealedKey::Numbered => &by_number,
        };
        let rows = tx.all(self.next, from, |row| self.read(row))?;
        for row in &rows {
            if row.values.iter().any(PlainValue::is_plain) {
                self.seal_row(tx, row, find_seal)?;
            }
        }
        Ok(rows.last().map(|row| row.mark))
    }

    fn read(&self, row: &Row<'_>) -> Result<PlainRow> {
        let number = match self.key {
            SealedKey::Id => 0,
            SealedKey::Numbered => row.get("row_number")?,
        };
        let read_value = |column: &PlainColumn| match column {
            PlainColumn::Text(column) => row.get(column.name()).map(PlainValue::Text),
            PlainColumn::Json(column) => row.get(column.name()).map(PlainValue::Json),
        };
        let values = self.columns.iter().map(read_value).collect::<Result<_>>()?;
        Ok(PlainRow { mark: RowMark { id: row.get("row_id")?, number }, person: row.get("person")?, values })
    }

    fn seal_row(&self, tx: &mut Tx<'_>, row: &PlainRow, find_seal: &mut FindSeal<'_>) -> Result<()> {
        let by = find_seal(tx, row.person)?;
        let RowMark { id, number } = row.mark;
        let row_id = match self.key {
            SealedKey::Id => RowId::of_uuid(id),
            SealedKey::Numbered => RowId::of_numbered(id, number),
        };
        let mut sealed: Vec<Box<dyn ToParam>> = Vec::with_capacity(self.columns.len());
        for (column, value) in self.columns.iter().zip(&row.values) {
            let (PlainColumn::Text(column) | PlainColumn::Json(column)) = column;
            let seal = |text: &str| tx.seal(by, column.cell(row_id), text);
            sealed.push(match value {
                PlainValue::Text(Some(text)) if value.is_plain() => Box::new(seal(text)?),
                PlainValue::Json(Some(json)) if value.is_plain() => {
                    Box::new(seal(json.as_str()).map(SealedText::into_json)?)
                }
                PlainValue::Text(kept) => Box::new(kept.clone()),
                PlainValue::Json(kept) => Box::new(kept.clone()),
            });
        }
        let mut params = vec![id.to_param()];
        if self.key == SealedKey::Numbered {
            params.push(number.to_param());
        }
        params.extend(sealed.iter().map(|value| value.to_param()));
        match tx.execute(self.update, &params)? {
            1 => Ok(()),
            rows => Err(Error::Misuse(format!("sealing a row of {} changed {rows} rows", self.name))),
        }
    }
}

impl PlainValue {
    fn is_plain(&self) -> bool {
        match self {
            Self::Text(text) => text.as_deref().is_some_and(|text| !is_sealed(text)),
            Self::Json(json) => json.as_ref().is_some_and(|json| !is_sealed(json.as_str())),
        }
    }
}
