//! One attempt at one target.

use std::sync::Arc;

use super::GatewayState;
use super::call_log::ModelCallOutcome;
use super::estimate::{self, CallEstimate, ReceivedUsage};
use super::meter::{AttemptContext, AttemptMeter};
use super::redaction::{EventUnredactor, TargetRequest};
use crate::chat::{ChatEvent, ChatReply, ModelReplyAssembler, TokenUsage};
use crate::error::ModelError;
use crate::provider::{self, ChatStream};
use crate::target::ModelTarget;

/// Dropped before its end, it was cancelled: the connection closes, and what was heard is billed.
pub(crate) struct CallAttempt {
    meter: AttemptMeter,
    stream: Option<ChatStream>,
    /// What the provider really said: what is billed, and quoted to it.
    assembler: ModelReplyAssembler,
    revealed: Option<Revealed>,
    has_begun: bool,
}

/// The way back from what a model may see, and what the caller got by it so far.
struct Revealed {
    reveal: Box<dyn EventUnredactor>,
    assembler: ModelReplyAssembler,
}

impl CallAttempt {
    /// Sets the money aside and opens the stream.
    pub(crate) async fn open(
        shared: &Arc<GatewayState>,
        target: &Arc<ModelTarget>,
        fit: TargetRequest<'_>,
        purpose: AttemptContext<'_>,
    ) -> Result<Self, ModelError> {
        let TargetRequest { request, reveal } = fit;
        let prices = shared.prices_for(purpose.account);
        let estimate = CallEstimate::for_request(target, &request, &prices, shared.clock.now());
        let meter = AttemptMeter::start(shared, target, purpose, estimate).await?;
        let mut attempt = Self {
            meter,
            stream: None,
            assembler: ModelReplyAssembler::default(),
            revealed: reveal.map(|reveal| Revealed { reveal, assembler: ModelReplyAssembler::default() }),
            has_begun: false,
        };
        match shared.provider.stream(target, &request).await {
            Ok(stream) => {
                attempt.stream = Some(stream);
                Ok(attempt)
            }
            Err(fault) => Err(attempt.fail(fault).await),
        }
    }

    pub(crate) fn target(&self) -> &Arc<ModelTarget> {
        &self.meter.target
    }

    /// What the model said so far, as it said it.
    pub(crate) fn reply_text(&self) -> String {
        self.assembler.text()
    }

    /// What the next event is to the caller, or the fault that ended the stream; the end of a stream that said no
    /// `Finished` is a fault.
    pub(crate) async fn next(&mut self) -> Result<Vec<ChatEvent>, ModelError> {
        let item = match &mut self.stream {
            Some(stream) => provider::next_event(stream).await,
            None => None,
        };
        let event = item.unwrap_or(Err(ModelError::Interrupted))?;
        self.has_begun |= event.is_delta() || matches!(event, ChatEvent::Started { .. });
        if event.is_delta() {
            self.meter.mark_first_token();
        }
        if let ChatEvent::Limits(limits) = &event {
            self.meter.shared.health.record_rate_limits(&self.meter.target.name, limits);
        }
        self.assembler.push(&event)?;
        match &mut self.revealed {
            Some(revealed) => revealed.unredact(event),
            None => Ok(vec![event]),
        }
    }

    /// The reply, once `Finished` has come, checked as the caller gets it. What it cost is settled first: it was used,
    /// whatever is found wrong with it.
    pub(crate) async fn finish(
        mut self,
        check: impl FnOnce(&ChatReply) -> Result<(), ModelError>,
    ) -> Result<ChatReply, ModelError> {
        self.stream = None;
        let (target, estimate, heard) = (&self.meter.target, self.meter.estimate, self.received_usage());
        let request_id = self.assembler.request_id().map(str::to_owned);
        let outcome = std::mem::take(&mut self.assembler).finish();
        let usage = match &outcome {
            Ok(reply) => estimate::compute_reply_usage(target, estimate, reply),
            Err(fault) => estimate::compute_failure_usage(estimate, fault, heard),
        };
        let revealed = self.revealed.take().map(|revealed| revealed.assembler.finish());
        let outcome = outcome.and_then(|reply| {
            let seen = revealed.transpose()?;
            check(seen.as_ref().unwrap_or(&reply)).map(|()| ChatReply { usage, ..seen.unwrap_or(reply) })
        });
        let ending = match &outcome {
            Ok(reply) => ModelCallOutcome::Finished(reply.stop.clone()),
            Err(fault) => ModelCallOutcome::Failed(fault.clone()),
        };
        self.meter.stop(ending, usage, request_id).await;
        outcome
    }

    /// Ends with a fault, which is given back.
    pub(crate) async fn fail(mut self, fault: ModelError) -> ModelError {
        self.stream = None;
        let (usage, request_id) = self.usage_after_failure(&fault);
        self.meter.stop(ModelCallOutcome::Failed(fault.clone()), usage, request_id).await;
        fault
    }

    fn usage_after_failure(&self, fault: &ModelError) -> (TokenUsage, Option<String>) {
        let usage = estimate::compute_failure_usage(self.meter.estimate, fault, self.received_usage());
        (usage, self.assembler.request_id().map(str::to_owned))
    }

    /// What was heard is counted here only where the provider's own last count is not in.
    fn received_usage(&self) -> ReceivedUsage {
        let counted = self.assembler.usage();
        let target = &self.meter.target;
        let is_final = self.assembler.has_ended() && counted.is_some_and(|usage| usage.total() > 0);
        let output = if is_final || target.is_local() { 0 } else { self.assembler.count_tokens(target) };
        ReceivedUsage { has_begun: self.has_begun, counted, output }
    }
}

impl Revealed {
    fn unredact(&mut self, event: ChatEvent) -> Result<Vec<ChatEvent>, ModelError> {
        let events = self.reveal.unredact(event)?;
        events.iter().try_for_each(|event| self.assembler.push(event))?;
        Ok(events)
    }
}

impl Drop for CallAttempt {
    fn drop(&mut self) {
        if self.meter.is_running() {
            let (usage, request_id) = self.usage_after_failure(&ModelError::Cancelled);
            self.meter.settle(ModelCallOutcome::Failed(ModelError::Cancelled), usage, request_id);
        }
    }
}
