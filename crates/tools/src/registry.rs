//! The tools there are.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use munshi_safety::pipeline::{CompiledTool, ConnectorOrigin, InvalidTool, ToolConnector};
use munshi_types::{Effect, HAND_OVER, HOUSE, TenantPacks, ToolName, ToolSpec};

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
    /// By their bare name: a name can be that of several packs' tools.
    tools: BTreeMap<String, Vec<Tool>>,
}

impl ToolRegistry {
    /// Installs a tool, or says what is wrong with it.
    pub fn add(
        &mut self,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidTool> {
        self.add_of(None, spec, connector, body)
    }

    /// Installs a pack's tool. Another pack may have one of the same name; those that every tenant has are taken.
    pub fn add_of_pack(
        &mut self,
        pack: &str,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidTool> {
        self.add_of(Some(pack), spec, connector, body)
    }

    fn add_of(
        &mut self,
        pack: Option<&str>,
        spec: ToolSpec,
        connector: ToolConnector,
        body: ToolHandler,
    ) -> Result<(), InvalidTool> {
        let bad = |what: &str| InvalidTool { tool: spec.name.to_string(), what: what.to_owned() };
        if spec.name.as_str() == HAND_OVER {
            return Err(bad("the engine's own tool for handing over a conversation has that name"));
        }
        let excludes = |other: &&Tool| match (pack, other.known.pack.as_deref()) {
            // Acts are stored with their connector and tool: two packs may not share both.
            (Some(pack), Some(owner)) => {
                pack == owner
                    || pack == HOUSE
                    || owner == HOUSE
                    || other.known.connector.name == connector.name
            }
            _ => true,
        };
        if let Some(other) = self.all_named(spec.name.as_str()).find(excludes) {
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
        let name = spec.name.to_string();
        let known = CompiledTool::new(with_rehearsal(spec, &body), connector)?;
        let known = Arc::new(match pack {
            Some(pack) => known.of_pack(pack),
            None => known,
        });
        self.tools.entry(name).or_default().push(Tool { known, body, prompt_spec: Arc::default() });
        Ok(())
    }

    /// A tool by its bare name, where one has it, or by `pack.tool`.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.find(&TenantPacks::all(), name)
    }

    /// The same for a tenant: of a bare name, the tool of the one pack it has.
    pub fn find(&self, packs: &TenantPacks, name: &str) -> Option<&Tool> {
        let (pack, bare) = name.split_once('.').map_or((None, name), |(pack, bare)| (Some(pack), bare));
        let fits = |tool: &&Tool| match (pack, tool.known.pack.as_deref()) {
            (Some(pack), own) => own == Some(pack),
            (None, Some(own)) => packs.has(own),
            (None, None) => true,
        };
        let mut found = self.all_named(bare).filter(fits);
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether any tool has this bare name.
    pub fn has_name(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Those that a name in an agent's list can mean.
    pub fn list_meant<'a>(&'a self, name: &'a ToolName) -> impl Iterator<Item = &'a Tool> {
        let is_meant = |tool: &&Tool| name.pack().is_none_or(|pack| tool.known.pack.as_deref() == Some(pack));
        self.all_named(name.bare()).filter(is_meant)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().flatten()
    }

    /// Those of all packs that have this bare name.
    pub fn all_named(&self, name: &str) -> impl Iterator<Item = &Tool> {
        self.tools.get(name).into_iter().flatten()
    }
}

/// What writes in our own transaction can always be rehearsed: it is done, looked at and undone.
fn with_rehearsal(spec: ToolSpec, body: &ToolHandler) -> ToolSpec {
    let dry_run = spec.dry_run || matches!(body, ToolHandler::Write(_));
    ToolSpec { dry_run, ..spec }
}
