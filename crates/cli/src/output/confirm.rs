//! Asking before what can't be undone.

use std::io::{BufRead, IsTerminal, Write};

use munshi_wiring::failure::{CommandFailure, Result};

use super::CommandOutput;

/// A question that a typed word or `--yes` answers.
pub(crate) struct ConfirmationPrompt<'a> {
    /// What is about to happen.
    pub(crate) about: String,
    /// What must be typed.
    pub(crate) word: &'a str,
    /// Whether `--yes` was given.
    pub(crate) given: bool,
}

impl ConfirmationPrompt<'_> {
    /// Asks at a terminal; anywhere else only `--yes` will do.
    pub(crate) fn ask(&self, output: &CommandOutput) -> Result<()> {
        if self.given {
            return Ok(());
        }
        let watched = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if output.is_json() || !watched {
            return Err(CommandFailure::refused(format!("{} Nothing was changed.", self.about))
                .hint("add --yes to confirm"));
        }
        let mut err = std::io::stderr();
        let asked = write!(err, "{} Type {} to continue: ", self.about, self.word).and_then(|()| err.flush());
        let mut typed = String::new();
        let read = asked.and_then(|()| std::io::stdin().lock().read_line(&mut typed));
        match read {
            Ok(_) if typed.trim() == self.word => Ok(()),
            _ => Err(CommandFailure::refused("not confirmed; nothing was changed")),
        }
    }
}
