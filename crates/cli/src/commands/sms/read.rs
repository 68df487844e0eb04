//! `munshi sms read "…"`: what a message means. With `--jsonl`, a line of JSON for every line.

use std::fs::File;
use std::io::{BufRead, BufReader};

use clap::Args;
use munshi_sms::{Sms, read};
use munshi_types::Zone;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Deserialize;

use super::report::{SmsReadReport, render_text};
use crate::context::CommandContext;
use crate::output::as_line;
use crate::output::formatting::format_count;

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, Args)]
pub(crate) struct SmsReadArguments {
    /// Message; with --jsonl a file of lines. Default: standard input
    #[arg(value_name = "TEXT|FILE", required_unless_present = "jsonl", allow_hyphen_values = true)]
    what: Option<String>,
    /// Sender id, if known: VM-HDFCBK
    #[arg(long, value_name = "ID", conflicts_with = "jsonl")]
    sender: Option<String>,
    /// Read lines {"text":…,"sender"?:…} and answer each with a line of JSON
    #[arg(long)]
    jsonl: bool,
}

/// One line of `--jsonl`.
#[derive(Debug, Deserialize)]
struct Line {
    text: String,
    sender: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &SmsReadArguments) -> Result<()> {
    let day = context.now().to_jiff().to_zoned(Zone::default().to_jiff()).date();
    let answer = |text: &str, sender: Option<&str>| {
        SmsReadReport::from_reading(&read(&Sms { text, sender, day: Some(day) }))
    };
    match &arguments.what {
        Some(path) if arguments.jsonl => {
            let unreadable = |error| CommandFailure::not_found(format!("can't read {path}: {error}"));
            process_lines(context, BufReader::new(File::open(path).map_err(unreadable)?), answer)
        }
        Some(text) => context.output.print_result(&answer(text, arguments.sender.as_deref()), render_text),
        None => process_lines(context, std::io::stdin().lock(), answer),
    }
}

/// Answers every line with a line as it comes: a line that can't be read with what is wrong with it.
fn process_lines(
    context: &CommandContext,
    input: impl BufRead,
    answer: impl Fn(&str, Option<&str>) -> SmsReadReport,
) -> Result<()> {
    let mut unread: u64 = 0;
    for (number, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(|error| CommandFailure::failed(format!("can't read the input: {error}")))?;
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line>(line) {
            Ok(line) => context.output.print(&as_line(&answer(&line.text, line.sender.as_deref()))?)?,
            Err(error) => {
                unread += 1;
                context.output.print(&bad_line(number + 1, &error).to_string())?;
            }
        }
    }
    if unread == 0 {
        Ok(())
    } else {
        Err(CommandFailure::failed(format!("{} not readable", format_count(unread, "line"))))
    }
}

fn bad_line(number: usize, error: &serde_json::Error) -> serde_json::Value {
    let failure =
        CommandFailure::usage(format!("line {number} is not {{\"text\":…,\"sender\"?:…}}: {error}"));
    let mut value = failure.to_json();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("line".to_owned(), number.into());
    }
    value
}
