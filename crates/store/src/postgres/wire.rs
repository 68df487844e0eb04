//! Our values in Postgres's binary form.

use std::error::Error as StdError;

use munshi_types::Timestamp;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::value::{Column, Param};

type Failure = Box<dyn StdError + Sync + Send>;

/// Postgres counts microseconds from 2000-01-01, we from 1970-01-01.
const EPOCH_SHIFT: i64 = 946_684_800_000_000;

/// The type of the column decides the form; a value that does not fit it is refused, never bent.
impl ToSql for Param<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, Failure> {
        match (*self, ty) {
            (Param::Null, _) => return Ok(IsNull::Yes),
            (Param::Bool(value), &Type::BOOL) => return value.to_sql(ty, out),
            (Param::Integer(value), &Type::INT8) => return value.to_sql(ty, out),
            (Param::Integer(value), &Type::INT4) => return i32::try_from(value)?.to_sql(ty, out),
            (Param::Integer(value), &Type::INT2) => return i16::try_from(value)?.to_sql(ty, out),
            (Param::Real(value), &Type::FLOAT8) => return value.to_sql(ty, out),
            (Param::Text(text), &Type::TEXT | &Type::VARCHAR) => out.extend_from_slice(text.as_bytes()),
            (Param::Bytes(bytes), &Type::BYTEA) => out.extend_from_slice(bytes),
            (Param::Uuid(uuid), &Type::UUID) => out.extend_from_slice(uuid.as_bytes()),
            (Param::Time(moment), &Type::TIMESTAMPTZ) => {
                let micros = moment.as_micros().checked_sub(EPOCH_SHIFT).ok_or("the time is out of range")?;
                out.extend_from_slice(&micros.to_be_bytes());
            }
            (Param::Json(text) | Param::Text(text), &Type::JSONB) => {
                out.extend_from_slice(&[1]);
                out.extend_from_slice(text.as_bytes());
            }
            (Param::Json(text), &Type::TEXT) => out.extend_from_slice(text.as_bytes()),
            (Param::Vector(floats), ty) if ty.name() == "vector" => {
                out.extend_from_slice(&u16::try_from(floats.len())?.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
                floats.iter().for_each(|float| out.extend_from_slice(&float.to_be_bytes()));
            }
            (value, ty) => return Err(format!("{value:?} can't be bound to a {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

struct Raw<'a>(Column<'a>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> std::result::Result<Self, Failure> {
        let column = match *ty {
            Type::BOOL => Column::Bool(bool::from_sql(ty, raw)?),
            Type::INT2 => Column::Integer(i16::from_sql(ty, raw)?.into()),
            Type::INT4 => Column::Integer(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => Column::Integer(i64::from_sql(ty, raw)?),
            Type::FLOAT4 => Column::Real(f32::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => Column::Real(f64::from_sql(ty, raw)?),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN | Type::JSON => {
                Column::Text(std::str::from_utf8(raw)?)
            }
            Type::JSONB => Column::Text(std::str::from_utf8(raw.get(1..).unwrap_or_default())?),
            Type::BYTEA => Column::Bytes(raw),
            Type::UUID => Column::Uuid(Uuid::from_slice(raw)?),
            Type::TIMESTAMPTZ => {
                let micros = i64::from_be_bytes(raw.try_into()?);
                Column::Time(Timestamp::from_micros(micros.saturating_add(EPOCH_SHIFT)))
            }
            Type::NUMERIC => return Err("a NUMERIC; cast the sum to BIGINT in the statement".into()),
            ref other if other.name() == "vector" => Column::PgVector(raw),
            ref other => return Err(format!("the unsupported type {other}").into()),
        };
        Ok(Self(column))
    }

    fn from_sql_null(_ty: &Type) -> std::result::Result<Self, Failure> {
        Ok(Self(Column::Null))
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }
}

pub(crate) fn column_of(row: &tokio_postgres::Row, position: usize) -> Result<Column<'_>> {
    let raw: Raw<'_> = row.try_get(position).map_err(|error| {
        let cause = StdError::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        Error::Decode(format!("found {cause}"))
    })?;
    Ok(raw.0)
}
