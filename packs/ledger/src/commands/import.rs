//! `munshi ledger import`: books from comma-separated files, rehearsed first where one wishes.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use munshi_pack::{
    PackArgument, PackArgumentKind, PackArgumentValues, PackCommand, PackCommandCall, PackCommandError,
};
use munshi_store::Tx;
use serde_json::json;

use super::export::FILES;
use super::zone;
use crate::books::BookingContext;
use crate::books::import::{self, BooksFiles, BooksImportReport, ImportMode};
use crate::error::Result;

pub(super) struct ImportBooksCommand;

/// A larger file is brought in parts.
const LARGEST: u64 = 256 * 1024 * 1024;

#[async_trait]
impl PackCommand for ImportBooksCommand {
    fn name(&self) -> &'static str {
        "import"
    }

    fn about(&self) -> &'static str {
        "Import contacts, items and entries from CSV files: all rows or none"
    }

    fn arguments(&self) -> &'static [PackArgument] {
        &[
            PackArgument {
                name: "dir",
                about: "A folder with any of contacts.csv, items.csv and entries.csv",
                kind: PackArgumentKind::Optional,
            },
            PackArgument { name: "contacts", about: "A CSV file of contacts", kind: PackArgumentKind::Value },
            PackArgument { name: "items", about: "A CSV file of items", kind: PackArgumentKind::Value },
            PackArgument { name: "entries", about: "A CSV file of entries", kind: PackArgumentKind::Value },
            PackArgument {
                name: "dry-run",
                about: "Show what would be imported and which rows are invalid; import nothing",
                kind: PackArgumentKind::Flag,
            },
            PackArgument {
                name: "yes",
                about: "Import entries of a large amount without asking",
                kind: PackArgumentKind::Flag,
            },
        ]
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let [contacts, items, entries] = read_files(call.given)?;
        let mode = if call.given.has("dry-run") { ImportMode::Rehearse } else { ImportMode::Apply };
        let asks_first = mode == ImportMode::Apply && !call.given.has("yes");
        let (zone, ids, now) = (zone(call.db, call.tenant).await?, call.ids.clone(), call.now);
        let unit = move |tx: &mut Tx<'_>| -> Result<BooksImportReport> {
            let writing = BookingContext { ids: &ids, now, zone: &zone };
            let files = BooksFiles { contacts: &contacts, items: &items, entries: &entries };
            let rehearsed = if asks_first { Some(ImportMode::Rehearse) } else { None };
            let first = import::import(tx, &writing, &files, rehearsed.unwrap_or(mode))?;
            let is_asked = first.large_in_all > 0 && asks_first;
            if rehearsed.is_none() || is_asked || first.wrong > 0 {
                return Ok(first);
            }
            import::import(tx, &writing, &files, mode)
        };
        let report = call.db.write(call.tenant, unit).await?;
        if report.contacts + report.items + report.entries + report.known + report.wrong == 0 {
            return Err(PackCommandError::new("the files have no rows; nothing was imported")
                .hint("add a row below the header for each entry, contact or item"));
        }
        call.out.print_result(&json!(report), &render_report(&report, mode))?;
        if report.wrong == 0 && (report.is_applied || mode == ImportMode::Rehearse) {
            return Ok(());
        }
        if report.wrong == 0 {
            let what = format!("{} entries have a large amount; nothing was imported", report.large_in_all);
            return Err(PackCommandError::new(what).hint("check them, then import again with --yes"));
        }
        let so = if mode == ImportMode::Rehearse { "would be" } else { "was" };
        let what = format!("{} rows are invalid, so nothing {so} imported", report.wrong);
        Err(PackCommandError::new(what).hint("fix them and import again; rows already imported are skipped"))
    }
}

/// What the files hold; one that is not named is empty.
fn read_files(given: &PackArgumentValues) -> Result<[String; 3], PackCommandError> {
    let dir = given.one("dir").map(Path::new);
    let named = ["contacts", "items", "entries"].map(|name| given.one(name).map(PathBuf::from));
    let mut texts = [const { String::new() }; 3];
    let mut found = false;
    for ((text, named), usual) in texts.iter_mut().zip(named).zip(FILES) {
        let path = named.or_else(|| dir.map(|dir| dir.join(usual)).filter(|path| path.exists()));
        if let Some(path) = path {
            *text = read(&path)?;
            found = true;
        }
    }
    let nothing = || {
        PackCommandError::new("there is no file to import")
            .hint("pass a folder with contacts.csv, items.csv or entries.csv, or a file with --entries FILE")
    };
    found.then_some(texts).ok_or_else(nothing)
}

fn read(path: &Path) -> Result<String, PackCommandError> {
    let unreadable = |why: &dyn std::fmt::Display| {
        PackCommandError::new(format!("{} can't be read: {why}", path.display()))
    };
    let size = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    if size > LARGEST {
        return Err(unreadable(&"it is larger than 256 MB").hint("split it"));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| unreadable(&error).hint("save it as CSV in UTF-8"))?;
    // Spreadsheets put a mark before the first letter.
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn render_report(report: &BooksImportReport, mode: ImportMode) -> String {
    let BooksImportReport { contacts, items, entries, known, .. } = report;
    let what = format!(
        "{contacts} contacts, {items} items and {entries} entries; {known} rows were already imported"
    );
    let head = match (mode, report.is_applied) {
        (ImportMode::Rehearse, _) if report.wrong > 0 => format!("Nothing would be imported. Valid: {what}"),
        (ImportMode::Rehearse, _) => format!("Would import: {what}"),
        (ImportMode::Apply, true) => format!("Imported: {what}"),
        (ImportMode::Apply, false) => format!("Nothing was imported. Valid: {what}"),
    };
    let rows = report.errors.iter().map(|row| format!("{}.csv line {}: {}", row.file, row.line, row.what));
    let large = report
        .large
        .iter()
        .map(|row| format!("entries.csv line {}: ₹{} is a large amount", row.line, row.amount));
    let more_large = report.large_in_all.saturating_sub(report.large.len());
    let more_large = (more_large > 0).then(|| format!("… and {more_large} more with a large amount"));
    let rows = rows.chain(large).chain(more_large);
    let more = report.wrong.saturating_sub(report.errors.len());
    let more = (more > 0).then(|| format!("… and {more} more"));
    [head].into_iter().chain(rows).chain(more).collect::<Vec<_>>().join("\n")
}
