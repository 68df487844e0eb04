//! The TOML file: what it says for each key, and where.

use std::collections::BTreeMap;

use munshi_toml::{QuotedValue, SyntaxProblem, TomlSource, decode_utf8};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::kinds::RawSetting;
use crate::names::{self, SectionInstance};
use crate::outline::{KnownSections, SectionCardinality, SectionOutline, heading};
use crate::problem::{ConfigProblem, SettingOrigin};
use crate::retired::find_retired;
use crate::sourced::SourcedSetting;
use crate::sources::ConfigFileSource;

/// What the file says, by the key's path, and what is wrong with it. The values themselves are not judged.
#[derive(Debug, Default)]
pub(crate) struct FileSettings {
    pub(crate) values: BTreeMap<String, SourcedSetting>,
    /// Of the sections that stand many times, in the order of the file.
    pub(crate) names: Vec<SectionInstance>,
    pub(crate) problems: Vec<ConfigProblem>,
    pub(crate) warnings: Vec<ConfigProblem>,
}

impl FileSettings {
    pub(crate) fn read(source: &ConfigFileSource, known: KnownSections) -> Self {
        match source {
            ConfigFileSource::Text { name, bytes } => Self::parse(name, bytes, known),
            ConfigFileSource::Path(path) => {
                let name = path.display().to_string();
                match std::fs::read(path) {
                    Ok(bytes) => Self::parse(&name, &bytes, known),
                    Err(error) => Self::from_io_error(&name, &error),
                }
            }
        }
    }

    fn from_io_error(name: &str, error: &std::io::Error) -> Self {
        let (what, hint) = match error.kind() {
            std::io::ErrorKind::NotFound => (
                "file not found".to_owned(),
                "pass the path of a settings file, or create one with `munshi config example`",
            ),
            std::io::ErrorKind::PermissionDenied => {
                ("permission denied".to_owned(), "make it readable for this user")
            }
            _ => (format!("can't read the file: {error}"), "check that it is a regular file"),
        };
        let place = SettingOrigin::File { file: name.to_owned() };
        let problem = ConfigProblem { place, key: None, what, hint: Some(hint.to_owned()) };
        Self { problems: vec![problem], ..Self::default() }
    }

    fn parse(name: &str, bytes: &[u8], known: KnownSections) -> Self {
        let report = |slip: SyntaxProblem| ConfigProblem {
            place: SettingOrigin::at_position(name, slip.position),
            key: None,
            what: slip.what,
            hint: slip.hint,
        };
        let text = match decode_utf8(bytes) {
            Ok(text) => text,
            Err(slip) => return Self { problems: vec![report(slip)], ..Self::default() },
        };
        let (source, table, slips) = TomlSource::parse(text, 0..text.len());
        let problems = slips.into_iter().map(report).collect();
        let mut walk = Walk { name, source, known, file: Self { problems, ..Self::default() } };
        walk.root(table.get_ref());
        walk.file
    }
}

/// One pass over the parsed file.
struct Walk<'a> {
    name: &'a str,
    source: TomlSource<'a>,
    known: KnownSections,
    file: FileSettings,
}

impl Walk<'_> {
    fn root(&mut self, root: &DeTable<'_>) {
        for (name, value) in root {
            let place = self.origin(name);
            let known = self.known.find(name.get_ref());
            match (known, value.get_ref()) {
                (Some(outline), DeValue::Table(table)) if outline.many == SectionCardinality::No => {
                    self.section(outline, None, table);
                }
                (Some(outline), DeValue::Table(table)) => self.visit_named_sections(outline, table),
                (Some(outline), other) => {
                    self.add(not_a_section(&outline.heading(), outline.name, other, place));
                }
                (None, DeValue::Table(table)) => {
                    self.add(unknown_section(self.known, name.get_ref(), table, place));
                }
                (None, _) => self.add(unknown_key(self.known, None, None, name.get_ref(), place)),
            }
        }
    }

    fn visit_named_sections(&mut self, outline: &SectionOutline, table: &DeTable<'_>) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(name, _)| name.span().start);
        for (name, value) in entries {
            let (place, text) = (self.origin(name), name.get_ref().as_ref());
            match value.get_ref() {
                DeValue::Table(table) => {
                    if self.register_name(outline.name, text, &place) {
                        self.section(outline, Some(text), table);
                    }
                }
                _ if outline.keys.iter().any(|key| key.name == text) => {
                    self.add(unnamed_key_problem(outline, text, place));
                }
                other => {
                    let heading = heading(outline.name, Some(text));
                    self.add(not_a_section(&heading, &heading, other, place));
                }
            }
        }
    }

    /// Whether it can be a name, and no other is the same to a variable.
    fn register_name(&mut self, section: &'static str, name: &str, place: &SettingOrigin) -> bool {
        let twin = self
            .file
            .names
            .iter()
            .find(|known| known.section == section && names::is_equivalent(&known.name, name));
        let problem = names::validate(section, name, place)
            .or_else(|| twin.map(|twin| duplicate_name_problem(name, twin, place)));
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
                    let place = self.origin(value);
                    if !self.is_broken(&place) {
                        let raw = RawSetting::of(value.get_ref());
                        self.file.values.insert(key.path_in(under), SourcedSetting { raw, place });
                    }
                }
                None => {
                    let place = self.origin(name);
                    match find_retired(outline.name, name.get_ref(), &place) {
                        Some(warning) => self.file.warnings.push(warning),
                        None => {
                            self.add(unknown_key(self.known, Some(outline), under, name.get_ref(), place));
                        }
                    }
                }
            }
        }
    }

    fn add(&mut self, problem: ConfigProblem) {
        if !self.is_broken(&problem.place) {
            self.file.problems.push(problem);
        }
    }

    fn is_broken(&self, place: &SettingOrigin) -> bool {
        matches!(place, SettingOrigin::Line { line, .. } if self.source.is_broken(*line))
    }

    fn origin<T>(&self, spanned: &Spanned<T>) -> SettingOrigin {
        SettingOrigin::at_position(self.name, self.source.locate(spanned.span().start))
    }
}

fn not_a_section(heading: &str, key: &str, found: &DeValue<'_>, place: SettingOrigin) -> ConfigProblem {
    let hint = match found {
        DeValue::Array(_) => format!("write the section once, with single brackets: [{heading}]"),
        _ => format!("write [{heading}] on its own line, with its keys below"),
    };
    ConfigProblem {
        place,
        key: Some(key.to_owned()),
        what: "this is a section, not a key".to_owned(),
        hint: Some(hint),
    }
}

/// A key that stands right under a section of many.
fn unnamed_key_problem(outline: &SectionOutline, key: &str, place: SettingOrigin) -> ConfigProblem {
    let example = match outline.many {
        SectionCardinality::Named(example) => heading(outline.name, Some(example)),
        SectionCardinality::No => outline.name.to_owned(),
    };
    ConfigProblem {
        place,
        key: Some(heading(outline.name, Some(key))),
        what: "the key is outside a named section".to_owned(),
        hint: Some(format!("add [{example}] above it, with a name of your choice")),
    }
}

fn duplicate_name_problem(name: &str, twin: &SectionInstance, place: &SettingOrigin) -> ConfigProblem {
    ConfigProblem {
        place: place.clone(),
        key: None,
        what: format!("{} and {} share the same variable name", QuotedValue(name), QuotedValue(&twin.name)),
        hint: Some("choose names that differ in more than dashes and underscores".to_owned()),
    }
}

fn unknown_section(
    known: KnownSections,
    name: &str,
    table: &DeTable<'_>,
    place: SettingOrigin,
) -> ConfigProblem {
    let by_key =
        || table.keys().find_map(|key| known.suggest_key(name, key.get_ref())).map(|key| key.section);
    let hint = match known.suggest_section(name).or_else(by_key) {
        Some(section) => {
            let heading = known.find(section).map_or_else(|| section.to_owned(), SectionOutline::heading);
            format!("did you mean [{heading}]?")
        }
        None => {
            let all: Vec<String> = known.iter().map(|outline| format!("[{}]", outline.heading())).collect();
            format!("the sections are {}", all.join(", "))
        }
    };
    let what = format!("unknown section {}", QuotedValue(name));
    ConfigProblem { place, key: None, what, hint: Some(hint) }
}

fn unknown_key(
    known: KnownSections,
    outline: Option<&SectionOutline>,
    under: Option<&str>,
    name: &str,
    place: SettingOrigin,
) -> ConfigProblem {
    let section = outline.map_or("", |outline| outline.name);
    let path = outline.map_or_else(|| name.to_owned(), |_| format!("{}.{name}", heading(section, under)));
    let listed = || {
        if under.is_some() {
            return Some("`munshi config example` lists every key".to_owned());
        }
        let names: Vec<&str> = outline?.keys.iter().map(|key| key.name).collect();
        Some(format!("[{section}] has {}", names.join(", ")))
    };
    let meant = known.suggest_key(section, name).map(|key| {
        let path = if key.section == section { key.path_in(under) } else { key.path() };
        format!("did you mean `{path}`?")
    });
    let hint =
        meant.or_else(listed).unwrap_or_else(|| "put the key under a section such as [server]".to_owned());
    ConfigProblem { place, key: None, what: format!("unknown key {}", QuotedValue(&path)), hint: Some(hint) }
}
