//! Keys that are pressed while an answer comes.

use std::io::{IsTerminal, stdin};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// While it lives, keys are kept as they are for the line that follows: Ctrl-D too, which the terminal would otherwise
/// take for an end and forget. Nothing of them is shown between the words. Ctrl-C stops the answer, as ever.
pub(super) struct TerminalModeGuard {
    before: Termios,
}

impl TerminalModeGuard {
    /// None where nobody sits at a terminal.
    pub(super) fn start() -> Option<Self> {
        let input = stdin();
        let before = input.is_terminal().then(|| tcgetattr(&input).ok()).flatten()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&input, OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for TerminalModeGuard {
    fn drop(&mut self) {
        // Where the terminal is gone there is nothing to put back.
        let _put_back = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
