//! What came of a message: as JSON, and as people watch it come.

use munshi_agent::RunOutcome;
use munshi_conversations::{HaltReason, RunEvent, UndoOffer};
use munshi_types::TenantName;
use munshi_types::attachment::{self, Attachment};
use munshi_types::tier::TierName;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::Value;

use super::speaker::AskSpeaker;
use crate::output::formatting::format_count;
use crate::output::table::sanitize_line;
use crate::output::{CommandOutput, attachments, sanitize_text};

/// A call's arguments and results are shown this far.
const SHORT: usize = 160;

/// The answer as `--json` gives it.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct AskReply {
    pub(in crate::commands) tenant: TenantName,
    pub(in crate::commands) binding: TierName,
    pub(in crate::commands) person: AskSpeaker,
    #[serde(flatten)]
    pub(in crate::commands) outcome: RunOutcome,
}

/// Who hears the events of a turn as they come.
pub(in crate::commands) trait AskEventListener {
    fn on_event(&mut self, event: &RunEvent) -> Result<()>;
}

/// For scripts: they read the whole.
pub(in crate::commands) struct SilentAskListener;

impl AskEventListener for SilentAskListener {
    fn on_event(&mut self, _event: &RunEvent) -> Result<()> {
        Ok(())
    }
}

/// For people: words on standard output as they come, all else dimly beside it.
pub(in crate::commands) struct TerminalAskListener {
    output: CommandOutput,
    /// Whether a line of the reply is open.
    open: bool,
    /// The words that stand there.
    shown: String,
    /// What tools gave to be shown with the reply.
    attached: Vec<Attachment>,
    /// Where pages of this installation are opened.
    base: Option<String>,
}

impl TerminalAskListener {
    pub(in crate::commands) fn new(output: CommandOutput) -> Self {
        Self { output, open: false, shown: String::new(), attached: Vec::new(), base: None }
    }

    /// The same, where a server shows pages.
    pub(in crate::commands) fn with_server(self, address: Option<std::net::SocketAddr>) -> Self {
        Self { base: address.map(|address| format!("http://{address}")), ..self }
    }

    /// What a tool gave to be shown once the reply is whole.
    pub(in crate::commands) fn add_attachments(&mut self, result: &Value) {
        self.attached.extend(attachment::extract_from_result(result));
    }

    fn show_attached(&mut self) -> Result<()> {
        for one in std::mem::take(&mut self.attached) {
            for line in attachments::lines(&one, self.base.as_deref()) {
                self.output.print_chunk(&sanitize_text(&format!("{line}\n")))?;
            }
        }
        Ok(())
    }

    pub(in crate::commands) fn print_note(&mut self, text: &str) -> Result<()> {
        self.close()?;
        self.output.print_note(|paint| paint.dim(&sanitize_text(text)));
        Ok(())
    }

    pub(in crate::commands) fn close(&mut self) -> Result<()> {
        if std::mem::take(&mut self.open) { self.output.print_chunk("\n") } else { Ok(()) }
    }

    /// Says what is missing of the reply: the stream may have broken off before its end.
    fn print_remaining(&mut self, whole: &str) -> Result<()> {
        match strip_shown(whole, &self.shown) {
            Some(rest) => self.print_text(rest),
            None => {
                self.print_note("(discarded)")?;
                self.print_text(whole)
            }
        }
    }

    fn print_text(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.shown.push_str(text);
        self.open = !text.ends_with('\n');
        self.output.print_chunk(text)
    }

    /// What is told once the reply is whole.
    pub(in crate::commands) fn finish(&mut self, told: &AskReply) -> Result<()> {
        self.finish_answer(told)?;
        self.print_approval_hint(told);
        let outcome = &told.outcome;
        for suggestion in &outcome.suggestions {
            self.print_note(&format!("› {suggestion}"))?;
        }
        self.print_note(&summary(outcome))
    }

    /// That it was halted.
    pub(in crate::commands) fn finish_answer(&mut self, told: &AskReply) -> Result<()> {
        let outcome = &told.outcome;
        self.print_remaining(&outcome.text)?;
        self.close()?;
        self.show_attached()?;
        if let Some(halt) = &outcome.halt {
            let why = match halt {
                // Which limit is for whoever runs this to know; the person was told when to come back.
                HaltReason::OverBudget(limit) => {
                    format!("(halted: {}, {})", halt.code(), sanitize_line(limit))
                }
                _ => format!("(halted: {})", halt.code()),
            };
            self.output.print_note(|paint| paint.doubtful(&why));
        }
        Ok(())
    }

    /// Where it waits for a yes.
    pub(in crate::commands) fn print_approval_hint(&self, told: &AskReply) {
        if let Some(approval) = told.outcome.approval {
            let binding = &told.tenant;
            let how = format!("answer yes or no, or: munshi approvals show {approval} --tenant {binding}");
            self.output.print_note(|paint| paint.doubtful(&how));
        }
    }
}

impl AskEventListener for TerminalAskListener {
    fn on_event(&mut self, event: &RunEvent) -> Result<()> {
        match event {
            RunEvent::Token { text } => self.print_text(text),
            RunEvent::ToolCall { tool, arguments, .. } => {
                self.print_note(&format!("→ {tool} {}", format_short(arguments)))
            }
            RunEvent::ToolResult { tool, ok, result, undo, .. } => {
                if *ok {
                    self.add_attachments(result);
                }
                let mark = if *ok { "←" } else { "✗" };
                self.print_note(&format!("{mark} {tool} {}", format_short(result)))?;
                match undo {
                    Some(UndoOffer { act, until }) => {
                        self.print_note(&format!("  to take it back until {until}: munshi acts undo {act}"))
                    }
                    None => Ok(()),
                }
            }
            RunEvent::Reset { why } => {
                self.shown.clear();
                self.print_note(&format!("(discarded, restarting: {why})"))
            }
            // The turn goes on without this stream; its end is read from the store.
            RunEvent::Error { retryable: true, .. } => Ok(()),
            RunEvent::Error { message, .. } => {
                self.close()?;
                Err(CommandFailure::failed(message.clone()))
            }
            RunEvent::Thinking { .. }
            | RunEvent::Approval { .. }
            | RunEvent::Suggestions { .. }
            | RunEvent::Done { .. }
            | RunEvent::Joined { .. }
            | RunEvent::Work(_) => Ok(()),
        }
    }
}

/// What comes behind the words that were shown. None where those are not how the reply begins.
fn strip_shown<'a>(whole: &'a str, shown: &str) -> Option<&'a str> {
    whole.strip_prefix(shown)
}

pub(in crate::commands) fn format_short(value: &Value) -> String {
    let text = sanitize_line(&value.to_string());
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
    }
}

/// `(hi-latn: 2 model calls, 1240 tokens in, 38 out, free, 412 ms)`
pub(in crate::commands) fn summary(outcome: &RunOutcome) -> String {
    let usage = &outcome.usage;
    let language = outcome.language.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
    let cost = match usage.cost_micros {
        None if usage.model_calls > 0 => "unknown price".to_owned(),
        None | Some(0) => "free".to_owned(),
        Some(micros) => format!("for {}", munshi_llm::pricing::Cost::from_micros(micros)),
    };
    let calls = format_count(u64::from(usage.model_calls), "model call");
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    let excuse = if outcome.degraded { ", no answer" } else { "" };
    let millis = outcome.timings.total / 1000;
    format!("({language}{calls}, {input} tokens in, {output} out, {cost}, {millis} ms{excuse})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_broken_stream_did_not_tell_is_known() {
        assert_eq!(strip_shown("We open at nine.", "We open"), Some(" at nine."));
        assert_eq!(strip_shown("We open at nine.", "We open at nine."), Some(""));
        assert_eq!(strip_shown("Something went wrong.", "We open"), None);
    }
}
