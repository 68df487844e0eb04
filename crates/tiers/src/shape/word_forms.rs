//! Words that must have a form.

use munshi_llm::gateway::Capability;
use munshi_toml::render_hint;
use munshi_types::tier::{Destination, Holiday, LanguageCode, OpeningHours, RoutingKey, TierName, TierRef};
use munshi_types::{ConnectorName, ScopeGlob, ToolName};

use super::WordForm;

/// Through the type's own reading and back: the one spelling.
fn normalize<T>(text: &str) -> Result<String, String>
where
    T: std::str::FromStr + std::fmt::Display,
    T::Err: std::fmt::Display,
{
    text.parse::<T>().map(|value| value.to_string()).map_err(|error| error.to_string())
}

pub(super) const NAME: WordForm = WordForm {
    expects: "a tier's name such as \"front-desk\"",
    pattern: Some("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"),
    read: normalize::<TierName>,
};

pub(super) const REFERENCE: WordForm = WordForm {
    expects: "a tier's name such as \"meera\", or one version of it such as \"meera@3\"",
    pattern: Some("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(@[1-9][0-9]*)?$"),
    read: normalize::<TierRef>,
};

pub(super) const DESTINATION: WordForm = WordForm {
    expects: "a team's name such as \"support\", \"binding/NAME\" or \"person\"",
    pattern: Some("^((team|binding)/)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"),
    read: normalize::<Destination>,
};

pub(super) const HOURS: WordForm = WordForm {
    expects: "days and times such as \"mon-fri 10:00-18:00\"",
    pattern: Some(
        "^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))? [0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]$",
    ),
    read: normalize::<OpeningHours>,
};

pub(super) const HOLIDAY: WordForm = WordForm {
    expects: "a day such as \"2026-11-19\"",
    pattern: Some("^[0-9]{4}-[0-1][0-9]-[0-3][0-9]$"),
    read: normalize::<Holiday>,
};

pub(super) const TOOL: WordForm = WordForm {
    expects: "a tool's name such as \"search_catalog\", or \"shop.search_catalog\" for that of the pack shop",
    pattern: Some("^([a-z][a-z0-9-]{0,63}\\.)?[a-z][a-z0-9_]{0,63}$"),
    read: normalize::<ToolName>,
};

pub(super) const CONNECTOR: WordForm = WordForm {
    expects: "a connector's name such as \"files\"",
    pattern: Some("^[a-z][a-z0-9_]{0,23}$"),
    read: normalize::<ConnectorName>,
};

pub(super) const SCOPE: WordForm = WordForm {
    expects: "a pattern over scopes such as \"ledger.*\"",
    pattern: Some("^[A-Za-z0-9_.%/*{}-]{1,200}$"),
    read: normalize::<ScopeGlob>,
};

pub(super) const LANGUAGE: WordForm = WordForm {
    expects: "a language code such as \"hi\", or \"hi-latn\" for Latin letters",
    pattern: Some("^[a-z]{2,3}(-latn)?$"),
    read: normalize::<LanguageCode>,
};

pub(super) const KEY: WordForm = WordForm {
    expects: "an address such as \"number:+919812345678\", \"host:shop.example\", \"handle:sharma\" or \"model:sharma\"",
    pattern: Some("^(number|host|handle|model):.+$"),
    read: normalize::<RoutingKey>,
};

pub(super) const SLICE_NAME: WordForm = WordForm {
    expects: "a short name such as \"shorter-greeting\"",
    pattern: NAME.pattern,
    read: normalize::<TierName>,
};

pub(super) const WORD: WordForm = WordForm {
    expects: "a word of lowercase letters, digits, dashes and underscores",
    pattern: Some("^[a-z0-9][a-z0-9_-]{0,62}$"),
    read: normalize_word,
};

/// A use that nothing ever asked for.
pub(crate) const RETIRED_USE: &str = "realtime_voice";

pub(super) const USE: WordForm =
    WordForm { expects: "a model use such as default or cheap", pattern: None, read: normalize_capability };

fn normalize_word(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    let fits = (1..=63).contains(&text.len()) && text.bytes().all(plain);
    if fits { Ok(text.to_owned()) } else { Err(format!("`{text}` is not {}", WORD.expects)) }
}

fn normalize_capability(text: &str) -> Result<String, String> {
    if let Ok(found) = text.parse::<Capability>() {
        return Ok(found.to_string());
    }
    // Of older versions; it changes nothing, and a plan warns of it.
    if text == RETIRED_USE {
        return Ok(text.to_owned());
    }
    let known: Vec<&str> = Capability::ALL.iter().map(|known| known.as_str()).collect();
    let otherwise = format!("use one of {}", known.join(", "));
    Err(format!("unknown model use `{text}`: {}", render_hint(text, known, &otherwise)))
}
