//! The provider.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use jiff::tz::TimeZone;
use munshi_lang::{PhraseError, Phrasebook, phrase_files};
use munshi_llm::chat::ReplyFormat;
use munshi_llm::embeddings::{DIMENSION, embed_by_hashing};
use munshi_llm::{
    AnswerConfidence, ChatEvent, ChatRequest, ChatStream, Embedding, ModelError, ModelTarget, Provider,
    StopReason, TokenUsage,
};
use munshi_types::clock::Clock;
use munshi_types::tool::ToolSpec;

use crate::json;
use crate::judgement::OfflineJudgement;
use crate::prepared_tools::PreparedToolCache;
use crate::turn::{OfflineAnswer, OfflineTurn};

/// The model that needs no key. Cheap to share; it keeps nothing of a conversation.
#[derive(Debug)]
pub struct OfflineProvider {
    book: Phrasebook,
    palettes: PreparedToolCache,
    time: Option<(Arc<dyn Clock>, TimeZone)>,
}

/// How the ids of its calls begin.
pub(crate) const OWN: &str = "offline-";

impl OfflineProvider {
    /// Speaks from a book that has the core phrases and those of the packs; its own few are added here. Refused when
    /// a phrase is missing in some voice, so that nobody gets half an answer later.
    pub fn new(mut book: Phrasebook) -> Result<Self, PhraseError> {
        book.add_files(&phrase_files!("../phrases"))?;
        book.check()?;
        Ok(Self { book, palettes: PreparedToolCache::default(), time: None })
    }

    /// Knows what day it is, so that `kal` becomes a date. Without a clock, dates are left to be asked for.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>, zone: TimeZone) -> Self {
        Self { time: Some((clock, zone)), ..self }
    }

    /// Makes tools ready before the first call that offers them: that takes some milliseconds a tool.
    pub fn prepare(&self, tools: &[Arc<ToolSpec>]) {
        self.palettes.get(tools);
    }

    /// What it would do with a request and how sure it is, without doing it. Changes nothing; takes well under a
    /// millisecond once the tools have been seen.
    pub fn judge(&self, request: &ChatRequest) -> OfflineJudgement {
        match &request.output {
            ReplyFormat::Json { schema, .. } => match json::answer(request.messages.last(), schema) {
                Ok(_) => OfflineJudgement::new(crate::OfflineVerdict::Tell, crate::SURE),
                Err(_) => OfflineJudgement::new(crate::OfflineVerdict::Unknown, 0.0),
            },
            ReplyFormat::Text => self.answer(request).judgement,
        }
    }

    fn answer(&self, request: &ChatRequest) -> OfflineAnswer {
        let today =
            self.time.as_ref().map(|(clock, zone)| clock.now().to_jiff().to_zoned(zone.clone()).date());
        OfflineTurn { request, palette: self.palettes.get(&request.tools), book: &self.book, today }.answer()
    }

    fn events(&self, request: &ChatRequest) -> Result<Vec<ChatEvent>, ModelError> {
        let mut events = vec![ChatEvent::Started { request_id: None, model: Some("offline".to_owned()) }];
        let mut stop = StopReason::EndTurn;
        if let ReplyFormat::Json { schema, .. } = &request.output {
            events.push(ChatEvent::Text(json::answer(request.messages.last(), schema)?));
        } else {
            let answer = self.answer(request);
            if !answer.text.is_empty() {
                events.push(ChatEvent::Text(answer.text));
            }
            for (index, call) in answer.calls.into_iter().enumerate() {
                // An id that no other call of the conversation has.
                let id = format!("{OWN}{}-{index}", request.messages.len());
                events.push(ChatEvent::ToolCallStarted { index, id, name: call.tool });
                let fragment = serde_json::Value::Object(call.arguments).to_string();
                events.push(ChatEvent::ToolCallArguments { index, fragment });
                stop = StopReason::ToolUse;
            }
            events.extend(answer.open.and_then(|open| open.write()).map(ChatEvent::State));
        }
        // Nothing is counted and nothing is paid.
        let usage = TokenUsage { estimated: true, ..TokenUsage::default() };
        events.push(ChatEvent::Finished { stop, usage });
        Ok(events)
    }
}

#[async_trait]
impl Provider for OfflineProvider {
    async fn stream(&self, _: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        Ok(Box::pin(stream::iter(self.events(request)?.into_iter().map(Ok))))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
    fn confidence(&self, _: &ModelTarget, request: &ChatRequest) -> Option<AnswerConfidence> {
        let judgement = self.judge(request);
        let is_template = judgement.is_template && judgement.is_sure();
        let known = judgement.verdict != crate::OfflineVerdict::Unknown;
        let thousandths =
            if known { (judgement.confidence.clamp(0.0, 1.0) * 1000.0).round() as u16 } else { 0 };
        Some(AnswerConfidence { thousandths, is_template })
    }

    async fn embed(&self, _: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        let vectors = texts.iter().map(|text| embed_by_hashing(text)).collect();
        Ok(Embedding { vectors, dimension: DIMENSION, input_tokens: Some(0) })
    }
}
