//! `munshi sms import FILE`: a phone's messages all at once, each booked, known, asked about or left, with a report.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use munshi_ledger::messages::{
    SmsImport, SmsImportLine, SmsImportMode, SmsImportOutcome, SmsImportReport, import, phone,
};
use munshi_sms::PaymentDirection;
use munshi_types::{IdGenerator, Money};
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde::Serialize;

use crate::commands::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::formatting::format_count;
use crate::output::table::sanitize_line;
use crate::output::{TextStyler, as_line};

/// So many rows of each kind are shown to a person; `--report` has all.
const SHOWN: usize = 10;
/// So many letters of a message are shown.
const LETTERS: usize = 120;

#[derive(Debug, Args)]
pub(crate) struct SmsImportArguments {
    /// Messages: an Android XML backup, or CSV or JSON lines with text, sender and date
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    of: TenantSelectorArguments,
    /// Only show what would be recorded
    #[arg(long)]
    dry_run: bool,
    /// Ask about each uncertain message in the terminal, and record the confirmed ones
    #[arg(long, conflicts_with = "dry_run")]
    ask: bool,
    /// Record large amounts without asking
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Write the outcome of every row to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What is answered: the sums, and the rows that a person should look at.
#[derive(Debug, Serialize)]
struct Answer<'r> {
    #[serde(flatten)]
    count: munshi_ledger::messages::SmsImportTotals,
    rows: usize,
    is_applied: bool,
    reasons: &'r std::collections::BTreeMap<&'static str, u64>,
    open: Vec<&'r SmsImportLine>,
}

pub(super) fn run(context: &CommandContext, arguments: &SmsImportArguments) -> Result<()> {
    let bytes = read(&arguments.file)?;
    if arguments.ask && !std::io::stdin().is_terminal() {
        return Err(CommandFailure::usage("--ask needs a terminal")
            .hint("omit --ask: the report lists uncertain messages"));
    }
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = arguments.of.find_open(&db).await?;
        let rows = phone::read(&bytes, &tenant.zone.to_jiff()).map_err(|error| to_command_failure(&error))?;
        let mode = if arguments.dry_run { SmsImportMode::Rehearse } else { SmsImportMode::Apply };
        let into = SmsImport {
            db,
            tenant: tenant.id,
            zone: tenant.zone,
            ids: IdGenerator::system(),
            now: context.now(),
            mode,
            agreed: Arc::default(),
        };
        let mut report = import_rows(context, &into, rows.clone()).await?;
        if mode == SmsImportMode::Apply {
            let agreed = collect_agreed_rows(arguments, &report)?;
            if !agreed.is_empty() {
                let again = rows.into_iter().filter(|row| agreed.contains(&row.number)).collect();
                let into = SmsImport { agreed: Arc::new(agreed), ..into };
                report
                    .replace_rows(import_rows(context, &into, again).await?)
                    .map_err(|error| to_command_failure(&error))?;
            }
        }
        if let Some(path) = &arguments.report {
            write(path, &report)?;
        }
        context.output.print_result(&answer(&report), |_, paint| render_text(&report, paint))
    })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path)
        .map_err(|error| CommandFailure::not_found(format!("can't read {}: {error}", path.display())))
}

fn to_command_failure(error: &munshi_ledger::Error) -> CommandFailure {
    CommandFailure::failed(error.to_string())
}

async fn import_rows(
    context: &CommandContext,
    into: &SmsImport,
    rows: Vec<phone::PhoneBackupRow>,
) -> Result<SmsImportReport> {
    let bar = context.output.start_progress("Reading messages");
    let all = rows.len();
    import(into, rows, |done| bar.set_progress(done, all)).await.map_err(|error| to_command_failure(&error))
}

/// The rows that somebody agrees to: those of a large amount all at once, and with `--ask` every other by itself.
fn collect_agreed_rows(arguments: &SmsImportArguments, report: &SmsImportReport) -> Result<Vec<u64>> {
    let large: Vec<&SmsImportLine> = report.lines.iter().filter(|line| is_only_large(line)).collect();
    let mut agreed = Vec::new();
    let is_asked = || {
        Ok::<bool, CommandFailure>(
            std::io::stdin().is_terminal() && confirm(&render_large_payments(&large), "Record them?")?,
        )
    };
    if !large.is_empty() && (arguments.yes || is_asked()?) {
        agreed.extend(large.iter().map(|line| line.row));
    }
    if arguments.ask {
        let doubtful = |line: &&SmsImportLine| {
            matches!(line.taken, SmsImportOutcome::Question { .. }) && !is_only_large(line)
        };
        for line in report.lines.iter().filter(doubtful) {
            if confirm(&render_line(line), "Record it?")? {
                agreed.push(line.row);
            }
        }
    }
    Ok(agreed)
}

fn is_only_large(line: &SmsImportLine) -> bool {
    matches!(line.taken, SmsImportOutcome::Question { is_only_large: true, .. })
}

/// What is asked about all large payments.
fn render_large_payments(large: &[&SmsImportLine]) -> String {
    let rows = large.iter().take(SHOWN).map(|line| render_line(line)).collect::<Vec<_>>().join("\n");
    format!("{rows}\n{} with a large amount", format_count(large.len() as u64, "payment"))
}

fn confirm(what: &str, question: &str) -> Result<bool> {
    let unheard = |error| CommandFailure::failed(format!("can't read the answer: {error}"));
    let mut err = std::io::stderr();
    write!(err, "{what}\n{question} [y/N] ").and_then(|()| err.flush()).map_err(unheard)?;
    let mut typed = String::new();
    std::io::stdin().lock().read_line(&mut typed).map_err(unheard)?;
    Ok(matches!(typed.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn write(path: &Path, report: &SmsImportReport) -> Result<()> {
    let mut text = String::new();
    for line in &report.lines {
        text.push_str(&as_line(line)?);
        text.push('\n');
    }
    fs::write(path, text)
        .map_err(|error| CommandFailure::failed(format!("can't write {}: {error}", path.display())))
}

fn is_open(line: &SmsImportLine) -> bool {
    matches!(line.taken, SmsImportOutcome::Question { .. } | SmsImportOutcome::Unreadable { .. })
}

fn answer(report: &SmsImportReport) -> Answer<'_> {
    Answer {
        count: report.count,
        rows: report.lines.len(),
        is_applied: report.is_applied,
        reasons: &report.reasons,
        open: report.lines.iter().filter(|line| is_open(line)).collect(),
    }
}

fn render_text(report: &SmsImportReport, paint: TextStyler) -> String {
    let counted = &report.count;
    let rupees = |amount: Money| format!("₹{amount}");
    let would = if report.is_applied { "recorded" } else { "would be recorded" };
    let mut text = paint.good(&format!("{} {would}", format_count(counted.booked, "payment")));
    let _ = write!(text, ": {} received, {} paid", rupees(counted.came_in), rupees(counted.went_out));
    let _ = write!(text, "\n{} already recorded", counted.known);
    let _ = write!(text, "\n{} need confirmation", counted.questions);
    let large = report.lines.iter().filter(|line| is_only_large(line)).count();
    if large > 0 {
        let _ =
            write!(text, "\n  {}", paint.dim(&format!("{large} × large amount only: --yes records them")));
    }
    let _ = write!(text, "\n{} without a payment", counted.nothing);
    for (why, times) in &report.reasons {
        let _ = write!(text, "\n  {}", paint.dim(&format!("{times} × {why}")));
    }
    let _ = write!(text, "\n{} unreadable", counted.unreadable);
    let open: Vec<&SmsImportLine> = report.lines.iter().filter(|line| is_open(line)).collect();
    for line in open.iter().take(SHOWN) {
        let _ = write!(text, "\n\n{}", paint.doubtful(&render_line(line)));
    }
    if open.len() > SHOWN {
        let _ = write!(
            text,
            "\n\n{}",
            paint.dim(&format!("and {} more: --report FILE has all rows", open.len() - SHOWN))
        );
    }
    text
}

/// A row that a person should look at.
fn render_line(line: &SmsImportLine) -> String {
    let text = line.text.as_deref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let text: String = text.unwrap_or_default().chars().take(LETTERS).collect();
    let what = match &line.taken {
        SmsImportOutcome::Question { kind, amount, counterparty, why, .. } => {
            let way = if *kind == PaymentDirection::Credit { "from" } else { "to" };
            let who = counterparty.as_deref().unwrap_or("?");
            format!("₹{amount} {way} {who}? {why}")
        }
        SmsImportOutcome::Unreadable { why } => why.clone(),
        SmsImportOutcome::Booked { .. }
        | SmsImportOutcome::Known { .. }
        | SmsImportOutcome::Nothing { .. } => String::new(),
    };
    let end = if text.is_empty() { String::new() } else { format!("\n  {}", sanitize_line(&text)) };
    format!("row {}: {}{end}", line.row, sanitize_line(&what))
}
