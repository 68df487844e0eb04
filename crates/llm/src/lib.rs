//! Models behind one trait.
//!
//! A [`Provider`] takes a [`ChatRequest`] and gives a stream of [`Event`]s that ends properly or with a [`Fault`]: a
//! stream that just stops is a fault, however much text came before. Everything above (routing, fallback, budgets)
//! works on these few types and knows no wire.
//!
//! # Layout
//! - [`chat`]: requests, messages, events, usage
//! - [`fault`]: what goes wrong, by what is done about it
//! - [`provider`]: the trait; [`target`]: where a model is and what it can do
//!
//! To add a provider, write a folder with its request, response and stream, and implement [`Provider`].

pub mod chat;
pub mod fault;
pub mod gateway;
pub mod money;
pub mod provider;
pub mod target;

pub use chat::{ChatRequest, Event, Message, Part, Reply, Role, StopReason, ToolCall, ToolChoice, Usage};
pub use fault::{Fault, Stage};
pub use provider::{ChatStream, Embedding, Provider};
pub use target::{Capabilities, Target, Timeouts, Wire};
