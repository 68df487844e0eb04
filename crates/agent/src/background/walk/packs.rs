//! What of the packs a run may use: those the tenant has, its own first.

use munshi_conversations::{HaltReason, Result};
use munshi_pack::{ChildRun, load_tenant_packs};
use munshi_tools::Tool;

use super::BackgroundWalk;

impl BackgroundWalk {
    /// Reads which packs the tenant has; why the run ends, where its own is not among them.
    pub(super) async fn load_packs(&mut self, own: &str) -> Result<Option<HaltReason>> {
        self.packs = self.engine.db.read(self.lease.tenant, load_tenant_packs).await?;
        let is_missing = !self.packs.has(own);
        Ok(is_missing.then(|| HaltReason::Broken(format!("the tenant does not have the pack {own}"))))
    }

    /// Whether a pack of the tenant has this kind of run.
    pub(super) fn has_kind(&self, child: &ChildRun) -> bool {
        let kind = self.engine.packs.find_run_kind(&child.kind);
        kind.is_some_and(|kind| self.packs.has(kind.pack))
    }

    /// What a tool is known by among all packs' tools.
    pub(super) fn identify_tool(&self, name: &str) -> String {
        self.find_tool(name).map_or_else(|| name.to_owned(), |tool| tool.known.identity())
    }

    /// A tool that the kind of run names: its own pack's comes first.
    pub(super) fn find_tool(&self, name: &str) -> Option<Tool> {
        let pack = self.run.kind.split_once('.').map(|(pack, _)| pack);
        self.engine.dispatcher.find_tool_of_pack((self.lease.tenant, &self.packs), pack, name)
    }
}
