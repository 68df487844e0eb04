//! What is said to a model and what it says back, for every wire.

mod event;
mod limits;
mod message;
mod reply;
mod request;
mod usage;

pub use event::{ChatEvent, StopReason};
pub use limits::{RateLimitWindow, RateLimits};
pub use message::{
    ChatMessage, ModelMedia, ModelMediaSource, ModelMessagePart, ModelRole, ToolCall, ToolResult,
};
pub use reply::{ChatReply, ModelReplyAssembler};
pub use request::{CacheBreakpoint, CacheLifetime, ChatRequest, ReplyFormat, ThinkingBudget, ToolChoice};
pub use usage::TokenUsage;
