//! The Model Context Protocol, both ways: [`McpClient`] calls tools of other servers, a [`ToolServer`] offers ours.
//!
//! The official SDK (`rmcp`) speaks the protocol. It is named here alone, and what it makes generic is compiled here once:
//! clients go over one boxed transport, servers are a `dyn ToolServer`. The protocol's plain data keeps the SDK's types,
//! which stand here by their own names.
//!
//! Not here: starting and watching servers, what their tools may do (`munshi-connectors`), what our own tools are
//! (`munshi-web`).
//!
//! # Layout
//! - [`client`]: one connection to a server, over streams or HTTP, within bounds
//! - [`server`]: answering clients, over streams or HTTP

pub mod client;
pub mod server;

pub use client::{BearerCredential, HandshakeMode, McpCallError, McpClient, McpError, McpHttpEndpoint};
pub use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject, MetaObject, Tool, ToolAnnotations,
};
pub use server::{ToolPage, ToolServer, ToolServerCall, answer_http_request, serve_stream};

/// One message, in bytes; a longer one is dropped.
pub const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;
/// Where a call carries the key of its act, in the request's `_meta`, beside the argument that takes it.
pub const KEY_META: &str = "munshi/key";
/// Where a server says in our words what a tool does, in the tool's `_meta`.
pub const DECLARATION_META: &str = "munshi/tool";
/// Where a failed result says more about the failure, in its `_meta`: `code`, `retryable`, and `maybe` where it may have
/// happened all the same.
pub const FAILURE_META: &str = "munshi/failure";
