//! A file of the archive: whole and on disk, or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use munshi_store::{Error, JsonText, SealedBy, SealedColumn, Tx};
use munshi_types::{MessageId, TenantId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const LINE: SealedColumn = SealedColumn::new("archive", "line");

/// A line as it stands in a file: what it says is sealed, for the message whose id stands beside it.
#[derive(Serialize, Deserialize)]
pub(super) struct SealedLine {
    id: MessageId,
    sealed: String,
}

impl SealedLine {
    pub(super) fn id(&self) -> MessageId {
        self.id
    }

    pub(super) fn text(&self) -> &str {
        &self.sealed
    }

    pub(super) fn seal(
        tx: &Tx<'_>,
        by: SealedBy,
        (id, line): (MessageId, &impl Serialize),
    ) -> munshi_store::Result<Self> {
        let text = JsonText::of(line)?;
        Ok(Self { id, sealed: tx.seal(by, LINE.cell(id), text.as_str())?.into_text() })
    }
}

/// Reads a line of an archive file. Lines from before they were sealed are read as they are.
pub(super) fn read_line<T: DeserializeOwned>(tx: &Tx<'_>, line: &str) -> munshi_store::Result<T> {
    let unreadable =
        |error: serde_json::Error| Error::Decode(format!("invalid line of the archive: {error}"));
    match serde_json::from_str::<SealedLine>(line) {
        Ok(SealedLine { id, sealed }) => {
            let text = tx.open(LINE.cell(id), &sealed)?;
            serde_json::from_str(&text).map_err(unreadable)
        }
        Err(_) => serde_json::from_str(line).map_err(unreadable),
    }
}

/// Writes one JSON value a line, and answers only when the file is safely there under its name. A file of that name is
/// replaced: it is the same lines, or fewer that were never removed from the table.
pub(super) fn write<T: Serialize>(
    folder: &Path,
    tenant: TenantId,
    name: &str,
    lines: &[T],
) -> io::Result<PathBuf> {
    let lines = lines.iter().map(serde_json::to_vec).collect::<serde_json::Result<Vec<_>>>()?;
    write_lines(folder, tenant, name, &lines)
}

/// The same of lines as they are, also damaged ones.
pub(super) fn write_lines<L: AsRef<[u8]>>(
    folder: &Path,
    tenant: TenantId,
    name: &str,
    lines: &[L],
) -> io::Result<PathBuf> {
    let folder = folder.join(tenant.to_string());
    make(&folder)?;
    let (path, part) = (folder.join(format!("{name}.jsonl")), folder.join(format!("{name}.jsonl.part")));
    let mut out = BufWriter::new(create(&part)?);
    for line in lines {
        out.write_all(line.as_ref())?;
        out.write_all(b"\n")?;
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    fs::rename(&part, &path)?;
    sync_folder(&folder)?;
    Ok(path)
}

/// The lines of a file as they are: a damaged one may not even be text.
pub(super) fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// Folders as far as they are missing; each is safely there before anything is put in it.
fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    folder.ancestors().skip(1).take(2).filter(|above| above.is_dir()).try_for_each(sync_folder)
}

/// What people said is for nobody else's eyes.
fn create(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The name is in the folder, which reaches the disk by itself only later.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
