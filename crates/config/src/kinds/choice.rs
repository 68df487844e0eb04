//! One word out of a few.

use munshi_toml::QuotedValue;

use super::{RawSetting, SettingFault};

/// Finds the choice that was written, or says which there are.
pub fn read_choice<T: Copy>(raw: &RawSetting, choices: &[(&str, T)]) -> Result<T, SettingFault> {
    let text = raw.text()?.trim();
    if let Some((_, choice)) = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
        return Ok(*choice);
    }
    let fault = SettingFault::new(format!("{} is not one of the choices", QuotedValue(text)));
    Err(match munshi_toml::find_nearest(text, choices.iter().map(|(word, _)| *word)) {
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

        impl $crate::kinds::SettingKind for $name {
            type Value = Self;

            fn expects() -> String {
                let words = [$(concat!("\"", $word, "\"")),+];
                format!("one of {}", words.join(", "))
            }

            fn read(
                raw: &$crate::kinds::RawSetting,
                _: &$crate::kinds::HomeFolders,
            ) -> Result<Self, $crate::kinds::SettingFault> {
                $crate::kinds::read_choice(raw, &[$(($word, Self::$variant)),+])
            }

            fn show(value: &Self) -> $crate::redacted::RedactedSetting {
                $crate::redacted::RedactedSetting::Text(value.as_str().to_owned())
            }
        }
    };
}

pub(crate) use choice;
