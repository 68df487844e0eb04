//! How the program speaks: to a person in words, to a script in JSON. Answers go to stdout, all else to stderr.
//!
//! # Layout
//! - [`CommandOutput`]: answers, notes and failures; `styling`: colour where it shows
//! - [`table`]: aligned columns in any script; `formatting`: sizes and times in short
//! - `progress`: a bar for long work; `confirm`: asking before what can't be undone; `attachments`: what comes with a reply

pub(crate) mod attachments;
mod confirm;
pub(crate) mod formatting;
mod progress;
mod styling;
pub(crate) mod table;

pub(crate) use confirm::ConfirmationPrompt;
pub(crate) use progress::ProgressDisplay;
pub(crate) use styling::PromptPartColour;
pub use styling::{ColourMode, TextStyler};

use std::io::{ErrorKind, IsTerminal, Write};

use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOutputFormat {
    Words,
    Json,
}

#[derive(Clone, Copy, Debug)]
pub struct CommandOutput {
    format: CommandOutputFormat,
    paint: ColourMode,
}

impl CommandOutput {
    pub(crate) fn new(format: CommandOutputFormat, paint: ColourMode) -> Self {
        Self { format, paint }
    }

    pub fn colour_mode(&self) -> ColourMode {
        self.paint
    }

    pub fn is_json(&self) -> bool {
        self.format == CommandOutputFormat::Json
    }

    /// Whether a person is watching stdout and wants words.
    pub fn is_watched(&self) -> bool {
        !self.is_json() && std::io::stdout().is_terminal()
    }

    /// The answer to what was asked: `value` as one line of JSON, or the words.
    pub fn print_result<V: Serialize>(
        &self,
        value: &V,
        words: impl FnOnce(&V, TextStyler) -> String,
    ) -> Result<()> {
        let text = match self.format {
            CommandOutputFormat::Json => as_line(value)?,
            CommandOutputFormat::Words => words(value, self.paint.styler_for(&std::io::stdout())),
        };
        self.print(&text)
    }

    /// Text to stdout as it is.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = std::io::stdout().lock();
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let written = write!(out, "{text}{end}").and_then(|()| out.flush());
        match written {
            // Whoever read along has seen enough: `munshi tenant list | head -1`.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(CommandFailure::failed(format!("can't write the output: {error}"))),
            Ok(()) => Ok(()),
        }
    }

    /// Text to stdout to the byte, nothing added. Where somebody watches, nothing in it may drive the terminal.
    pub(crate) fn print_exact(&self, text: &str) -> Result<()> {
        if std::io::stdout().is_terminal() {
            return self.print(&sanitize_text(text));
        }
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(CommandFailure::failed(format!("can't write the output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// A piece of a text that comes bit by bit. It is from outside, so nothing in it may drive the terminal.
    pub(crate) fn print_chunk(&self, text: &str) -> Result<()> {
        let shown = sanitize_text(text);
        let mut out = std::io::stdout().lock();
        match write!(out, "{shown}").and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(CommandFailure::failed(format!("can't write the output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Ends the line that pieces of a text have left open.
    pub(crate) fn finish_line(&self, text: &str) -> Result<()> {
        if self.is_json() || text.is_empty() || text.ends_with('\n') {
            Ok(())
        } else {
            self.print_chunk("\n")
        }
    }

    /// Something beside the answer, for a person.
    pub fn print_note(&self, words: impl FnOnce(TextStyler) -> String) {
        if !self.is_json() {
            to_stderr(&words(self.paint.styler_for(&std::io::stderr())));
        }
    }

    pub(crate) fn print_failure(&self, failure: &CommandFailure) {
        if self.is_json() {
            to_stderr(&failure.to_json().to_string());
            return;
        }
        let painter = self.paint.styler_for(&std::io::stderr());
        to_stderr(&format!("{} {}", painter.bad("error:"), sanitize_text(&failure.message)));
        if let Some(hint) = &failure.hint {
            to_stderr(&format!("{} {hint}", painter.dim("hint:")));
        }
    }

    /// A bar on stderr while long work goes on, where somebody is watching.
    pub(crate) fn start_progress(&self, doing: &str) -> ProgressDisplay {
        ProgressDisplay::new(doing, !self.is_json() && std::io::stderr().is_terminal())
    }
}

/// The text with blanks where a terminal would be told to do something.
pub(crate) fn sanitize_text(text: &str) -> String {
    // Marks that turn the direction of writing can make a line read as another.
    let turns = |letter: char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_command = |letter: char| (letter.is_control() && !matches!(letter, '\n' | '\t')) || turns(letter);
    text.chars().map(|letter| if is_command(letter) { ' ' } else { letter }).collect()
}

pub(crate) fn as_line(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| CommandFailure::failed(format!("can't serialise to JSON: {error}")))
}

/// `munshi --version --json`
pub(crate) fn print_version() {
    let _ = writeln!(std::io::stdout(), "{}", json!({ "version": env!("CARGO_PKG_VERSION") }));
}

/// What is wrong with the command line, when it asked for JSON.
pub(crate) fn print_usage_error(error: &clap::Error) {
    let text = error.render().to_string();
    let text = text.trim().trim_start_matches("error: ");
    let mut parts = text.split("\n\n").map(str::trim);
    let message = parts.next().unwrap_or_default();
    let failure =
        CommandFailure::usage(message).hint(parts.next().unwrap_or("`munshi --help` lists the commands"));
    to_stderr(&failure.to_json().to_string());
}

fn to_stderr(text: &str) {
    // Where stderr is closed there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_models_words_can_not_drive_the_terminal() {
        assert_eq!(super::sanitize_text("a\n\tb\u{1b}[2J\u{7}\u{9b}c"), "a\n\tb [2J  c");
    }
}
