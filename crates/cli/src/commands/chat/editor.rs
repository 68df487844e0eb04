//! The line editor: several lines, what was typed before, and letters of every script as whole letters.

use std::borrow::Cow;
use std::path::PathBuf;

use munshi_wiring::failure::{CommandFailure, Result};
use reedline::{
    Color, EditCommand, Emacs, FileBackedHistory, Highlighter, Hinter, History, KeyCode, KeyModifiers,
    Prompt, PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, StyledText, ValidationResult,
    Validator, default_emacs_keybindings,
};

use super::slash;

/// So many lines are remembered.
const REMEMBERED: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditorColours {
    Shown,
    Plain,
}

pub(super) fn editor(past: PathBuf, colours: EditorColours) -> Result<Reedline> {
    let history = FileBackedHistory::with_file(REMEMBERED, past)
        .map_err(|error| CommandFailure::failed(format!("can't read the input history: {error}")))?;
    let mut keys = default_emacs_keybindings();
    let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
    // What stands dimly behind a slash is taken with Tab, as in a shell.
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::HistoryHintComplete);
    Ok(Reedline::create()
        .with_history(Box::new(history))
        // A line that begins with a blank is not kept, as in a shell.
        .with_history_exclusion_prefix(Some(" ".to_owned()))
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_validator(Box::new(Continued))
        .with_highlighter(Box::new(Plain))
        .with_hinter(Box::new(Commands::default()))
        .with_ansi_colors(colours == EditorColours::Shown)
        .use_bracketed_paste(true))
}

/// A line that ends with a backslash goes on.
struct Continued;

impl Validator for Continued {
    fn validate(&self, line: &str) -> ValidationResult {
        match line.ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Complete,
        }
    }
}

/// What was typed, without the marks that made it go on.
pub(super) fn join_continued_lines(typed: &str) -> String {
    typed.replace("\\\n", "\n")
}

/// No word is of another colour than the next.
struct Plain;

impl Highlighter for Plain {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut text = StyledText::new();
        text.push((Default::default(), line.to_owned()));
        text
    }
}

/// The rest of a command that was begun.
#[derive(Default)]
struct Commands {
    rest: String,
}

impl Hinter for Commands {
    fn handle(
        &mut self,
        line: &str,
        pos: usize,
        _: &dyn History,
        use_ansi_coloring: bool,
        _: &str,
    ) -> String {
        let begun = (pos == line.len()).then_some(line).filter(|line| line.len() > 1);
        self.rest = begun.and_then(slash::complete_command).unwrap_or_default().to_owned();
        match use_ansi_coloring && !self.rest.is_empty() {
            true => format!("\x1b[2m{}\x1b[0m", self.rest),
            false => String::new(),
        }
    }

    fn complete_hint(&self) -> String {
        self.rest.clone()
    }

    fn next_hint_token(&self) -> String {
        self.rest.clone()
    }
}

/// What stands before what one types.
pub(super) struct ChatLinePrompt;

impl Prompt for ChatLinePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("› ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(history: {}) ", search.term))
    }

    fn get_indicator_color(&self) -> Color {
        Color::Cyan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_at_the_end_goes_on_and_is_not_said() {
        assert!(matches!(Continued.validate("one\\"), ValidationResult::Incomplete));
        assert!(matches!(Continued.validate("one\\\ntwo"), ValidationResult::Complete));
        assert_eq!(join_continued_lines("one\\\ntwo"), "one\ntwo");
        assert_eq!(join_continued_lines("a \\ b"), "a \\ b");
    }

    #[test]
    fn a_command_that_was_begun_is_hinted_at() {
        let (mut hinter, history) = (Commands::default(), FileBackedHistory::default());
        assert_eq!(hinter.handle("/to", 3, &history, true, ""), "\x1b[2mols\x1b[0m");
        assert_eq!(hinter.complete_hint(), "ols");
        assert_eq!(hinter.handle("/to", 1, &history, true, ""), "", "only behind the last letter");
        assert_eq!(hinter.handle("राम", "राम".len(), &history, true, ""), "");
    }
}
