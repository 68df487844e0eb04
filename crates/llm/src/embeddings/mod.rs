//! Vectors for texts: kept once made, and made here where no model is configured.

mod cache;
mod hashed;

pub use cache::{EmbeddingCache, cached_by};
pub use hashed::{DIMENSION, hashed};
