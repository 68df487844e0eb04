//! The file of anchors: a line of JSON each, only ever added to, every line holding the hash of the one before.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use munshi_types::{TenantId, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::witness::AnchorFileWitness;
use crate::audit::canonical_json::to_canonical_json;
use crate::audit::entry::ChainHash;
use crate::audit::read::ChainHead;
use crate::error::{Error, Result};

/// Longer than any line.
const LONGEST_LINE: u64 = 1024;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Anchor {
    pub at: Timestamp,
    pub hash: ChainHash,
    /// Counts from 1.
    pub line: u64,
    /// SHA-256 of `prev` and the canonical line without this.
    pub link: ChainHash,
    /// The link of the line before.
    pub prev: ChainHash,
    pub seq: i64,
    pub tenant: TenantId,
}

/// What is wrong with the file, and where first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnchorFileFlaw {
    pub line: u64,
    pub what: &'static str,
}

/// What the file holds. The lines from a flaw on are not believed and not here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    pub list: Vec<Anchor>,
    pub flaw: Option<AnchorFileFlaw>,
}

/// What of the file is needed to go on with it.
#[derive(Clone, Debug, Default)]
pub(super) struct AnchorFileSummary {
    /// The file's size when it was read; another size means that it has grown. None before it was read at all.
    length: Option<u64>,
    /// What the installation's chain said of it then.
    witness: Option<AnchorFileWitness>,
    /// The first line's link, by which this file is told from another's.
    pub(super) first: Option<ChainHash>,
    /// How far each chain is anchored.
    pub(super) marks: HashMap<TenantId, ChainHead>,
    /// What is wrong with the file: nothing is added to it until somebody has looked.
    pub(super) flaw: Option<AnchorFileFlaw>,
}

#[derive(Clone, Debug)]
pub struct AnchorFile(PathBuf);

impl Anchor {
    fn new(head: &ChainHead, at: Timestamp, (line, prev): (u64, ChainHash)) -> Self {
        let ChainHead { tenant, seq, hash } = *head;
        let mut anchor = Self { at, hash, line, link: ChainHash::START, prev, seq, tenant };
        anchor.link = anchor.computed_link();
        anchor
    }

    /// The end that it says the chain had.
    pub fn head(&self) -> ChainHead {
        ChainHead { tenant: self.tenant, seq: self.seq, hash: self.hash }
    }

    fn computed_link(&self) -> ChainHash {
        let rest = json!({
            "at": self.at, "hash": self.hash, "line": self.line, "prev": self.prev, "seq": self.seq,
            "tenant": self.tenant,
        });
        let mut digest = Sha256::new();
        digest.update(self.prev.0);
        digest.update(to_canonical_json(&rest).as_bytes());
        ChainHash(digest.finalize().into())
    }

    fn follows(&self, line: u64, prev: ChainHash) -> bool {
        self.line == line && self.prev == prev && self.computed_link() == self.link
    }

    fn to_line(&self) -> String {
        to_canonical_json(&json!(self)) + "\n"
    }

    fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| value[key].as_str();
        let anchor = Self {
            at: text("at")?.parse().ok()?,
            hash: text("hash")?.parse().ok()?,
            line: value["line"].as_u64()?,
            link: text("link")?.parse().ok()?,
            prev: text("prev")?.parse().ok()?,
            seq: value["seq"].as_i64()?,
            tenant: text("tenant")?.parse().ok()?,
        };
        (anchor.to_line().trim_end() == line).then_some(anchor)
    }
}

impl AnchorFile {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// All lines, each checked against the one before; none where there is no file yet. Blocks.
    pub fn read(&self) -> Result<Anchors> {
        let failed = |error: std::io::Error| Error::file(&self.0, "read", &error);
        let file = match File::open(&self.0) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Anchors::default()),
            file => file.map_err(failed)?,
        };
        let (mut anchors, mut prev, mut reader) =
            (Anchors::default(), ChainHash::START, BufReader::new(file));
        for number in 1_u64.. {
            let mut line = Vec::new();
            reader.by_ref().take(LONGEST_LINE * 4).read_until(b'\n', &mut line).map_err(failed)?;
            // A last line without its end was torn by a crash, before anybody was told of it.
            if line.last() != Some(&b'\n') && (line.len() as u64) < LONGEST_LINE * 4 {
                break;
            }
            let text = std::str::from_utf8(&line).unwrap_or_default().trim_end_matches('\n');
            match Anchor::parse(text) {
                Some(anchor) if anchor.follows(number, prev) => {
                    prev = anchor.link;
                    anchors.list.push(anchor);
                }
                Some(_) => {
                    anchors.flaw =
                        Some(AnchorFileFlaw { line: number, what: "it does not follow the previous line" });
                    break;
                }
                None => {
                    anchors.flaw = Some(AnchorFileFlaw { line: number, what: "it is not an anchor" });
                    break;
                }
            }
        }
        Ok(anchors)
    }

    /// The summary anew, if the file is no longer the size it was, beside what the installation's chain last said of
    /// it. Blocks.
    pub(super) fn summary(
        &self,
        before: &AnchorFileSummary,
        witness: Option<AnchorFileWitness>,
    ) -> Result<Option<AnchorFileSummary>> {
        let length = Some(self.0.metadata().map_or(0, |file| file.len()));
        if (length, &witness) == (before.length, &before.witness) && before.flaw.is_none() {
            return Ok(None);
        }
        let anchors = self.read()?;
        let contradiction = || witness.as_ref().and_then(|witness| witness.find_contradiction(&anchors));
        let flaw = anchors.flaw.clone().or_else(contradiction);
        let first = anchors.list.first().map(|anchor| anchor.link);
        let marks = anchors.list.iter().map(|anchor| (anchor.tenant, anchor.head())).collect();
        Ok(Some(AnchorFileSummary { length, witness, first, marks, flaw }))
    }

    /// Puts the file aside, where there is one, so that the next anchor begins another. Gives its new place. Blocks.
    pub(super) fn move_aside(&self, now: Timestamp) -> Result<Option<PathBuf>> {
        let mut name = self.0.as_os_str().to_owned();
        name.push(format!(".aside-{}", now.as_micros()));
        let aside = PathBuf::from(name);
        match std::fs::rename(&self.0, &aside) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            moved => moved.map(|()| Some(aside)).map_err(|error| Error::file(&self.0, "moved aside", &error)),
        }
    }

    /// Adds a line for each head and waits until they are on disk. Blocks.
    pub(super) fn append(&self, heads: &[ChainHead], now: Timestamp) -> Result<Vec<Anchor>> {
        let failed = |error: std::io::Error| Error::file(&self.0, "written", &error);
        let fresh = !self.0.exists();
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.0).map_err(failed)?;
        // Another process may be at it: `munshi audit verify --anchor` beside the server.
        file.lock().map_err(failed)?;
        let (mut line, mut prev) = last_line(&mut file).map_err(failed)?;
        let mut anchors = Vec::new();
        for head in heads {
            line += 1;
            let anchor = Anchor::new(head, now, (line, prev));
            prev = anchor.link;
            anchors.push(anchor);
        }
        let text: String = anchors.iter().map(Anchor::to_line).collect();
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        if let Some(folder) = self.0.parent().filter(|_| fresh) {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(anchors)
    }
}

/// The number and the link to go on from. A torn last line is taken away: what is added to it could not be read.
fn last_line(file: &mut File) -> std::io::Result<(u64, ChainHash)> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(2 * LONGEST_LINE);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let whole = end.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if whole < end.len() {
        file.set_len(from + whole as u64)?;
    }
    let text = String::from_utf8_lossy(&end[..whole]);
    // Where the last line was spoiled the chain begins anew, and reading it says so.
    let last = text.lines().last().and_then(Anchor::parse);
    Ok(last.map_or((0, ChainHash::START), |anchor| (anchor.line, anchor.link)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: i64) -> ChainHead {
        ChainHead { tenant: TenantId::PLATFORM, seq, hash: ChainHash([u8::try_from(seq).unwrap(); 32]) }
    }

    fn file_of(folder: &tempfile::TempDir, seqs: &[i64]) -> AnchorFile {
        let file = AnchorFile::new(folder.path().join("anchors.jsonl"));
        for seq in seqs {
            file.append(&[head(*seq)], Timestamp::EPOCH).unwrap();
        }
        file
    }

    #[test]
    fn lines_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_of(&folder, &[]);
        assert_eq!(file.read().unwrap(), Anchors::default());
        file.append(&[head(1), head(2)], Timestamp::EPOCH).unwrap();
        file.append(&[head(3)], Timestamp::EPOCH).unwrap();
        let anchors = file.read().unwrap();
        assert_eq!(anchors.list.iter().map(|anchor| anchor.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(anchors.flaw, None);
    }

    #[test]
    fn every_altered_line_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_of(&folder, &[1, 2, 3, 4]);
        let text = std::fs::read_to_string(file.path()).unwrap();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
            std::fs::write(file.path(), &bytes).unwrap();
            let number = text[..at].matches('\n').count() as u64 + 1;
            let anchors = file.read().unwrap();
            // Without its end, the last line is what a crash leaves; the installation's own chain tells them apart.
            let torn = at == text.len() - 1 && anchors.list.len() == 3;
            assert!(
                torn || anchors.flaw.as_ref().is_some_and(|flaw| flaw.line == number),
                "{at}: {anchors:?}"
            );
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (removed, line) in [(0, 1), (1, 2), (2, 3)] {
            let kept: String = (0..4).filter(|at| *at != removed).map(|at| lines[at]).collect();
            std::fs::write(file.path(), kept).unwrap();
            assert_eq!(file.read().unwrap().flaw.unwrap().line, line);
        }
    }

    #[test]
    fn a_torn_line_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let file = file_of(&folder, &[1, 2]);
        let mut open = OpenOptions::new().append(true).open(file.path()).unwrap();
        open.write_all(b"{\"at\":\"2026").unwrap();
        assert_eq!(file.read().unwrap().list.len(), 2);
        file.append(&[head(3)], Timestamp::EPOCH).unwrap();
        let anchors = file.read().unwrap();
        assert_eq!((anchors.list.len(), anchors.flaw), (3, None));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_nobody_else() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = file_of(&folder, &[1]);
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
