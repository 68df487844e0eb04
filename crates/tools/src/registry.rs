//! The tools there are.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use munshi_safety::pipeline::{BadTool, Connector, Known, Maker};
use munshi_types::{Effect, ToolName, ToolSpec};

use crate::body::Body;

/// A tool with what calls it.
#[derive(Clone)]
pub struct Tool {
    pub known: Arc<Known>,
    pub(crate) body: Body,
    /// As a model is told of it, with the tokens that takes; filled by whoever first offers it.
    pub told: Arc<OnceLock<(Arc<ToolSpec>, u32)>>,
}

/// Filled when the binary starts, then only read.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Tool>,
}

impl Registry {
    /// Installs a tool, or says what is wrong with it.
    pub fn add(&mut self, spec: ToolSpec, connector: Connector, body: Body) -> Result<(), BadTool> {
        let bad = |what: &str| BadTool { tool: spec.name.to_string(), what: what.to_owned() };
        if let Some(other) = self.tools.get(&spec.name) {
            return Err(bad(&format!("{} brings one of that name", other.known.connector.name)));
        }
        match (&body, spec.effect) {
            (Body::Look(_), Effect::Read) | (Body::Write(_), Effect::Inside) => {}
            (Body::Far(_), _) if connector.maker == Maker::House => {
                return Err(bad(
                    "it goes elsewhere, so its connector is a foreign one: what it says is data",
                ));
            }
            (Body::Far(_), effect) if effect != Effect::Inside => {}
            (Body::Look(_), _) => return Err(bad("it looks at our own tables, so its effect is read")),
            (Body::Write(_), _) => {
                return Err(bad("it writes in our own transaction, so its effect is inside"));
            }
            (Body::Far(_), _) => return Err(bad("it goes elsewhere, so its effect is not inside")),
        }
        let name = spec.name.clone();
        let known = Known::new(with_rehearsal(spec, &body), connector)?;
        self.tools.insert(name, Tool { known: Arc::new(known), body, told: Arc::default() });
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Tool> {
        let name: ToolName = name.parse().ok()?;
        self.tools.get(&name)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }

    pub fn names(&self) -> impl Iterator<Item = &ToolName> {
        self.tools.keys()
    }

    /// What an agent may be offered: those of its list that are installed, in its order.
    pub fn offered<'a>(&'a self, list: &'a [ToolName]) -> impl Iterator<Item = &'a Tool> {
        list.iter().filter_map(|name| self.tools.get(name))
    }
}

/// What writes in our own transaction can always be rehearsed: it is done, looked at and undone.
fn with_rehearsal(spec: ToolSpec, body: &Body) -> ToolSpec {
    let dry_run = spec.dry_run || matches!(body, Body::Write(_));
    ToolSpec { dry_run, ..spec }
}
