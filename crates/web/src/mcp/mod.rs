//! Munshi as an MCP server: other people's agents call our tools and ask our agents, with an API key, over Streamable
//! HTTP at `/mcp`.
//!
//! A tool is one that the agent of a binding has which the key reaches, called in that binding's name through the same
//! dispatcher as in a turn. An agent is a binding: `ask_<binding>` is a turn like any other. Requests stand by themselves:
//! there are no sessions, so any node answers.
//!
//! # Layout
//! - `server`: the protocol's side, a [`munshi_mcp::ToolServer`]; `key_access`: what a key reaches
//! - `tool_definitions`: tools and agents as the protocol lists them
//! - `calls`: calling a tool; `agents`: asking an agent; `pending`: hearing what came of what had to wait
//! - `results`: what came of it, in the protocol's form

pub(crate) mod administration;
mod agents;
pub(crate) mod calls;
pub(crate) mod key_access;
pub(crate) mod pending;
pub(crate) mod results;
pub(crate) mod server;
pub(crate) mod tool_definitions;
