//! What was used, and what is left.

use munshi_safety::budget::{BudgetLimitStatus, UsageLine};
use munshi_types::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Usage since a day, and the status of each limit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageReport {
    /// `free`, `starter`, `pro` or `business`.
    #[schema(example = "free")]
    pub(crate) plan: &'static str,
    /// The first day of the report, in the workspace's time zone.
    #[schema(value_type = String, format = Date)]
    pub(crate) since: String,
    /// The workspace's own limits. Money is in millionths of a dollar, here and below.
    pub(crate) limits: Vec<LimitStatusView>,
    pub(crate) used: Vec<UsageLineView>,
}

/// The current status of a limit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Standing)]
pub(crate) struct LimitStatusView {
    /// `people` or `background`: separate budgets that never borrow from each other.
    #[schema(example = "people")]
    lane: &'static str,
    /// `month` or `day`, in the workspace's time zone.
    #[schema(example = "month")]
    period: &'static str,
    /// `interactions`, `jobs`, `tokens` or `money`.
    #[schema(example = "interactions")]
    measure: &'static str,
    limit: i64,
    used: i64,
    /// Reserved for running turns.
    held: i64,
    left: i64,
    #[schema(value_type = String, format = DateTime)]
    ends_at: Timestamp,
}

impl From<BudgetLimitStatus> for LimitStatusView {
    fn from(standing: BudgetLimitStatus) -> Self {
        Self {
            lane: standing.on.lane.as_str(),
            period: standing.on.period.as_str(),
            measure: standing.on.measure.as_str(),
            limit: standing.limit,
            used: standing.used,
            held: standing.held,
            left: standing.left,
            ends_at: standing.ends_at,
        }
    }
}

/// One row of the usage report.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Used)]
pub(crate) struct UsageLineView {
    #[schema(example = "people")]
    lane: &'static str,
    /// The day, if grouped by day.
    #[schema(value_type = Option<String>, format = Date)]
    day: Option<String>,
    /// The binding or person, if grouped so.
    id: Option<Uuid>,
    interactions: i64,
    jobs: i64,
    /// Read and written.
    tokens: i64,
    /// Written by models.
    output_tokens: i64,
    money: i64,
}

impl From<UsageLine> for UsageLineView {
    fn from(line: UsageLine) -> Self {
        Self {
            lane: line.lane.as_str(),
            day: line.day,
            id: line.id,
            interactions: line.used.interactions,
            jobs: line.used.jobs,
            tokens: line.used.tokens,
            output_tokens: line.used.output_tokens,
            money: line.used.money,
        }
    }
}
