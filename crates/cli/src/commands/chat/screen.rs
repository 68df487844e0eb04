//! An answer as it comes.

use std::io::{IsTerminal, Write};

use munshi_conversations::RunEvent;
use munshi_wiring::failure::Result;
use serde_json::Value;

use super::wrap::WordWrapper;
use crate::commands::ask::reply::{AskEventListener, AskReply, TerminalAskListener, format_short};
use crate::output::CommandOutput;
use crate::output::sanitize_text;

/// Words as they come, what tools do dimly between them, and what one could say next by numbers.
pub(super) struct ChatScreen {
    output: CommandOutput,
    watched: TerminalAskListener,
    /// None where the words go elsewhere than to a terminal.
    wrap: Option<WordWrapper>,
    /// Whether the mark that something is being thought about stands on the line.
    waits: bool,
}

impl ChatScreen {
    pub(super) fn new(output: CommandOutput, server: Option<std::net::SocketAddr>) -> Self {
        let watched = TerminalAskListener::new(output).with_server(server);
        let mut screen = Self { output, watched, wrap: columns().and_then(WordWrapper::new), waits: false };
        screen.show_waiting();
        screen
    }

    /// Something is shown until the first word comes.
    fn show_waiting(&mut self) {
        if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
            let painted = self.output.colour_mode().styler_for(&std::io::stderr()).dim("…");
            self.waits =
                write!(std::io::stderr(), "{painted}").and_then(|()| std::io::stderr().flush()).is_ok();
        }
    }

    pub(super) fn clear_waiting(&mut self) {
        if std::mem::take(&mut self.waits) {
            // Where the terminal is gone there is nothing to clear.
            let _ = write!(std::io::stderr(), "\r\x1b[K").and_then(|()| std::io::stderr().flush());
        }
    }

    /// After the answer. Gives what the numbers stand for.
    pub(super) fn finish(&mut self, told: &AskReply) -> Result<Vec<String>> {
        self.clear_waiting();
        self.flush()?;
        self.watched.finish_answer(told)?;
        let suggestions = &told.outcome.suggestions;
        // Whoever can say yes here is offered it.
        if suggestions.is_empty() {
            self.watched.print_approval_hint(told);
        }
        if has_numbers(&told.outcome.text) {
            for suggestion in suggestions {
                self.watched.print_note(&format!("  › {suggestion}"))?;
            }
            return Ok(Vec::new());
        }
        for (number, suggestion) in suggestions.iter().enumerate() {
            self.watched.print_note(&format!("  {}  {suggestion}", number + 1))?;
        }
        Ok(suggestions.clone())
    }

    /// The word that waited for its end.
    fn flush(&mut self) -> Result<()> {
        match self.wrap.as_mut().map(WordWrapper::finish) {
            Some(text) => self.watched.on_event(&RunEvent::Token { text }),
            None => Ok(()),
        }
    }

    /// The answer was stopped.
    pub(super) fn finish_stopped(&mut self) -> Result<()> {
        self.clear_waiting();
        self.flush()?;
        self.watched.print_note("(stopped)")
    }

    /// It can't be answered; the conversation goes on.
    pub(super) fn finish_failed(&mut self) -> Result<()> {
        self.clear_waiting();
        self.flush()?;
        self.watched.close()
    }
}

impl AskEventListener for ChatScreen {
    fn on_event(&mut self, event: &RunEvent) -> Result<()> {
        let is_shown = match event {
            RunEvent::Token { text } => !text.is_empty(),
            RunEvent::ToolCall { .. }
            | RunEvent::ToolResult { .. }
            | RunEvent::Reset { .. }
            | RunEvent::Error { .. } => true,
            RunEvent::Thinking { .. }
            | RunEvent::Approval { .. }
            | RunEvent::Suggestions { .. }
            | RunEvent::Done { .. }
            | RunEvent::Joined { .. }
            | RunEvent::Work(_) => false,
        };
        if is_shown {
            self.clear_waiting();
        }
        if let (RunEvent::Token { text }, Some(wrap)) = (event, &mut self.wrap) {
            let text = wrap.push(text);
            return self.watched.on_event(&RunEvent::Token { text });
        }
        if is_shown {
            self.flush()?;
        }
        match event {
            RunEvent::ToolCall { tool, arguments, .. } => {
                self.watched.print_note(&format!("→ {tool}{}", summarise_arguments(arguments)))
            }
            // What came of it is for the answer to say; /why has all of it.
            RunEvent::ToolResult { ok: true, result, .. } => {
                self.watched.add_attachments(result);
                Ok(())
            }
            RunEvent::ToolResult { tool, result, .. } => {
                let why = result["code"].as_str().map_or_else(|| format_short(result), str::to_owned);
                self.watched.print_note(&format!("✗ {tool}: {}", why.replace('_', " ")))
            }
            event => self.watched.on_event(event),
        }
    }
}

/// How wide the terminal is.
fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out).ok()).flatten()?;
    Some(usize::from(size.ws_col))
}

/// What a call is about, in the words that stand in it. Amounts are in the books' own small unit, and are left out.
fn summarise_arguments(arguments: &Value) -> String {
    let fields = arguments.as_object().into_iter().flatten();
    let words: Vec<&str> =
        fields.filter_map(|(_, value)| value.as_str()).filter(|text| !text.is_empty()).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({})", format_short(&Value::from(words.join(", "))).trim_matches('"'))
    }
}

/// Whether the answer has numbers of its own to choose by: then a number is meant for those.
fn has_numbers(text: &str) -> bool {
    let numbered = |line: &str| {
        let digits = line.trim_start().trim_start_matches(|c: char| c.is_numeric());
        digits.len() < line.trim_start().len() && digits.starts_with(['.', ')'])
    };
    sanitize_text(text).lines().filter(|line| numbered(line)).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_words() {
        let about = serde_json::json!({ "amount": 50000, "person": "Ramesh", "note": "" });
        assert_eq!(summarise_arguments(&about), " (Ramesh)");
        assert_eq!(summarise_arguments(&serde_json::json!({ "amount": 5 })), "");
    }

    #[test]
    fn numbers_of_the_answer_come_first() {
        assert!(has_numbers("Which one?\n1. Ramesh Kumar\n2. Ramesh Gupta"));
        assert!(has_numbers("कौन?\n१) राम\n२) श्याम"));
        assert!(!has_numbers("He owes 500.\n3 bags are left") && !has_numbers("1. Only one"));
    }
}
