//! How much one search looks at, and how many search at once.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use munshi_types::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// How much is looked at for one page; what is left follows with the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Messages that are opened.
    pub opened: usize,
    /// Bytes of their texts as they are stored.
    pub bytes: usize,
    /// Candidates that one statement asks the index for.
    pub indexed: usize,
    /// Rows that the index may lack, looked at by one statement.
    pub unindexed: u32,
}

impl SearchLimits {
    /// Of a page that a program or a person asks for.
    pub const PAGE: Self = Self { opened: 2_000, bytes: 4 << 20, indexed: 2_000, unindexed: 500 };
    /// Of an agent's tool, while somebody waits for the reply.
    pub const TOOL: Self = Self { opened: 300, bytes: 1 << 20, indexed: 500, unindexed: 500 };
}

/// So many searches open messages at the same time on a node, and as many of agents: each keeps a reader of the database busy, and
/// others read too.
const AT_ONCE: usize = 2;

/// Of pages that programs and people ask for.
pub static PAGE_SEARCHES: LazyLock<SearchQueue> = LazyLock::new(SearchQueue::new);
/// Of agents' tools: somebody waits for the reply, so they don't wait behind pages.
pub(super) static TOOL_SEARCHES: LazyLock<SearchQueue> = LazyLock::new(SearchQueue::new);

/// Who searches on this node, and who waits. A tenant searches one at a time, so that however much it asks for, it takes one place
/// in the queue of all.
#[derive(Debug)]
pub struct SearchQueue {
    node: Semaphore,
    /// Of those that search or wait.
    tenants: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

/// A search's place among those that run on this node. It goes into the unit that searches, and ends with it.
#[derive(Debug)]
#[allow(dead_code, reason = "held, never read")]
pub struct SearchSlot<'a> {
    node: Option<SemaphorePermit<'a>>,
    tenant: Option<OwnedSemaphorePermit>,
}

impl SearchQueue {
    fn new() -> Self {
        Self { node: Semaphore::new(AT_ONCE), tenants: Mutex::default() }
    }

    /// Waits until few others search.
    pub async fn wait(&self, tenant: TenantId) -> SearchSlot<'_> {
        // Neither is ever closed.
        let tenant = self.find_of_tenant(tenant).acquire_owned().await.ok();
        SearchSlot { node: self.node.acquire().await.ok(), tenant }
    }

    fn find_of_tenant(&self, tenant: TenantId) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = tenants.get(&tenant).and_then(Weak::upgrade) {
            return found;
        }
        tenants.retain(|_, others| others.strong_count() > 0);
        let made = Arc::new(Semaphore::new(1));
        tenants.insert(tenant, Arc::downgrade(&made));
        made
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn a_tenant_that_searches_much_keeps_out_no_other() {
        let queue = SearchQueue::new();
        let first = queue.wait(tenant(1)).await;
        let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(queue.wait(tenant(1)))).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none(), "one at a time");
        }
        let other = queue.wait(tenant(2)).now_or_never().expect("there is a place left");
        let mut third = Box::pin(queue.wait(tenant(3)));
        assert!((&mut third).now_or_never().is_none(), "a node searches {AT_ONCE} at a time");
        drop(first);
        assert!((&mut waiting[0]).now_or_never().is_none(), "the other tenant came first");
        drop(third.now_or_never().expect("its turn"));
        drop(other);
        drop((&mut waiting[0]).now_or_never().expect("its turn"));
    }

    #[tokio::test]
    async fn who_no_longer_searches_is_not_remembered() {
        let queue = SearchQueue::new();
        for number in 0..50 {
            drop(queue.wait(tenant(number)).await);
        }
        assert_eq!(queue.tenants.lock().unwrap().len(), 1);
    }
}
