//! The `MUNSHI__SECTION__KEY` variables: what they say for each key.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::config::SECTIONS;
use crate::kinds::{Quoted, Raw};
use crate::nearest;
use crate::problem::{Place, Problem};
use crate::reader::Written;
use crate::section::{Key, PREFIX};

/// What the variables say, by the key's path, and what is wrong with their names.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    pub(crate) values: BTreeMap<String, Written>,
    pub(crate) problems: Vec<Problem>,
}

impl Variables {
    pub(crate) fn read(variables: &BTreeMap<OsString, OsString>) -> Self {
        let mut found = Self::default();
        for (name, value) in variables {
            // Ours are plain ASCII, so a name that is not Unicode is somebody else's.
            if let Some(name) = name.to_str().filter(|name| name.to_uppercase().starts_with("MUNSHI_")) {
                found.add(name, value);
            }
        }
        found
    }

    fn add(&mut self, name: &str, value: &OsString) {
        let place = Place::Environment { variable: name.to_owned() };
        match (known(name), value.to_str()) {
            (Some(key), Some(value)) => {
                self.values.insert(key.path(), Written { raw: Raw::Bare(value.to_owned()), place });
            }
            (Some(key), None) => self.problems.push(Problem {
                place,
                key: Some(key.path()),
                what: "the value is not UTF-8 text".to_owned(),
                hint: Some("set it again as plain text".to_owned()),
            }),
            (None, _) => self.problems.extend(unknown(name, place)),
        }
    }
}

fn known(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.variable() == name)
}

fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|outline| outline.keys)
}

/// `MUNSHI_SERVER_LISTEN` is surely meant for us; any other name without the double underscore may be
/// somebody else's.
fn unknown(name: &str, place: Place) -> Option<Problem> {
    let meant = match name.strip_prefix(PREFIX) {
        Some(rest) => {
            let (section, key) = rest.split_once("__").unwrap_or(("", rest));
            nearest::key(&section.to_lowercase(), &key.to_lowercase())
        }
        None => Some(keys().find(|key| plain(&key.variable()) == plain(name))?),
    };
    let hint = match meant {
        Some(key) => format!("did you mean {}?", key.variable()),
        None => format!(
            "unset it; `munshi config example` lists every key, and {PREFIX}SERVER__LISTEN is server.listen"
        ),
    };
    let what = format!("no key goes by {}", Quoted(name));
    Some(Problem { place, key: None, what, hint: Some(hint) })
}

/// The name with its underscores and capitals evened out.
fn plain(name: &str) -> String {
    name.to_uppercase().replace('_', "")
}
