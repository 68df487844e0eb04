//! Tools that come and go while the process lives: those of one tenant's connectors.

use std::collections::BTreeSet;
use std::sync::Arc;

use munshi_store::Tx;
use munshi_types::{LoginLossId, PersonId, TenantId, Timestamp, ToolName};

use crate::error::Result;
use crate::registry::{Tool, ToolRegistry};
use crate::tool_index::ToolIndex;

/// A connector's login that its service takes no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostLogin {
    /// This loss, and no other of the same connector.
    pub id: LoginLossId,
    pub connector: String,
    pub lost_at: Timestamp,
}

/// Keeps the tools of each tenant. A set is never changed: a new one replaces it.
pub trait TenantToolSource: Send + Sync {
    fn tenant_tools(&self, tenant: TenantId) -> Arc<TenantTools>;

    /// Whether every connector of the tenant has started, or has been given up, since the process began: until then a
    /// missing tool may still come.
    fn is_settled(&self, tenant: TenantId) -> bool;

    /// A link with which somebody lets us into a connector's service again; none where no link leads there.
    fn create_login_link(&self, _tx: &mut Tx<'_>, _connector: &str, _to: PersonId) -> Result<Option<String>> {
        Ok(None)
    }

    /// Somebody says in their own conversation what a page shows to whoever opened a link that was sent to them: the page
    /// knows then that it is them. Gives the connector that the link leads to; none where the words are something else.
    fn verify_login_code(&self, _tx: &mut Tx<'_>, _person: PersonId, _words: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// Whether such links lead anywhere.
    fn supports_login_links(&self) -> bool {
        false
    }

    /// When we were last let in there.
    fn find_login_time(&self, _tx: &mut Tx<'_>, _connector: &str) -> Result<Option<Timestamp>> {
        Ok(None)
    }

    /// Where we were let in and are no more, until somebody logs in again; the oldest first.
    fn list_lost_logins(&self, _tx: &mut Tx<'_>) -> Result<Vec<LostLogin>> {
        Ok(Vec::new())
    }
}

/// What the connectors of one tenant bring at one moment.
#[derive(Clone, Default)]
pub struct TenantTools {
    tools: ToolRegistry,
    /// Offered whatever is said.
    always: BTreeSet<ToolName>,
    index: ToolIndex,
}

impl TenantTools {
    pub fn new(tools: ToolRegistry, always: BTreeSet<ToolName>) -> Self {
        let index = ToolIndex::from_specs(tools.all().map(|tool| &tool.known.spec));
        Self { tools, always, index }
    }

    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    pub fn all(&self) -> impl Iterator<Item = &Tool> {
        self.tools.all()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.all().next().is_none()
    }

    /// At most so many of those that are permitted, the most fitting first. Where all of them have room, all come, by
    /// name; where nothing that was said fits a tool, those that remain come by name.
    pub fn choose(&self, said: &[(&str, f32)], most: usize, permitted: impl Fn(&Tool) -> bool) -> Vec<&Tool> {
        let mut open: Vec<(usize, &Tool)> =
            self.tools.all().enumerate().filter(|(_, tool)| permitted(tool)).collect();
        if open.len() > most {
            let scores = self.index.scores(said);
            let score = |at: usize| scores.get(at).copied().unwrap_or_default();
            let is_core = |tool: &Tool| self.always.contains(&tool.known.spec.name);
            open.sort_by(|(one, first), (other, second)| {
                is_core(second)
                    .cmp(&is_core(first))
                    .then(score(*other).total_cmp(&score(*one)))
                    .then(one.cmp(other))
            });
            open.truncate(most);
        }
        open.into_iter().map(|(_, tool)| tool).collect()
    }
}
