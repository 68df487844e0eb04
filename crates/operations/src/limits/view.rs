//! A limit as it is shown.

use munshi_safety::budget::{
    BudgetLane, BudgetLimitSubject, BudgetLimitValue, BudgetMeasure, BudgetPeriod, BudgetScope,
};
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// A limit of a tenant, of its bindings or of its people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Limit)]
pub struct LimitView {
    #[schema(value_type = String)]
    pub tenant: TenantName,
    /// `people` or `background`.
    #[schema(value_type = String)]
    pub lane: BudgetLane,
    /// `tenant`, `binding` or `person`.
    #[schema(value_type = String)]
    pub scope: BudgetScope,
    /// One binding or person; null for each of them.
    pub id: Option<Uuid>,
    /// `day` or `month`.
    #[schema(value_type = String)]
    pub period: BudgetPeriod,
    /// `money`, `tokens` or `interactions`.
    #[schema(value_type = String)]
    pub measure: BudgetMeasure,
    /// Money in millionths of a dollar. Null where there is no limit, or plan and settings say.
    pub amount: Option<u64>,
    pub kind: LimitKind,
}

/// What a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    AtMost,
    /// No limit, whatever plan and settings say.
    None,
    /// As plan and settings say.
    Default,
}

impl LimitView {
    /// By which they are listed: one of a kind.
    pub(super) fn sort_key(&self) -> String {
        let id = self.id.map(|id| id.to_string()).unwrap_or_default();
        format!("{}.{id}.{}.{}.{}", self.scope, self.lane.as_str(), self.period, self.measure)
    }

    pub(super) fn new(tenant: TenantName, on: BudgetLimitSubject, to: BudgetLimitValue) -> Self {
        let BudgetLimitSubject { lane, scope, id, period, measure } = on;
        let (kind, amount) = match to {
            BudgetLimitValue::AtMost(amount) => (LimitKind::AtMost, Some(amount)),
            BudgetLimitValue::Unlimited => (LimitKind::None, None),
            BudgetLimitValue::Default => (LimitKind::Default, None),
        };
        Self { tenant, lane, scope, id, period, measure, amount, kind }
    }
}
