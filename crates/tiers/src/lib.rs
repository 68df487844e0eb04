//! What is decided before and after a model is asked, by the three tiers of a tenant.
//!
//! Nothing here calls a model. What a rule decides it decides from the text and what it is told of the turn.
//!
//! # Layout
//! - [`guardrails`]: rules that stand in the prompt and run again on the reply

pub mod guardrails;
