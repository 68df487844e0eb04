//! What hides people from models that are not on this machine.
//!
//! Which target a call goes to is decided here, and may change in the middle: so what a target may see is decided where
//! an attempt opens its stream. The offline model, and servers the settings trust with names, get the call as it is.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use super::call::ModelCall;
use super::reply_validation;
use crate::chat::{ChatEvent, ChatRequest, ReplyFormat};
use crate::error::ModelError;
use crate::target::ModelTarget;

/// Hides what points at somebody in one conversation's calls, and puts it back into what comes of them.
pub trait Redactor: Send + Sync {
    /// The request as such a model may see it. Asked once for a call; the same request gives the same bytes.
    fn redact(&self, request: &ChatRequest) -> ChatRequest;

    /// For the events of one attempt, whose text has this form.
    fn new_unredactor(&self, output: &ReplyFormat) -> Box<dyn EventUnredactor>;
}

/// Takes one attempt's events in their order.
pub trait EventUnredactor: Send {
    /// What the caller gets for an event: nothing while it may still turn out to be more. `Finished` comes through last,
    /// after everything that was held back. A fault says that the answer can't be used as it is.
    fn unredact(&mut self, event: ChatEvent) -> Result<Vec<ChatEvent>, ModelError>;
}

/// A call under way; its request is hidden at most once.
pub(crate) struct PendingModelCall {
    call: ModelCall,
    hidden: OnceLock<ChatRequest>,
}

/// A request that its target may see, and the way back where something is hidden in it. Made by [`PendingModelCall`] alone.
pub(crate) struct TargetRequest<'a> {
    pub(crate) request: Cow<'a, ChatRequest>,
    pub(crate) reveal: Option<Box<dyn EventUnredactor>>,
}

impl PendingModelCall {
    pub(crate) fn new(call: ModelCall) -> Self {
        Self { call, hidden: OnceLock::new() }
    }

    pub(crate) fn prepare_request(&self, target: &ModelTarget) -> TargetRequest<'_> {
        match self.redactor_for(target) {
            Some(veil) => {
                let request = self.hidden.get_or_init(|| veil.redact(&self.request));
                TargetRequest {
                    request: Cow::Borrowed(request),
                    reveal: Some(veil.new_unredactor(&self.request.output)),
                }
            }
            None => TargetRequest { request: Cow::Borrowed(&self.request), reveal: None },
        }
    }

    /// The request once more, with what the target itself said and what was wrong with it.
    pub(crate) fn prepare_retry(
        &self,
        target: &ModelTarget,
        said: &str,
        fault: &ModelError,
    ) -> TargetRequest<'static> {
        let TargetRequest { request, reveal } = self.prepare_request(target);
        TargetRequest {
            request: Cow::Owned(reply_validation::build_retry_request(&request, said, fault)),
            reveal,
        }
    }

    fn redactor_for(&self, target: &ModelTarget) -> Option<&dyn Redactor> {
        self.veil.as_deref().filter(|_| !target.may_see_names())
    }
}

impl Deref for PendingModelCall {
    type Target = ModelCall;

    fn deref(&self) -> &ModelCall {
        &self.call
    }
}
