//! Which fields a body has, asked of its type: for saying so where a body is no object at all.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

/// None for what is not read from an object with named fields.
pub(crate) fn find_names<'de, T: Deserialize<'de>>() -> Option<&'static [&'static str]> {
    T::deserialize(Probe).err().and_then(|told| told.0)
}

struct Probe;

/// What a type wanted, in place of an error.
#[derive(Debug)]
struct Told(Option<&'static [&'static str]>);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was read")
    }
}

impl std::error::Error for Told {}

impl serde::de::Error for Told {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Self(None)
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Told;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Told> {
        Err(Told(None))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Told> {
        Err(Told(Some(fields)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
