//! Finding messages by their words, though their text is sealed.
//!
//! What is hot stands in an index of keyed hashes (`munshi_index`), which a job fills behind the turns: a turn writes nothing
//! for it. What the index does not have yet is opened and looked at, the newest first, so that a message is found from the
//! moment it is said, and a search is only slower where much is missing. What goes from the table goes from the index first:
//! of somebody who is forgotten in the same transaction, and to the archive or for its age in some before it (`removal`), so
//! that a search may miss it while its row is still there.
//!
//! - [`MessageSearch`], [`MessageHit`], [`search_messages`]: what is looked for and found; `candidates`: what may have it;
//!   `opening`: what has it
//! - [`SearchLimits`], [`SearchQueue`]: how much one looks at, and how many at once
//! - [`SearchFiller`]: what fills the index; [`job`]: when
//! - [`install_tool`]: the tool by which an agent looks for what was said

mod candidates;
mod fill;
mod find;
pub mod job;
mod limits;
mod opening;
mod removal;
mod tool;

pub use fill::{FillOutcome, FillScope, FillTask, SearchFiller};
pub use find::{MessageHit, MessageHits, MessageSearch, search_messages};
pub use limits::{PAGE_SEARCHES, SearchLimits, SearchQueue, SearchSlot};
pub use munshi_index::{SearchQuery, SearchQueryError};
pub use tool::install as install_tool;

pub(crate) use removal::remove_from_index;

use std::time::Duration;

/// A message may become visible so long after the time it bears: its transaction had to wait, or the clocks of nodes differ.
const OVERLAP: Duration = Duration::from_secs(600);
/// Between two transactions, so that people's come first on SQLite too.
const BREATH: Duration = Duration::from_millis(5);
