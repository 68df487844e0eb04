//! What decides whether something may be done, and remembers that it was.
//!
//! # Layout
//! - [`audit`]: the chain of what happened; [`vault`]: a tenant's secrets
//! - [`budget`]: plans, limits, what is set aside and what is spent
//! - [`privacy`]: what a cloud model may see, and what may leave

pub mod audit;
pub mod budget;
pub mod privacy;
pub mod vault;
