//! Models behind one trait.
//!
//! A [`Provider`] takes a [`ChatRequest`] and gives a stream of [`ChatEvent`]s that ends properly or with a [`ModelError`]: a
//! stream that just stops is a fault, however much text came before. Everything above (routing, fallback, budgets)
//! works on these few types and knows no wire.
//!
//! # Layout
//! - [`chat`]: requests, messages, events, usage
//! - [`error`]: what goes wrong, by what is done about it
//! - [`provider`]: the trait; [`target`]: where a model is and what it can do; [`dialect`]: how its server differs
//! - [`presets`]: servers that are known, for targets to start from
//! - [`http_provider`]: the provider for every remote target, over [`transport`] (sockets, time, sizes) and [`sse`]
//! - `anthropic`, `openai`, `gemini`: one folder a wire, each a `Protocol`: request, response, stream, error
//! - [`cache`]: where cache marks go; [`pricing`]: tokens counted here, prices with their dates
//! - [`gateway`]: what stands between a caller and the wires: routes, fallback, breakers, budgets
//! - [`calls`]: every attempt, as the store keeps it; [`embeddings`]: vectors, kept once made, and a model for them that
//!   needs no download
//!
//! To add a wire, write a folder that implements `Protocol` and name it in [`http_provider`]. To add another kind of provider,
//! implement [`Provider`].

mod anthropic;
pub mod cache;
pub mod calls;
pub mod chat;
pub mod dialect;
mod effort;
pub mod embeddings;
pub mod error;
mod event_reader;
pub mod gateway;
mod gemini;
pub mod http_provider;
mod json_output;
mod media;
mod openai;
pub mod presets;
pub mod pricing;
mod protocol;
pub mod provider;
mod provider_error;
pub mod sse;
pub mod target;
pub mod transport;
mod wire_prefix;

pub use calls::MIGRATIONS;
pub use chat::{
    ChatEvent, ChatMessage, ChatReply, ChatRequest, ModelMessagePart, ModelRole, StopReason, TokenUsage,
    ToolCall, ToolChoice,
};
pub use dialect::Dialect;
pub use error::{ModelError, TimeoutStage};
pub use gateway::Gateway;
pub use http_provider::HttpProvider;
pub use provider::{AnswerConfidence, ChatStream, Embedding, Provider, ProviderSwitch};
pub use target::{ModelFeatures, ModelTarget, ModelTimeouts, WireFormat};
pub use transport::Transport;
