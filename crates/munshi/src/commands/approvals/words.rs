//! Approvals in words.

use munshi_safety::approvals::State;
use munshi_safety::pipeline::{Needs, Question, Reason, Risk};
use munshi_types::{ApprovalId, Id, is_unseen};
use serde_json::Value;

use crate::output::table::Tone;

/// As much of an id as tells those apart that were not made in the same millisecond.
const SHORT: usize = 13;

pub(super) fn short(id: ApprovalId) -> String {
    id.as_uuid().to_string().chars().take(SHORT).collect()
}

pub(super) fn reasons(question: &Question) -> String {
    let words: Vec<&str> = question.reasons.iter().map(|reason| reason_words(*reason)).collect();
    words.join(", ")
}

pub(in crate::commands) const fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Proposes => "the agent only proposes",
        Reason::Policy => "the policy wants it asked",
        Reason::Dangerous => "it can do harm",
        Reason::Destructive => "it removes or overwrites",
        Reason::Money => "it moves money",
        Reason::Message => "words nobody has seen go out",
        Reason::Foreign => "other people's text led to it",
        Reason::Concern => "a check found something unusual",
        Reason::Egress => "it would carry out what was read",
    }
}

pub(in crate::commands) const fn needs_words(needs: Needs) -> &'static str {
    match needs {
        Needs::Asker => "whoever asked for it, or an owner or admin",
        Needs::Approver => "an owner or admin, or somebody else whose role may approve it",
    }
}

pub(in crate::commands) const fn risk(risk: Risk) -> (&'static str, Tone) {
    match risk {
        Risk::Low => ("low", Tone::Good),
        Risk::Medium => ("medium", Tone::Doubtful),
        Risk::High => ("high", Tone::Bad),
    }
}

pub(super) const fn state(state: State) -> &'static str {
    match state {
        State::Pending => "waits for an answer",
        State::Granted => "granted",
        State::Refused => "refused",
        State::Expired => "expired: nobody answered in time",
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
