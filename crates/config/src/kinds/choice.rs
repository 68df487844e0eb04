//! One word out of a few.

use super::{Fault, Quoted, Raw};
use crate::nearest;

/// Finds the choice that was written, or says which there are.
pub fn read_choice<T: Copy>(raw: &Raw, choices: &[(&str, T)]) -> Result<T, Fault> {
    let text = raw.text()?.trim();
    if let Some((_, choice)) = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
        return Ok(*choice);
    }
    let fault = Fault::new(format!("{} is not one of the choices", Quoted(text)));
    Err(match nearest::of(text, choices.iter().map(|(word, _)| *word)) {
        Some(word) => fault.with_hint(format!("did you mean \"{word}\"?")),
        None => fault,
    })
}

/// An enum whose variants are the words a person may write; the enum is its own kind.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $name:ident {
        $($(#[doc = $variant_doc:literal])* $variant:ident = $word:literal,)+
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $variant_doc])* $variant,)+
        }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::kinds::Kind for $name {
            type Value = Self;

            fn expects() -> String {
                let words = [$(concat!("\"", $word, "\"")),+];
                format!("one of {}", words.join(", "))
            }

            fn read(
                raw: &$crate::kinds::Raw,
                _: &$crate::kinds::Home,
            ) -> Result<Self, $crate::kinds::Fault> {
                $crate::kinds::read_choice(raw, &[$(($word, Self::$variant)),+])
            }

            fn show(value: &Self) -> $crate::show::Shown {
                $crate::show::Shown::Text(value.as_str().to_owned())
            }
        }
    };
}

pub(crate) use choice;
