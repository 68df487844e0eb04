//! What is said to a model and what it says back, for every wire.

mod event;
mod limits;
mod message;
mod reply;
mod request;
mod usage;

pub use event::{Event, StopReason};
pub use limits::{Allowance, RateLimits};
pub use message::{Media, MediaSource, Message, Part, Role, ToolCall, ToolResult};
pub use reply::{Assembler, Reply};
pub use request::{Breakpoint, ChatRequest, Lifetime, Output, Thinking, ToolChoice};
pub use usage::Usage;
