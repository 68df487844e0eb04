//! The tool by which a conversation is handed on, for teams that may: its destinations are theirs and no others.

use munshi_types::tier::{Destination, Team};
use munshi_types::{HAND_OVER, ToolName, ToolNameError, ToolSpec};
use serde_json::json;

use crate::precedence;

const ABOUT: &str = "Hands this conversation to one of those under “Handing over”, when what stands there is so. They read \
                     what you write here, and go on in this same conversation.";

/// None for a team that has nobody to hand over to.
pub(super) fn build_hand_over_tool(team: &Team) -> Option<ToolSpec> {
    let ways: Vec<String> =
        precedence::list_destinations(team).into_iter().map(Destination::to_string).collect();
    if ways.is_empty() {
        return None;
    }
    let name: Result<ToolName, ToolNameError> = HAND_OVER.parse();
    let parameters = json!({
        "type": "object",
        "properties": {
            "to": { "type": "string", "enum": ways },
            "reason": { "type": "string", "maxLength": 300 },
            "summary": {
                "type": "string", "maxLength": 1500, "description": "What they want, and what was said and done."
            },
            "open_questions": { "type": "array", "maxItems": 10, "items": { "type": "string" } }
        },
        "required": ["to", "reason", "summary"],
        "additionalProperties": false
    });
    Some(ToolSpec { parameters, ..ToolSpec::read_only(name.ok()?, ABOUT, "house.conversation.hand_over") })
}
