//! `munshi understand "…"`: what is read in a sentence, without a model.

use std::io::BufRead;

use clap::Args;
use jiff::civil::Date;
use munshi_lang::numbers::Certainty;
use munshi_lang::{
    ContactDirectory, MessageUnderstanding, NumberMention, ScriptForm, UnderstandingContext, understand,
};
use munshi_types::{Language, Zone};
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Deserialize;

use crate::context::CommandContext;
use crate::output::formatting::format_count;
use crate::output::table::sanitize_line;
use crate::output::{TextStyler, as_line};

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, Args)]
pub(crate) struct UnderstandArguments {
    /// Sentence in one of eleven languages, in native or Latin script
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl", allow_hyphen_values = true)]
    text: Option<String>,
    /// Language, if known: en hi bn gu kn ml mr or pa ta te
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// Name of a known contact; repeatable
    #[arg(long = "contact", value_name = "NAME")]
    contacts: Vec<String>,
    /// Read lines {"text":…,"language"?:…} from standard input and answer each with a line of JSON
    #[arg(long)]
    jsonl: bool,
}

/// One line of `--jsonl`.
#[derive(Debug, Deserialize)]
struct Line {
    text: String,
    /// A code, perhaps with a script behind a hyphen: `hi`, `hi-Latn`.
    language: Option<String>,
}

pub(super) fn run(context: &CommandContext, arguments: &UnderstandArguments) -> Result<()> {
    let today = context.now().to_jiff().to_zoned(Zone::default().to_jiff()).date();
    let contacts = ContactDirectory::new(&arguments.contacts);
    let read = |text: &str, language| {
        let contacts = (!arguments.contacts.is_empty()).then_some(&contacts);
        understand(
            text,
            &UnderstandingContext {
                language,
                today: Some(today),
                contacts,
                ..UnderstandingContext::default()
            },
        )
    };
    match &arguments.text {
        Some(text) => context
            .output
            .print_result(&read(text, arguments.language), |found, paint| render_text(found, today, paint)),
        None => {
            process_lines(context, |line| Ok(read(&line.text, parse_language(line)?.or(arguments.language))))
        }
    }
}

/// Answers every line with a line: a line that can't be read with what is wrong with it.
fn process_lines(
    context: &CommandContext,
    read: impl Fn(&Line) -> Result<MessageUnderstanding>,
) -> Result<()> {
    let mut unread: u64 = 0;
    for line in std::io::stdin().lock().split(b'\n') {
        let line =
            line.map_err(|error| CommandFailure::failed(format!("can't read standard input: {error}")))?;
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let expected = r#"the line is not {"text":…,"language"?:…}"#;
        let found = serde_json::from_slice::<Line>(line)
            .map_err(|error| CommandFailure::usage(format!("{expected}: {error}")))
            .and_then(|line| read(&line));
        match found {
            Ok(found) => context.output.print(&as_line(&found)?)?,
            Err(failure) => {
                unread += 1;
                context.output.print(&failure.to_json().to_string())?;
            }
        }
    }
    if unread == 0 {
        Ok(())
    } else {
        Err(CommandFailure::failed(format!("{} not readable", format_count(unread, "line"))))
    }
}

fn parse_language(line: &Line) -> Result<Option<Language>> {
    let Some(code) = &line.language else { return Ok(None) };
    let plain = code.split(['-', '_']).next().unwrap_or_default();
    plain
        .parse()
        .map(Some)
        .map_err(|error: munshi_types::LanguageError| CommandFailure::usage(error.to_string()))
}

fn render_text(found: &MessageUnderstanding, today: Date, paint: TextStyler) -> String {
    let sure = (found.confidence * 100.0).round();
    let sure = if sure > 0.0 { format!("{sure}% sure") } else { "by default".to_owned() };
    let mut lines = vec![format!(
        "{} {}, {}, {sure}",
        paint.dim("language"),
        name_of(found.language),
        form(found.script)
    )];
    lines.extend(found.numbers.iter().map(|amount| number(amount, paint)));
    for date in &found.dates {
        let readings = date.readings.iter().map(|reading| match (reading.from, reading.to) {
            (Some(from), Some(to)) if from != to => format!("{from} to {to}"),
            (Some(from), _) => from.to_string(),
            _ => "a relative day".to_owned(),
        });
        let none = date.no_such_day.then(|| "invalid date".to_owned());
        lines.push(row("date", &date.text, date.certainty, readings.chain(none), paint));
    }
    for time in &found.times {
        lines.push(row(
            "time",
            &time.text,
            time.certainty,
            time.readings.iter().map(ToString::to_string),
            paint,
        ));
    }
    for name in &found.names {
        lines.push(row(
            "name",
            &name.text,
            name.certainty,
            name.candidates.iter().map(|who| who.name.clone()),
            paint,
        ));
    }
    if lines.len() == 1 {
        lines.push(paint.dim("no amounts, dates or names found"));
    }
    if found.cut {
        lines.push(paint.dim("the message is too long; its end was ignored"));
    }
    lines.push(paint.dim(&format!("(today is {today})")));
    lines.join("\n")
}

const fn form(form: ScriptForm) -> &'static str {
    match form {
        ScriptForm::Native => "native script",
        ScriptForm::Latin => "Latin script",
    }
}

fn name_of(language: Language) -> String {
    format!("{language:?} ({language})")
}

fn number(amount: &NumberMention, paint: TextStyler) -> String {
    let kind = format!("{:?}", amount.kind).to_lowercase();
    let readings = amount.readings.iter().map(ToString::to_string);
    let unit = amount.unit.map(|unit| format!(" {unit:?}").to_lowercase()).unwrap_or_default();
    match &amount.digits {
        Some(digits) => row(&kind, &amount.text, amount.certainty, std::iter::once(digits.clone()), paint),
        None => row(&kind, &amount.text, amount.certainty, readings.map(|value| value + &unit), paint),
    }
}

/// `money    dhai hazaar = 2500`, or with all it may mean.
fn row(
    kind: &str,
    text: &str,
    certainty: Certainty,
    readings: impl Iterator<Item = String>,
    paint: TextStyler,
) -> String {
    let readings: Vec<String> = readings.collect();
    let meaning = match certainty {
        Certainty::Exact => paint.good(&readings.join(" or ")),
        Certainty::Ambiguous => paint.doubtful(&format!("{} (unsure)", readings.join(" or "))),
    };
    format!("{} {} = {meaning}", paint.dim(&format!("{kind:8}")), sanitize_line(text))
}
