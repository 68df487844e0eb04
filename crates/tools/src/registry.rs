//! The tools there are.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use munshi_safety::pipeline::{CompiledTool, ConnectorOrigin, InvalidTool, ToolConnector};
use munshi_types::{Effect, HAND_OVER, ToolName, ToolSpec};

use crate::handler::ToolHandler;

/// A tool with what calls it.
#[derive(Clone)]
pub struct Tool {
    pub known: Arc<CompiledTool>,
    pub(crate) body: ToolHandler,
    /// As a model is told of it, with the tokens that takes; filled by whoever first offers it.
    pub prompt_spec: Arc<OnceLock<(Arc<ToolSpec>, u32)>>,
}

/// Filled when the binary starts, then only read.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<ToolName, Tool>,
}

impl ToolRegistry {
    /// Installs a tool, or says what is wrong with it.
    pub fn add(
        &mut self,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidTool> {
        let bad = |what: &str| InvalidTool { tool: spec.name.to_string(), what: what.to_owned() };
        if spec.name.as_str() == HAND_OVER {
            return Err(bad("the engine's own tool for handing over a conversation has that name"));
        }
        if let Some(other) = self.tools.get(&spec.name) {
            return Err(bad(&format!("{} already provides a tool of that name", other.known.connector.name)));
        }
        match (&body, spec.effect) {
            (ToolHandler::Read(_), Effect::Read) | (ToolHandler::Write(_), Effect::Inside) => {}
            (ToolHandler::Remote(_), _) if connector.origin == ConnectorOrigin::BuiltIn => {
                return Err(bad(
                    "it is remote, so its connector can't be a built-in one: its results are untrusted data",
                ));
            }
            (ToolHandler::Remote(_), effect) if effect != Effect::Inside => {}
            (ToolHandler::Read(_), _) => {
                return Err(bad("it reads local tables, so its effect must be read"));
            }
            (ToolHandler::Write(_), _) => {
                return Err(bad("it writes in the local transaction, so its effect must be inside"));
            }
            (ToolHandler::Remote(_), _) => return Err(bad("it is remote, so its effect can't be inside")),
        }
        let name = spec.name.clone();
        let known = CompiledTool::new(with_rehearsal(spec, &body), connector)?;
        self.tools.insert(name, Tool { known: Arc::new(known), body, prompt_spec: Arc::default() });
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
    pub fn list_offered<'a>(&'a self, list: &'a [ToolName]) -> impl Iterator<Item = &'a Tool> {
        list.iter().filter_map(|name| self.tools.get(name))
    }
}

/// What writes in our own transaction can always be rehearsed: it is done, looked at and undone.
fn with_rehearsal(spec: ToolSpec, body: &ToolHandler) -> ToolSpec {
    let dry_run = spec.dry_run || matches!(body, ToolHandler::Write(_));
    ToolSpec { dry_run, ..spec }
}
