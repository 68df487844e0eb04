//! A section is written once, as a documented struct with defaults; the rest follows from that text.

use crate::reader::Reader;

/// One key as its section's file defines it; the example, the docs and the hints are made from this.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub section: &'static str,
    pub name: &'static str,
    /// The doc comment, a line each, as the compiler hands it over (with its leading space).
    pub doc: &'static [&'static str],
    /// The default as it would stand in the file.
    pub default: &'static str,
    /// What may be written, in words: "a whole number from 1 to 3600".
    pub expects: fn() -> String,
}

impl Key {
    /// `server.listen`
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// `MUNSHI__SERVER__LISTEN`
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}__{}", self.section, self.name).to_uppercase()
    }

    pub fn doc_lines(&self) -> impl Iterator<Item = &'static str> {
        self.doc.iter().map(|line| line.trim())
    }
}

/// What every variable of ours begins with.
pub const PREFIX: &str = "MUNSHI__";

/// What the `section!` macro writes for a section.
pub trait Section: Sized {
    const NAME: &'static str;
    const DOC: &'static [&'static str];
    const KEYS: &'static [Key];

    /// Reads every key, so that every problem is found; `None` when one of them could not be read.
    fn take(reader: &mut Reader) -> Option<Self>;
}

/// A section as a value, for those that walk over all of them.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    pub name: &'static str,
    pub doc: &'static [&'static str],
    pub keys: &'static [Key],
}

impl Outline {
    pub const fn of<S: Section>() -> Self {
        Self { name: S::NAME, doc: S::DOC, keys: S::KEYS }
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

macro_rules! section {
    ($(#[doc = $doc:literal])+ $name:ident in $section:literal {
        $($(#[doc = $key_doc:literal])+ $field:ident $(($key:literal))?: $kind:ty = $default:literal,)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $key_doc])+ pub $field: <$kind as $crate::kinds::Kind>::Value,)+
        }

        impl $crate::section::Section for $name {
            const NAME: &'static str = $section;
            const DOC: &'static [&'static str] = &[$($doc),+];
            const KEYS: &'static [$crate::section::Key] = &[$($crate::section::Key {
                section: $section,
                name: $crate::section::key_name!($field $($key)?),
                doc: &[$($key_doc),+],
                default: stringify!($default),
                expects: <$kind as $crate::kinds::Kind>::expects,
            }),+];

            fn take(reader: &mut $crate::reader::Reader) -> Option<Self> {
                let mut keys = Self::KEYS.iter();
                $(let $field = keys.next().and_then(|key| reader.take::<$kind>(key));)+
                Some(Self { $($field: $field?,)+ })
            }
        }
    };
}

pub(crate) use {key_name, section};
