//! What is stored in the place of a result that is not kept.

use munshi_types::{Timestamp, ToolName};
use serde_json::{Value, json};

use super::finish::{ActOutcome, LOGIN_NEEDED};
use super::permit::Permit;

/// What may go wrong between us and a tool, whatever it was asked.
const KEPT_CODES: [&str; 18] = [
    "bad_arguments",
    "broke",
    "connector_degraded",
    "connector_down",
    "connector_lost",
    "connector_stopped",
    "lapsed",
    LOGIN_NEEDED,
    "login_not_renewed",
    "no_consent",
    "service_failed",
    "store",
    "timeout",
    "too_long",
    "too_often",
    "too_slow",
    "unknown_tool",
    "unreachable",
];

/// Says that a tool was asked, and when; never what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultStandIn {
    tool: ToolName,
    asked_at: Timestamp,
}

impl ResultStandIn {
    /// The code by which it is known for one.
    pub const CODE: &str = "not_kept";

    pub fn words(&self) -> String {
        format!("{} was asked at {}. What it said is not kept.", self.tool, self.asked_at)
    }

    pub fn to_json(&self) -> Value {
        json!({ "code": Self::CODE, "asked_at": self.asked_at, "note": self.words() })
    }

    /// The code of a failure as it may be stored: one by which we ourselves say what went wrong on the way. A server may put anything
    /// into a word of its own, and even that nothing was found is what it said.
    pub fn keep_code(code: &str) -> &str {
        if KEPT_CODES.contains(&code) { code } else { "failed" }
    }

    /// The outcome as it may be stored.
    pub(super) fn replace(&self, outcome: &ActOutcome) -> ActOutcome {
        match outcome {
            ActOutcome::Applied(_) => ActOutcome::Applied(self.to_json()),
            ActOutcome::Failed { code, retryable, .. } => ActOutcome::Failed {
                code: Self::keep_code(code).to_owned(),
                retryable: *retryable,
                detail: self.words(),
                next: None,
            },
            ActOutcome::Unknown { .. } => ActOutcome::Unknown { detail: self.words() },
        }
    }
}

impl Permit {
    /// What is stored in place of what the tool says, where that is not kept.
    pub fn stand_in(&self) -> Option<ResultStandIn> {
        let stand_in = || ResultStandIn { tool: self.tool.clone(), asked_at: self.began_at };
        self.is_transient.then(stand_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_says_that_it_was_asked_and_nothing_it_heard() {
        let asked_at = "2026-11-19T10:22:00Z".parse().unwrap();
        let stand_in = ResultStandIn { tool: "find_record".parse().unwrap(), asked_at };
        assert_eq!(
            stand_in.words(),
            "find_record was asked at 2026-11-19T10:22:00Z. What it said is not kept."
        );
        let failed = ActOutcome::Failed {
            code: "too_slow".to_owned(),
            retryable: true,
            detail: "no record of asha".to_owned(),
            next: Some(json!("asha")),
        };
        let heard = [
            ActOutcome::Applied(json!("asha")),
            failed.clone(),
            ActOutcome::Unknown { detail: "asha".to_owned() },
        ];
        for outcome in &heard {
            assert!(!format!("{:?}", stand_in.replace(outcome)).contains("asha"));
        }
        assert!(matches!(stand_in.replace(&failed), ActOutcome::Failed { code, .. } if code == "too_slow"));
        for code in ["asha_is_ill", "not_found", "interrupted", "not_kept"] {
            let ActOutcome::Failed { retryable, detail, next, .. } = failed.clone() else { continue };
            let theirs = ActOutcome::Failed { code: code.to_owned(), retryable, detail, next };
            let kept = stand_in.replace(&theirs);
            assert!(matches!(&kept, ActOutcome::Failed { code, .. } if code == "failed"), "{kept:?}");
        }
    }
}
