//! Models behind one trait.
//!
//! A [`Provider`] takes a [`ChatRequest`] and gives a stream of [`ChatEvent`]s that ends properly or with a [`ModelError`]: a
//! stream that just stops is a fault, however much text came before. Everything above (routing, fallback, budgets)
//! works on these few types and knows no wire.
//!
//! # Layout
//! - [`chat`]: requests, messages, events, usage
//! - [`fault`]: what goes wrong, by what is done about it
//! - [`provider`]: the trait; [`target`]: where a model is and what it can do; [`dialect`]: how its server differs
//! - [`presets`]: servers that are known, for targets to start from
//! - [`wires`]: the provider for every remote target, over [`transport`] (sockets, time, sizes) and [`sse`]
//! - `anthropic`, `openai`, `gemini`: one folder a wire, each a `Protocol`: request, response, stream, error
//! - [`cache`]: where cache marks go; [`money`]: tokens counted here, prices with their dates
//! - [`gateway`]: what stands between a caller and the wires: routes, fallback, breakers, budgets
//! - [`calls`]: every attempt, as the store keeps it; [`embeddings`]: vectors, kept once made, and a model for them that
//!   needs no download
//!
//! To add a wire, write a folder that implements `Protocol` and name it in [`wires`]. To add another kind of provider,
//! implement [`Provider`].

mod answer;
mod anthropic;
pub mod cache;
pub mod calls;
pub mod chat;
pub mod dialect;
mod effort;
pub mod embeddings;
pub mod fault;
pub mod gateway;
mod gemini;
mod media;
pub mod money;
mod openai;
pub mod presets;
mod protocol;
pub mod provider;
mod reader;
mod refusal;
mod seal;
pub mod sse;
pub mod target;
pub mod transport;
pub mod wires;

pub use calls::MIGRATIONS;
pub use chat::{
    ChatEvent, ChatMessage, ChatReply, ChatRequest, ModelMessagePart, ModelRole, StopReason, TokenUsage,
    ToolCall, ToolChoice,
};
pub use dialect::Dialect;
pub use fault::{ModelError, TimeoutStage};
pub use gateway::Gateway;
pub use provider::{ChatStream, Embedding, Provider, ProviderSwitch};
pub use target::{ModelFeatures, ModelTarget, ModelTimeouts, WireFormat};
pub use transport::Transport;
pub use wires::HttpProvider;
