//! How much one search looks at, and how many search at once.

use tokio::sync::{Semaphore, SemaphorePermit};

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

/// So many searches open messages at the same time on a node: each keeps a reader of the database busy, and others read too.
const AT_ONCE: usize = 2;

static SEARCHES: Semaphore = Semaphore::const_new(AT_ONCE);

/// A search's place among those that run on this node. It goes into the unit that searches, and ends with it.
#[derive(Debug)]
pub struct SearchSlot(#[allow(dead_code, reason = "held, never read")] Option<SemaphorePermit<'static>>);

/// Waits until few others search.
pub async fn wait_for_slot() -> SearchSlot {
    // It is never closed.
    SearchSlot(SEARCHES.acquire().await.ok())
}
