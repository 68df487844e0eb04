//! From an address to a binding and its three versions.
//!
//! The first message for an address asks the database; after that the answer comes from memory, without a lock. A node
//! keeps asking what changed past the count it knows ([`BindingResolver::watch`]), so a change by any process shows within a
//! second. The count is stored, so no change can be missed for good; and once a minute everything is looked up anew.
//!
//! With the three versions comes their [`StaticPrompt`]: the text of the prompt that is the same in every turn, made once for
//! those versions. So a turn is an answer from memory and [`assemble`](crate::prompt::assemble).
//!
//! # Layout
//! - `load`: one address from the database; `cache`: what is kept; `slice`: who gets something else; `watch`: the asking

mod cache;
mod load;
mod slice;
mod watch;

use std::sync::Arc;

use munshi_store::Db;
use munshi_types::tier::{Agent, Binding, Human, RoutingKey, Team, TierName};
use munshi_types::{BindingId, TenantId, TenantName, TierId, ToolSpec, Zone};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::prompt::StaticPrompt;
use crate::tenant_models::TenantModels;
use crate::token_counts::TierTokenCounts;
use cache::ResolutionCache;

pub(crate) use load::list_holders;
pub use slice::assign_bucket;

/// Where an address leads.
#[derive(Clone, Debug)]
pub enum AddressResolution {
    Bound(Arc<BindingResolution>),
    /// The tenant rests; what comes in is kept for when it is woken.
    TenantPaused(TenantName),
    /// For good.
    TenantArchived(TenantName),
    BindingArchived {
        tenant: TenantName,
        binding: TierName,
    },
    /// The address leads nowhere.
    Unknown,
}

/// All that is known of a binding for one turn. It does not change while it is held, whatever is applied meanwhile.
#[derive(Clone, Debug)]
pub struct BindingResolution {
    pub tenant: TenantId,
    pub tenant_name: TenantName,
    /// Days begin by it.
    pub zone: Zone,
    pub binding_id: BindingId,
    pub binding_name: TierName,
    pub binding_version: u32,
    pub binding: Binding,
    pub human: Arc<LoadedTier<Human>>,
    pub team: Arc<LoadedTier<Team>>,
    /// With all that it extends.
    pub agent: Arc<LoadedTier<Agent>>,
    /// The three as text, shared by all that have these versions.
    pub static_prompt: Arc<StaticPrompt>,
    /// Those that answer this tenant, where it is not the installation's choice.
    pub tenant_models: Arc<TenantModels>,
    /// The slice whose turn this is, for the record.
    pub slice: Option<String>,
    /// Where a conversation was handed on to, where this was looked up for one.
    pub place: Option<ActivePlace>,
}

/// Where a conversation is by now.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ActivePlace {
    pub binding: BindingId,
    /// The team that took over, where it is not the binding's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<TierName>,
}

/// A tier at one version.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTier<T> {
    pub id: TierId,
    pub name: TierName,
    pub version: u32,
    pub body: T,
    /// As counted when it was stored.
    pub tokens: TierTokenCounts,
    /// Of an agent: those it extends, the nearest last, at their versions.
    pub bases: Vec<(TierName, u32)>,
}

/// Finds bindings by address. Cheap to clone; all clones share what they remember.
#[derive(Clone)]
pub struct BindingResolver {
    db: Db,
    cache: Arc<ResolutionCache>,
}

impl BindingResolver {
    /// Somebody must run [`Self::watch`] beside it, or changes by others show only after a restart.
    /// No tool is installed until [`Self::with_tools`] names some.
    pub fn new(db: Db) -> Self {
        Self { db, cache: Arc::new(ResolutionCache::default()) }
    }

    /// The tools that are installed; those that agents have and teams chose are offered. Comes before the first question.
    #[must_use]
    pub fn with_tools(self, tools: Vec<Arc<ToolSpec>>) -> Self {
        Self { db: self.db, cache: Arc::new(ResolutionCache::with_tools(tools)) }
    }

    /// Where the address leads for this person; none is somebody who is not known yet, and is in no slice.
    pub async fn resolve(&self, key: &RoutingKey, person: Option<&str>) -> Result<AddressResolution> {
        if let Some(answer) = self.resolve_cached(key, person) {
            return Ok(answer);
        }
        let (asked, cache) = (key.clone(), self.cache.clone());
        let read = move |tx: &mut munshi_store::PlatformTx<'_>| load::find_by_key(tx, &asked, &cache);
        let loaded = self.db.platform(crate::routing_keys::ROUTING).read(read).await?;
        let Some((entry, count)) = loaded else { return Ok(AddressResolution::Unknown) };
        let answer = entry.resolve_for(person);
        self.cache.insert(key, entry, count);
        Ok(answer)
    }

    /// The same from memory alone; none where the database must be asked.
    pub fn resolve_cached(&self, key: &RoutingKey, person: Option<&str>) -> Option<AddressResolution> {
        self.cache.get(key, person)
    }

    /// A binding by its name; remembered as addresses are.
    pub async fn resolve_by_name(
        &self,
        tenant: &TenantName,
        binding: &TierName,
        person: Option<&str>,
    ) -> Result<AddressResolution> {
        let name = (tenant.clone(), binding.clone());
        if let Some(answer) = self.cache.get_by_name(&name, person) {
            return Ok(answer);
        }
        let ((tenant, binding), cache) = (name.clone(), self.cache.clone());
        let read =
            move |tx: &mut munshi_store::PlatformTx<'_>| load::find_by_name(tx, &tenant, &binding, &cache);
        let Some((entry, count)) = self.db.platform(crate::routing_keys::ROUTING).read(read).await? else {
            return Ok(AddressResolution::Unknown);
        };
        let answer = entry.resolve_for(person);
        self.cache.insert_by_name(&name, entry, count);
        Ok(answer)
    }

    /// A binding by its id, for a turn that is taken up again: from the database, and not kept.
    pub async fn resolve_by_id(
        &self,
        tenant: TenantId,
        binding: BindingId,
        person: Option<&str>,
    ) -> Result<AddressResolution> {
        let cache = self.cache.clone();
        let read = move |tx: &mut munshi_store::PlatformTx<'_>| load::find_by_id(tx, tenant, binding, &cache);
        let found = self.db.platform(crate::routing_keys::ROUTING).read(read).await?;
        Ok(found.map_or(AddressResolution::Unknown, |entry| entry.resolve_for(person)))
    }

    /// Where a conversation was handed on to: a binding by its id, with another team in it where one took over. The door
    /// people came through stays theirs: of that binding's and the front one's the stricter is kept.
    pub async fn resolve_handed_over(
        &self,
        tenant: TenantId,
        place: &ActivePlace,
        front: BindingId,
        person: Option<&str>,
    ) -> Result<AddressResolution> {
        let (cache, place, person) = (self.cache.clone(), place.clone(), person.map(str::to_owned));
        let read = move |tx: &mut munshi_store::PlatformTx<'_>| {
            load::find_place(tx, tenant, &place, front, (&cache, person.as_deref()))
        };
        self.db.platform(crate::routing_keys::ROUTING).read(read).await
    }

    /// Which tenants have a binding of this name, archived ones too. None where there are too many tenants to ask.
    pub async fn list_holders(&self, binding: &TierName) -> Result<Option<Vec<TenantName>>> {
        let binding = binding.clone();
        self.db.platform(crate::routing_keys::ROUTING).read(move |tx| load::list_holders(tx, &binding)).await
    }
}

impl std::fmt::Debug for BindingResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BindingResolver({:?})", self.db)
    }
}
