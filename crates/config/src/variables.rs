//! The `MUNSHI__SECTION__KEY` variables: what they say for each key.

use std::collections::BTreeMap;
use std::ffi::OsString;

use munshi_toml::QuotedValue;

use crate::kinds::RawSetting;
use crate::names::{self, SectionInstance};
use crate::outline::{KnownSections, PREFIX, SectionCardinality, SectionOutline, SettingDefinition};
use crate::problem::{ConfigProblem, SettingOrigin};
use crate::retired::find_retired;
use crate::sourced::SourcedSetting;

/// What the variables say, by the key's path, and what is wrong with their names.
#[derive(Debug, Default)]
pub(crate) struct EnvironmentSettings {
    pub(crate) values: BTreeMap<String, SourcedSetting>,
    /// The file's names, then those that only a variable has.
    pub(crate) names: Vec<SectionInstance>,
    pub(crate) problems: Vec<ConfigProblem>,
    pub(crate) warnings: Vec<ConfigProblem>,
}

impl EnvironmentSettings {
    pub(crate) fn read(
        variables: &BTreeMap<OsString, OsString>,
        names: Vec<SectionInstance>,
        known: KnownSections,
    ) -> Self {
        let mut found = Self { names, ..Self::default() };
        for (name, value) in variables {
            // Ours are plain ASCII, so a name that is not Unicode is somebody else's.
            if let Some(name) = name.to_str().filter(|name| name.to_uppercase().starts_with("MUNSHI_")) {
                found.add(known, name, value);
            }
        }
        found
    }

    fn add(&mut self, known: KnownSections, variable: &str, value: &OsString) {
        let place = SettingOrigin::Environment { variable: variable.to_owned() };
        let path = match parse_variable(known, variable) {
            Some(Known { key, name: None }) => key.path(),
            Some(Known { key, name: Some(name) }) => match self.resolve_name(key.section, name, &place) {
                Ok(name) => key.path_in(Some(&name)),
                Err(problem) => return self.problems.push(problem),
            },
            None => {
                let written = variable.strip_prefix(PREFIX).unwrap_or_default().to_lowercase();
                let retired =
                    written.split_once("__").and_then(|(section, key)| find_retired(section, key, &place));
                return match retired {
                    Some(warning) => self.warnings.push(warning),
                    None => self.problems.extend(report_unknown(known, variable, place)),
                };
            }
        };
        match value.to_str() {
            Some(value) => {
                self.values.insert(path, SourcedSetting { raw: RawSetting::Bare(value.to_owned()), place });
            }
            None => self.problems.push(ConfigProblem {
                place,
                key: Some(path),
                what: "the value is not valid UTF-8".to_owned(),
                hint: Some("set it to valid UTF-8".to_owned()),
            }),
        }
    }

    /// The name that a variable means: one that is there already, or a new one.
    fn resolve_name(
        &mut self,
        section: &'static str,
        name: String,
        place: &SettingOrigin,
    ) -> Result<String, ConfigProblem> {
        let there = self
            .names
            .iter()
            .find(|known| known.section == section && names::is_equivalent(&known.name, &name));
        if let Some(there) = there {
            return Ok(there.name.clone());
        }
        if let Some(problem) = names::validate(section, &name, place) {
            return Err(problem);
        }
        self.names.push(SectionInstance { section, name: name.clone(), place: place.clone() });
        Ok(name)
    }
}

struct Known {
    key: &'static SettingDefinition,
    /// Where the section stands many times.
    name: Option<String>,
}

fn parse_variable(known: KnownSections, variable: &str) -> Option<Known> {
    let single = known.keys().find(|key| key.many == SectionCardinality::No && key.variable() == variable);
    single.map(|key| Known { key, name: None }).or_else(|| {
        let (outline, name, key) = split(known, variable)?;
        let key = outline.keys.iter().find(|one| one.name.to_uppercase() == key)?;
        let capital = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
        name.chars().all(capital).then(|| Known { key, name: Some(name.to_lowercase()) })
    })
}

/// `MUNSHI__MODELS__SONNET__KEY` as the section, `SONNET` and `KEY`.
fn split(known: KnownSections, variable: &str) -> Option<(&'static SectionOutline, &str, &str)> {
    let (section, rest) = variable.strip_prefix(PREFIX)?.split_once("__")?;
    let outline = known.named().find(|outline| outline.name.to_uppercase() == section)?;
    let (name, key) = rest.split_once("__")?;
    Some((outline, name, key))
}

/// `MUNSHI_SERVER_LISTEN` is surely meant for us; any other name without the double underscore may be
/// somebody else's.
fn report_unknown(known: KnownSections, variable: &str, place: SettingOrigin) -> Option<ConfigProblem> {
    let meant = match variable.strip_prefix(PREFIX) {
        Some(rest) => match split(known, variable) {
            Some((outline, name, key)) => suggest_named(outline, name, key),
            None => {
                let (section, key) = rest.split_once("__").unwrap_or(("", rest));
                known
                    .suggest_key(&section.to_lowercase(), &key.to_lowercase())
                    .map(SettingDefinition::variable)
            }
        },
        None => Some(suggest_by_plain_name(known, variable)?),
    };
    let hint = match meant {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!(
            "unset it; `munshi config example` lists every key, and {PREFIX}SERVER__LISTEN is server.listen"
        ),
    };
    let what = format!("unknown variable {}", QuotedValue(variable));
    Some(ConfigProblem { place, key: None, what, hint: Some(hint) })
}

/// The variable of the key that is nearest under a name.
fn suggest_named(outline: &SectionOutline, name: &str, key: &str) -> Option<String> {
    let words = outline.keys.iter().map(|known| known.name);
    let meant = munshi_toml::find_nearest(key, words)?;
    let key = outline.keys.iter().find(|known| known.name == meant)?;
    Some(key.variable_in(Some(name)))
}

/// A name whose underscores are too few.
fn suggest_by_plain_name(known: KnownSections, variable: &str) -> Option<String> {
    let single = known
        .keys()
        .find(|key| key.many == SectionCardinality::No && normalise(&key.variable()) == normalise(variable));
    single.map(SettingDefinition::variable).or_else(|| {
        let rest = variable.to_uppercase();
        let rest = rest.strip_prefix("MUNSHI_")?;
        known.named().find_map(|outline| {
            let rest = rest.strip_prefix(&format!("{}_", outline.name.to_uppercase()))?;
            let ends = outline.keys.iter().filter_map(|key| {
                let name = rest.strip_suffix(&format!("_{}", key.name.to_uppercase()))?.trim_matches('_');
                (!name.is_empty()).then_some((key, name))
            });
            // The longest key: `SONNET_BASE_URL` is `base_url`, should there be a `url` too.
            let (key, name) = ends.max_by_key(|(key, _)| key.name.len())?;
            Some(key.variable_in(Some(name)))
        })
    })
}

/// The name with its underscores and capitals evened out.
fn normalise(name: &str) -> String {
    name.to_uppercase().replace('_', "")
}
