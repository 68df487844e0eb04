//! Looks that are declared to be cacheable, served again for a minute. Asked for once, kept by tenant, tool, the connection
//! it goes over and arguments, and forgotten when anything of the same connector is written through this process; another
//! process forgets with the minute. What tells of money or stock is not kept, and neither is what rests on somebody's
//! consent. What is decided, counted and written down of an act is the same either way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics::counter;
use munshi_safety::acts::Permit;
use munshi_safety::audit::to_canonical_json;
use munshi_types::{Effect, TenantId, Timestamp, ToolName, is_volatile_name};
use serde_json::Value;

use crate::handler::ToolHandler;
use crate::registry::Tool;

const KEPT: Duration = Duration::from_secs(60);
/// More is not kept of one process; a longer result is not kept at all.
const MOST: usize = 2_000;
const LONGEST: usize = 32 * 1024;
const HITS: &str = "munshi_tool_cache_total";

type Key = (TenantId, ToolName, u64, String);
type Source = (TenantId, String);

/// Shared by all clones of a dispatcher.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolResultCache(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    results: HashMap<Key, Entry>,
    /// How often something of a connector was written: a look that began before a write tells nothing after it.
    writes: HashMap<Source, u64>,
}

#[derive(Debug)]
struct Entry {
    value: Value,
    kept_at: Timestamp,
    connector: String,
}

/// A look under way whose result may be kept.
#[derive(Debug)]
pub(crate) struct PendingCacheFill {
    key: Key,
    connector: String,
    writes: u64,
}

/// What the cache knows of a call.
pub(crate) enum ToolCacheLookup {
    /// As it was a moment ago.
    Kept(Value),
    /// To be asked for, and kept.
    Ask(PendingCacheFill),
    /// None of the cache's business.
    Nothing,
}

impl ToolResultCache {
    pub(crate) fn find(&self, permit: &Permit, tool: &Tool, now: Timestamp) -> ToolCacheLookup {
        let spec = &tool.known.spec;
        if !spec.cacheable || spec.effect != Effect::Read || permit.consent().is_some() {
            return ToolCacheLookup::Nothing;
        }
        let ToolHandler::Remote(far) = &tool.body else { return ToolCacheLookup::Nothing };
        let key =
            (permit.tenant(), spec.name.clone(), far.connection_id(), to_canonical_json(permit.arguments()));
        let connector = tool.known.connector.name.clone();
        let kept = self.lock();
        let fresh = kept.results.get(&key).filter(|entry| is_fresh(entry, now));
        let found = if fresh.is_some() { "hit" } else { "miss" };
        counter!(HITS, "found" => found).increment(1);
        match fresh {
            Some(entry) => ToolCacheLookup::Kept(entry.value.clone()),
            None => {
                let writes = kept.writes.get(&(permit.tenant(), connector.clone())).copied().unwrap_or(0);
                ToolCacheLookup::Ask(PendingCacheFill { key, connector, writes })
            }
        }
    }

    /// Keeps a result, unless something was written meanwhile.
    pub(crate) fn insert(&self, looking: PendingCacheFill, value: &Value, now: Timestamp) {
        if value.to_string().len() > LONGEST || has_volatile_fields(value) {
            return;
        }
        let mut kept = self.lock();
        let source = (looking.key.0, looking.connector.clone());
        if kept.writes.get(&source).copied().unwrap_or(0) != looking.writes {
            return;
        }
        if kept.results.len() >= MOST {
            kept.results.retain(|_, entry| is_fresh(entry, now));
        }
        if kept.results.len() < MOST {
            let entry = Entry { value: value.clone(), kept_at: now, connector: looking.connector };
            kept.results.insert(looking.key, entry);
        }
    }

    /// Something of this connector is about to be written. What was seen of it no longer counts, and neither does what is
    /// seen until this is dropped: at the end of the call, or when nobody waits for that any more.
    #[must_use]
    pub(crate) fn begin_write(&self, tenant: TenantId, connector: &str) -> CacheWriteGuard {
        self.invalidate(tenant, connector);
        CacheWriteGuard { cache: self.clone(), tenant, connector: connector.to_owned() }
    }

    fn invalidate(&self, tenant: TenantId, connector: &str) {
        let mut kept = self.lock();
        *kept.writes.entry((tenant, connector.to_owned())).or_default() += 1;
        kept.results.retain(|(of, ..), entry| *of != tenant || entry.connector != connector);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write under way.
pub(crate) struct CacheWriteGuard {
    cache: ToolResultCache,
    tenant: TenantId,
    connector: String,
}

impl Drop for CacheWriteGuard {
    fn drop(&mut self) {
        self.cache.invalidate(self.tenant, &self.connector);
    }
}

/// By the names of its fields.
fn has_volatile_fields(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_volatile_fields),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| is_volatile_name(name) || has_volatile_fields(value))
        }
        _ => false,
    }
}

fn is_fresh(entry: &Entry, now: Timestamp) -> bool {
    entry.kept_at <= now && now.since(entry.kept_at) < KEPT
}
