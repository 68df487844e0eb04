//! Who wins: a variable over the file, the file over the default.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::file::FileSettings;
use crate::kinds::{HomeFolders, RawSetting, SettingFault, SettingKind};
use crate::names::SectionInstance;
use crate::outline::{KnownSections, SettingDefinition, heading};
use crate::problem::{ConfigProblem, SettingOrigin};
use crate::show::EffectiveSetting;
use crate::sourced::SourcedSetting;
use crate::sources::ConfigSources;
use crate::variables::EnvironmentSettings;

/// What all sources say, handed out key by key. It gathers the problems and what each key came to.
#[derive(Debug)]
pub struct ConfigReader {
    variables: BTreeMap<String, SourcedSetting>,
    file: BTreeMap<String, SourcedSetting>,
    /// Of the sections that stand many times: the file's in its order, then the variables'.
    names: Vec<SectionInstance>,
    home: HomeFolders,
    problems: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
    entries: Vec<EffectiveSetting>,
}

impl ConfigReader {
    pub(crate) fn open(sources: &ConfigSources, known: KnownSections) -> Self {
        let file = sources.file.as_ref().map(|file| FileSettings::read(file, known)).unwrap_or_default();
        let variables = EnvironmentSettings::read(&sources.variables, file.names, known);
        let problems = [file.problems, variables.problems].concat();
        let warnings = [file.warnings, variables.warnings].concat();
        Self {
            variables: variables.values,
            file: file.values,
            names: variables.names,
            home: sources.home(),
            problems,
            warnings,
            entries: Vec::new(),
        }
    }

    /// The key's value, or `None` once its problem is noted.
    pub(crate) fn read_setting<K: SettingKind>(&mut self, key: &SettingDefinition) -> Option<K::Value> {
        let path = key.path();
        let (read, place) = match self.take_raw(&path) {
            Some(written) => (K::read(&written.raw, &self.home), written.place),
            None => (default::<K>(key, &self.home), SettingOrigin::Default),
        };
        self.record_result::<K>(key, None, read, place)
    }

    /// The key's value under a name, where it is given; `None` once its problem is noted.
    pub(crate) fn read_named<K: SettingKind>(
        &mut self,
        key: &SettingDefinition,
        from: &SectionInstance,
    ) -> Option<Option<K::Value>> {
        let Some(written) = self.take_raw(&key.path_in(Some(&from.name))) else { return Some(None) };
        let read = K::read(&written.raw, &self.home);
        self.record_result::<K>(key, Some(&from.name), read, written.place).map(Some)
    }

    /// The same for a key that must be given.
    pub(crate) fn read_required<K: SettingKind>(
        &mut self,
        key: &SettingDefinition,
        from: &SectionInstance,
    ) -> Option<K::Value> {
        let taken = self.read_named::<K>(key, from)?;
        if taken.is_none() {
            let hint = match &from.place {
                SettingOrigin::Environment { .. } => format!("set {}", key.variable_in(Some(&from.name))),
                _ => format!("add a line such as {} = {}", key.name, key.default),
            };
            let what = format!("[{}] has no `{}`", heading(from.section, Some(&from.name)), key.name);
            self.add_problem(ConfigProblem { place: from.place.clone(), key: None, what, hint: Some(hint) });
        }
        taken
    }

    /// The names under a section that stands many times.
    pub(crate) fn names(&self, section: &str) -> Vec<SectionInstance> {
        self.names.iter().filter(|name| name.section == section).cloned().collect()
    }

    /// What a key came to, if it could be read.
    pub(crate) fn find_entry(&self, section: &str, key: &str) -> Option<&EffectiveSetting> {
        self.entries.iter().find(|entry| entry.matches(section, key))
    }

    pub(crate) fn add_problem(&mut self, problem: ConfigProblem) {
        self.problems.push(problem);
    }

    pub(crate) fn entries(&self) -> Vec<EffectiveSetting> {
        self.entries.clone()
    }

    pub(crate) fn warnings(&self) -> Vec<ConfigProblem> {
        self.warnings.clone()
    }

    pub(crate) fn into_problems(self) -> Vec<ConfigProblem> {
        self.problems
    }

    fn take_raw(&mut self, path: &str) -> Option<SourcedSetting> {
        self.variables.remove(path).or_else(|| self.file.remove(path))
    }

    fn record_result<K: SettingKind>(
        &mut self,
        key: &SettingDefinition,
        name: Option<&str>,
        read: Result<K::Value, SettingFault>,
        place: SettingOrigin,
    ) -> Option<K::Value> {
        match read {
            Ok(value) => {
                self.entries.push(EffectiveSetting::new(
                    heading(key.section, name),
                    key,
                    K::show(&value),
                    place,
                ));
                Some(value)
            }
            Err(fault) => {
                let hint = fault.hint.unwrap_or_else(|| format!("write {}", K::expects()));
                let key = Some(key.path_in(name));
                self.add_problem(ConfigProblem { place, key, what: fault.what, hint: Some(hint) });
                None
            }
        }
    }
}

/// The default is read as if it stood in the file, so it is judged like any other value.
fn default<K: SettingKind>(key: &SettingDefinition, home: &HomeFolders) -> Result<K::Value, SettingFault> {
    let value = DeValue::parse(key.default).map_err(|error| SettingFault::new(error.message()))?;
    K::default(&RawSetting::of(value.get_ref()), home)
}
