//! A tier as somebody wants it to be: its body as written, and where each value was written.

use munshi_types::tier::{Agent, Binding, BindingSlice, Human, Team, TierKind, TierName};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::problem::FolderProblem;
use crate::shape::ValuePositions;

/// A tier's content with only what its author said; defaults are filled in when it is read. The same for files, the
/// database and the diff between them.
pub type TierBody = Map<String, Value>;

#[derive(Clone, Debug)]
pub struct TierDraft {
    pub kind: TierKind,
    pub name: TierName,
    pub body: TierBody,
    /// As errors name it.
    pub(crate) file: String,
    pub(crate) spots: ValuePositions,
}

/// A tier's content as everybody reads it. An agent's is only its own part: see [`merge`](crate::merge).
#[derive(Clone, Debug, PartialEq)]
pub enum Tier {
    Human(Human),
    Team(Team),
    Agent(Agent),
    Binding(Binding),
}

impl Tier {
    /// Fills in the defaults. A body that was checked always reads.
    pub fn read(kind: TierKind, body: &TierBody) -> Result<Self> {
        let value = Value::Object(body.clone());
        let read = match kind {
            TierKind::Human => serde_json::from_value(value).map(Self::Human),
            TierKind::Team => serde_json::from_value(value).map(Self::Team),
            TierKind::Agent => serde_json::from_value(value).map(Self::Agent),
            TierKind::Binding => serde_json::from_value(value).map(Self::Binding),
        };
        read.map_err(|error| Error::Unreadable(format!("a stored {kind} has another shape: {error}")))
    }

    /// Every value, for those who show it.
    pub fn values(&self) -> Result<Value> {
        let values = match self {
            Self::Human(human) => serde_json::to_value(human),
            Self::Team(team) => serde_json::to_value(team),
            Self::Agent(agent) => serde_json::to_value(agent),
            Self::Binding(binding) => serde_json::to_value(binding),
        };
        values.map_err(|error| Error::Unreadable(error.to_string()))
    }
}

impl TierDraft {
    /// A draft that comes from no file, such as a version to go back to.
    pub(crate) fn without_file(kind: TierKind, name: TierName, body: TierBody) -> Self {
        let file = format!("{}/{name}", kind.folder());
        Self { kind, name, body, file, spots: ValuePositions::new() }
    }

    /// Whether it can be read at all; what the tables of `shape` can't say is found here.
    pub(crate) fn problems(&self) -> Vec<FolderProblem> {
        match Tier::read(self.kind, &self.body) {
            Ok(_) => Vec::new(),
            Err(error) => self.bad_slices().unwrap_or_else(|| vec![self.problem("", error.to_string())]),
        }
    }

    fn bad_slices(&self) -> Option<Vec<FolderProblem>> {
        let slices = self.body.get("slices")?.as_array()?;
        let bad = slices.iter().enumerate().filter_map(|(at, slice)| {
            let error = serde_json::from_value::<BindingSlice>(slice.clone()).err()?;
            Some(self.problem(&format!("slices[{at}]"), error.to_string()))
        });
        Some(bad.collect::<Vec<_>>()).filter(|bad| !bad.is_empty())
    }

    /// A problem of the value at this path, at the place where it was written.
    pub(crate) fn problem(&self, path: &str, what: impl Into<String>) -> FolderProblem {
        let problem = FolderProblem::in_file(&self.file, what);
        let problem = if path.is_empty() { problem } else { problem.key(path) };
        match self.spots.get(path) {
            Some(place) => problem.at_position(*place),
            None => problem,
        }
    }
}
