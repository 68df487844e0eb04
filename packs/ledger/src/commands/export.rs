//! `munshi ledger export DIR`: the books as comma-separated files.

use std::path::Path;

use async_trait::async_trait;
use munshi_pack::{PackArgument, PackArgumentKind, PackCommand, PackCommandCall, PackCommandError};
use munshi_store::Tx;
use serde_json::json;

use crate::books::export;
use crate::error::Result;

pub(super) struct ExportBooksCommand;

/// What the files are called, here and in the import.
pub(super) const FILES: [&str; 3] = ["contacts.csv", "items.csv", "entries.csv"];

#[async_trait]
impl PackCommand for ExportBooksCommand {
    fn name(&self) -> &'static str {
        "export"
    }

    fn about(&self) -> &'static str {
        "Write contacts.csv, items.csv and entries.csv; import reads them back as the same books"
    }

    fn arguments(&self) -> &'static [PackArgument] {
        &[
            PackArgument {
                name: "dir",
                about: "The folder to write to; created if missing",
                kind: PackArgumentKind::Needed,
            },
            PackArgument { name: "replace", about: "Overwrite existing files", kind: PackArgumentKind::Flag },
        ]
    }

    async fn run(&self, call: PackCommandCall<'_>) -> Result<(), PackCommandError> {
        let folder = Path::new(call.given.one("dir").unwrap_or_default());
        let there = FILES.iter().find(|name| folder.join(name).exists());
        if let (Some(name), false) = (there, call.given.has("replace")) {
            let what = format!("{} already exists", folder.join(name).display());
            return Err(PackCommandError::new(what).hint("choose another folder, or pass --replace"));
        }
        let read = |tx: &mut Tx<'_>| -> Result<[Vec<u8>; 3]> {
            let [mut contacts, mut items, mut entries] = [const { Vec::new() }; 3];
            export::contacts(tx, &mut contacts)?;
            export::items(tx, &mut items)?;
            export::entries(tx, &mut entries)?;
            Ok([contacts, items, entries])
        };
        let texts = call.db.read(call.tenant, read).await?;
        let failed = |error: std::io::Error| {
            PackCommandError::new(format!("{} can't be written: {error}", folder.display()))
                .hint("check the folder's permissions and the free disk space")
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        for (name, text) in FILES.iter().zip(&texts) {
            std::fs::write(folder.join(name), text).map_err(failed)?;
        }
        let rows = texts.map(|text| count_rows(&text));
        let [contacts, items, entries] = rows;
        let words = format!(
            "Exported to {}: {contacts} contacts, {items} items, {entries} rows of entries",
            folder.display()
        );
        let value = json!({ "dir": folder, "contacts": contacts, "items": items, "entry_rows": entries });
        call.out.print_result(&value, &words)
    }
}

/// Rows without the header; a cell may hold a line break, so that lines are no measure.
fn count_rows(text: &[u8]) -> usize {
    csv::Reader::from_reader(text).records().count()
}
