//! The events of a cloud model's answer, with real values back.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_llm::chat::Output;
use munshi_llm::gateway::Reveal;
use munshi_llm::{Event, Fault};
use munshi_types::Script;
use serde_json::Value;

use super::hide::VEILED;
use super::restore::Holdback;
use super::veil::Table;

/// One attempt's way back. Thinking keeps its tokens, since it goes back under the provider's signature; nobody but
/// the model reads it.
pub(super) struct Revealing {
    table: Arc<Table>,
    back: Holdback,
    /// An answer of a form, until it is whole: a name may hold what JSON has to escape.
    form: Option<String>,
    calls: BTreeMap<usize, Called>,
}

struct Called {
    tool: String,
    arguments: String,
}

impl Revealing {
    pub(super) fn new(table: Arc<Table>, script: Script, output: &Output) -> Self {
        let form = matches!(output, Output::Json { .. }).then(String::new);
        Self { table, back: Holdback::new(script), form, calls: BTreeMap::new() }
    }

    fn text(&mut self, more: &str) -> Option<Event> {
        if let Some(form) = &mut self.form {
            form.push_str(more);
            return None;
        }
        let ready = self.table.with(|table| self.back.push(&table.session, more));
        (!ready.is_empty()).then_some(Event::Text(ready))
    }

    /// What was held back of a text that has ended.
    fn rest(&mut self) -> Option<Event> {
        let rest = self.table.with(|table| {
            let rest = self.back.flush(&table.session);
            table.invented.extend(rest.unknown);
            rest.text
        });
        (!rest.is_empty()).then_some(Event::Text(rest))
    }

    /// After the text before it.
    fn next(&mut self, event: Event) -> Vec<Event> {
        self.rest().into_iter().chain([event]).collect()
    }

    fn begin_call(&mut self, index: usize, tool: &str) {
        self.calls.insert(index, Called { tool: tool.to_owned(), arguments: String::new() });
    }

    fn finish(&mut self, end: Event) -> Result<Vec<Event>, Fault> {
        let mut events = Vec::new();
        if let Some(form) = self.form.take() {
            events.extend(self.whole_form(&form));
        }
        events.extend(self.rest());
        for (index, call) in std::mem::take(&mut self.calls) {
            let fragment = self.arguments(call)?;
            events.extend((!fragment.is_empty()).then_some(Event::ToolCallArguments { index, fragment }));
        }
        events.push(end);
        Ok(events)
    }

    fn whole_form(&mut self, form: &str) -> Option<Event> {
        match serde_json::from_str::<Value>(form) {
            Ok(mut value) => {
                self.table.with(|table| {
                    let unknown = table.session.restore_json(&mut value);
                    table.invented.extend(unknown);
                });
                Some(Event::Text(value.to_string()))
            }
            // It has not the form, or is a refusal; the end of it is still held back.
            Err(_) => {
                let ready = self.table.with(|table| self.back.push(&table.session, form));
                (!ready.is_empty()).then_some(Event::Text(ready))
            }
        }
    }

    /// Arguments that can't be read are left for whoever reads the reply to complain of.
    fn arguments(&self, call: Called) -> Result<String, Fault> {
        let Ok(mut value) = serde_json::from_str::<Value>(&call.arguments) else { return Ok(call.arguments) };
        let unknown = self.table.with(|table| table.session.restore_json(&mut value));
        if unknown.is_empty() {
            Ok(value.to_string())
        } else {
            Err(Fault::UnknownCodes { tool: call.tool, codes: unknown.join(", ") })
        }
    }
}

impl Reveal for Revealing {
    fn event(&mut self, event: Event) -> Result<Vec<Event>, Fault> {
        Ok(match event {
            Event::Text(more) => self.text(&more).into_iter().collect(),
            Event::ToolCallStarted { index, id, name } => {
                self.begin_call(index, &name);
                self.next(Event::ToolCallStarted { index, id, name })
            }
            Event::ToolCallArguments { index, fragment } => match self.calls.get_mut(&index) {
                Some(call) => {
                    call.arguments.push_str(&fragment);
                    Vec::new()
                }
                None => vec![Event::ToolCallArguments { index, fragment }],
            },
            Event::Thinking(_) => self.next(event),
            Event::ThinkingSignature(sign) => self.next(Event::ThinkingSignature(veiled(&sign))),
            Event::SealedThinking(data) => self.next(Event::SealedThinking(veiled(&data))),
            Event::State(data) => self.next(Event::State(veiled(&data))),
            Event::Finished { .. } => return self.finish(event),
            Event::Started { .. } | Event::Limits(_) | Event::Usage(_) => vec![event],
        })
    }
}

fn veiled(text: &str) -> String {
    [VEILED, text].concat()
}
