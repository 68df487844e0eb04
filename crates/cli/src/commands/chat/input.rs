//! What is typed at a terminal, or comes line by line from elsewhere.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use munshi_conversations::inbound::LONGEST_TEXT;
use munshi_wiring::failure::{CommandFailure, Result};
use reedline::{Reedline, Signal};
use tokio::sync::mpsc;

use super::editor::{self, ChatLinePrompt, EditorColours};

/// Something that was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChatTerminalInput {
    Line(String),
    /// Ctrl-C at the prompt: what was being typed is dropped.
    Dropped,
    /// Ctrl-D, or the end of what was piped.
    End,
}

pub(super) enum ChatTerminalSource {
    /// None while a thread waits with it.
    Terminal(Option<Box<Reedline>>),
    Piped(mpsc::Receiver<Result<String>>),
}

impl ChatTerminalSource {
    pub(super) fn open(past: impl FnOnce() -> Result<PathBuf>, colours: EditorColours) -> Result<Self> {
        match std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            true => Ok(Self::Terminal(Some(Box::new(editor::editor(past()?, colours)?)))),
            false => spawn_line_reader().map(Self::Piped),
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    pub(super) async fn next(&mut self) -> Result<ChatTerminalInput> {
        match self {
            Self::Piped(lines) => {
                Ok(lines.recv().await.transpose()?.map_or(ChatTerminalInput::End, ChatTerminalInput::Line))
            }
            Self::Terminal(place) => {
                let Some(mut editor) = place.take() else { return Ok(ChatTerminalInput::End) };
                // The editor waits on a thread of its own, so that turns go on meanwhile.
                let waiting = tokio::task::spawn_blocking(move || {
                    let read = editor.read_line(&ChatLinePrompt);
                    (editor, read)
                });
                let (editor, read) = waiting.await.map_err(|_| unreadable_failure("the editor crashed"))?;
                *place = Some(editor);
                match read.map_err(|error| unreadable_failure(&error.to_string()))? {
                    Signal::Success(text) => Ok(ChatTerminalInput::Line(editor::join_continued_lines(&text))),
                    Signal::CtrlD => Ok(ChatTerminalInput::End),
                    _ => Ok(ChatTerminalInput::Dropped),
                }
            }
        }
    }
}

fn unreadable_failure(why: &str) -> CommandFailure {
    CommandFailure::failed(format!("can't read the input: {why}"))
}

/// Lines as they come, read by a thread of its own. One that ends with a backslash goes on in the next.
fn spawn_line_reader() -> Result<mpsc::Receiver<Result<String>>> {
    let (sender, receiver) = mpsc::channel(1);
    let work = move || {
        let mut reader = std::io::stdin().lock();
        while let Some(line) = next(&mut reader).transpose() {
            let is_over = line.is_err();
            if sender.blocking_send(line).is_err() || is_over {
                break;
            }
        }
    };
    let spawned = std::thread::Builder::new().name("lines".to_owned()).spawn(work);
    spawned.map_err(|error| CommandFailure::failed(format!("can't start the input thread: {error}")))?;
    Ok(receiver)
}

fn next(reader: &mut dyn BufRead) -> Result<Option<String>> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        // One byte more than fits tells that it does not.
        let most = LONGEST_TEXT as u64 + 2;
        let read = std::io::Read::take(&mut *reader, most).read_line(&mut line);
        if read.map_err(|error| unreadable_failure(&error.to_string()))? == 0 {
            return Ok((!text.is_empty()).then_some(text));
        }
        let line = line.trim_end_matches(['\n', '\r']);
        match line.strip_suffix('\\') {
            Some(begun) if text.len() < LONGEST_TEXT => text += &format!("{begun}\n"),
            _ => return Ok(Some(text + line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_some_go_on() {
        let mut reader = std::io::Cursor::new("one\r\ntwo\\\nthree\n\nराम\\");
        let mut lines = Vec::new();
        while let Some(line) = next(&mut reader).unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, ["one", "two\nthree", "", "राम\n"]);
    }
}
