//! Who wins: a variable over the file, the file over the default.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::file::File;
use crate::kinds::{Fault, Home, Kind, Raw};
use crate::names::Name;
use crate::problem::{Place, Problem};
use crate::section::{Key, heading};
use crate::show::Entry;
use crate::sources::Sources;
use crate::variables::Variables;

/// A value as somebody wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) raw: Raw,
    pub(crate) place: Place,
}

/// What all sources say, handed out key by key. It gathers the problems and what each key came to.
#[derive(Debug)]
pub struct Reader {
    variables: BTreeMap<String, Written>,
    file: BTreeMap<String, Written>,
    /// Of the sections that stand many times: the file's in its order, then the variables'.
    names: Vec<Name>,
    home: Home,
    problems: Vec<Problem>,
    entries: Vec<Entry>,
}

impl Reader {
    pub(crate) fn open(sources: &Sources) -> Self {
        let file = sources.file.as_ref().map(File::read).unwrap_or_default();
        let variables = Variables::read(&sources.variables, file.names);
        let problems = [file.problems, variables.problems].concat();
        Self {
            variables: variables.values,
            file: file.values,
            names: variables.names,
            home: sources.home(),
            problems,
            entries: Vec::new(),
        }
    }

    /// The key's value, or `None` once its problem is noted.
    pub(crate) fn take<K: Kind>(&mut self, key: &Key) -> Option<K::Value> {
        let path = key.path();
        let (read, place) = match self.written(&path) {
            Some(written) => (K::read(&written.raw, &self.home), written.place),
            None => (default::<K>(key, &self.home), Place::Default),
        };
        self.settle::<K>(key, None, read, place)
    }

    /// The key's value under a name, where it is given; `None` once its problem is noted.
    pub(crate) fn take_named<K: Kind>(&mut self, key: &Key, from: &Name) -> Option<Option<K::Value>> {
        let Some(written) = self.written(&key.path_in(Some(&from.name))) else { return Some(None) };
        let read = K::read(&written.raw, &self.home);
        self.settle::<K>(key, Some(&from.name), read, written.place).map(Some)
    }

    /// The same for a key that must be given.
    pub(crate) fn require<K: Kind>(&mut self, key: &Key, from: &Name) -> Option<K::Value> {
        let taken = self.take_named::<K>(key, from)?;
        if taken.is_none() {
            let hint = match &from.place {
                Place::Environment { .. } => format!("set {}", key.variable_in(Some(&from.name))),
                _ => format!("add a line such as {} = {}", key.name, key.default),
            };
            let what = format!("[{}] has no `{}`", heading(from.section, Some(&from.name)), key.name);
            self.note(Problem { place: from.place.clone(), key: None, what, hint: Some(hint) });
        }
        taken
    }

    /// The names under a section that stands many times.
    pub(crate) fn names(&self, section: &str) -> Vec<Name> {
        self.names.iter().filter(|name| name.section == section).cloned().collect()
    }

    /// What a key came to, if it could be read.
    pub(crate) fn taken(&self, section: &str, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is(section, key))
    }

    pub(crate) fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.clone()
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    fn written(&mut self, path: &str) -> Option<Written> {
        self.variables.remove(path).or_else(|| self.file.remove(path))
    }

    fn settle<K: Kind>(
        &mut self,
        key: &Key,
        name: Option<&str>,
        read: Result<K::Value, Fault>,
        place: Place,
    ) -> Option<K::Value> {
        match read {
            Ok(value) => {
                self.entries.push(Entry::new(heading(key.section, name), key, K::show(&value), place));
                Some(value)
            }
            Err(fault) => {
                let hint = fault.hint.unwrap_or_else(|| format!("write {}", K::expects()));
                let key = Some(key.path_in(name));
                self.note(Problem { place, key, what: fault.what, hint: Some(hint) });
                None
            }
        }
    }
}

/// The default is read as if it stood in the file, so it is judged like any other value.
fn default<K: Kind>(key: &Key, home: &Home) -> Result<K::Value, Fault> {
    let value = DeValue::parse(key.default).map_err(|error| Fault::new(error.message()))?;
    K::default(&Raw::of(value.get_ref()), home)
}
