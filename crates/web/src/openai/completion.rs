//! Completions and their pieces.

use munshi_agent::RunOutcome;
use munshi_conversations::TurnUsage;
use munshi_conversations::client_context::ClientCallRequest;
use munshi_types::{Id, RunId};
use serde::Serialize;
use utoipa::ToSchema;

use super::outcome::finish_reason;

/// Of which completion something is.
#[derive(Clone, Debug)]
pub(crate) struct CompletionIdentity {
    pub(crate) run: RunId,
    /// When it began, in seconds since 1970.
    pub(crate) created: i64,
    pub(crate) model: String,
}

impl CompletionIdentity {
    fn id(&self) -> String {
        format!("chatcmpl-{}", self.run.as_uuid().simple())
    }
}

/// A chat completion.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Completion {
    #[schema(example = "chatcmpl-01a1dd4132c0704fb28c400adb3d8fd2")]
    id: String,
    /// `chat.completion`
    object: &'static str,
    created: i64,
    /// The name of the binding.
    model: String,
    /// Exactly one.
    choices: Vec<CompletionChoice>,
    usage: CompletionUsage,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionChoice {
    index: u32,
    message: CompletionMessage,
    /// Always null.
    #[schema(value_type = Option<Object>)]
    logprobs: Option<()>,
    /// `stop`, `tool_calls`, `length` or `content_filter`.
    finish_reason: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionMessage {
    /// `assistant`
    role: &'static str,
    /// Null if the message has only tool calls.
    content: Option<String>,
    /// Always null.
    refusal: Option<String>,
    /// Calls for the client to make. The binding's own calls are not included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CompletionCall>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionCall {
    /// Position among the calls; only in chunks of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[schema(example = "call_01a1dd4132c0704fb28c400adb3d8fd2_0")]
    id: String,
    /// `function`
    #[serde(rename = "type")]
    kind: &'static str,
    function: CompletionFunction,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionFunction {
    name: String,
    /// JSON, as text.
    arguments: String,
}

/// Tokens of all model calls in the turn; the built-in model reports none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct CompletionUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl From<TurnUsage> for CompletionUsage {
    fn from(used: TurnUsage) -> Self {
        let (prompt_tokens, completion_tokens) = (used.input_tokens, used.output_tokens);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    }
}

impl Completion {
    pub(crate) fn new(named: &CompletionIdentity, outcome: &RunOutcome) -> Self {
        let tool_calls = calls(&outcome.handed, |_| None);
        let content = (!outcome.text.is_empty() || tool_calls.is_empty()).then(|| outcome.text.clone());
        let message = CompletionMessage { role: "assistant", content, refusal: None, tool_calls };
        let finish_reason = finish_reason(outcome);
        Self {
            id: named.id(),
            object: "chat.completion",
            created: named.created,
            model: named.model.clone(),
            choices: vec![CompletionChoice { index: 0, message, logprobs: None, finish_reason }],
            usage: outcome.usage.into(),
        }
    }
}

fn calls(handed: &[ClientCallRequest], index: impl Fn(usize) -> Option<usize>) -> Vec<CompletionCall> {
    let call = |(at, one): (usize, &ClientCallRequest)| CompletionCall {
        index: index(at),
        id: one.id.clone(),
        kind: "function",
        function: CompletionFunction { name: one.tool.clone(), arguments: one.arguments.to_string() },
    };
    handed.iter().enumerate().map(call).collect()
}

/// One chunk of a streamed completion: the `data` of a server-sent event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CompletionChunk {
    id: String,
    /// `chat.completion.chunk`
    object: &'static str,
    created: i64,
    model: String,
    /// One; empty in the final usage chunk.
    choices: Vec<ChunkChoice>,
    /// Null except in the last chunk; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CompletionUsage>)]
    usage: Option<Option<CompletionUsage>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChunkChoice {
    index: u32,
    delta: CompletionDelta,
    /// Always null.
    #[schema(value_type = Option<Object>)]
    logprobs: Option<()>,
    /// Set in the last chunk that has a choice.
    finish_reason: Option<&'static str>,
}

#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = Delta)]
pub(crate) struct CompletionDelta {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    /// The next part of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CompletionCall>,
}

/// Makes the pieces of one answer.
#[derive(Clone, Debug)]
pub(crate) struct CompletionChunkBuilder {
    pub(crate) named: CompletionIdentity,
    pub(crate) include_usage: bool,
}

impl CompletionChunkBuilder {
    pub(crate) fn opening_chunk(&self) -> CompletionChunk {
        self.build_chunk(
            CompletionDelta {
                role: Some("assistant"),
                content: Some(String::new()),
                ..CompletionDelta::default()
            },
            None,
        )
    }

    pub(crate) fn text_chunk(&self, text: String) -> CompletionChunk {
        self.build_chunk(CompletionDelta { content: Some(text), ..CompletionDelta::default() }, None)
    }

    /// All that comes behind the words.
    pub(crate) fn closing_chunks(&self, outcome: &RunOutcome) -> Vec<CompletionChunk> {
        let mut last = Vec::new();
        if !outcome.handed.is_empty() {
            let tool_calls = calls(&outcome.handed, Some);
            last.push(self.build_chunk(CompletionDelta { tool_calls, ..CompletionDelta::default() }, None));
        }
        last.push(self.build_chunk(CompletionDelta::default(), Some(finish_reason(outcome))));
        if self.include_usage {
            let piece = self.build_chunk(CompletionDelta::default(), None);
            last.push(CompletionChunk {
                choices: Vec::new(),
                usage: Some(Some(outcome.usage.into())),
                ..piece
            });
        }
        last
    }

    fn build_chunk(&self, delta: CompletionDelta, finish_reason: Option<&'static str>) -> CompletionChunk {
        CompletionChunk {
            id: self.named.id(),
            object: "chat.completion.chunk",
            created: self.named.created,
            model: self.named.model.clone(),
            choices: vec![ChunkChoice { index: 0, delta, logprobs: None, finish_reason }],
            usage: self.include_usage.then_some(None),
        }
    }
}
