//! A section is written once, as a documented struct with defaults; the rest follows from that text.

use crate::reader::ConfigReader;

/// One key as its section's file defines it; the example, the docs and the hints are made from this.
#[derive(Clone, Copy, Debug)]
pub struct SettingDefinition {
    pub section: &'static str,
    /// Whether the section stands for many, each under a name.
    pub many: SectionCardinality,
    pub name: &'static str,
    /// The doc comment, a line each, as the compiler hands it over (with its leading space).
    pub doc: &'static [&'static str],
    /// The default as it would stand in the file; where there are many, an example.
    pub default: &'static str,
    /// What may be written, in words: "a whole number from 1 to 3600".
    pub expects: fn() -> String,
}

/// How often a section can stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionCardinality {
    No,
    /// As often as one likes, `[section.name]` each; with a name for the example.
    Named(&'static str),
}

impl SectionCardinality {
    /// What stands for the name people choose.
    const NAME: &'static str = "NAME";

    const fn name(self) -> Option<&'static str> {
        match self {
            Self::No => None,
            Self::Named(_) => Some(Self::NAME),
        }
    }
}

impl SettingDefinition {
    /// `server.listen`, `models.NAME.key`
    pub fn path(&self) -> String {
        self.path_in(self.many.name())
    }

    /// `MUNSHI__SERVER__LISTEN`, `MUNSHI__MODELS__NAME__KEY`
    pub fn variable(&self) -> String {
        self.variable_in(self.many.name())
    }

    /// `models.sonnet.key` for `sonnet`.
    pub(crate) fn path_in(&self, name: Option<&str>) -> String {
        format!("{}.{}", heading(self.section, name), self.name)
    }

    pub(crate) fn variable_in(&self, name: Option<&str>) -> String {
        let name = name.map(|name| format!("__{}", name.replace('-', "_"))).unwrap_or_default();
        format!("{PREFIX}{}{name}__{}", self.section, self.name).to_uppercase()
    }

    pub fn doc_lines(&self) -> impl Iterator<Item = &'static str> {
        self.doc.iter().map(|line| line.trim())
    }
}

/// `server`, or `models.sonnet` for `sonnet`.
pub(crate) fn heading(section: &str, name: Option<&str>) -> String {
    name.map_or_else(|| section.to_owned(), |name| format!("{section}.{name}"))
}

/// What every variable of ours begins with.
pub const PREFIX: &str = "MUNSHI__";

/// What the `section!` and `named_section!` macros write for a section.
pub trait ConfigSection: Sized {
    const NAME: &'static str;
    const MANY: SectionCardinality;
    const DOC: &'static [&'static str];
    const KEYS: &'static [SettingDefinition];

    /// Reads every key, so that every problem is found; `None` when one of them could not be read.
    fn read_from(reader: &mut ConfigReader) -> Option<Self>;
}

/// A section as a value, for those that walk over all of them.
#[derive(Clone, Copy, Debug)]
pub struct SectionOutline {
    pub name: &'static str,
    pub many: SectionCardinality,
    pub doc: &'static [&'static str],
    pub keys: &'static [SettingDefinition],
}

impl SectionOutline {
    pub const fn of<S: ConfigSection>() -> Self {
        Self { name: S::NAME, many: S::MANY, doc: S::DOC, keys: S::KEYS }
    }

    /// `server`, `models.NAME`
    pub(crate) fn heading(&self) -> String {
        heading(self.name, self.many.name())
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
            const MANY: $crate::section::SectionCardinality = $crate::section::SectionCardinality::No;
            const DOC: &'static [&'static str] = &[$($doc),+];
            const KEYS: &'static [$crate::section::SettingDefinition] = &[$($crate::section::SettingDefinition {
                section: $section,
                many: $crate::section::SectionCardinality::No,
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
            const MANY: $crate::section::SectionCardinality = $crate::section::SectionCardinality::Named($example);
            const DOC: &'static [&'static str] = &[$($doc),+];
            const KEYS: &'static [$crate::section::SettingDefinition] = &[$($crate::section::SettingDefinition {
                section: $section,
                many: <$all as $crate::section::ConfigSection>::MANY,
                name: stringify!($must),
                doc: &[$($must_doc),+],
                default: stringify!($must_example),
                expects: <$must_kind as $crate::kinds::SettingKind>::expects,
            },)+ $($crate::section::SettingDefinition {
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
