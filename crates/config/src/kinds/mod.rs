//! Kinds of value. A kind knows how a value is read, why it is refused, and how it is shown.
//!
//! To add another kind: a type that carries no data, its [`SettingKind`] in a file here, and a line in this list.

mod address;
mod choice;
mod filter;
mod folder;
mod json;
mod key;
mod list;
mod number;
mod pairs;
mod price;
mod text;
mod url;

use munshi_toml::QuotedValue;
use serde_json::{Map, Value};
use toml::de::DeValue;

pub use address::SocketAddressKind;
pub(crate) use choice::choice;
pub use choice::read_choice;
pub use filter::LogFilterKind;
pub use folder::{DataFolderKind, HomeFolders, OptionalFileKind};
pub use json::JsonTableKind;
pub use key::SecretKeyKind;
pub use list::{HostListKind, IpAddressListKind, ModelNameListKind, PhraseListKind, ResidencyListKind};
pub use number::{
    CountKind, CountOrAutoKind, FlagKind, HoursKind, KibibytesKind, MillisecondsKind, SecondsKind,
};
pub use pairs::{HeaderListKind, NameValuePair, QueryParametersKind};
pub use price::{DollarsKind, OptionalDollarsKind, RupeesKind, TokenPriceKind};
pub use text::{HeaderNameKind, OptionalTextKind, SlugKind, TextKind};
pub use url::{BaseUrlKind, EndpointKind, SecretStoreUrlKind, StoreUrlKind};

use crate::redacted::RedactedSetting;

/// How one kind of value is read and shown. The value is the type the rest of Munshi works with.
pub trait SettingKind {
    type Value;

    /// What may be written, as it ends the sentence "write …".
    fn expects() -> String;

    fn read(raw: &RawSetting, home: &HomeFolders) -> Result<Self::Value, SettingFault>;

    /// The default's value; only a kind whose default depends on the machine differs from `read`.
    fn default(raw: &RawSetting, home: &HomeFolders) -> Result<Self::Value, SettingFault> {
        Self::read(raw, home)
    }

    fn show(value: &Self::Value) -> RedactedSetting;
}

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawSetting {
    /// From a variable: the kind decides what the letters mean.
    Bare(String),
    Text(String),
    Whole(i128),
    /// Its digits as they were written, so that nothing is rounded.
    Decimal(String),
    Flag(bool),
    List(Vec<Self>),
    Table(Map<String, Value>),
    /// Something no key takes, in words: "a date".
    Other(&'static str),
}

/// Why a value was refused; the key and the place are added by the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingFault {
    pub what: String,
    /// What to do, when it is more than "write what the kind expects".
    pub hint: Option<String>,
}

impl SettingFault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl RawSetting {
    pub(crate) fn of(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.clone().into_owned()),
            DeValue::Boolean(flag) => Self::Flag(*flag),
            DeValue::Integer(number) => {
                let beyond = if number.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
                Self::Whole(i128::from_str_radix(number.as_str(), number.radix()).unwrap_or(beyond))
            }
            DeValue::Float(number) => Self::Decimal(number.as_str().to_owned()),
            DeValue::Datetime(_) => Self::Other("a date"),
            DeValue::Array(items) => Self::List(items.iter().map(|item| Self::of(item.get_ref())).collect()),
            DeValue::Table(_) => match json::from_toml(value) {
                Some(Value::Object(table)) => Self::Table(table),
                _ => Self::Other("a table with a number or date that JSON can't represent"),
            },
        }
    }

    /// Text from either source.
    pub(crate) fn text(&self) -> Result<&str, SettingFault> {
        match self {
            Self::Bare(text) | Self::Text(text) => Ok(text),
            Self::Whole(_) | Self::Decimal(_) | Self::Flag(_) => {
                Err(self.wrong_kind("text").with_hint("put the value in double quotes"))
            }
            Self::List(_) | Self::Table(_) | Self::Other(_) => Err(self.wrong_kind("text")),
        }
    }

    /// "this is a list, not text"
    pub(crate) fn wrong_kind(&self, wanted: &str) -> SettingFault {
        let found = match self {
            Self::Bare(text) if text.trim().is_empty() => "empty",
            Self::Bare(text) => return SettingFault::new(format!("{} is not {wanted}", QuotedValue(text))),
            Self::Text(_) => "text",
            Self::Whole(_) => "a number",
            Self::Decimal(_) => "a number with a decimal point",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(found) => found,
        };
        SettingFault::new(format!("this is {found}, not {wanted}"))
    }
}
