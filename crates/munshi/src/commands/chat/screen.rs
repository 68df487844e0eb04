//! An answer as it comes.

use std::io::{IsTerminal, Write};

use munshi_agent::RunEvent;
use serde_json::Value;

use super::wrap::WordWrapper;
use crate::commands::ask::reply::{AskEventListener, AskReply, TerminalAskListener, short};
use crate::failure::Result;
use crate::output::CommandOutput;
use crate::output::without_commands;

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
        let watched = TerminalAskListener::new(output).beside_server(server);
        let mut screen = Self { output, watched, wrap: columns().and_then(WordWrapper::new), waits: false };
        screen.wait();
        screen
    }

    /// Something is shown until the first word comes.
    fn wait(&mut self) {
        if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
            let painted = self.output.paint().on(&std::io::stderr()).dim("…");
            self.waits =
                write!(std::io::stderr(), "{painted}").and_then(|()| std::io::stderr().flush()).is_ok();
        }
    }

    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.waits) {
            // Where the terminal is gone there is nothing to clear.
            let _ = write!(std::io::stderr(), "\r\x1b[K").and_then(|()| std::io::stderr().flush());
        }
    }

    /// After the answer. Gives what the numbers stand for.
    pub(super) fn end(&mut self, told: &AskReply) -> Result<Vec<String>> {
        self.settle();
        self.flush()?;
        self.watched.end_of_answer(told)?;
        let suggestions = &told.outcome.suggestions;
        // Whoever can say yes here is offered it.
        if suggestions.is_empty() {
            self.watched.how_to_approve(told);
        }
        if has_numbers(&told.outcome.text) {
            for suggestion in suggestions {
                self.watched.beside(&format!("  › {suggestion}"))?;
            }
            return Ok(Vec::new());
        }
        for (number, suggestion) in suggestions.iter().enumerate() {
            self.watched.beside(&format!("  {}  {suggestion}", number + 1))?;
        }
        Ok(suggestions.clone())
    }

    /// The word that waited for its end.
    fn flush(&mut self) -> Result<()> {
        match self.wrap.as_mut().map(WordWrapper::finish) {
            Some(text) => self.watched.hear(&RunEvent::Token { text }),
            None => Ok(()),
        }
    }

    /// The answer was stopped.
    pub(super) fn stopped(&mut self) -> Result<()> {
        self.settle();
        self.flush()?;
        self.watched.beside("(stopped)")
    }

    /// It can't be answered; the conversation goes on.
    pub(super) fn failed(&mut self) -> Result<()> {
        self.settle();
        self.flush()?;
        self.watched.close()
    }
}

impl AskEventListener for ChatScreen {
    fn hear(&mut self, event: &RunEvent) -> Result<()> {
        let is_shown = match event {
            RunEvent::Token { text } => !text.is_empty(),
            RunEvent::ToolCall { .. }
            | RunEvent::ToolResult { .. }
            | RunEvent::Reset { .. }
            | RunEvent::Error { .. } => true,
            RunEvent::Thinking { .. }
            | RunEvent::Approval { .. }
            | RunEvent::Suggestions { .. }
            | RunEvent::Done { .. } => false,
        };
        if is_shown {
            self.settle();
        }
        if let (RunEvent::Token { text }, Some(wrap)) = (event, &mut self.wrap) {
            let text = wrap.push(text);
            return self.watched.hear(&RunEvent::Token { text });
        }
        if is_shown {
            self.flush()?;
        }
        match event {
            RunEvent::ToolCall { tool, arguments, .. } => {
                self.watched.beside(&format!("→ {tool}{}", named_in(arguments)))
            }
            // What came of it is for the answer to say; /why has all of it.
            RunEvent::ToolResult { ok: true, result, .. } => {
                self.watched.keep(result);
                Ok(())
            }
            RunEvent::ToolResult { tool, result, .. } => {
                let why = result["code"].as_str().map_or_else(|| short(result), str::to_owned);
                self.watched.beside(&format!("✗ {tool}: {}", why.replace('_', " ")))
            }
            event => self.watched.hear(event),
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
fn named_in(arguments: &Value) -> String {
    let fields = arguments.as_object().into_iter().flatten();
    let words: Vec<&str> =
        fields.filter_map(|(_, value)| value.as_str()).filter(|text| !text.is_empty()).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({})", short(&Value::from(words.join(", "))).trim_matches('"'))
    }
}

/// Whether the answer has numbers of its own to choose by: then a number is meant for those.
fn has_numbers(text: &str) -> bool {
    let numbered = |line: &str| {
        let digits = line.trim_start().trim_start_matches(|c: char| c.is_numeric());
        digits.len() < line.trim_start().len() && digits.starts_with(['.', ')'])
    };
    without_commands(text).lines().filter(|line| numbered(line)).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_words() {
        let about = serde_json::json!({ "amount": 50000, "person": "Ramesh", "note": "" });
        assert_eq!(named_in(&about), " (Ramesh)");
        assert_eq!(named_in(&serde_json::json!({ "amount": 5 })), "");
    }

    #[test]
    fn numbers_of_the_answer_come_first() {
        assert!(has_numbers("Which one?\n1. Ramesh Kumar\n2. Ramesh Gupta"));
        assert!(has_numbers("कौन?\n१) राम\n२) श्याम"));
        assert!(!has_numbers("He owes 500.\n3 bags are left") && !has_numbers("1. Only one"));
    }
}
