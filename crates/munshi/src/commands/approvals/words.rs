//! Approvals in words.

use munshi_safety::approvals::ApprovalStatus;
use munshi_safety::pipeline::{ConsentGiver, ConsentQuestion, ConsentReason, Risk};
use munshi_types::{ApprovalId, Id, is_unseen};
use serde_json::Value;

use crate::output::table::OutputCellStyle;

/// As much of an id as tells those apart that were not made in the same millisecond.
const SHORT: usize = 13;

pub(super) fn short(id: ApprovalId) -> String {
    id.as_uuid().to_string().chars().take(SHORT).collect()
}

pub(super) fn reasons(question: &ConsentQuestion) -> String {
    let words: Vec<&str> = question.reasons.iter().map(|reason| reason_words(*reason)).collect();
    words.join(", ")
}

pub(in crate::commands) const fn reason_words(reason: ConsentReason) -> &'static str {
    match reason {
        ConsentReason::Proposes => "the agent only proposes",
        ConsentReason::Policy => "the policy wants it asked",
        ConsentReason::Dangerous => "it can do harm",
        ConsentReason::Destructive => "it removes or overwrites",
        ConsentReason::Money => "it moves money",
        ConsentReason::Message => "words nobody has seen go out",
        ConsentReason::Foreign => "other people's text led to it",
        ConsentReason::Concern => "a check found something unusual",
        ConsentReason::Egress => "it would carry out what was read",
    }
}

pub(in crate::commands) const fn needs_words(needs: ConsentGiver) -> &'static str {
    match needs {
        ConsentGiver::Asker => "whoever asked for it, or an owner or admin",
        ConsentGiver::Approver => "an owner or admin, or somebody else whose role may approve it",
    }
}

pub(in crate::commands) const fn risk(risk: Risk) -> (&'static str, OutputCellStyle) {
    match risk {
        Risk::Low => ("low", OutputCellStyle::Good),
        Risk::Medium => ("medium", OutputCellStyle::Doubtful),
        Risk::High => ("high", OutputCellStyle::Bad),
    }
}

pub(super) const fn state(state: ApprovalStatus) -> &'static str {
    match state {
        ApprovalStatus::Pending => "waits for an answer",
        ApprovalStatus::Granted => "granted",
        ApprovalStatus::Refused => "refused",
        ApprovalStatus::Expired => "expired: nobody answered in time",
    }
}

/// A value to the letter. What can't be seen, or could drive the terminal, is written out.
pub(in crate::commands) fn exactly(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter != '\n' && is_unseen(letter) {
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
        let shown = exactly(&json!({ "to": "a\u{202e}b\u{1b}[2J\u{200b}", "name": "क्\u{200d}ष" }));
        assert!(shown.contains("a\\u202eb\\u001b[2J\\u200b"), "{shown}");
        assert!(shown.contains("क्\u{200d}ष"), "{shown}");
    }
}
