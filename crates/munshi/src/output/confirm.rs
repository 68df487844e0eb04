//! Asking before what can't be undone.

use std::io::{BufRead, IsTerminal, Write};

use super::Output;
use crate::failure::{Failure, Result};

/// A question that a typed word or `--yes` answers.
pub(crate) struct Confirm<'a> {
    /// What is about to happen.
    pub(crate) about: String,
    /// What must be typed.
    pub(crate) word: &'a str,
    /// Whether `--yes` was given.
    pub(crate) given: bool,
}

impl Confirm<'_> {
    /// Asks at a terminal; anywhere else only `--yes` will do.
    pub(crate) fn ask(&self, output: &Output) -> Result<()> {
        if self.given {
            return Ok(());
        }
        let watched = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if output.is_json() || !watched {
            return Err(Failure::refused(format!("{} Nothing was done.", self.about))
                .hint("add --yes if that is what you want"));
        }
        let mut err = std::io::stderr();
        let asked = write!(err, "{} Type {} to go on: ", self.about, self.word).and_then(|()| err.flush());
        let mut typed = String::new();
        let read = asked.and_then(|()| std::io::stdin().lock().read_line(&mut typed));
        match read {
            Ok(_) if typed.trim() == self.word => Ok(()),
            _ => Err(Failure::refused("not confirmed; nothing was done")),
        }
    }
}
