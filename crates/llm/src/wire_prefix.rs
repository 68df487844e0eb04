//! Signatures and sealed thinking go back only to the wire they came from: another provider refuses the whole
//! conversation over them. So what a wire hands out carries its name, and what carries another name stays home.

use crate::target::WireFormat;

const fn wire_prefix(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::Anthropic => "anthropic:",
        WireFormat::OpenAi => "openai:",
        WireFormat::Gemini => "gemini:",
        WireFormat::Offline => "offline:",
    }
}

pub(crate) fn add_wire_prefix(wire: WireFormat, text: &str) -> String {
    [wire_prefix(wire), text].concat()
}

/// The text as the provider sent it, if it was this one.
pub(crate) fn strip_wire_prefix(wire: WireFormat, text: &str) -> Option<&str> {
    text.strip_prefix(wire_prefix(wire))
}
