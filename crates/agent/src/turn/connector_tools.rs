//! Tools that the tenant's connectors bring: which of them this turn has, and which the model is shown.

use std::sync::Arc;

use munshi_conversations::messages::MessageSpeaker;
use munshi_tiers::precedence;
use munshi_tiers::prompt::{ConnectorToolSpec, tool_tokens};
use munshi_tools::Tool;
use munshi_types::ToolName;

use super::setup::TurnSetup;

/// What was said before tells less than the message itself.
const EARLIER: f32 = 0.4;
const MOST_EARLIER: usize = 3;

impl TurnSetup {
    /// A tool of the packs or the connectors that the tenant has. Where the agent's list names the pack, it is that pack's.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        let listed = self.binding.agent.body.tools.iter().find(|listed| listed.bare() == name);
        let name = listed.map_or(name, ToolName::as_str);
        self.engine.dispatcher.find_tool_among(self.tenant(), &self.prepared.pack_context.packs, name)
    }

    /// Whether it is a tool of the installation, which no connector's tool can be taken for.
    pub(crate) fn is_own_tool(&self, name: &str) -> bool {
        self.engine.dispatcher.registry().has_name(name)
    }

    /// The name, where it is a connector's tool that this turn has.
    pub(crate) fn find_connector_tool(&self, name: &str) -> Option<ToolName> {
        let shelf = self.engine.dispatcher.tenant_tools(self.tenant())?;
        let tool = shelf.get(name)?;
        self.has(tool).then(|| tool.known.spec.name.clone())
    }

    /// The connector tools that fit this message best. The choice stays the same through a turn unless a connector
    /// changes, so that the provider's cache still matches.
    pub(crate) fn select_connector_tools(&self) -> Vec<ConnectorToolSpec> {
        if self.binding.agent.body.connectors.is_empty() {
            return Vec::new();
        }
        let Some(shelf) = self.engine.dispatcher.tenant_tools(self.tenant()) else { return Vec::new() };
        let prepared = &self.prepared;
        let earlier = prepared.history.iter().rev().filter(|said| said.speaker == MessageSpeaker::Person);
        let said: Vec<(&str, f32)> = std::iter::once((prepared.message.text.as_str(), 1.0))
            .chain(earlier.take(MOST_EARLIER).map(|said| (said.text.as_str(), EARLIER)))
            .collect();
        let chosen = shelf.choose(&said, self.binding.static_prompt.free_tool_slots(), |tool| self.has(tool));
        chosen.into_iter().map(to_tool_spec).collect()
    }

    fn has(&self, tool: &Tool) -> bool {
        let (team, agent) = (&self.binding.team.body, &self.binding.agent.body);
        let spec = &tool.known.spec;
        let is_declared =
            spec.consent.as_ref().is_none_or(|purpose| self.prepared.purposes.contains(purpose));
        is_declared && precedence::allows_connector_tool(team, agent, &tool.known.connector.name, &spec.name)
    }
}

fn to_tool_spec(tool: &Tool) -> ConnectorToolSpec {
    let (tool, tokens) = tool.prompt_spec.get_or_init(|| {
        let spec = &tool.known.spec;
        (Arc::new(spec.clone()), tool_tokens(spec))
    });
    ConnectorToolSpec { tool: tool.clone(), tokens: *tokens }
}
