//! A job as it is shown.

use munshi_jobs::{JobState, JobView, Priority, QueueDepth};
use munshi_types::{JobId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A background job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Job)]
pub struct JobDetailView {
    #[schema(value_type = uuid::Uuid)]
    pub id: JobId,
    #[schema(value_type = uuid::Uuid)]
    pub tenant: TenantId,
    /// None for the installation's own work.
    pub tenant_name: Option<String>,
    pub kind: String,
    /// `urgent`, `normal` or `background`.
    #[schema(value_type = String)]
    pub priority: Priority,
    #[schema(value_type = crate::schemas::JobStateSchema)]
    pub state: JobState,
    #[schema(value_type = String, format = DateTime)]
    pub run_at: Timestamp,
    pub attempt: u32,
    pub max_attempts: u32,
    pub last_error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Timestamp>,
}

/// How full the queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = QueueDepth)]
pub struct QueueDepthView {
    pub scheduled: i64,
    pub ready: i64,
    pub running: i64,
    pub dead: i64,
}

impl JobDetailView {
    pub(super) fn new(job: JobView, tenant_name: Option<String>) -> Self {
        Self {
            id: job.id,
            tenant: job.tenant,
            tenant_name,
            kind: job.kind,
            priority: job.priority,
            state: job.state,
            run_at: job.run_at,
            attempt: job.attempt,
            max_attempts: job.max_attempts,
            last_error: job.last_error,
            created_at: job.created_at,
            finished_at: job.finished_at,
        }
    }
}

impl From<QueueDepth> for QueueDepthView {
    fn from(depth: QueueDepth) -> Self {
        let QueueDepth { scheduled, ready, running, dead } = depth;
        Self { scheduled, ready, running, dead }
    }
}
