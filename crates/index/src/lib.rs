//! Search in text that is sealed: each word stands as a keyed hash beside the numbers of the texts that have it.
//!
//! A text gets a running number in its tenant. For each word, and each scope such as a person, a row says which of 4,096
//! numbers have it, so the most frequent word of a million texts is a few hundred rows. What fits all words is only a
//! candidate: whoever searches opens the text and looks with the same [`SearchQuery`], which also finds phrases.
//!
//! Every writer holds the row of the tenant's index first, and whoever removes a text removes it here before its own row
//! goes. So a text that is being added while it is removed elsewhere is never left behind.
//!
//! A text is removed by the hashes kept beside its number, since its key may be destroyed by then. Nothing of it stays in
//! any row, and its number is never given again. In older copies of the index, and in free parts of the file, its hashes
//! stand: so each index has a key of its own, which is destroyed with the rebuild after somebody was forgotten.
//!
//! Not here: where texts come from, what opens them, who may search (the crate above knows).
//!
//! # Layout
//! - [`IndexWord`]: a text cut into words, in the forms that all spellings share; [`SearchQuery`]: what is looked for;
//!   [`cut_excerpt`]: what is shown of it
//! - [`TokenHasher`]: words and scopes as keyed hashes; `number_set`: the numbers of a block
//! - [`IndexState`]: how far an index is, and clearing one; [`add`], [`remove`]: what it holds; [`check_next`]: whether it
//!   holds together; `postings`, `documents`: its rows
//! - [`list_hits`]: what has all words, newest first
//!
//! # To change how words are cut or hashed
//! Count [`VERSION`] up: each tenant's index is cleared and filled anew while everything goes on.

mod add;
mod check;
mod documents;
mod excerpt;
mod hits;
mod number_set;
mod numbers;
mod postings;
mod query;
mod remove;
mod state;
mod tokens;
mod words;

pub use add::{AddOutcome, IndexBatch, IndexDocument, add};
pub use check::{CheckStep, check_next};
pub use documents::list_unknown;
pub use excerpt::cut_excerpt;
pub use hits::{HitWindow, IndexSearch, IndexedHit, list_hits};
pub use query::{SearchQuery, SearchQueryError};
pub use remove::{count_removable, remove};
pub use state::{
    IndexState, VERSION, clear_next, expire_key, find_state, is_key_expired, is_key_lost, mark_for_rebuild,
    needs_clearing, restart_filling,
};
pub use tokens::TokenHasher;
pub use words::{IndexWord, split_index_words};

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[migration!("0081_search_index")];

/// So many numbers share a row of each word.
const BLOCK: i64 = 4096;
