//! What is stored in the place of a result that is not kept.

use munshi_types::{Timestamp, ToolName};
use serde_json::{Value, json};

use super::finish::ActOutcome;
use super::permit::Permit;

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

    /// The outcome as it may be stored. Of a failure its code stays, which is a word of the tool's maker.
    pub(super) fn replace(&self, outcome: &ActOutcome) -> ActOutcome {
        match outcome {
            ActOutcome::Applied(_) => ActOutcome::Applied(self.to_json()),
            ActOutcome::Failed { code, retryable, .. } => ActOutcome::Failed {
                code: code.clone(),
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
            code: "not_found".to_owned(),
            retryable: true,
            detail: "no record of Asha".to_owned(),
            next: Some(json!("Asha")),
        };
        let heard =
            [ActOutcome::Applied(json!("Asha")), failed, ActOutcome::Unknown { detail: "Asha".to_owned() }];
        for outcome in &heard {
            assert!(!format!("{:?}", stand_in.replace(outcome)).contains("Asha"));
        }
        assert!(
            matches!(stand_in.replace(&heard[1]), ActOutcome::Failed { code, .. } if code == "not_found")
        );
    }
}
