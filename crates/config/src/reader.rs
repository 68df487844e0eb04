//! Who wins: a variable over the file, the file over the default.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::file::File;
use crate::kinds::{Fault, Home, Kind, Raw};
use crate::problem::{Place, Problem};
use crate::section::Key;
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
    home: Home,
    problems: Vec<Problem>,
    entries: Vec<Entry>,
}

impl Reader {
    pub(crate) fn open(sources: &Sources) -> Self {
        let file = sources.file.as_ref().map(File::read).unwrap_or_default();
        let variables = Variables::read(&sources.variables);
        let problems = [file.problems, variables.problems].concat();
        Self {
            variables: variables.values,
            file: file.values,
            home: sources.home(),
            problems,
            entries: Vec::new(),
        }
    }

    /// The key's value, or `None` once its problem is noted.
    pub(crate) fn take<K: Kind>(&mut self, key: &Key) -> Option<K::Value> {
        let path = key.path();
        let (read, place) = match self.variables.remove(&path).or_else(|| self.file.remove(&path)) {
            Some(written) => (K::read(&written.raw, &self.home), written.place),
            None => (default::<K>(key, &self.home), Place::Default),
        };
        match read {
            Ok(value) => {
                self.entries.push(Entry::new(key, K::show(&value), place));
                Some(value)
            }
            Err(fault) => {
                let hint = fault.hint.unwrap_or_else(|| format!("write {}", K::expects()));
                self.problems.push(Problem { place, key: Some(path), what: fault.what, hint: Some(hint) });
                None
            }
        }
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.clone()
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

/// The default is read as if it stood in the file, so it is judged like any other value.
fn default<K: Kind>(key: &Key, home: &Home) -> Result<K::Value, Fault> {
    let value = DeValue::parse(key.default).map_err(|error| Fault::new(error.message()))?;
    K::default(&Raw::of(value.get_ref()), home)
}
