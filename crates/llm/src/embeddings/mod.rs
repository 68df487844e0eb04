//! Vectors for texts: kept once made, and made here where no model is configured.

mod cache;
mod feature_hashing;

pub use cache::{EmbeddingCache, cache_key, clear_cache};
pub use feature_hashing::{DIMENSION, embed_by_hashing};
