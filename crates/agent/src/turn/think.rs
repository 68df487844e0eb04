//! Asking a model, and showing what it says while it says it.

use std::sync::Arc;
use std::time::Instant;

use munshi_conversations::handoffs::{ActiveHandoff, HandoffBundle};
use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::{self, MessageSpeaker};
use munshi_conversations::snapshot::{ExchangeCall, ExchangeCallOutcome, ToolExchange};
use munshi_conversations::{HaltReason, Result, RunState, runs};
use munshi_llm::chat::{ModelReplyAssembler, StopReason};
use munshi_llm::gateway::{
    CallBilling, CallSubject, Capability, ModelCall, PromptRecord, PromptText, RoutingHints,
};
use munshi_llm::{
    ChatEvent, ChatMessage, ChatReply, ChatRequest, ModelError, ModelMessagePart, ModelRole, ToolChoice,
};
use munshi_tiers::prompt::{self, PromptExchange, PromptReport, PromptTurn, UntrustedText, UtteranceText};
use munshi_types::tier::Channel;
use munshi_types::{Id, attachment};

use super::Turn;
use super::media::has_media;
use super::notes::LastModelCall;
use super::setup::TurnSetup;
use super::transient::TransientResults;
use crate::suggest::{ASKING, SuggestionSplitter};

/// Before what a colleague wrote to the person, where the model is told of it.
const COLLEAGUE_WROTE: &str = "(A colleague of the business wrote this, not you.) ";

/// A model that breaks off is asked again so often.
const AGAIN: u32 = 2;

/// What came of asking.
#[derive(Debug)]
pub(crate) enum ThinkStageOutcome {
    /// The reply is whole.
    Replied,
    /// Tools are to be called first.
    ToolsRequested(ChatMessage),
    Halted(HaltReason),
}

impl Turn {
    pub(crate) async fn think(&mut self, model: &mut LastModelCall) -> Result<ThinkStageOutcome> {
        self.enter(RunState::Thinking);
        model.heard = self.state.snapshot.exchanges.len();
        self.note_thinking();
        let begun = Instant::now();
        let thought = self.ask(model).await;
        self.timings.think += begun.elapsed();
        thought
    }

    async fn ask(&mut self, model: &mut LastModelCall) -> Result<ThinkStageOutcome> {
        self.load_media().await;
        let (raw, marks) = (self.reply.raw().to_owned(), self.reply.marks().to_vec());
        let shown = self.reply.text().len();
        let mut tries = 0;
        loop {
            let request = match self.build_request(model) {
                Ok(request) => request,
                Err(too_large) => {
                    return Ok(ThinkStageOutcome::Halted(HaltReason::Broken(too_large.to_string())));
                }
            };
            let is_with_media = has_media(&request);
            match self.stream_reply(request, model).await {
                Ok(whole) => return Ok(self.interpret_reply(whole, model)),
                // What came along may cost more than anybody has left for it. The rest of the message is answered all the same.
                Err(ModelError::OverBudget(_)) if is_with_media && self.hide_media() => {}
                Err(fault) => {
                    let was_shown = self.reply.text().len() > shown;
                    let again =
                        fault == ModelError::Interrupted && tries < AGAIN && !self.setup.stop.is_cancelled();
                    // What was shown is void once nothing follows it, too: half a sentence is no answer.
                    match was_shown && fault != ModelError::Cancelled {
                        true => self.reply.reset("the model's reply was interrupted", &raw, &marks),
                        false if fault != ModelError::Cancelled => self.reply.rewind(&raw),
                        false => {}
                    }
                    if !again {
                        return Ok(ThinkStageOutcome::Halted(self.halt_for(&fault)));
                    }
                    tries += 1;
                }
            }
        }
    }

    fn halt_for(&self, fault: &ModelError) -> HaltReason {
        match fault {
            ModelError::Cancelled if self.setup.stop.is_cancelled() => HaltReason::Cancelled,
            ModelError::Cancelled => HaltReason::RunSpent("the turn reached its time limit".to_owned()),
            ModelError::OverBudget(what) => match self.setup.budget.exhaustion() {
                Some(spent) => HaltReason::RunSpent(spent.to_string()),
                None => HaltReason::OverBudget(what.clone()),
            },
            fault => HaltReason::NoModel(fault.to_string()),
        }
    }

    /// A reply without words and without calls is none.
    fn interpret_reply(&self, whole: ChatReply, model: &mut LastModelCall) -> ThinkStageOutcome {
        if whole.tool_calls().next().is_some() {
            return ThinkStageOutcome::ToolsRequested(whole.message);
        }
        model.state = states(&whole.message);
        model.is_cut = whole.stop == StopReason::MaxTokens;
        if self.reply.raw().trim().is_empty() {
            return ThinkStageOutcome::Halted(HaltReason::NoModel(format!(
                "the model returned an empty reply ({})",
                whole.stop.code()
            )));
        }
        ThinkStageOutcome::Replied
    }

    /// Hears one answer to its end. Cancelled is also what takes longer than the turn may.
    async fn stream_reply(
        &mut self,
        request: ChatRequest,
        model: &mut LastModelCall,
    ) -> Result<ChatReply, ModelError> {
        let (call, hints) = (self.build_model_call(request, &model.report), self.setup.hints());
        let (gateway, stop, left) =
            (self.setup.engine.gateway.clone(), self.setup.stop.clone(), self.time_left());
        let deadline = tokio::time::sleep(left);
        tokio::pin!(deadline);
        let opened = async {
            // Which models can see was asked of those for everything.
            let wanted = match has_media(&call.request) {
                true => Capability::Default,
                false => gateway.choose_capability(&call, hints).await,
            };
            gateway.stream(ModelCall { wanted, ..call }).await
        };
        let mut live = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(ModelError::Cancelled),
            () = &mut deadline => return Err(ModelError::Cancelled),
            live = opened => live?,
        };
        model.target = Some(live.target().name.clone());
        if live.target().is_local() {
            // It speaks in our own phrases, which come in the person's language whatever the persona's lock.
            self.reply.update_context(|context| context.lock.clear());
        }
        let (mut assembler, mut splitter) = (ModelReplyAssembler::default(), SuggestionSplitter::default());
        loop {
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(ModelError::Cancelled),
                () = &mut deadline => return Err(ModelError::Cancelled),
                event = live.next() => event,
            };
            let Some(event) = event else { break };
            let event = event?;
            if let ChatEvent::Text(words) = &event {
                self.show_model_text(&splitter.push(words));
            }
            assembler.push(&event)?;
        }
        let (rest, proposed) = splitter.finish();
        self.show_model_text(rest.trim_end());
        // Nobody looks at what is proposed as at a reply, and a piece may stand on each of two lines.
        let is_told = self.reply.repeats_whisper(&proposed.join(" "));
        model.proposed = if is_told { Vec::new() } else { proposed };
        self.state.snapshot.model_calls += 1;
        model.has_answered = true;
        assembler.finish()
    }

    fn show_model_text(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        self.reply.push_model_text(words);
        self.record_first_word();
    }

    /// Notes when the first word was shown.
    pub(crate) fn record_first_word(&mut self) {
        if self.timings.first_word.is_none() && !self.reply.text().is_empty() {
            self.timings.first_word = Some(self.timings.begun.elapsed());
        }
    }

    fn build_model_call(&self, request: ChatRequest, report: &PromptReport) -> ModelCall {
        let sections = serde_json::to_value(report).ok();
        let mut prompt = PromptRecord::new(&request, sections);
        if self.setup.prepared.stores_prompts {
            prompt = prompt.with_text(self.render_storable_prompt(&request));
        }
        let about = CallSubject {
            run: Some(self.setup.lease.run.as_uuid()),
            binding: Some(self.setup.conversation.binding.as_uuid()),
        };
        ModelCall {
            wanted: Capability::Default,
            route: self.setup.route_for(&self.state.snapshot),
            request: Arc::new(request),
            veil: Some(Arc::new(self.setup.redactor.clone())),
            account: CallBilling {
                tenant: self.setup.tenant(),
                about,
                budget: self.setup.budget.clone(),
                tab: self.setup.call_log.clone(),
                prices: None,
                prompt: Some(Arc::new(prompt)),
            },
        }
    }

    /// What may be stored of a prompt. Once a turn was told something that is not kept, that stands in whatever its model is told.
    fn render_storable_prompt(&self, request: &ChatRequest) -> PromptText {
        match self.state.transient.is_empty() {
            true => PromptText::of(request),
            false => PromptText::withheld(),
        }
    }

    fn build_request(&mut self, model: &mut LastModelCall) -> Result<ChatRequest, prompt::PromptTooLarge> {
        let moment = self.build_turn_context();
        let assembled = prompt::assemble(&self.setup.binding.static_prompt, &moment)?;
        let marks = assembled.marks.clone();
        let words = Arc::new(self.setup.rules.prompt.with_marks(marks));
        self.reply.update_context(|context| context.prompt = Some(words.clone()));
        model.report = assembled.report.clone();
        let mut request = assembled.into_request();
        request.language = Some(self.setup.prepared.reply_language.person.clone());
        self.setup.add_client_tools(&mut request, !model.has_answered);
        // It words what has come, and sees nothing of what else its turn has done: it would do that again.
        if self.setup.run.kind == runs::LATE {
            request.tool_choice = ToolChoice::None;
        }
        // Behind the cache boundary: what people may say next is of no use to those who listen.
        if let Some(dynamic) =
            request.system.last_mut().filter(|_| self.setup.conversation.channel != Channel::Voice)
        {
            dynamic.push_str(ASKING);
        }
        self.restore_model_state(&mut request);
        self.add_media(&mut request);
        Ok(request)
    }

    /// What a model wanted back with its last message goes back with it: only the message right before the person's.
    fn restore_model_state(&self, request: &mut ChatRequest) {
        let Some(before) = self
            .setup
            .prepared
            .prompt_messages()
            .pop()
            .filter(|said| said.speaker == MessageSpeaker::Persona)
        else {
            return;
        };
        let marks: ReplyMarks = serde_json::from_value(before.marks.clone()).unwrap_or_default();
        // Each step of this turn is a message of the model and one of tools.
        let index = request.messages.len().checked_sub(2 + 2 * self.state.snapshot.exchanges.len());
        let message = index.and_then(|index| request.messages.get_mut(index));
        if let Some(message) = message.filter(|message| message.role == ModelRole::Assistant) {
            message.parts.extend(marks.state.into_iter().map(|data| ModelMessagePart::State { data }));
        }
    }

    fn build_turn_context(&self) -> prompt::TurnContext {
        let prepared = &self.setup.prepared;
        let contributions = prepared.contributions.clone();
        prompt::TurnContext {
            envelope: prompt::TurnEnvelope {
                now: self.setup.engine.clock.now(),
                zone: self.setup.binding.zone.clone(),
                channel: self.setup.conversation.channel,
                locale: prepared.message.marks["locale"].as_str().unwrap_or_default().to_owned(),
                language: Some(prepared.reply_language.person.clone()),
                situation: prepared.situation(),
            },
            profile: self
                .setup
                .notes()
                .chain(prepared.session.active.as_ref().map(render_handoff))
                .chain(render_skipped(&prepared.skipped))
                .chain(contributions.profile)
                .chain(self.state.entities.render_for_prompt(&prepared.message.text))
                .collect(),
            facts: contributions.facts,
            recall: contributions.recall,
            summary: prepared.session.whole_summary().as_deref().map(UntrustedText::new),
            history: prepared.prompt_messages().into_iter().map(to_prompt_message).collect(),
            message: UtteranceText::from_stored(prepared.message.text.as_str(), prepared.message.tokens),
            whispers: prepared.whispers.iter().map(|whisper| UntrustedText::new(&whisper.text)).collect(),
            exchanges: self.render_exchanges(),
            words: contributions.words,
            tools: self.setup.select_connector_tools(),
            packs: prepared.pack_context.packs.clone(),
            purposes: Some(prepared.purposes.clone()),
            key: self.setup.engine.fence_key,
        }
    }

    /// What was called and what came of it, with what is not kept of it.
    fn render_exchanges(&self) -> Vec<PromptExchange> {
        let (exchanges, transient) =
            (self.state.snapshot.exchanges.iter().enumerate(), &self.state.transient);
        let render = |(number, exchange): (usize, &ToolExchange)| {
            let asked = transient.find_asked(number, &exchange.asked).clone();
            let answers = exchange.calls.iter().map(|called| render_call(called, transient));
            PromptExchange::new(asked, answers.collect())
        };
        exchanges.map(render).collect()
    }
}

impl TurnSetup {
    /// The program's own tools, beside the binding's. What it wants called first is asked for once: what follows is for
    /// the model to say.
    fn add_client_tools(&self, request: &mut ChatRequest, is_first: bool) {
        let Some(client_context) = &self.prepared.client_context else { return };
        request.tools.extend(client_context.specs());
        if is_first && !request.tools.is_empty() {
            request.tool_choice = client_context.tool_choice();
        }
        if let Some(most) = client_context.most_output {
            request.max_output_tokens = request.max_output_tokens.min(most.max(1));
        }
    }

    fn hints(&self) -> RoutingHints {
        let language = Some(self.prepared.reply_language.voice.language);
        RoutingHints { is_voice: self.conversation.channel == Channel::Voice, language }
    }

    fn notes(&self) -> impl Iterator<Item = UntrustedText> {
        self.prepared.client_context.iter().flat_map(|client_context| &client_context.notes).map(render_note)
    }
}

/// What the turn goes on without, where there is any.
fn render_skipped(skipped: &[String]) -> Option<UntrustedText> {
    let left_out = skipped.join(", ");
    (!skipped.is_empty()).then(|| {
        UntrustedText::new(&format!("Left out of what is known here: {left_out}. Say so where it matters."))
    })
}

/// What whoever had the conversation before wrote down for those who have it now.
pub(crate) fn render_handoff(active: &ActiveHandoff) -> UntrustedText {
    let HandoffBundle { reason, summary, open_questions } = &active.bundle;
    let to = if active.awaits_person {
        "A person of the business was asked to take over"
    } else {
        "The conversation was handed over"
    };
    let open = match open_questions.is_empty() {
        true => String::new(),
        false => format!(" Still open: {}", open_questions.join("; ")),
    };
    UntrustedText::new(&format!("{to} by {}. Reason: {reason} So far: {summary}{open}", active.from))
}

/// What the makers of the program tell of it.
fn render_note(note: &String) -> UntrustedText {
    UntrustedText::new(&format!("The program in which the person writes says: {note}"))
}

pub(crate) fn to_prompt_message(said: &messages::Message) -> PromptTurn {
    let speaker = match said.speaker {
        MessageSpeaker::Person => prompt::PromptSpeaker::Person,
        MessageSpeaker::Persona => prompt::PromptSpeaker::Persona,
        // Our side's, and not the persona's own.
        MessageSpeaker::Colleague(_) => {
            let text = UtteranceText::new(&format!("{COLLEAGUE_WROTE}{}", said.text));
            return PromptTurn { speaker: prompt::PromptSpeaker::Persona, text };
        }
    };
    PromptTurn { speaker, text: UtteranceText::from_stored(said.text.as_str(), said.tokens) }
}

fn render_call(called: &ExchangeCall, transient: &TransientResults) -> prompt::PromptToolAnswer {
    let (is_error, text) = match (transient.find_told(called), &called.outcome) {
        (Some((ok, told)), _) => (!ok, attachment::strip_content(told).to_string()),
        (None, ExchangeCallOutcome::Handed { .. }) => {
            (true, r#"{"ok":false,"code":"not_answered"}"#.to_owned())
        }
        (None, _) => (true, r#"{"ok":false,"code":"running"}"#.to_owned()),
    };
    let (call_id, tool) = (called.call_id.clone(), called.tool.clone());
    prompt::PromptToolAnswer { call_id, tool, text: UntrustedText::new(&text), is_error }
}

/// What the model wants back with this message.
fn states(message: &ChatMessage) -> Vec<String> {
    let parts = message.parts.iter();
    parts
        .filter_map(|part| match part {
            ModelMessagePart::State { data } => Some(data.clone()),
            _ => None,
        })
        .collect()
}
