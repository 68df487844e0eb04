//! The small set of types both engines share: what goes in as a parameter and comes out of a column.

use munshi_types::{Id, Money, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::error::{Error, Result};

/// A value on its way in. Borrowed, so binding copies nothing.
#[derive(Clone, Copy, Debug)]
pub enum Param<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Uuid(Uuid),
    Time(Timestamp),
    /// JSON text, checked when it was made.
    Json(&'a str),
    /// An embedding: little-endian `f32`s on SQLite, `vector` on Postgres.
    Vector(&'a [f32]),
}

/// A value on its way out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Uuid(Uuid),
    Time(Timestamp),
    /// pgvector's wire form: two 16-bit numbers, then big-endian floats.
    PgVector(&'a [u8]),
}

/// What can be bound. `params!` calls it.
pub trait ToParam {
    fn to_param(&self) -> Param<'_>;
}

/// What can be read from a column. SQLite has fewer types than Postgres, so each reader takes both forms.
pub trait FromColumn: Sized {
    fn from_column(column: Column<'_>) -> Result<Self>;
}

/// A list of parameters: `params![id, amount, note]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::ToParam::to_param(&$value)),*] as &[$crate::Param<'_>]
    };
}

/// A value kept as JSON. Encoded once, when it is made, so that a bad value fails before the unit begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    pub fn of(value: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_string(value)
            .map_err(|error| Error::Misuse(format!("the value can't be written as JSON: {error}")))?;
        if holds_nul(&text) {
            return Err(Error::Refused(
                "text can't contain a NUL character, not even inside JSON".to_owned(),
            ));
        }
        Ok(Self(text))
    }

    /// From text that is JSON by how it was made.
    pub(crate) fn from_checked(text: String) -> Self {
        Self(text)
    }

    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.0).map_err(|error| Error::Decode(describe_shape(&error)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where stored JSON is not as expected. What stands there is somebody's words, and not for a log.
fn describe_shape(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    format!("the stored JSON has an unexpected shape ({:?} error at {line}:{column})", error.classify())
}

/// Whether JSON text spells out a NUL, which Postgres can't keep. A backslash escapes the character after it.
fn holds_nul(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        if rest.starts_with("u0000") {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

/// An embedding as the store keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(pub Vec<f32>);

impl Column<'_> {
    fn mismatch<T>(self, wanted: &str) -> Result<T> {
        let found = match self {
            Self::Null => "nothing (NULL)",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a real number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Uuid(_) => "a uuid",
            Self::Time(_) => "a time",
            Self::PgVector(_) => "a vector",
        };
        Err(Error::Decode(format!("expected {wanted}, found {found}")))
    }
}

macro_rules! param {
    ($($type:ty => |$value:ident| $param:expr;)+) => {$(
        impl ToParam for $type {
            fn to_param(&self) -> Param<'_> {
                let $value = self;
                $param
            }
        }
    )+};
}

param! {
    bool => |value| Param::Bool(*value);
    i64 => |value| Param::Integer(*value);
    i32 => |value| Param::Integer((*value).into());
    u32 => |value| Param::Integer((*value).into());
    f64 => |value| Param::Real(*value);
    str => |value| Param::Text(value);
    String => |value| Param::Text(value);
    [u8] => |value| Param::Bytes(value);
    Vec<u8> => |value| Param::Bytes(value);
    Uuid => |value| Param::Uuid(*value);
    Timestamp => |value| Param::Time(*value);
    Money => |value| Param::Integer(value.as_paise());
    JsonText => |value| Param::Json(&value.0);
    Vector => |value| Param::Vector(&value.0);
}

macro_rules! id_columns {
    ($($(#[$doc:meta])* $name:ident = $noun:literal;)+) => {$(
        impl ToParam for munshi_types::$name {
            fn to_param(&self) -> Param<'_> {
                Param::Uuid(self.as_uuid())
            }
        }

        impl FromColumn for munshi_types::$name {
            fn from_column(column: Column<'_>) -> Result<Self> {
                Uuid::from_column(column).map(Self::from_uuid)
            }
        }
    )+};
}

munshi_types::for_each_id!(id_columns);

impl<T: ToParam + ?Sized> ToParam for &T {
    fn to_param(&self) -> Param<'_> {
        (**self).to_param()
    }
}

impl<T: ToParam> ToParam for Option<T> {
    fn to_param(&self) -> Param<'_> {
        self.as_ref().map_or(Param::Null, ToParam::to_param)
    }
}

macro_rules! column {
    ($($type:ty, $wanted:literal: $($pattern:pat => $value:expr),+;)+) => {$(
        impl FromColumn for $type {
            fn from_column(column: Column<'_>) -> Result<Self> {
                match column {
                    $($pattern => $value,)+
                    other => other.mismatch($wanted),
                }
            }
        }
    )+};
}

column! {
    bool, "a boolean": Column::Bool(value) => Ok(value), Column::Integer(value @ (0 | 1)) => Ok(value == 1);
    i64, "an integer": Column::Integer(value) => Ok(value);
    f64, "a real number": Column::Real(value) => Ok(value);
    String, "text": Column::Text(value) => Ok(value.to_owned());
    Vec<u8>, "bytes": Column::Bytes(value) => Ok(value.to_owned());
    Uuid, "a uuid": Column::Uuid(value) => Ok(value), Column::Bytes(value) => uuid_of(value);
    Timestamp, "a time": Column::Time(value) => Ok(value), Column::Integer(value) => Ok(Timestamp::from_micros(value));
    Money, "an amount of paise": Column::Integer(value) => Ok(Money::from_paise(value));
    JsonText, "JSON": Column::Text(value) => Ok(JsonText(value.to_owned()));
    Vector, "a vector": Column::Bytes(value) => little_endian(value), Column::PgVector(value) => pgvector(value);
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(column: Column<'_>) -> Result<Self> {
        if column == Column::Null { Ok(None) } else { T::from_column(column).map(Some) }
    }
}

fn uuid_of(bytes: &[u8]) -> Result<Uuid> {
    Uuid::from_slice(bytes).map_err(|_| Error::Decode(format!("a uuid has 16 bytes, found {}", bytes.len())))
}

fn little_endian(bytes: &[u8]) -> Result<Vector> {
    floats(bytes, f32::from_le_bytes)
}

fn pgvector(bytes: &[u8]) -> Result<Vector> {
    floats(bytes.get(4..).unwrap_or_default(), f32::from_be_bytes)
}

fn floats(bytes: &[u8], read: fn([u8; 4]) -> f32) -> Result<Vector> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if rest.is_empty() {
        Ok(Vector(chunks.iter().map(|chunk| read(*chunk)).collect()))
    } else {
        Err(Error::Decode(format!("a vector has four bytes a number, found {} bytes", bytes.len())))
    }
}
