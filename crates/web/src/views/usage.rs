//! What was used, and what is left.

use munshi_safety::budget::{BudgetLimitStatus as Stands, UsageLine};
use munshi_types::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// What was used since a day, and how each limit stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageReport {
    /// `free`, `starter`, `pro` or `business`.
    #[schema(example = "free")]
    pub(crate) plan: &'static str,
    /// The first day that is told, in the workspace's zone.
    #[schema(value_type = String, format = Date)]
    pub(crate) since: String,
    /// The workspace's own limits. Money is in millionths of a dollar, here and below.
    pub(crate) limits: Vec<LimitStatusView>,
    pub(crate) used: Vec<UsageLineView>,
}

/// How a limit stands now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Standing)]
pub(crate) struct LimitStatusView {
    /// `people` or `background`: two pockets that never lend to each other.
    #[schema(example = "people")]
    lane: &'static str,
    /// `month` or `day`, in the workspace's zone.
    #[schema(example = "month")]
    period: &'static str,
    /// `interactions`, `jobs`, `tokens` or `money`.
    #[schema(example = "interactions")]
    measure: &'static str,
    limit: i64,
    used: i64,
    /// Set aside for turns under way.
    held: i64,
    left: i64,
    #[schema(value_type = String, format = DateTime)]
    ends_at: Timestamp,
}

impl From<Stands> for LimitStatusView {
    fn from(standing: Stands) -> Self {
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

/// One line of the books.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Used)]
pub(crate) struct UsageLineView {
    #[schema(example = "people")]
    lane: &'static str,
    /// By day: which.
    #[schema(value_type = Option<String>, format = Date)]
    day: Option<String>,
    /// By binding or person: which.
    id: Option<Uuid>,
    interactions: i64,
    jobs: i64,
    /// Both read and written.
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
