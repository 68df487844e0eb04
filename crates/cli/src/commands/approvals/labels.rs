//! Approvals in words.

use munshi_operations::approvals::{ApprovalState, describe_reason, describe_risk};
use munshi_safety::pipeline::{ConsentQuestion, Risk};
use munshi_types::{ApprovalId, Id, is_invisible};
use serde_json::Value;

use crate::output::table::OutputCellStyle;

/// As much of an id as tells those apart that were not made in the same millisecond.
const SHORT: usize = 13;

pub(super) fn format_short_id(id: ApprovalId) -> String {
    id.as_uuid().to_string().chars().take(SHORT).collect()
}

pub(super) fn reasons(question: &ConsentQuestion) -> String {
    let words: Vec<&str> = question.reasons.iter().map(|reason| describe_reason(*reason)).collect();
    words.join(", ")
}

pub(super) const fn risk(risk: Risk) -> (&'static str, OutputCellStyle) {
    let tone = match risk {
        Risk::Low => OutputCellStyle::Good,
        Risk::Medium => OutputCellStyle::Doubtful,
        Risk::High => OutputCellStyle::Bad,
    };
    (describe_risk(risk), tone)
}

pub(super) const fn state(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Pending => "pending",
        ApprovalState::Granted => "granted",
        ApprovalState::Refused => "refused",
        ApprovalState::Expired => "expired: nobody answered in time",
    }
}

/// A value to the letter. What can't be seen, or could drive the terminal, is written out.
pub(in crate::commands) fn render_exact(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != '\n' && is_invisible(letter) {
            out.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_hides_in_what_is_approved() {
        let shown = render_exact(&json!({ "to": "a\u{202e}b\u{1b}[2J\u{200b}", "name": "क्\u{200d}ष" }));
        assert!(shown.contains("a\\u202eb\\u001b[2J\\u200b"), "{shown}");
        assert!(shown.contains("क्\u{200d}ष"), "{shown}");
    }
}
