//! What followers hear, on both engines.

mod nodes;
mod order;
mod support;
