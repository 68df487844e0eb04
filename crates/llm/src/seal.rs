//! Signatures and sealed thinking go back only to the wire they came from: another provider refuses the whole
//! conversation over them. So what a wire hands out carries its name, and what carries another name stays home.

use crate::target::Wire;

const fn mark(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic:",
        Wire::OpenAi => "openai:",
        Wire::Gemini => "gemini:",
        Wire::Offline => "offline:",
    }
}

pub(crate) fn seal(wire: Wire, text: &str) -> String {
    [mark(wire), text].concat()
}

/// The text as the provider sent it, if it was this one.
pub(crate) fn unseal(wire: Wire, text: &str) -> Option<&str> {
    text.strip_prefix(mark(wire))
}
