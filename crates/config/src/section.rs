//! A section is written once, as a documented struct with defaults; the rest follows from that text.

use crate::outline::{SectionCardinality, SectionOutline, SettingDefinition};
use crate::reader::ConfigReader;

/// What the `section!` and `named_section!` macros write for a section.
pub trait ConfigSection: Sized {
    const NAME: &'static str;
    const MANY: SectionCardinality;
    const DOC: &'static [&'static str];
    const KEYS: &'static [SettingDefinition];

    /// Reads every key, so that every problem is found; `None` when one of them could not be read.
    fn read_from(reader: &mut ConfigReader) -> Option<Self>;
}

impl SectionOutline {
    pub const fn of<S: ConfigSection>() -> Self {
        Self { name: S::NAME, many: S::MANY, doc: S::DOC, keys: S::KEYS }
    }
}

/// The key's name is the field's, unless another is given: a field that holds a `Duration` is called
/// `request_timeout`, its key `request_timeout_seconds`.
macro_rules! key_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// One section. What holds between its keys and others is `checked by` a function that tells the reader of problems;
/// it is asked even where some key could not be read.
macro_rules! section {
    ($(#[doc = $doc:literal])+ $name:ident in $section:literal $(checked by $check:path)? {
        $($(#[doc = $key_doc:literal])+ $field:ident $(($key:literal))?: $kind:ty = $default:expr,)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $key_doc])+ pub $field: <$kind as $crate::kinds::SettingKind>::Value,)+
        }

        impl $crate::section::ConfigSection for $name {
            const NAME: &'static str = $section;
            const MANY: $crate::outline::SectionCardinality = $crate::outline::SectionCardinality::No;
            const DOC: &'static [&'static str] = &[$($doc),+];
            const KEYS: &'static [$crate::outline::SettingDefinition] = &[$($crate::outline::SettingDefinition {
                section: $section,
                many: $crate::outline::SectionCardinality::No,
                name: $crate::section::key_name!($field $($key)?),
                doc: &[$($key_doc),+],
                default: stringify!($default),
                expects: <$kind as $crate::kinds::SettingKind>::expects,
            }),+];

            fn read_from(reader: &mut $crate::reader::ConfigReader) -> Option<Self> {
                let mut keys = Self::KEYS.iter();
                $(let $field = keys.next().and_then(|key| reader.read_setting::<$kind>(key));)+
                $($check(reader);)?
                Some(Self { $($field: $field?,)+ })
            }
        }
    };
}

/// A section that may stand many times, each under a name. No key has a default but the example's value: what is
/// not given stays open, for whoever uses the settings to fill in.
macro_rules! named_section {
    ($(#[doc = $doc:literal])+ $all:ident of $(#[doc = $one_doc:literal])+ $one:ident
        in $section:literal such as $example:literal {
        required {
            $($(#[doc = $must_doc:literal])+ $must:ident: $must_kind:ty = $must_example:expr,)+
        }
        optional {
            $($(#[doc = $key_doc:literal])+ $field:ident $(($key:literal))?: $kind:ty = $default:expr,)+
        }
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $all {
            /// In the order of the file, then those that only variables name.
            pub list: Vec<$one>,
        }

        $(#[doc = $one_doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $one {
            pub name: String,
            /// Where it was first written, for problems with what it lacks.
            pub place: $crate::problem::SettingOrigin,
            $($(#[doc = $must_doc])+ pub $must: <$must_kind as $crate::kinds::SettingKind>::Value,)+
            $($(#[doc = $key_doc])+ pub $field: Option<<$kind as $crate::kinds::SettingKind>::Value>,)+
        }

        impl $one {
            fn read_from(reader: &mut $crate::reader::ConfigReader, from: $crate::names::SectionInstance) -> Option<Self> {
                let mut keys = <$all as $crate::section::ConfigSection>::KEYS.iter();
                $(let $must = keys.next().and_then(|key| reader.read_required::<$must_kind>(key, &from));)+
                $(let $field = keys.next().and_then(|key| reader.read_named::<$kind>(key, &from));)+
                Some(Self { name: from.name, place: from.place, $($must: $must?,)+ $($field: $field?,)+ })
            }
        }

        impl $crate::section::ConfigSection for $all {
            const NAME: &'static str = $section;
            const MANY: $crate::outline::SectionCardinality = $crate::outline::SectionCardinality::Named($example);
            const DOC: &'static [&'static str] = &[$($doc),+];
            const KEYS: &'static [$crate::outline::SettingDefinition] = &[$($crate::outline::SettingDefinition {
                section: $section,
                many: <$all as $crate::section::ConfigSection>::MANY,
                name: stringify!($must),
                doc: &[$($must_doc),+],
                default: stringify!($must_example),
                expects: <$must_kind as $crate::kinds::SettingKind>::expects,
            },)+ $($crate::outline::SettingDefinition {
                section: $section,
                many: <$all as $crate::section::ConfigSection>::MANY,
                name: $crate::section::key_name!($field $($key)?),
                doc: &[$($key_doc),+],
                default: stringify!($default),
                expects: <$kind as $crate::kinds::SettingKind>::expects,
            }),+];

            fn read_from(reader: &mut $crate::reader::ConfigReader) -> Option<Self> {
                let names = reader.names($section);
                // All are read before one that could not be ends it, so that every problem is found.
                let taken: Vec<Option<$one>> = names.into_iter().map(|name| $one::read_from(reader, name)).collect();
                taken.into_iter().collect::<Option<_>>().map(|list| Self { list })
            }
        }
    };
}

pub(crate) use {key_name, named_section, section};
