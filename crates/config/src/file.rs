//! The TOML file: what it says for each key, and where.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::SECTIONS;
use crate::kinds::{QuotedSetting, RawSetting};
use crate::names::{self, SectionInstance};
use crate::nearest;
use crate::problem::{ConfigProblem, SettingOrigin};
use crate::reader::SourcedSetting;
use crate::section::{SectionCardinality, SectionOutline, heading};
use crate::sources::ConfigFileSource;

/// What the file says, by the key's path, and what is wrong with it. The values themselves are not judged.
#[derive(Debug, Default)]
pub(crate) struct FileSettings {
    pub(crate) values: BTreeMap<String, SourcedSetting>,
    /// Of the sections that stand many times, in the order of the file.
    pub(crate) names: Vec<SectionInstance>,
    pub(crate) problems: Vec<ConfigProblem>,
}

impl FileSettings {
    pub(crate) fn read(source: &ConfigFileSource) -> Self {
        match source {
            ConfigFileSource::Text { name, bytes } => Self::parse(name, bytes),
            ConfigFileSource::Path(path) => {
                let name = path.display().to_string();
                match std::fs::read(path) {
                    Ok(bytes) => Self::parse(&name, &bytes),
                    Err(error) => Self::unreadable(&name, &error),
                }
            }
        }
    }

    fn unreadable(name: &str, error: &std::io::Error) -> Self {
        let (what, hint) = match error.kind() {
            std::io::ErrorKind::NotFound => (
                "there is no such file".to_owned(),
                "give the path of a settings file, or write one with `munshi config example`",
            ),
            std::io::ErrorKind::PermissionDenied => {
                ("it may not be read by this user".to_owned(), "give this user the right to read it")
            }
            _ => (format!("it can't be read: {error}"), "check that this is a plain file"),
        };
        let place = SettingOrigin::File { file: name.to_owned() };
        let problem = ConfigProblem { place, key: None, what, hint: Some(hint.to_owned()) };
        Self { problems: vec![problem], ..Self::default() }
    }

    fn parse(name: &str, bytes: &[u8]) -> Self {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                return Self { problems: vec![not_text(locate(name, &good, good.len()))], ..Self::default() };
            }
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut walk = Walk { name, text, broken: BTreeSet::new(), file: Self::default() };
        errors.iter().for_each(|error| walk.syntax(error));
        walk.root(table.get_ref());
        walk.file
    }
}

fn not_text(place: SettingOrigin) -> ConfigProblem {
    ConfigProblem {
        place,
        key: None,
        what: "from here on the file is not UTF-8 text".to_owned(),
        hint: Some("save it as UTF-8".to_owned()),
    }
}

/// One pass over the parsed file.
struct Walk<'a> {
    name: &'a str,
    text: &'a str,
    /// Lines with a syntax error. The parser goes on with its best guess at what they say; that guess is not
    /// judged, so that one slip is one problem.
    broken: BTreeSet<usize>,
    file: FileSettings,
}

impl Walk<'_> {
    fn root(&mut self, root: &DeTable<'_>) {
        for (name, value) in root {
            let place = self.place(name);
            let known = SECTIONS.iter().find(|outline| outline.name == name.get_ref().as_ref());
            match (known, value.get_ref()) {
                (Some(outline), DeValue::Table(table)) if outline.many == SectionCardinality::No => {
                    self.section(outline, None, table);
                }
                (Some(outline), DeValue::Table(table)) => self.many(outline, table),
                (Some(outline), other) => {
                    self.add(not_a_section(&outline.heading(), outline.name, other, place));
                }
                (None, DeValue::Table(table)) => self.add(unknown_section(name.get_ref(), table, place)),
                (None, _) => self.add(unknown_key(None, None, name.get_ref(), place)),
            }
        }
    }

    fn many(&mut self, outline: &SectionOutline, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            let (place, text) = (self.place(name), name.get_ref().as_ref());
            match value.get_ref() {
                DeValue::Table(table) => {
                    if self.name(outline.name, text, &place) {
                        self.section(outline, Some(text), table);
                    }
                }
                _ if outline.keys.iter().any(|key| key.name == text) => {
                    self.add(unnamed(outline, text, place));
                }
                other => {
                    let heading = heading(outline.name, Some(text));
                    self.add(not_a_section(&heading, &heading, other, place));
                }
            }
        }
    }

    /// Whether it can be a name, and no other is the same to a variable.
    fn name(&mut self, section: &'static str, name: &str, place: &SettingOrigin) -> bool {
        let twin =
            self.file.names.iter().find(|known| known.section == section && names::alike(&known.name, name));
        let problem =
            names::refuse(section, name, place).or_else(|| twin.map(|twin| twins(name, twin, place)));
        match problem {
            Some(problem) => {
                self.add(problem);
                false
            }
            None => {
                self.file.names.push(SectionInstance {
                    section,
                    name: name.to_owned(),
                    place: place.clone(),
                });
                true
            }
        }
    }

    fn section(&mut self, outline: &SectionOutline, under: Option<&str>, table: &DeTable<'_>) {
        for (name, value) in table {
            match outline.keys.iter().find(|key| key.name == name.get_ref().as_ref()) {
                Some(key) => {
                    let place = self.place(value);
                    if !self.is_broken(&place) {
                        let raw = RawSetting::of(value.get_ref());
                        self.file.values.insert(key.path_in(under), SourcedSetting { raw, place });
                    }
                }
                None => {
                    let place = self.place(name);
                    self.add(unknown_key(Some(outline), under, name.get_ref(), place));
                }
            }
        }
    }

    fn syntax(&mut self, error: &toml::de::Error) {
        let at = error.span().map_or(0, |span| span.start);
        let place = locate(self.name, self.text, at);
        if line_of(&place).is_some_and(|line| self.broken.insert(line)) {
            self.file.problems.push(syntax_problem(error.message(), place));
        }
    }

    fn add(&mut self, problem: ConfigProblem) {
        if !self.is_broken(&problem.place) {
            self.file.problems.push(problem);
        }
    }

    fn is_broken(&self, place: &SettingOrigin) -> bool {
        line_of(place).is_some_and(|line| self.broken.contains(&line))
    }

    fn place<T>(&self, spanned: &Spanned<T>) -> SettingOrigin {
        locate(self.name, self.text, spanned.span().start)
    }
}

fn syntax_problem(message: &str, place: SettingOrigin) -> ConfigProblem {
    let (what, hint) = match message {
        "duplicate key" => ("this was already written above".to_owned(), Some("keep one of the two")),
        _ => (message.trim_end_matches(", expected nothing").to_owned(), None),
    };
    ConfigProblem { place, key: None, what, hint: hint.map(str::to_owned) }
}

fn not_a_section(heading: &str, key: &str, found: &DeValue<'_>, place: SettingOrigin) -> ConfigProblem {
    let hint = match found {
        DeValue::Array(_) => format!("write the heading once, with single brackets: [{heading}]"),
        _ => format!("write [{heading}] on a line of its own, and its keys below"),
    };
    ConfigProblem {
        place,
        key: Some(key.to_owned()),
        what: "this is a section, not a key".to_owned(),
        hint: Some(hint),
    }
}

/// A key that stands right under a section of many.
fn unnamed(outline: &SectionOutline, key: &str, place: SettingOrigin) -> ConfigProblem {
    let example = match outline.many {
        SectionCardinality::Named(example) => heading(outline.name, Some(example)),
        SectionCardinality::No => outline.name.to_owned(),
    };
    ConfigProblem {
        place,
        key: Some(heading(outline.name, Some(key))),
        what: "this stands under no name".to_owned(),
        hint: Some(format!("write [{example}] above it, with a name of your choice")),
    }
}

fn twins(name: &str, twin: &SectionInstance, place: &SettingOrigin) -> ConfigProblem {
    ConfigProblem {
        place: place.clone(),
        key: None,
        what: format!("{} and {} are one name in a variable", QuotedSetting(name), QuotedSetting(&twin.name)),
        hint: Some("choose names that differ in more than dashes and underscores".to_owned()),
    }
}

fn unknown_section(name: &str, table: &DeTable<'_>, place: SettingOrigin) -> ConfigProblem {
    let by_key = || table.keys().find_map(|key| nearest::key(name, key.get_ref())).map(|key| key.section);
    let hint = match nearest::section(name).or_else(by_key) {
        Some(section) => {
            let known = SECTIONS.iter().find(|outline| outline.name == section);
            let heading = known.map_or_else(|| section.to_owned(), SectionOutline::heading);
            format!("did you mean [{heading}]?")
        }
        None => {
            let known: Vec<String> =
                SECTIONS.iter().map(|outline| format!("[{}]", outline.heading())).collect();
            format!("the sections are {}", known.join(", "))
        }
    };
    let what = format!("there is no section {}", QuotedSetting(name));
    ConfigProblem { place, key: None, what, hint: Some(hint) }
}

fn unknown_key(
    outline: Option<&SectionOutline>,
    under: Option<&str>,
    name: &str,
    place: SettingOrigin,
) -> ConfigProblem {
    let section = outline.map_or("", |outline| outline.name);
    let path = outline.map_or_else(|| name.to_owned(), |_| format!("{}.{name}", heading(section, under)));
    let listed = || {
        if under.is_some() {
            return Some("`munshi config example` lists every key there is".to_owned());
        }
        let names: Vec<&str> = outline?.keys.iter().map(|key| key.name).collect();
        Some(format!("[{section}] has {}", names.join(", ")))
    };
    let meant = nearest::key(section, name).map(|key| {
        let path = if key.section == section { key.path_in(under) } else { key.path() };
        format!("did you mean `{path}`?")
    });
    let hint =
        meant.or_else(listed).unwrap_or_else(|| "keys stand under a section such as [server]".to_owned());
    ConfigProblem {
        place,
        key: None,
        what: format!("there is no key {}", QuotedSetting(&path)),
        hint: Some(hint),
    }
}

fn line_of(place: &SettingOrigin) -> Option<usize> {
    match place {
        SettingOrigin::Line { line, .. } => Some(*line),
        _ => None,
    }
}

fn locate(name: &str, text: &str, at: usize) -> SettingOrigin {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    SettingOrigin::Line {
        file: name.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
    }
}
