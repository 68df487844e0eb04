//! The events of a cloud model's answer, with real values back.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_llm::chat::ReplyFormat;
use munshi_llm::gateway::EventUnredactor;
use munshi_llm::{ChatEvent, ModelError};
use munshi_types::Script;
use serde_json::Value;

use super::chat_masking::VEILED;
use super::redactor::SharedPseudonyms;
use super::restore::RestoreBuffer;

/// One attempt's way back. Thinking keeps its tokens, since it goes back under the provider's signature; nobody but
/// the model reads it.
pub(super) struct PseudonymRevealer {
    table: Arc<SharedPseudonyms>,
    back: RestoreBuffer,
    /// An answer of a form, until it is whole: a name may hold what JSON has to escape.
    form: Option<String>,
    calls: BTreeMap<usize, Called>,
}

struct Called {
    tool: String,
    arguments: String,
}

impl PseudonymRevealer {
    pub(super) fn new(table: Arc<SharedPseudonyms>, script: Script, output: &ReplyFormat) -> Self {
        let form = matches!(output, ReplyFormat::Json { .. }).then(String::new);
        Self { table, back: RestoreBuffer::new(script), form, calls: BTreeMap::new() }
    }

    fn push_text(&mut self, more: &str) -> Option<ChatEvent> {
        if let Some(form) = &mut self.form {
            form.push_str(more);
            return None;
        }
        let ready = self.table.with_lock(|table| self.back.push(&table.session, more));
        (!ready.is_empty()).then_some(ChatEvent::Text(ready))
    }

    /// What was held back of a text that has ended.
    fn flush_text(&mut self) -> Option<ChatEvent> {
        let rest = self.table.with_lock(|table| {
            let rest = self.back.flush(&table.session);
            table.invented.extend(rest.unknown);
            rest.text
        });
        (!rest.is_empty()).then_some(ChatEvent::Text(rest))
    }

    /// After the text before it.
    fn flush_before(&mut self, event: ChatEvent) -> Vec<ChatEvent> {
        self.flush_text().into_iter().chain([event]).collect()
    }

    fn begin_call(&mut self, index: usize, tool: &str) {
        self.calls.insert(index, Called { tool: tool.to_owned(), arguments: String::new() });
    }

    fn finish(&mut self, end: ChatEvent) -> Result<Vec<ChatEvent>, ModelError> {
        let mut events = Vec::new();
        if let Some(form) = self.form.take() {
            events.extend(self.restore_form(&form));
        }
        events.extend(self.flush_text());
        for (index, call) in std::mem::take(&mut self.calls) {
            let fragment = self.restore_arguments(call)?;
            events.extend((!fragment.is_empty()).then_some(ChatEvent::ToolCallArguments { index, fragment }));
        }
        events.push(end);
        Ok(events)
    }

    fn restore_form(&mut self, form: &str) -> Option<ChatEvent> {
        match serde_json::from_str::<Value>(form) {
            Ok(mut value) => {
                self.table.with_lock(|table| {
                    let unknown = table.session.restore_json(&mut value);
                    table.invented.extend(unknown);
                });
                Some(ChatEvent::Text(value.to_string()))
            }
            // It has not the form, or is a refusal; the end of it is still held back.
            Err(_) => {
                let ready = self.table.with_lock(|table| self.back.push(&table.session, form));
                (!ready.is_empty()).then_some(ChatEvent::Text(ready))
            }
        }
    }

    /// Arguments that can't be read are left for whoever reads the reply to complain of.
    fn restore_arguments(&self, call: Called) -> Result<String, ModelError> {
        let Ok(mut value) = serde_json::from_str::<Value>(&call.arguments) else { return Ok(call.arguments) };
        let unknown = self.table.with_lock(|table| table.session.restore_json(&mut value));
        if unknown.is_empty() {
            Ok(value.to_string())
        } else {
            Err(ModelError::UnknownCodes { tool: call.tool, codes: unknown.join(", ") })
        }
    }
}

impl EventUnredactor for PseudonymRevealer {
    fn unredact(&mut self, event: ChatEvent) -> Result<Vec<ChatEvent>, ModelError> {
        Ok(match event {
            ChatEvent::Text(more) => self.push_text(&more).into_iter().collect(),
            ChatEvent::ToolCallStarted { index, id, name } => {
                self.begin_call(index, &name);
                self.flush_before(ChatEvent::ToolCallStarted { index, id, name })
            }
            ChatEvent::ToolCallArguments { index, fragment } => match self.calls.get_mut(&index) {
                Some(call) => {
                    call.arguments.push_str(&fragment);
                    Vec::new()
                }
                None => vec![ChatEvent::ToolCallArguments { index, fragment }],
            },
            ChatEvent::Thinking(_) => self.flush_before(event),
            ChatEvent::ThinkingSignature(sign) => {
                self.flush_before(ChatEvent::ThinkingSignature(add_veil_prefix(&sign)))
            }
            ChatEvent::SealedThinking(data) => {
                self.flush_before(ChatEvent::SealedThinking(add_veil_prefix(&data)))
            }
            ChatEvent::State(data) => self.flush_before(ChatEvent::State(add_veil_prefix(&data))),
            ChatEvent::Finished { .. } => return self.finish(event),
            ChatEvent::Started { .. } | ChatEvent::Limits(_) | ChatEvent::Usage(_) => vec![event],
        })
    }
}

fn add_veil_prefix(text: &str) -> String {
    [VEILED, text].concat()
}
