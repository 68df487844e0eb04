//! `munshi ask BINDING --jsonl [FILE]`: many messages, each answered with a line.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use munshi_conversations::inbound::LONGEST_TEXT;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;

use super::client::AskClient;
use super::reply::{AskReply, SilentAskListener};
use super::speaker::AskSpeaker;
use super::validate_text;
use crate::context::CommandContext;
use crate::output::as_line;
use crate::output::formatting::format_count;

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// A text that fits, with every letter escaped, and what stands around it.
const LONGEST_LINE: u64 = LONGEST_TEXT as u64 * 6 + 4096;

#[derive(Debug, Deserialize)]
struct Line {
    text: String,
    /// Whose conversation; without it that of `--person`, or the operator's.
    person: Option<String>,
}

#[derive(Serialize)]
struct Answered<'a> {
    line: u64,
    #[serde(flatten)]
    told: &'a AskReply,
}

/// Answers every line in order. A line that can't be taken says why, and the rest go on.
pub(super) async fn run(
    context: &CommandContext,
    desk: &mut AskClient,
    person: Option<&str>,
    file: &Path,
) -> Result<()> {
    let mut coming = spawn_line_reader(open(file)?)?;
    let mut people: HashMap<Option<String>, AskSpeaker> = HashMap::new();
    let (mut number, mut failed) = (0, 0);
    loop {
        let line = tokio::select! {
            line = coming.recv() => line,
            failure = desk.wait_for_interrupt() => return Err(failure),
        };
        let Some(line) = line.transpose()? else { break };
        number += 1;
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match answer(desk, &mut people, person, line).await {
            Ok(told) => context.output.print(&as_line(&Answered { line: number, told: &told })?)?,
            Err(Stop::Interrupted(failure)) => return Err(failure),
            Err(Stop::Line(failure)) => {
                failed += 1;
                context.output.print(&refusal(&failure, number).to_string())?;
            }
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(CommandFailure::failed(format!("{} could not be answered", format_count(failed, "line")))),
    }
}

/// Whether one line goes wrong, or everything ends.
enum Stop {
    Line(CommandFailure),
    Interrupted(CommandFailure),
}

async fn answer(
    desk: &mut AskClient,
    people: &mut HashMap<Option<String>, AskSpeaker>,
    person: Option<&str>,
    line: &[u8],
) -> Result<AskReply, Stop> {
    let line = read(line).map_err(Stop::Line)?;
    let name = line.person.or_else(|| person.map(str::to_owned));
    let who = match people.get(&name) {
        Some(who) => who.clone(),
        None => {
            let who = desk.resolve_speaker(name.as_deref()).await.map_err(Stop::Line)?;
            people.insert(name, who.clone());
            who
        }
    };
    let told = desk.ask(&who, &line.text, &mut SilentAskListener).await;
    told.map_err(
        |failure| if desk.was_interrupted() { Stop::Interrupted(failure) } else { Stop::Line(failure) },
    )
}

fn read(line: &[u8]) -> Result<Line> {
    if line.len() as u64 > LONGEST_LINE {
        return Err(CommandFailure::usage(format!(
            "the line is too long: a message has at most {LONGEST_TEXT} bytes"
        )));
    }
    let expected = r#"the line is not {"text":…,"person"?:…}"#;
    let line: Line = serde_json::from_slice(line)
        .map_err(|error| CommandFailure::usage(format!("{expected}: {error}")))?;
    validate_text(&line.text)?;
    Ok(line)
}

fn refusal(failure: &CommandFailure, number: u64) -> Value {
    let mut refusal = failure.to_json();
    if let Some(fields) = refusal.as_object_mut() {
        fields.insert("line".to_owned(), number.into());
    }
    refusal
}

fn open(file: &Path) -> Result<Box<dyn BufRead + Send>> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let opened = File::open(file)
        .map_err(|error| CommandFailure::not_found(format!("can't read {}: {error}", file.display())))?;
    Ok(Box::new(BufReader::new(opened)))
}

/// Lines as they come, read by a thread of its own: whoever waits for the next one can still be stopped.
fn spawn_line_reader(mut reader: Box<dyn BufRead + Send>) -> Result<mpsc::Receiver<Result<Vec<u8>>>> {
    let (sender, receiver) = mpsc::channel(1);
    let work = move || {
        while let Some(line) = next(reader.as_mut()).transpose() {
            let is_over = line.is_err();
            if sender.blocking_send(line).is_err() || is_over {
                break;
            }
        }
    };
    std::thread::Builder::new()
        .name("lines".to_owned())
        .spawn(work)
        .map_err(|error| CommandFailure::failed(format!("can't start the runtime: {error}")))?;
    Ok(receiver)
}

/// The next line without its end. Of one that is far too long only so much is kept as tells that it is.
fn next(reader: &mut dyn BufRead) -> Result<Option<Vec<u8>>> {
    let broken = |error: std::io::Error| CommandFailure::failed(format!("can't read the input: {error}"));
    let mut line = Vec::new();
    let read = Read::take(&mut *reader, LONGEST_LINE + 2).read_until(b'\n', &mut line).map_err(broken)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else {
        reader.skip_until(b'\n').map_err(broken)?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_refused_and_the_next_is_read() {
        let long = "x".repeat(usize::try_from(LONGEST_LINE).unwrap() * 2);
        let text = format!("one\n{long}\ntwo");
        let mut reader: Box<dyn BufRead> = Box::new(std::io::Cursor::new(text));
        assert_eq!(next(reader.as_mut()).unwrap().unwrap(), b"one");
        let cut = next(reader.as_mut()).unwrap().unwrap();
        assert!(read(&cut).unwrap_err().message.starts_with("the line is too long"));
        assert_eq!(next(reader.as_mut()).unwrap().unwrap(), b"two");
        assert!(next(reader.as_mut()).unwrap().is_none());
    }
}
