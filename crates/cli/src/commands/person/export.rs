//! `munshi person export PERSON`

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use munshi_erasure::export::ExportedRecord;
use munshi_erasure::export_page;
use munshi_operations::persons::{ExportPerson, ExportPersonInput, PersonalRecordView};
use munshi_types::{Clock, SystemClock};
use munshi_wiring::failure::{CommandFailure, Result};

use crate::commands::tenant::TenantSelectorArguments;
use crate::commands::vault::OperatorArguments;
use crate::context::CommandContext;
use crate::operation_client::{LARGEST_PAGE, OperationTarget};

#[derive(Debug, Args)]
pub(crate) struct PersonExportArguments {
    /// Name, phone, e-mail, @handle or id; or a pack's record of somebody, such as a contact of the books
    person: String,
    /// Where contacts share a phone: the id of the person or contact who is meant too, or none
    #[arg(long, value_name = "ID")]
    with: Option<String>,
    /// The file to write, readable by you alone; it must not be there yet
    #[arg(long)]
    out: PathBuf,
    /// A page for a browser or a printer, in place of JSON
    #[arg(long)]
    html: bool,
    #[command(flatten)]
    of: TenantSelectorArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &PersonExportArguments) -> Result<()> {
    let unwritten = |error: io::Error| {
        let what = format!("{} can't be written: {error}", arguments.out.display());
        CommandFailure::failed(what).hint("name a file that is not there yet, in a folder of yours")
    };
    if arguments.out.exists() {
        return Err(unwritten(io::ErrorKind::AlreadyExists.into()));
    }
    let part = name_part(&arguments.out);
    let written = write_part(context, arguments, &part);
    let count = written.and_then(|count| {
        fs::rename(&part, &arguments.out).map_err(unwritten)?;
        Ok(count)
    });
    if count.is_err() && part.exists() {
        fs::remove_file(&part).map_err(unwritten)?;
    }
    let line = format!("{} records in {}", count?, arguments.out.display());
    context.output.print(&line)
}

/// A file that was begun never stands under the name that was asked for.
fn name_part(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    out.with_file_name(name)
}

fn write_part(context: &CommandContext, arguments: &PersonExportArguments, part: &Path) -> Result<usize> {
    let unwritten =
        |error: io::Error| CommandFailure::failed(format!("{} can't be written: {error}", part.display()));
    let file = create_private(part).map_err(unwritten)?;
    let mut document = ExportDocument::new(file, arguments)?;
    let target = OperationTarget { of: &arguments.of, operator: Some(&arguments.operator) };
    let mut input = ExportPersonInput {
        id: arguments.person.clone(),
        with: arguments.with.clone(),
        after: None,
        limit: Some(LARGEST_PAGE),
    };
    loop {
        let page = context.run_operation::<ExportPerson>(&target, &input)?;
        for record in page.records {
            document.add(record)?;
        }
        match page.next {
            Some(next) => input.after = Some(next),
            None => return document.finish(),
        }
    }
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The file as it grows.
struct ExportDocument {
    out: BufWriter<File>,
    is_page: bool,
    records: usize,
    last_kind: Option<String>,
}

impl ExportDocument {
    fn new(file: File, arguments: &PersonExportArguments) -> Result<Self> {
        let mut document =
            Self { out: BufWriter::new(file), is_page: arguments.html, records: 0, last_kind: None };
        let head = match arguments.html {
            true => export_page::render_head(&arguments.person, SystemClock.now())
                .map_err(|error| CommandFailure::failed(error.to_string()))?,
            false => "[".to_owned(),
        };
        document.write(&head)?;
        Ok(document)
    }

    fn add(&mut self, record: PersonalRecordView) -> Result<()> {
        let failed = |error: String| CommandFailure::failed(error);
        let text = if self.is_page {
            let record = ExportedRecord { kind: record.kind, id: record.id, data: record.data };
            let text = export_page::render_record(&record, self.last_kind.as_deref());
            self.last_kind = Some(record.kind);
            text.map_err(|error| failed(error.to_string()))?
        } else {
            let separator = if self.records == 0 { "\n" } else { ",\n" };
            let record = serde_json::to_string(&record).map_err(|error| failed(error.to_string()))?;
            format!("{separator}{record}")
        };
        self.records += 1;
        self.write(&text)
    }

    fn finish(mut self) -> Result<usize> {
        self.write(if self.is_page { export_page::END } else { "\n]\n" })?;
        let failed = |error: io::Error| CommandFailure::failed(error.to_string());
        let file = self.out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        Ok(self.records)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|error| CommandFailure::failed(error.to_string()))
    }
}
