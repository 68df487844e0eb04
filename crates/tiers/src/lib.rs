//! Humans, teams, agents and bindings: what is decided before and after a model is asked.
//!
//! # Layout
//! - [`contract`]: who decides what where tiers disagree
//! - [`prompt`]: three tiers and a moment to one prompt, within its budgets
//! - [`import`]: a workspace of seven markdown files to tiers

pub mod contract;
pub mod import;
pub mod prompt;
