//! What calls came to, one record for each attempt.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use munshi_types::{CallId, TenantId, Timestamp};
use uuid::Uuid;

use super::prompt_record::PromptRecord;
use super::route::Capability;
use crate::chat::{StopReason, TokenUsage};
use crate::error::ModelError;
use crate::pricing::Cost;

/// One attempt at one target.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub id: CallId,
    pub tenant: TenantId,
    pub about: CallSubject,
    pub purpose: Capability,
    pub target: String,
    /// Whose model it is, by the name its prices go by; the wire's where there is none.
    pub provider: String,
    pub model: String,
    /// From 1, over all targets of the call.
    pub attempt: u32,
    pub started_at: Timestamp,
    pub usage: TokenUsage,
    /// None where nobody knows the price.
    pub cost: Option<Cost>,
    pub first_token: Option<Duration>,
    pub total: Duration,
    pub ending: ModelCallOutcome,
    pub request_id: Option<String>,
    /// What is kept of its prompt.
    pub prompt: Option<Arc<PromptRecord>>,
}

/// What the call belongs to, on floors that this one does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSubject {
    pub run: Option<Uuid>,
    pub binding: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelCallOutcome {
    Finished(StopReason),
    Failed(ModelError),
}

impl ModelCallOutcome {
    /// One word for it, as it is stored.
    pub fn code(&self) -> &str {
        match self {
            Self::Finished(stop) => stop.code(),
            Self::Failed(fault) => fault.code(),
        }
    }

    pub fn fault(&self) -> Option<&ModelError> {
        match self {
            Self::Finished(_) => None,
            Self::Failed(fault) => Some(fault),
        }
    }
}

/// Where attempts are written down. It must not wait: a stream that is dropped is written down too.
pub trait CallRecorder: Send + Sync {
    fn add(&self, record: CallRecord);
}

/// Keeps records for a caller that writes them in its own transaction.
#[derive(Debug, Default)]
pub struct InMemoryCallLog(Mutex<Vec<CallRecord>>);

impl InMemoryCallLog {
    /// What was added since the last time.
    pub fn take(&self) -> Vec<CallRecord> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallRecorder for InMemoryCallLog {
    fn add(&self, record: CallRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
