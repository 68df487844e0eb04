//! Munshi as an MCP server: other people's agents call our tools and ask our agents, with an API key, over Streamable
//! HTTP at `/mcp`.
//!
//! A tool is one that the agent of a binding has which the key reaches, called in that binding's name through the same
//! dispatcher as in a turn. An agent is a binding: `ask_<binding>` is a turn like any other. Requests stand by themselves:
//! there are no sessions, so any node answers.
//!
//! # Layout
//! - `server`: the protocol's side, made of rmcp; `reach`: what a key reaches
//! - `listed`: tools and agents as the protocol lists them
//! - `calls`: calling a tool; `agents`: asking an agent; `going_on`: hearing what came of what had to wait
//! - `told`: what came of it, in the protocol's form; `progress`: that it goes on

pub(crate) mod agents;
pub(crate) mod calls;
pub(crate) mod going_on;
pub(crate) mod listed;
pub(crate) mod progress;
pub(crate) mod reach;
pub(crate) mod server;
pub(crate) mod told;
