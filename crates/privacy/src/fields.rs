//! Fields of JSON that a tenant hides by name: `notes`, `customer.*.phone`.

use serde::{Deserialize, Serialize};

/// A list of dotted paths. A name without a dot is meant wherever it stands; a path begins at the top; `*` is any one
/// field or item, `**` any number of them. Case does not count, and the places of items need not be written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct HiddenFields {
    written: Vec<String>,
    globs: Vec<Vec<String>>,
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonPathStep {
    Key(String),
    Item(usize),
}

impl HiddenFields {
    pub fn new<S: AsRef<str>>(paths: impl IntoIterator<Item = S>) -> Self {
        let written: Vec<String> = paths
            .into_iter()
            .map(|path| path.as_ref().trim().to_owned())
            .filter(|path| !path.is_empty())
            .collect();
        let globs = written
            .iter()
            .map(|path| {
                let mut parts: Vec<String> = path.split('.').map(str::to_lowercase).collect();
                if parts.len() == 1 {
                    parts.insert(0, "**".to_owned());
                }
                // Two in a row mean no more than one.
                parts.dedup_by(|one, other| one == "**" && other == "**");
                parts
            })
            .collect();
        Self { written, globs }
    }

    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Whether the list names the value at the end of a way.
    pub(super) fn matches(&self, way: &[JsonPathStep]) -> bool {
        self.globs.iter().any(|glob| glob_matches(glob, way))
    }
}

/// Walks the glob along the way, remembering every part of it that may come next: linear in both.
fn glob_matches(glob: &[String], way: &[JsonPathStep]) -> bool {
    let mut next = vec![false; glob.len() + 1];
    next[0] = true;
    advance_wildcards(glob, &mut next);
    for step in way {
        let mut after = vec![false; glob.len() + 1];
        for (at, part) in glob.iter().enumerate().filter(|(at, _)| next[*at]) {
            match (part.as_str(), step) {
                ("**", _) => after[at] = true,
                ("*", _) => {
                    after[at + 1] = true;
                    // An item's place may be left out.
                    after[at] |= matches!(step, JsonPathStep::Item(_));
                }
                (part, JsonPathStep::Key(key)) => after[at + 1] |= part == key,
                (part, JsonPathStep::Item(place)) => {
                    after[at + 1] |= part.parse() == Ok(*place);
                    after[at] = true;
                }
            }
        }
        // Every item of a list that is named is named.
        after[glob.len()] |= next[glob.len()] && matches!(step, JsonPathStep::Item(_));
        advance_wildcards(glob, &mut after);
        next = after;
    }
    next[glob.len()]
}

/// `**` may stand for nothing.
fn advance_wildcards(glob: &[String], next: &mut [bool]) {
    for (at, part) in glob.iter().enumerate() {
        if next[at] && part == "**" {
            next[at + 1] = true;
        }
    }
}

impl From<Vec<String>> for HiddenFields {
    fn from(paths: Vec<String>) -> Self {
        Self::new(paths)
    }
}

impl From<HiddenFields> for Vec<String> {
    fn from(fields: HiddenFields) -> Self {
        fields.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(path: &str) -> Vec<JsonPathStep> {
        path.split('.')
            .map(|step| {
                step.parse().map_or_else(|_| JsonPathStep::Key(step.to_lowercase()), JsonPathStep::Item)
            })
            .collect()
    }

    #[test]
    fn paths_name_what_they_say() {
        for (glob, path, named) in [
            ("notes", "notes", true),
            ("Notes", "a.0.notes", true),
            ("notes", "notes.0", true),
            ("notes", "notes2", false),
            ("customer.*.phone", "customer.home.phone", true),
            ("customer.*.phone", "customer.3.phone", true),
            ("customer.*.phone", "customer.phone", false),
            ("customer.*.phone", "x.customer.home.phone", false),
            ("customers.phone", "customers.7.phone", true),
            ("a.**.z", "a.b.c.z", true),
            ("a.**.z", "a.z", true),
            ("a.**.z", "a.z.y", false),
            ("*", "anything", true),
            ("*.x", "a.b.x", false),
        ] {
            assert_eq!(HiddenFields::new([glob]).matches(&way(path)), named, "{glob} {path}");
        }
        assert!(HiddenFields::new(["", "  "]).is_empty());
        let kept: HiddenFields = serde_json::from_str(r#"["a.B"]"#).unwrap();
        assert_eq!(serde_json::to_string(&kept).unwrap(), r#"["a.B"]"#);
    }
}
