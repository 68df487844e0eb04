//! A reply on its way to the caller.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;

use super::GatewayState;
use super::attempt::CallAttempt;
use super::breaker::BreakerDecision;
use super::meter::AttemptContext;
use super::redaction::PendingModelCall;
use super::reply_validation::ReplyValidator;
use crate::chat::{ChatEvent, ChatReply, ModelReplyAssembler, StopReason};
use crate::error::ModelError;
use crate::provider::ChatStream;
use crate::target::ModelTarget;

/// Text is handed out as it comes. Tool calls are held back until all of them can be read, so that nobody acts on
/// half a call; answers of a form until they have it. Dropping it ends the call.
pub struct ModelReplyStream {
    shared: Arc<GatewayState>,
    call: Arc<PendingModelCall>,
    form: ReplyValidator,
    target: Arc<ModelTarget>,
    attempt: Option<CallAttempt>,
    ready: VecDeque<ChatEvent>,
    buffered: Vec<ChatEvent>,
    /// What the model itself said, for when it must be quoted.
    said: String,
    has_handed_out: bool,
    /// What was wrong with the first answer, once the model was asked again; once is all.
    first_fault: Option<ModelError>,
    number: u32,
}

impl ModelReplyStream {
    pub(crate) fn new(
        shared: &Arc<GatewayState>,
        call: &Arc<PendingModelCall>,
        attempt: CallAttempt,
        form: ReplyValidator,
        number: u32,
    ) -> Self {
        Self {
            shared: shared.clone(),
            call: call.clone(),
            form,
            target: attempt.target().clone(),
            attempt: Some(attempt),
            ready: VecDeque::new(),
            buffered: Vec::new(),
            said: String::new(),
            has_handed_out: false,
            first_fault: None,
            number,
        }
    }

    /// Who answers.
    pub fn target(&self) -> &ModelTarget {
        &self.target
    }

    /// How many attempts were made so far.
    pub(crate) fn attempt_count(&self) -> u32 {
        self.number
    }

    /// Reads until the model has said something that can be handed out, or has ended. Nothing is handed out yet, so
    /// after a fault another target may be tried.
    pub(crate) async fn prime(&mut self) -> Result<(), ModelError> {
        while self.attempt.is_some() && !self.ready.iter().any(ChatEvent::is_delta) {
            self.read().await?;
        }
        Ok(())
    }

    /// The next event. After the first delta a failing target is not exchanged for another: the caller gets
    /// [`ModelError::Interrupted`] and decides, for only the caller knows what the person has seen.
    pub async fn next(&mut self) -> Option<Result<ChatEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.has_handed_out |= event.is_delta();
                return Some(Ok(event));
            }
            self.attempt.as_ref()?;
            if let Err(fault) = self.read().await {
                return Some(Err(if fault.is_transient() { ModelError::Interrupted } else { fault }));
            }
        }
    }

    pub fn into_stream(self) -> ChatStream {
        Box::pin(stream::unfold(self, |mut live| async move {
            let item = live.next().await?;
            Some((item, live))
        }))
    }

    /// All of it.
    pub async fn collect_reply(mut self) -> Result<ChatReply, ModelError> {
        let mut assembler = ModelReplyAssembler::default();
        while let Some(event) = self.next().await {
            assembler.push(&event?)?;
        }
        assembler.finish()
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        let Some(attempt) = &mut self.attempt else { return Ok(()) };
        match attempt.next().await {
            Ok(events) => {
                for event in events {
                    match event {
                        ChatEvent::Finished { stop, .. } => return self.finish(stop).await,
                        event => self.queue_event(event),
                    }
                }
                Ok(())
            }
            Err(fault) => {
                let fault = self.fail(fault).await;
                self.retry_or_fail(fault, false).await
            }
        }
    }

    /// What can't be read is asked for again, once. What then goes wrong is not what was wrong with the answer.
    async fn retry_or_fail(&mut self, fault: ModelError, was_cut: bool) -> Result<(), ModelError> {
        match self.first_fault.take() {
            Some(first) => Err(first),
            // What was cut off would be cut off again.
            None if should_retry(&fault) && !was_cut => self.retry_once(fault).await,
            None => Err(fault),
        }
    }

    fn queue_event(&mut self, event: ChatEvent) {
        let is_call =
            matches!(event, ChatEvent::ToolCallStarted { .. } | ChatEvent::ToolCallArguments { .. });
        // What follows a call stays behind it: its place may be part of its meaning.
        let holds_all = self.form.has_schema() || self.first_fault.is_some() || !self.buffered.is_empty();
        if self.first_fault.is_some() && matches!(event, ChatEvent::Started { .. }) {
            return;
        }
        if is_call || (holds_all && event.is_delta()) {
            self.buffered.push(event);
        } else {
            self.ready.push_back(event);
        }
    }

    async fn fail(&mut self, fault: ModelError) -> ModelError {
        match self.attempt.take() {
            Some(attempt) => {
                self.said = attempt.reply_text();
                attempt.fail(fault).await
            }
            None => fault,
        }
    }

    async fn finish(&mut self, stop: StopReason) -> Result<(), ModelError> {
        let Some(attempt) = self.attempt.take() else { return Ok(()) };
        let was_cut = stop == StopReason::MaxTokens;
        self.said = attempt.reply_text();
        match attempt.finish(|reply| self.form.check(reply)).await {
            Ok(reply) => {
                let buffered = std::mem::take(&mut self.buffered);
                self.ready.extend(if self.first_fault.is_some() {
                    self.skip_repeated(buffered)
                } else {
                    buffered
                });
                self.ready.push_back(ChatEvent::Finished { stop, usage: reply.usage });
                Ok(())
            }
            Err(fault) => self.retry_or_fail(fault, was_cut).await,
        }
    }

    async fn retry_once(&mut self, fault: ModelError) -> Result<(), ModelError> {
        let permission = self.shared.health.try_acquire(&self.target.name);
        if matches!(permission, BreakerDecision::Skip { .. }) {
            return Err(fault);
        }
        let request = self.call.prepare_retry(&self.target, &self.said, &fault);
        self.buffered.clear();
        self.number += 1;
        let purpose = AttemptContext::new(&self.call, self.number, permission);
        match CallAttempt::open(&self.shared, &self.target, request, purpose).await {
            Ok(attempt) => {
                self.attempt = Some(attempt);
                self.first_fault = Some(fault);
                Ok(())
            }
            Err(refused @ ModelError::OverBudget(_)) => Err(refused),
            Err(_) => Err(fault),
        }
    }

    /// Of a second answer, what the caller has not got yet: the calls, and what goes with them only where the first
    /// answer was not handed out.
    fn skip_repeated(&self, buffered: Vec<ChatEvent>) -> Vec<ChatEvent> {
        let has_calls = buffered.iter().any(|event| matches!(event, ChatEvent::ToolCallStarted { .. }));
        let is_repeated = |event: &ChatEvent| {
            matches!(
                event,
                ChatEvent::Text(_)
                    | ChatEvent::Thinking(_)
                    | ChatEvent::ThinkingSignature(_)
                    | ChatEvent::SealedThinking(_)
            )
        };
        if !(self.has_spoken() && has_calls) {
            return buffered;
        }
        buffered.into_iter().filter(|event| !is_repeated(event)).collect()
    }

    fn has_spoken(&self) -> bool {
        self.has_handed_out || self.ready.iter().any(ChatEvent::is_delta)
    }
}

const fn should_retry(fault: &ModelError) -> bool {
    matches!(
        fault,
        ModelError::MalformedArguments { .. } | ModelError::UnknownCodes { .. } | ModelError::WrongForm(_)
    )
}
