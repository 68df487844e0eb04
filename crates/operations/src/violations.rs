//! Rules that a reply broke, newest first.

use munshi_conversations::violations::{self, Violation};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, ListView, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_types::{BindingId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{HouseCall, HouseServices};

/// A rule that a reply broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Violation)]
pub struct ViolationView {
    pub id: Uuid,
    #[schema(value_type = uuid::Uuid)]
    pub run: RunId,
    #[schema(value_type = uuid::Uuid)]
    pub binding: BindingId,
    pub rule: String,
    /// Whose rule it is: `human`, `team` or `agent`.
    pub tier: String,
    /// What was done about it: `block`, `rewrite` or `log`.
    pub severity: String,
    /// In a few words; never the text itself.
    pub what: String,
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
}

impl From<Violation> for ViolationView {
    fn from(one: Violation) -> Self {
        let Violation { id, run, binding, rule, tier, severity, what, at } = one;
        Self { id, run, binding, rule, tier, severity, what, at }
    }
}

pub struct ListViolations;

impl Operation<HouseServices> for ListViolations {
    type Input = ListInput;
    type View = ListView<ViolationView>;

    const SPEC: OperationSpec = OperationSpec {
        resource: "violations",
        noun: "violation",
        command: "violations",
        verb: "list",
        about: "List the rules that replies broke, newest first.",
        needs: CallerClass::Member(Area::Runs, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/violations",
    };

    async fn run(call: &HouseCall, input: ListInput) -> Result<ListView<ViolationView>, OperationError> {
        let request = input.page_request()?;
        let page = call.read(move |tx| Ok(violations::list(tx, &request)?)).await?;
        Ok(ListView::from_page(page, |one| call.caller.reaches(one.binding).then(|| one.into())))
    }
}
