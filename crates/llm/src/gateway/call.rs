//! A call as its caller makes it.

use std::sync::Arc;

use munshi_types::TenantId;

use super::budget::CallBudget;
use super::call_log::{CallRecorder, CallSubject};
use super::prompt_record::PromptRecord;
use super::redaction::Redactor;
use super::route::{Capability, ModelRoute};
use crate::chat::ChatRequest;
use crate::pricing::PriceBook;

/// It owns what it holds, since a stream outlives the function that began it.
#[derive(Clone)]
pub struct ModelCall {
    pub wanted: Capability,
    pub route: Arc<ModelRoute>,
    pub request: Arc<ChatRequest>,
    pub account: CallBilling,
    /// Hides people from models that may not see them; none where nobody is named, or nobody is to be hidden.
    pub veil: Option<Arc<dyn Redactor>>,
}

/// Who pays for calls, and where they are written down.
#[derive(Clone)]
pub struct CallBilling {
    pub tenant: TenantId,
    pub about: CallSubject,
    /// Asked before every attempt, retries included.
    pub budget: Arc<dyn CallBudget>,
    /// Gets every attempt, however it ended.
    pub tab: Arc<dyn CallRecorder>,
    /// The tenant's own prices, over the installation's.
    pub prices: Option<Arc<PriceBook>>,
    /// What is kept of the prompt with every attempt.
    pub prompt: Option<Arc<PromptRecord>>,
}
